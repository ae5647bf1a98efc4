"""The cost of a line in calls of Python functions, which is the same on every machine.

A change that makes a line more expensive must raise its limit here and say why.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from benchmarks.load.processes import letters
from thudmud import BoardSpec, House, Terminal
from thudmud.game.hall import CROWD
from thudmud.views.words import MOST_BOARDS

NOW = 1_800_000_000.0

SCREEN = Terminal(width=113)
"""A terminal unique to this module: a cached equal one would be compared field by field."""

MOST = {
    ("Anna", "say hello"): 48,
    ("Dora", "say hello"): 49,  # checks which players want to hear watchers
    ("Dora", "look"): 55,  # checks whether it has to mention full boards
    ("Dora", "move from a6 to a1"): 54,  # leaves out commands for those who click
    ("Dora", "xyzzy"): 55,  # never cached: an unparsable line may be a password
    ("Dora", "finger bert"): 154,  # includes two queries for lines added by features
    ("Dora", "follow bert"): 46,
    ("Dora", "who"): 138,
}
"""The maximum number of calls by player and line. Anna plays, Dora watches. Each look into the
register of tables is a call, so that it can apply deferred plies first."""

MOST_OF_A_NEW_LINE = 63
"""The limit for a new line that can't be parsed: all slips for a first word are tried. It needs
52 calls."""

MOST_OF_A_PLY = 262
"""The limit for a ply: a third to tell it to four in three views, of which the drawing of the board
is half; a quarter to store it in memory. Three calls are because a store on PostgreSQL has another
way to write events, six for looks into the register of tables, and two to tell our own ply from
another node's."""


@pytest.fixture
def house() -> House:
    """Return a house with a battle and two watchers."""
    house = House([BoardSpec("oak"), BoardSpec("elm")], opens_boards=True)
    for name in ("Anna", "Bert", "Carl", "Dora"):
        house.enter(name, NOW, SCREEN, room="oak")
    for name, line in (("Anna", "join as dwarf"), ("Bert", "join as troll"), ("Anna", "start")):
        house.obey(name, line, NOW)
    return house


def calls(house: House, name: str, line: str) -> int:
    """Count the function calls for a line."""
    return calls_of(lambda: house.obey(name, line, NOW))


def calls_of(work: Callable[[], object]) -> int:
    """Count the function calls for some work."""
    called = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal called
        called += event == "call"

    gc.disable()  # otherwise callbacks of the garbage collector would count
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return called - 1  # without `work` itself


@pytest.mark.parametrize(("player", "line"), MOST)
def test_line_stays_within_its_call_budget(house: House, player: str, line: str) -> None:
    for _ in range(3):  # fill the caches
        house.obey(player, line, NOW)
        house.obey(player, "unfollow bert", NOW)
    assert (made := calls(house, player, line)) <= MOST[player, line], made


def test_new_unparsable_line_stays_within_its_call_budget(house: House) -> None:
    for number in range(3):
        house.obey("Dora", f"mvoe from a6 to b6 {number}", NOW)
    assert (made := calls(house, "Dora", "mvoe from a6 to b6 77")) <= MOST_OF_A_NEW_LINE, made


def test_ply_stays_within_its_call_budget(house: House) -> None:
    plies = [("Anna", "a6 b7"), ("Bert", "g7 f7"), ("Anna", "b7 a6"), ("Bert", "f7 g7")]
    for name, line in plies * 3:
        house.obey(name, line, NOW)
    counts = [calls(house, name, line) for name, line in plies]
    assert max(counts) <= MOST_OF_A_PLY, counts


def calls_in_hall(people: int, boards: int = 1) -> list[int]:
    """Count the function calls for an arrival, a look and a departure in the hall.

    Args:
        people: number of others in the hall.
        boards: number of boards.
    """
    house = House([BoardSpec(f"board {letters(number)}") for number in range(boards)])
    for number in range(people):
        house.enter(f"Guest{letters(number)}", NOW, SCREEN)
    for _ in range(3):  # fill the caches
        house.enter("Zoe", NOW, SCREEN)
        house.obey("Zoe", "look", NOW)
        house.depart("Zoe", NOW)
    return [
        calls_of(lambda: house.enter("Zoe", NOW, SCREEN)),
        calls(house, "Zoe", "look"),
        calls_of(lambda: house.depart("Zoe", NOW)),
    ]


def test_calls_of_an_arrival_do_not_grow_with_a_crowded_hall() -> None:
    assert calls_in_hall(2 * CROWD) == calls_in_hall(10 * CROWD)


def test_calls_of_an_arrival_do_not_grow_with_the_boards() -> None:
    assert calls_in_hall(2, 2 * MOST_BOARDS) == calls_in_hall(2, 10 * MOST_BOARDS)
