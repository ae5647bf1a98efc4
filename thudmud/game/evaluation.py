"""Engine evaluations of positions: the principal variation and the score.

A score (``worth``) is in hundredths of a dwarf, from the dwarfs' point of view: negative scores
favour the trolls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from thudmud.errors import InvalidValueError
from thudmud.game.archive import Lookup
from thudmud.rules import Game, Move
from thudmud.values import Value

AnswerT = TypeVar("AnswerT")

Variation = tuple[Move, ...]
"""A line of play: a ply and its expected continuation."""

DECIDED = 10_000
"""The score of a won battle, far more than the value of all pieces."""

_ENDLESS = 1_000


class Evaluation(Value):
    """An engine's evaluation of a position in an unfinished battle.

    Attributes:
        nodes: the node limit of the search.
        worths: the score at each depth, from one ply on.
        line: the principal variation.

    Raises:
        InvalidValueError: ``worths`` or ``line`` is empty.
    """

    nodes: int
    worths: tuple[int, ...]
    line: Variation

    def __post_init__(self) -> None:
        if not self.worths or not self.line:
            raise InvalidValueError("a position has a worth, and a ply that is best")

    @property
    def worth(self) -> int:
        """The mean score of the last two depths, which cancels the odd-even effect.

        At each depth, the side that plays last looks better. A decided position has no mean.
        """
        if abs(self.worths[-1]) >= DECIDED:
            return limit_worth(self.worths[-1])
        return sum(map(limit_worth, self.worths[-2:])) // len(self.worths[-2:])

    @property
    def depth(self) -> int:
        """The search depth in plies; practically infinite for a decided position."""
        return _ENDLESS if abs(self.worths[-1]) >= DECIDED else len(self.worths)

    def at(self, depth: int) -> int:
        """Return the score at a depth, or at the greatest depth that was searched."""
        return limit_worth(self.worths[min(depth, len(self.worths)) - 1])


def limit_worth(worth: int) -> int:
    """Clamp a score to that of a won battle, for either side."""
    return max(-DECIDED, min(DECIDED, worth))


class Adviser(Protocol):
    """An engine that suggests plies and evaluates positions."""

    @property
    def at_once(self) -> int:
        """The number of positions evaluated concurrently; the adviser queues and orders others."""

    async def advise(self, board: str, game: Game) -> Variation | None:
        """Find the best ply in an unfinished battle, and its expected continuation.

        Args:
            board: the key of the board, so that an adviser can be fair to all boards.
            game: the battle.

        Returns:
            a line of one or more legal plies; None if nothing was found.
        """

    async def weigh(self, game: Game) -> Evaluation | None:
        """Evaluate a position for an analysis, at a lower priority than players' hints.

        Args:
            game: an unfinished battle.

        Returns:
            the evaluation, with a line of legal plies; None if nothing was found.
        """


class AdviserLookup(Lookup[AnswerT]):
    """A lookup that is answered by an adviser instead of the store."""

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        """Query an adviser for all positions that the answer needs.

        Returns:
            the adviser's replies, by position.
        """
        raise NotImplementedError
