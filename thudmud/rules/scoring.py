"""Endings, outcomes and scores of battles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable
from thudmud.rules.moves import Side
from thudmud.rules.position import Position


class Ending(Enum):
    """The ways in which a battle ends."""

    AGREEMENT = "agreement"
    QUIET = "quiet"
    """Ended by one player alone after many plies without a capture."""
    NO_MOVE = "no move"
    RESIGNATION = "resignation"
    ROCK_ESCAPED = "rock escaped"
    ROCK_CAPTURED = "rock captured"
    DESERTION = "desertion"
    """Ended by one player alone, as the opponent had left their seat."""
    CLAIM = "claim"
    """Ended by one player alone, as the opponent had been away, or idle, for too long."""
    TIME = "time"
    """One side's clock ran out."""
    LENGTH = "length"
    """The battle reached the maximum number of plies."""


@immutable
@dataclass(frozen=True, slots=True)
class Score:
    """The points of each side."""

    dwarf: int
    troll: int

    def __post_init__(self) -> None:
        if self.dwarf < 0 or self.troll < 0:
            raise InvalidValueError(
                f"expected non-negative scores, got {self.dwarf} and {self.troll}"
            )

    def of(self, side: Side) -> int:
        """Return the points of a side."""
        return self.dwarf if side is Side.DWARF else self.troll


@immutable
@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a battle; ``winner`` is None for a draw."""

    ending: Ending
    winner: Side | None
    score: Score


DRAW = Score(0, 0)


class Scoring(Protocol):
    """How a ruleset scores battles: a frozen value."""

    def captured_side(self, outcome: Outcome) -> Side | None:
        """Return the side of which nothing was left at the end, as far as the score tells."""

    def score(self, position: Position, winner: Side | None) -> Score:
        """Return the score; ``winner`` reached a goal or was given the win."""

    def agreement_winner(self, position: Position) -> Side | None:
        """Return the winner of a battle ended by agreement in this position; None for a draw."""

    def no_move_winner(self, position: Position) -> Side | None:
        """Return the winner if the side to move has no move; None for a draw."""

    def resignation_score(self, position: Position, side: Side) -> Score:
        """Return the score after a side's resignation."""


@immutable
@dataclass(frozen=True, slots=True)
class ByPieces:
    """Scoring by the pieces left on the board; the higher score wins.

    Source: the published Original Rules: a dwarf counts 1, a troll 4.
    """

    dwarf: int
    troll: int

    def captured_side(self, outcome: Outcome) -> Side | None:
        """Return the side without points, if the battle wasn't ended by a player."""
        if outcome.ending is not Ending.NO_MOVE or outcome.winner is None:
            return None
        loser = outcome.winner.other
        return None if outcome.score.of(loser) else loser

    def score(self, position: Position, _winner: Side | None) -> Score:
        """Return the points of the pieces on the board."""
        return Score(
            self.dwarf * position.dwarfs.bit_count(), self.troll * position.trolls.bit_count()
        )

    def agreement_winner(self, position: Position) -> Side | None:
        """Return the side with more points; None for equal points."""
        score = self.score(position, None)
        if score.dwarf == score.troll:
            return None
        return Side.DWARF if score.dwarf > score.troll else Side.TROLL

    def no_move_winner(self, position: Position) -> Side | None:
        """Return the side with more points, whichever side has no move."""
        return self.agreement_winner(position)

    def resignation_score(self, position: Position, side: Side) -> Score:
        """Return the points of the pieces; the resigning side's count nothing."""
        score = self.score(position, None)
        return Score(0, score.troll) if side is Side.DWARF else Score(score.dwarf, 0)


@immutable
@dataclass(frozen=True, slots=True)
class ByVictory:
    """Scoring by victory alone: 1 for the winner; without one, the battle is a draw.

    Source: the published Koom Valley rules. They don't cover a side without a move. Our ruling:
    that side loses if the other can still reach its goal, else the battle is a draw.

    Attributes:
        dwarfs_needed: the fewest dwarfs that can reach their goal.
        trolls_needed: the fewest trolls that can reach theirs.
    """

    dwarfs_needed: int
    trolls_needed: int

    def captured_side(self, _outcome: Outcome) -> Side | None:
        """Return None: the score doesn't tell how many pieces are left."""
        return None

    def score(self, _position: Position, winner: Side | None) -> Score:
        """Return 1 for the winner and 0 for the other side; 0 each without a winner."""
        if winner is None:
            return DRAW
        return Score(1, 0) if winner is Side.DWARF else Score(0, 1)

    def agreement_winner(self, _position: Position) -> Side | None:
        """Return None: an agreement is always a draw."""
        return None

    def no_move_winner(self, position: Position) -> Side | None:
        """Return the side that can move, if it has enough fighters to reach its goal."""
        if position.turn is Side.TROLL:
            able = position.dwarfs.bit_count() >= self.dwarfs_needed
        else:
            able = position.trolls.bit_count() >= self.trolls_needed
        return position.turn.other if able else None

    def resignation_score(self, position: Position, side: Side) -> Score:
        """Return 1 for the other side."""
        return self.score(position, side.other)
