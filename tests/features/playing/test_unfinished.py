"""Plies of which too little was typed: the only one is played, others get an example."""

from __future__ import annotations

import pytest

from tests.cases import cases
from thudmud import BoardSpec, House


def house_with(setup: str = "", rules: str = "discworld") -> House:
    """Return a house in which Anna and Bert have begun a battle, from a position if given."""
    house = House([BoardSpec("oak board", rules)])
    for name, side in (("Anna", "dwarf"), ("Bert", "troll")):
        house.enter(name, 0.0)
        house.obey(name, f"join game as {side} on oak board", 0.0)
    if setup:
        house.obey("Anna", f"setup {setup}", 0.0)
    house.obey("Anna", "start game", 0.0)
    return house


def plies(house: House) -> list[str]:
    game = house.game("oak board")
    assert game
    return [str(move) for move in game.moves]


def answer(house: House, name: str, line: str) -> str:
    told = [message.text for message in house.obey(name, line, 1.0) if name in message.to]
    return " ".join("\n".join(told).split())


ONE_HURL = "dwarfs f8, a6 trolls g8, o10"
TWO_HURLS = "dwarfs f8, a6 trolls g8, b6"


@cases("line", ["hurl f8", "hurl dwarf from f8", "HURL F8 on oak board"])
def test_named_piece_plays_its_only_ply(line: str) -> None:
    house = house_with(ONE_HURL)
    assert answer(house, "Anna", line).startswith("You hurl the dwarf from F8 to G8")
    assert plies(house) == ["dF8-G8xG8"]


def test_hurl_without_a_square_is_shown_not_played() -> None:
    house = house_with(ONE_HURL)
    assert answer(house, "Anna", "hurl") == 'There is only one hurl now: "hurl f8 g8".'
    assert plies(house) == []
    assert "capturing" not in answer(house_with(TWO_HURLS), "Anna", "hurl")


@pytest.mark.parametrize("rules", ["discworld", "classic", "koom valley"])
def test_example_of_a_move_is_playable(rules: str) -> None:
    house = house_with(rules=rules)
    for name in ("Anna", "Bert"):
        example = answer(house, name, "move").split('"')[1]
        answer(house, name, example)
    assert len(plies(house)) == 2


def test_example_of_a_shove_is_playable() -> None:
    house = house_with("dwarfs e6, e9 trolls g7, h7 turn trolls", "classic")
    example = answer(house, "Bert", "shove g7").split('"')[1]
    assert example == "shove g7 f6 capturing e6" or example.startswith("shove g7 ")
    answer(house, "Bert", example)
    assert len(plies(house)) == 1


@cases(
    ("line", "said"),
    [
        ("shove", "The dwarfs can't shove; they can move or hurl."),
        ("move b8", "Nothing stands on B8."),
        ("move g7", "A troll stands on G7; it is the dwarfs' turn."),
        ("move h8", "The Thudstone on H8 never moves."),
        ("move a1", "A1 is off the board; that row goes from F1 to J1."),
    ],
)
def test_piece_that_cannot_move_so_is_refused_by_the_rules(line: str, said: str) -> None:
    house = house_with()
    assert answer(house, "Anna", line) == said
    assert plies(house) == []


def test_verb_that_the_rules_lack_is_refused() -> None:
    house = house_with(rules="koom valley")
    assert answer(house, "Anna", "hurl").startswith("There is no hurl in Koom Valley;")


def test_shove_with_one_dwarf_to_capture_needs_no_capturing() -> None:
    house = house_with("dwarfs f5, a6 trolls g7, o10 turn trolls")
    assert answer(house, "Bert", "shove g7 g6").startswith("You shove the troll from G7 to G6")
    assert plies(house) == ["TG7-G6xF5"]


def test_shove_with_several_dwarfs_to_capture_asks_which() -> None:
    house = house_with("dwarfs f5, f6 trolls g7, o10 turn trolls")
    assert answer(house, "Bert", "shove g7 g6") == (
        'A shove has to capture; add "capturing" and one or more of F5, F6, or "all".'
    )
    assert "capture" in answer(house, "Bert", "shove g7 g6 capturing none")
    assert plies(house) == []


def test_bare_where_lists_all_pieces() -> None:
    house = house_with(ONE_HURL)
    assert answer(house, "Anna", "where") == (
        "2 dwarfs: A6, F8. 2 trolls: G8, O10. The Thudstone: H8."
    )
    assert answer(house, "Anna", "where on oak board") == answer(house, "Anna", "where")


def test_spectator_is_told_about_the_seats() -> None:
    house = house_with()
    house.enter("Carla", 0.0)
    assert answer(house, "Carla", "hurl on oak board") == answer(
        house, "Carla", "hurl f1 f6 on oak board"
    )
