"""What an engine says about positions: the best variation, and what a position is worth.

Worths are in hundredths of a dwarf, as the dwarfs see it: below 0 is good for the trolls.
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
"""A line of play: a ply, and those expected after it."""

DECIDED = 10_000
"""The worth of a won battle: far more than all pieces count."""

_ENDLESS = 1_000


class Evaluation(Value):
    """An engine's judgement of a position in which a battle goes on.

    Attributes:
        nodes: how many positions it was allowed to look at.
        worths: the worth it found at each depth, from one ply on.
        line: the plies it expects, the principal variation.

    Raises:
        InvalidValueError: there is no worth, or no line.
    """

    nodes: int
    worths: tuple[int, ...]
    line: Variation

    def __post_init__(self) -> None:
        if not self.worths or not self.line:
            raise InvalidValueError("a position has a worth, and a ply that is best")

    @property
    def worth(self) -> int:
        """The mean of the last two depths: at each depth the side that plays last looks better."""
        if abs(self.worths[-1]) >= DECIDED:
            return limit_worth(self.worths[-1])
        return sum(map(limit_worth, self.worths[-2:])) // len(self.worths[-2:])

    @property
    def depth(self) -> int:
        """How many plies deep it looked; a decided position is decided at any depth."""
        return _ENDLESS if abs(self.worths[-1]) >= DECIDED else len(self.worths)

    def at(self, depth: int) -> int:
        """Return the worth at a depth."""
        return limit_worth(self.worths[min(depth, len(self.worths)) - 1])


def limit_worth(worth: int) -> int:
    """Return a worth, at most that of a won battle."""
    return max(-DECIDED, min(DECIDED, worth))


class Adviser(Protocol):
    """Finds plies, and weighs positions."""

    @property
    def at_once(self) -> int:
        """How many positions it weighs at a time. More would wait, in an order of its own."""

    async def advise(self, board: str, game: Game) -> Variation | None:
        """Return what to play in a running battle, and the plies expected after it.

        Args:
            board: the key of the board, so that an adviser can be fair to all boards.
            game: the battle.

        Returns:
            at least one ply, all of them legal in turn; None if nothing was found.
        """

    async def weigh(self, game: Game) -> Evaluation | None:
        """Return the worth of a position, for an analysis. Players' hints come first.

        Args:
            game: a battle that is not over.

        Returns:
            the worth, with a line of legal plies; None if nothing was found.
        """


class AdviserLookup(Lookup[AnswerT]):
    """A lookup that an adviser answers, and not the store."""

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        """Ask an adviser everything that the answer takes; return what it says, by position."""
        raise NotImplementedError
