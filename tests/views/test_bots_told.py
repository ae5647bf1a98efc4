"""What people are told of the bots that they can play with."""

from __future__ import annotations

import re

import pytest

from thudmud.house import House
from thudmud.language import parse
from thudmud.play import BoardSpec
from thudmud.play.hall import BotLevel
from thudmud.views.help import PAGES
from thudmud.views.rooms import greeting
from thudmud.views.view import Terminal

BOTS = ("Grog", "Mog")


def house_with(*people: str, width: int = 80) -> House:
    """Return a house with two boards and these people, of whom some may be bots."""
    house = House([BoardSpec("oak board"), BoardSpec("pine board")])
    house.hall.bots = dict.fromkeys(BOTS)
    for name in people:
        house.enter(name, 0.0, Terminal(width=width))
    return house


def shown(house: House, line: str, name: str = "Anna") -> str:
    """Return all that one player is told by a line of theirs, as one line."""
    told = [message.text for message in house.obey(name, line, 0.0) if name in message.to]
    return " ".join(" ".join(told).split())


def test_the_hall_tells_how_to_play_with_a_bot() -> None:
    hall = shown(house_with("Grog", "Anna"), "look")
    typed = '"join game as dwarf on oak board", then "invite grog", then "start"'
    assert f"To play with the bot Grog, type {typed}. Also here: Grog (a bot)." in hall


def test_who_comes_in_is_told_so() -> None:
    house = house_with("Grog")
    (message,) = [each for each in house.enter("Anna", 0.0) if "Anna" in each.to]
    assert "To play with the bot Grog," in message.text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_what_it_tells_can_be_typed_one_after_the_other(width: int) -> None:
    house = house_with("Grog", "Anna", width=width)
    sentence = shown(house, "look").partition("To play with")[2]
    sit, invite, start = re.findall('"([^"]+)"', sentence)
    assert "You sit down" in shown(house, sit)
    assert shown(house, invite).startswith("You ask Grog to play the trolls")
    house.obey("Grog", "join game as troll on oak board", 0.0)
    assert "The first battle" in shown(house, start)


def test_a_bot_is_told_of_also_when_it_is_elsewhere() -> None:
    house = house_with("Grog", "Anna")
    house.obey("Grog", "join game as dwarf on oak board", 0.0)
    hall = shown(house, "look")
    assert 'bot Grog, type "join game as dwarf on pine board", then "invite grog"' in hall
    assert "Also here" not in hall
    house.obey("Anna", "go to oak board", 0.0)
    assert "Also here: Grog (a bot)." in shown(house, "look")


def test_several_bots_are_named() -> None:
    assert "To play with the bots Grog and Mog, type" in shown(house_with(*BOTS, "Anna"), "look")


def test_without_an_empty_board_a_bot_can_still_be_invited() -> None:
    house = house_with("Grog", "Bert", "Anna")
    for board in ("oak", "pine"):
        house.obey("Bert", f"join game as dwarf on {board} board", 0.0)
    typed = '"invite grog" at a board with a free seat'
    assert f"To play with the bot Grog, type {typed}." in shown(house, "look")


def test_who_sits_alone_is_told_of_it() -> None:
    house = house_with("Grog", "Anna")
    sat = shown(house, "join game as dwarf on oak board")
    assert '"join game as troll on oak board". "invite grog" has a bot take it.' in sat
    refused = shown(house, "start")
    assert refused.startswith("A battle needs two players, or")
    assert refused.endswith('"invite grog" has a bot take it.')


def test_who_sits_down_with_somebody_is_not() -> None:
    house = house_with("Grog", "Bert", "Anna")
    house.obey("Bert", "join game as dwarf on oak board", 0.0)
    assert "invite" not in shown(house, "join game as troll on oak board")


LEVELS = (
    BotLevel(1, "Chalk", "Plays almost anything."),
    BotLevel(2, "Slate", "Walks into most traps."),
    BotLevel(3, "Marble", "Looks far."),
)


def levelled(*people: str) -> House:
    """Return a house where Grog is a bot at level 2 of 3, and Mog a program of its own."""
    house = house_with(*people)
    house.hall.bots = {"Grog": LEVELS[1], "Mog": None}
    house.hall.levels = LEVELS
    return house


def test_bots_are_listed_with_how_well_they_play() -> None:
    house = levelled("Grog", "Mog", "Anna")
    assert shown(house, "bots") == (
        "2 bots here: Grog, Slate (2 of 3): Walks into most traps. "
        "Mog: A program of its own chooses its moves. "
        'To play with one, type "invite grog" at a board with a free seat. '
        '"invite grog level 3" has it play at another level, 1 Chalk, 2 Slate or 3 Marble.'
    )


def test_a_bot_is_listed_with_where_it_plays_and_at_which_level() -> None:
    house = levelled("Grog", "Anna")
    for board, level in (("oak board", " level marble"), ("pine board", "")):
        assert shown(house, f"invite grog{level} on {board}").startswith("You ask Grog")
        house.obey("Grog", f"join game as dwarf on {board}", 0.0)
    assert (
        "Grog, Slate (2 of 3): Walks into most traps. "
        "It plays at the oak board, Marble (3 of 3); the pine board."
    ) in shown(house, "bots")


def test_a_level_is_that_of_the_last_invitation() -> None:
    house = levelled("Grog", "Anna")
    assert shown(house, "invite grog level 3 on oak board").endswith("at level 3.")
    assert house.hall.level_at("oak board", "Grog") == LEVELS[2]
    assert house.hall.level_at("pine board", "Grog") == LEVELS[1]
    shown(house, "invite grog on oak board")
    assert house.hall.level_at("oak board", "Grog") == LEVELS[1]


def test_where_there_are_no_bots_none_are_listed() -> None:
    assert shown(levelled("Anna"), "bots") == "There are no bots here."


LINES = ("look", "join game as dwarf on oak board", "start", "help thud", "help start", "help join")


@pytest.mark.parametrize("people", [("Anna",), ("Bert", "Anna")])
def test_where_there_is_none_nothing_is_told_of_any(people: tuple[str, ...]) -> None:
    """A bot that stays outside is none."""
    house = house_with(*people)
    for line in LINES:
        told = shown(house, line)
        assert not re.search(r"\bbots?\b", told)
        assert "{" not in told.replace("{dwarf|troll}", "")
        assert "Grog" not in told


@pytest.mark.parametrize("topic", ["thud", "start", "join", "invite", "bots", "bot"])
def test_the_pages_tell_of_the_bot_that_is_there(topic: str) -> None:
    told = shown(house_with("Mog", "Anna"), f"help {topic}")
    assert '"invite mog"' in told
    assert "Grog" not in told


@pytest.mark.parametrize("topic", PAGES)
def test_the_pages_are_sound_with_a_bot_and_without(topic: str) -> None:
    for bot in ("Grog", None):
        page = PAGES[topic].told(bot)
        for line in page.examples:
            parse(line)
        text = "\n".join(PAGES[topic].rows(40, bot))
        assert "bot}" not in text.lower()
        assert "\n\n\n" not in text
    assert "{bot}" in "".join("".join(block) for block in PAGES["thud"].blocks)


def test_the_greeting_tells_of_a_bot_where_there_is_one() -> None:
    told = " ".join(greeting(BOTS).split())
    assert 'Take a seat at a board, and type "invite grog".' in told
    assert max(map(len, greeting({"G" * 20}).split("\n"))) < 40
    assert "invite" not in greeting(())
