"""Outcomes: how a battle ended, who won it and what it counts.

Owns the values. Must never decide them: rulesets do, by their goals and scoring.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from thudmud.engine.pieces import Side


class Ending(Enum):
    """The ways a battle ends."""

    AGREEMENT = "agreement"
    QUIET = "quiet"
    """Ended by one player alone after many plies without a capture."""
    NO_MOVE = "no move"
    RESIGNATION = "resignation"
    ROCK_ESCAPED = "rock escaped"
    ROCK_CAPTURED = "rock captured"
    DESERTION = "desertion"
    """Ended by one player alone, the opponent's seat being empty."""
    CLAIM = "claim"
    """Ended by one player alone, the opponent having been away for too long."""


@dataclass(frozen=True, slots=True)
class Score:
    """What each side counts."""

    dwarf: int
    troll: int

    def of(self, side: Side) -> int:
        """Return what one side counts."""
        return self.dwarf if side is Side.DWARF else self.troll


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a battle ended; ``winner`` is None for a draw."""

    ending: Ending
    winner: Side | None
    score: Score
