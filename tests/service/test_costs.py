"""What a line costs, in calls of Python functions: the same on every machine.

Who makes one dearer raises its number here, and says why.
"""

from __future__ import annotations

import gc
import sys
from types import FrameType

import pytest

from thudmud import BoardSpec, House, Terminal

NOW = 1_800_000_000.0

SCREEN = Terminal(width=113)
"""One that no other test has: what caches have of equal screens is compared field by field."""

MOST = {
    ("Anna", "say hello"): 53,
    ("Dora", "say hello"): 62,  # it is asked who of them hears those who watch
    ("Dora", "look"): 56,
    ("Dora", "move from a6 to a1"): 53,
    ("Dora", "xyzzy"): 67,  # it is read anew each time: what cannot be read may be a password
    ("Dora", "finger bert"): 158,  # two of these ask the features for what they add
    ("Dora", "follow bert"): 48,
    ("Dora", "who"): 137,
}
"""By player and line, as many calls as it may take. Anna plays, Dora watches."""

MOST_OF_A_NEW_LINE = 75
"""Of one that cannot be read and is new: those slips are tried that there are at a first word. It
takes 64."""

MOST_OF_A_PLY = 316
"""With the board drawn, which is a third of that."""


@pytest.fixture
def house() -> House:
    """Return a house with a battle, and two who watch it."""
    house = House([BoardSpec("oak"), BoardSpec("elm")], opens_boards=True)
    for name in ("Anna", "Bert", "Carl", "Dora"):
        house.enter(name, NOW, SCREEN, room="oak")
    for name, line in (("Anna", "join as dwarf"), ("Bert", "join as troll"), ("Anna", "start")):
        house.obey(name, line, NOW)
    return house


def calls(house: House, name: str, line: str) -> int:
    """Return how many functions are called for a line."""
    called = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal called
        called += event == "call"

    gc.disable()  # or what others have called after each collection would count, too
    sys.setprofile(count)
    try:
        house.obey(name, line, NOW)
    finally:
        sys.setprofile(None)
        gc.enable()
    return called


@pytest.mark.parametrize(("player", "line"), MOST)
def test_line_stays_within_its_call_budget(house: House, player: str, line: str) -> None:
    for _ in range(3):  # what is kept of the first is there
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
