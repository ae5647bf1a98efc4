"""Refusals and answers that explain the actual state."""

from __future__ import annotations

import pytest

from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.views.help import page, start
from thudmud.views.view import Terminal


@pytest.fixture
def house() -> House:
    """Return a house in which Anna plays Bert, who is away."""
    house = House([BoardSpec("oak board"), BoardSpec("pine board")])
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, 0.0)
    for name, line in (
        ("Anna", "join game as dwarf on pine board"),
        ("Bert", "join game as troll on pine board"),
        ("Anna", "start"),
    ):
        house.obey(name, line, 0.0)
    house.depart("Bert", 1.0)
    return house


def told(house: House, name: str, line: str) -> str:
    """Return the answer to a line."""
    (message,) = house.obey(name, line, 2.0)
    return message.text


@pytest.mark.parametrize("line", ["look bert", "look at Bert", "l BERT"])
def test_look_at_an_absent_player_shows_their_seat(house: House, line: str) -> None:
    assert told(house, "Carla", line) == (
        "Bert (a guest) isn't here, but plays the trolls at the pine board.\nNo rating yet."
    )


def test_look_at_an_unknown_name_is_refused(house: House) -> None:
    assert told(house, "Carla", "look dora").startswith('There is no "dora" here.')
    assert told(house, "Carla", "look anna").startswith(
        "Anna (a guest) plays the dwarfs at the pine board"
    )


def test_resume_during_a_match_says_that_it_is_going_on(house: House) -> None:
    goes_on = "Your match is under way at the pine board. You have none adjourned."
    assert told(house, "Anna", "resume") == goes_on
    assert told(house, "Carla", "resume on pine board").startswith("You have no adjourned match.")


def test_help_for_me_is_the_main_help() -> None:
    assert page("me", 80) == start(80)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("oak bord", 'There is no "oak bord" here. Did you mean "board"? The boards are: '),
        ("pine capuring e6", 'here. Did you mean "capturing"? The boards are: '),
        ("chair", 'There is no "chair" here. The boards are: '),
        ("oak table", 'There is no "oak table" here. The boards are: '),
        ("x" * 99, 'There is no "' + "x" * 40 + '..." here. The boards are: '),
    ],
)
def test_misspelt_board_name_gets_a_suggestion(house: House, words: str, answer: str) -> None:
    assert answer in " ".join(told(house, "Carla", f"view game on {words}").split())


@pytest.mark.parametrize(
    "line", ["look at board", "look at board 12", "look at chair", "move a6 b6"]
)
def test_unknown_board_lists_the_first_names_and_how_to_see_all(line: str) -> None:
    names = [f"{letter * 3} board" for letter in "abcdefghijk"]
    many = House([BoardSpec(name) for name in names])
    many.enter("Anna", 0.0)
    answer = " ".join(told(many, "Anna", line).split())
    assert ', hhh board or 3 more ("boards" lists all)' in answer.replace(" and 3", " or 3")
    assert names[-1] not in answer


CLICKING = Terminal(packages=frozenset({"thud"}), can_draw=True)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["join as dwarf on oak board", "start"], "A battle needs two players."),
        (["match dora"], "There is no player called “dora” here."),
        (["accept 9"], "Seek 9 is gone."),
        (["go to chair"], "There is no “chair” here."),
        (["stop"], "There's nothing to stop:"),
    ],
)
def test_refusal_for_a_player_who_clicks_names_no_commands(
    house: House, lines: list[str], text: str
) -> None:
    house.enter("Dirk", 0.0, CLICKING)
    for line in lines[:-1]:
        house.obey("Dirk", line, 2.0)
    said, fact = house.obey("Dirk", lines[-1], 2.0)
    assert fact.package == "Thud.Refused"
    assert fact.data["text"].startswith(text)
    assert '"' not in fact.data["text"]
    assert said.text.replace("\n", " ") == fact.data["text"]


def test_confirmation_for_a_player_who_clicks_is_a_fact_alone(house: House) -> None:
    house.set_terminal("Anna", CLICKING)
    (fact,) = house.obey("Anna", "resign on pine board", 2.0)
    assert fact.data["code"] == "sure_resigns"
    assert fact.data["text"].startswith("Really resign")
    assert "yes" not in fact.data["text"]
    house.obey("Anna", "options reader on", 2.0)
    (fact,) = house.obey("Anna", "resign on pine board", 2.0)
    assert "yes" not in fact.data["text"]


def test_refusal_that_is_nothing_but_advice_is_kept(house: House) -> None:
    house.enter("Dirk", 0.0, CLICKING)
    said, fact = house.obey("Dirk", "frobnicate", 2.0)
    assert fact.data["code"] == "unknown_command"
    assert fact.data["text"] in said.text.replace("\n", " ")
