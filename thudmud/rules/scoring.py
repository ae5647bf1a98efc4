"""Endings, outcomes and scores of battles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from thudmud.errors import InvalidValueError
from thudmud.rules.moves import Side
from thudmud.rules.position import Position


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
    """Ended by one player alone, the opponent having been away, or idle, for too long."""
    TIME = "time"
    """The clock of one side ran out."""
    LENGTH = "length"
    """The battle had as many plies as a battle can have."""


@dataclass(frozen=True, slots=True)
class Score:
    """The points of each side."""

    dwarf: int
    troll: int

    def __post_init__(self) -> None:
        if self.dwarf < 0 or self.troll < 0:
            raise InvalidValueError(f"nothing counts below 0: {self.dwarf}, {self.troll}")

    def of(self, side: Side) -> int:
        """Return the points of a side."""
        return self.dwarf if side is Side.DWARF else self.troll


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a battle ended; ``winner`` is None for a draw."""

    ending: Ending
    winner: Side | None
    score: Score


DRAW = Score(0, 0)


class Scoring(Protocol):
    """How a ruleset scores battles: a frozen value."""

    def score(self, position: Position, winner: Side | None) -> Score:
        """Return the score; ``winner`` has reached a goal or been given the win."""

    def agreed(self, position: Position) -> Side | None:
        """Return the winner if the battle ends as it stands; None for a draw."""

    def stuck(self, position: Position) -> Side | None:
        """Return the winner if the side to move has no move; None for a draw."""

    def resigned(self, position: Position, side: Side) -> Score:
        """Return the score after a side has resigned."""


@dataclass(frozen=True, slots=True)
class ByPieces:
    """Each side scores its pieces on the board, and the higher score wins.

    Source: the published Original Rules: a dwarf counts 1, a troll 4.
    """

    dwarf: int
    troll: int

    def score(self, position: Position, _winner: Side | None) -> Score:
        """Return the points of the pieces on the board."""
        return Score(
            self.dwarf * position.dwarfs.bit_count(), self.troll * position.trolls.bit_count()
        )

    def agreed(self, position: Position) -> Side | None:
        """Return the side with more points."""
        score = self.score(position, None)
        if score.dwarf == score.troll:
            return None
        return Side.DWARF if score.dwarf > score.troll else Side.TROLL

    def stuck(self, position: Position) -> Side | None:
        """Return the side with more points: having no move only ends the battle."""
        return self.agreed(position)

    def resigned(self, position: Position, side: Side) -> Score:
        """Return the points of the pieces, without those of the side that resigns."""
        score = self.score(position, None)
        return Score(0, score.troll) if side is Side.DWARF else Score(score.dwarf, 0)


@dataclass(frozen=True, slots=True)
class ByVictory:
    """The winner scores 1, and without a winner the battle is a draw.

    Source: the published Koom Valley rules. They leave a side without a move open; our ruling: it
    has lost if the other can still reach its goal, else the battle is a draw.

    Attributes:
        dwarfs_needed: the dwarfs that their goal takes.
        trolls_needed: the trolls that theirs takes.
    """

    dwarfs_needed: int
    trolls_needed: int

    def score(self, _position: Position, winner: Side | None) -> Score:
        """Return 1 for the winner."""
        if winner is None:
            return DRAW
        return Score(1, 0) if winner is Side.DWARF else Score(0, 1)

    def agreed(self, _position: Position) -> Side | None:
        """Return nobody."""
        return None

    def stuck(self, position: Position) -> Side | None:
        """Return the side that is not stuck, if its goal is still in reach."""
        if position.turn is Side.TROLL:
            able = position.dwarfs.bit_count() >= self.dwarfs_needed
        else:
            able = position.trolls.bit_count() >= self.trolls_needed
        return position.turn.other if able else None

    def resigned(self, position: Position, side: Side) -> Score:
        """Return 1 for the other side."""
        return self.score(position, side.other)
