"""Descriptions of the hall and of its boards, and the hint at a brief board."""

from __future__ import annotations

import pytest

from tests.cases import cases
from thudmud import BoardSpec, House, Terminal
from thudmud.features.rooms.scenery import HALL, MATERIALS
from thudmud.game import board_names
from thudmud.game.options import Style

NOW = 1_800_000_000.0
PINE = BoardSpec("pine board", style=Style.BRIEF)
BOARDS = [
    BoardSpec("oak board"),
    PINE,
    BoardSpec("wobbly table", description="It wobbles, and a coaster helps."),
    BoardSpec("odd thing"),
]


@pytest.fixture
def house() -> House:
    house = House(BOARDS, opens_boards=True)
    house.enter("Anna", NOW, Terminal(80))
    return house


def seen(house: House, line: str, player: str = "Anna") -> str:
    told = [each.text for each in house.obey(player, line, NOW) if player in each.to]
    return " ".join("\n".join(told).split())


def test_look_in_the_hall_describes_it(house: House) -> None:
    assert seen(house, "look").startswith(f"You are in the hall. {HALL}")


@cases(
    ("line", "told"),
    [
        ("look at oak board", MATERIALS["oak"]),
        ("look at pine", MATERIALS["pine"]),
        ("look at wobbly table", "It wobbles, and a coaster helps."),
    ],
)
def test_look_at_a_board_begins_with_its_description(line: str, told: str) -> None:
    house = House(BOARDS, opens_boards=True)
    house.enter("Anna", NOW, Terminal(80))
    assert seen(house, line).startswith(told)


def test_board_without_a_description_begins_with_the_board(house: House) -> None:
    assert seen(house, "look at odd thing").startswith("A B C D")


def test_description_follows_a_renamed_board(house: House) -> None:
    house.rename_board("wobbly table", "lame table", NOW)
    assert seen(house, "look at lame table").startswith("It wobbles")


def test_look_during_a_battle_only_draws_the_board(house: House) -> None:
    house.enter("Bert", NOW, Terminal(80))
    assert MATERIALS["oak"] not in seen(house, "join game as dwarf on oak board")
    assert seen(house, "look").startswith(MATERIALS["oak"])
    house.obey("Bert", "join game as troll on oak board", NOW)
    house.obey("Bert", "start", NOW)
    assert MATERIALS["oak"] not in seen(house, "look")
    assert seen(house, "look at oak board").startswith(MATERIALS["oak"])


def test_hall_that_opens_no_boards_leaves_descriptions_to_its_host() -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Anna", NOW, Terminal(80))
    assert HALL not in seen(house, "look")
    assert MATERIALS["oak"] not in seen(house, "look at oak board")


def test_every_board_opened_for_a_match_has_a_description() -> None:
    assert {*board_names.MATERIALS} <= MATERIALS.keys()
    assert len({*MATERIALS.values()}) == len(MATERIALS)
    assert max(map(len, [HALL, *MATERIALS.values()])) < 160  # two lines


def test_brief_board_says_how_to_see_it_in_full(house: House) -> None:
    hint = '"set board full" does so after every move.'
    assert hint in seen(house, "join game as dwarf on pine board")
    assert "You see this board in brief" in seen(house, "look")
    seen(house, "leave game on pine board")
    seen(house, "set board brief on pine board")
    assert hint not in seen(house, "join game as troll on pine board")
    assert "in brief" not in seen(house, "look")
    assert hint not in seen(house, "join game as troll on oak board")


def test_brief_hint_is_for_the_one_who_sits_down(house: House) -> None:
    house.enter("Bert", NOW, Terminal(80))
    house.obey("Bert", "go pine board", NOW)
    told = house.obey("Anna", "join game as dwarf on pine board", NOW)
    assert not any("brief" in each.text for each in told if "Bert" in each.to)


@cases(("draws", "is_listed"), [(False, True), (True, False)])
def test_hall_lists_boards_unless_the_client_does(*, draws: bool, is_listed: bool) -> None:
    house = House(BOARDS, opens_boards=True)
    house.enter("Anna", NOW, Terminal(80, can_draw=draws))
    assert ("odd thing" in seen(house, "look")) == is_listed
    assert "odd thing" in seen(house, "boards")
