"""Opening explorer: permissions, board symmetry, and the counts kept by a house."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.features.battles import NOW, play
from thudmud import BoardSpec, House, Terminal
from thudmud.features.playing.moves import Resign

PROGRAM = Terminal(packages=frozenset({"Thud"}))


def house(**options: Any) -> House:
    made = House([BoardSpec("oak board"), BoardSpec("elm board")], **options)
    for name in ("Anna", "Bert", "Carl"):
        made.enter(name, NOW, PROGRAM, member=name != "Carl")
    return made


def told(made: House, name: str, line: str) -> dict[str, Any]:
    """Return the only packet sent in reply to a line."""
    facts = [
        {"package": each.package, **json.loads(each.text)}
        for each in made.obey(name, line, NOW)
        if each.package in {"Thud.Explored", "Thud.Refused"} and name in each.to
    ]
    [fact] = facts
    return fact


def code(fact: dict[str, Any]) -> str:
    return str(fact.get("code", fact["package"]))


class TestWhoPlays:
    def test_player_cannot_explore_own_running_battle(self) -> None:
        made = house()
        play(made, "Anna", "Carl", "f1 f6")
        for name in ("Anna", "Carl"):
            for line in ("explore", "explore on oak board"):
                assert code(told(made, name, line)) == "no_exploring_playing"
            assert code(told(made, name, "explore 1")) == "explore_later"
        made.obey("Anna", "replay 1", NOW)
        assert code(told(made, "Anna", "explore")) == "explore_later"
        assert code(told(made, "Anna", "explore on elm board")) == "Thud.Explored"
        made.obey("Anna", "adjourn on oak board", NOW)
        made.obey("Carl", "adjourn on oak board", NOW)
        assert code(told(made, "Carl", "explore 1")) == "explore_later"

    def test_player_in_a_rated_battle_cannot_explore_at_all(self) -> None:
        made = house()
        play(made, "Anna", "Bert", "f1 f6")
        for name in ("Anna", "Bert"):
            for line in ("explore", "explore 1", "explore on elm board", "explore 9"):
                assert code(told(made, name, line)) == "no_exploring_rated"
        assert code(told(made, "Carl", "explore on oak board")) == "Thud.Explored"
        assert code(told(made, "Carl", "explore 1 1")) == "Thud.Explored"
        made.obey("Anna", Resign("oak board"), NOW)
        assert code(told(made, "Anna", "explore 1 1")) == "Thud.Explored"

    def test_practice_allows_exploring(self) -> None:
        made = house()
        made.obey("Anna", "go to oak board", NOW)
        made.obey("Anna", "practice", NOW)
        assert code(told(made, "Anna", "explore")) == "Thud.Explored"
        assert code(told(made, "Anna", "explore 1")) == "Thud.Explored"


def test_explored_plies_are_mapped_to_the_board_symmetry() -> None:
    made = house()
    play(made, "Anna", "Carl", "f1 f6")
    made.obey("Carl", Resign("oak board"), NOW)
    play(made, "Carl", "Anna", "o6 j6")  # the mirror image of f1 f6
    made.obey("Carl", Resign("oak board"), NOW)
    for number, record in ((1, "dF1-F6"), (2, "dP6-K6")):
        fact = told(made, "Bert", f"explore {number}")
        [ply] = fact["plies"]
        assert (ply["record"], ply["times"], fact["next"]) == (record, 2, record)
        assert (ply["dwarf"], ply["troll"]) == (1, 1)
    assert told(made, "Bert", "explore 1 99")["ply"] == 1


def test_program_query_is_answered_without_text() -> None:
    made = house()
    play(made, "Anna", "Carl", "f1 f6")
    made.obey("Carl", Resign("oak board"), NOW)
    [fact] = made.ask("Bert", "explore 1", NOW)
    assert fact.package == "Thud.Explored"


def test_explorer_counts_are_rebuilt_from_events() -> None:
    made = house()
    play(made, "Anna", "Carl", "f1 f6")
    made.obey("Carl", Resign("oak board"), NOW)
    again = house(events=made.events())
    assert told(again, "Bert", "explore 1") == told(made, "Bert", "explore 1")


@pytest.mark.parametrize("width", [40, 80])
def test_explorer_text_fits_the_screen(width: int) -> None:
    made = house()
    play(made, "Anna", "Carl", "f1 f6", "shove g7 f7 capturing all")
    made.obey("Carl", Resign("oak board"), NOW)
    made.set_terminal("Bert", Terminal(width=width))
    for line in ("explore 1", "explore 1 1", "explore on oak board"):
        [message] = [each for each in made.obey("Bert", line, NOW) if not each.package]
        lines = message.text.splitlines()
        assert lines
        assert all(len(each) < width for each in lines)
