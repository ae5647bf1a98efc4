"""The move limit of a battle: warnings before it, and the score at it."""

from __future__ import annotations

import pytest

from tests.rules.shorthand import to_and_fro
from thudmud import BoardSpec, House
from thudmud.features.playing.moves import Play
from thudmud.game.archive import BattleLookup
from thudmud.rules import DISCWORLD, MOST_PLIES, Ending, Outcome, Score

LINES = [str(Play(move.attempt())) for move in to_and_fro(DISCWORLD, MOST_PLIES).moves]
BEGUN = [
    ("Anna", "join game as dwarf on oak board"),
    ("Bert", "join game as troll on oak board"),
    ("Carla", "observe oak board"),
    ("Anna", "start"),
]


def told_over(house: House, lines: list[str]) -> dict[int, list[str]]:
    """Play lines in turn; return the messages about the move limit or the end, by ply."""
    told: dict[int, list[str]] = {}
    for ply, line in enumerate(lines, 1):
        for message in house.obey("Anna" if ply % 2 else "Bert", line, float(ply)):
            text = " ".join(message.text.split())
            if "moves left" in text or "is the limit" in text:
                told.setdefault(ply, []).extend(f"{name}: {text}" for name in message.to)
    return told


@pytest.fixture
def house() -> House:
    house = House([BoardSpec("oak board")])
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, now=0.0)
    for name, line in BEGUN:
        house.obey(name, line, 0.0)
    return house


def test_long_battle_warns_three_times_and_ends_at_the_limit(house: House) -> None:
    told = told_over(house, LINES)
    assert list(told) == [1900, 1950, 1990, 2000]
    for ply, left in ((1900, 100), (1950, 50), (1990, 10)):
        said = f"This battle has {left} moves left: it ends after move 2,000."
        assert sorted(each.partition(":")[0] for each in told[ply]) == ["Anna", "Bert", "Carla"]
        assert all(said in each for each in told[ply])
    for each in told[2000]:
        assert "That was move 2,000, which is the limit for a battle." in each
        assert "The battle is a draw, 32 to 32." in each
    found = house.look_up(BattleLookup(1))
    assert found is not None
    assert found.battle.outcome == Outcome(Ending.LENGTH, None, Score(32, 32))
    assert found.battle.plies == MOST_PLIES
    [listed] = house.obey("Anna", "history", 3000.0)
    assert "ended after 2,000 moves" in " ".join(listed.text.split())


def test_longest_battle_survives_a_restart_and_can_be_replayed(house: House) -> None:
    told_over(house, LINES)
    again = House([BoardSpec("oak board")], events=house.events())
    again.enter("Dora", now=5000.0)
    [shown, *_] = again.obey("Dora", "replay 1 2000", 5000.0)
    assert "move 2000 of 2000" in " ".join(shown.text.split()).lower()


def test_resumed_battle_still_ends_at_the_move_limit(house: House) -> None:
    told_over(house, LINES[:1980])
    for name, line in [
        ("Anna", "adjourn"),
        ("Bert", "adjourn"),
        ("Anna", "resume"),
        ("Bert", "resume"),
    ]:
        house.obey(name, line, 2000.0)
    rest = ["look", "look", *LINES[1980:]]
    told = told_over(house, rest)
    assert [ply - 2 for ply in told] == [10, 20]
