"""The pause before a bot's ply: longer for weak levels against people, shorter without time."""

from __future__ import annotations

import pytest

from thudmud.bots.pace import AT_ONCE_FROM, LITTLE_TIME, LONGEST, SHARE, pause_before_ply
from thudmud.rules import DISCWORLD, Position
from thudmud.search.levels import LEVELS, Level

OPENING = DISCWORLD.initial_position
POSITIONS = [OPENING.after(move) for move in DISCWORLD.legal_moves(OPENING)[:200]]


def pauses(level: int | None, *, plays_person: bool = True) -> list[float]:
    """Return the pauses in many positions, for a usual pause of a second."""
    return [pause_before_ply(1.0, each, level, plays_person=plays_person) for each in POSITIONS]


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_weak_level_hesitates_against_a_person(level: Level) -> None:
    found = pauses(level.number)
    assert found == pauses(level.number)
    if level.number >= AT_ONCE_FROM:
        assert {*found} == {1.0}
    else:
        assert 1.0 <= min(found) < 1.2
        assert 2.8 < max(found) <= LONGEST


def test_bot_does_not_hesitate_against_a_bot_or_with_a_program() -> None:
    assert {*pauses(1, plays_person=False), *pauses(None)} == {1.0}


def test_bot_without_a_pause_never_hesitates() -> None:
    assert pause_before_ply(0.0, POSITIONS[0], 1, plays_person=True) == 0.0


@pytest.mark.parametrize("position", POSITIONS[:3])
def test_pause_is_a_small_part_of_the_remaining_time(position: Position) -> None:
    def pause(left: float) -> float:
        return pause_before_ply(60.0, position, 1, left, plays_person=True)

    assert pause(LITTLE_TIME - 0.1) == 0.0
    assert pause(40.0) == 40.0 * SHARE
    assert pause(1_000_000.0) >= 60.0
