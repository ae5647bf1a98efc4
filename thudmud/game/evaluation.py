"""Engine evaluations of positions: the principal variation and the score.

A score (``score``) is in hundredths of a dwarf, from the dwarfs' point of view: negative scores
favour the trolls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from thudmud.errors import InvalidValueError
from thudmud.game.archive import Lookup
from thudmud.rules import Game, Move
from thudmud.values import Value

AnswerT = TypeVar("AnswerT")

Variation = tuple[Move, ...]
"""A line of play: a ply and its expected continuation."""

WIN_SCORE = 10_000
"""The score of a won battle, far more than the value of all pieces."""

_DECIDED_DEPTH = 1_000


class Evaluation(Value):
    """An engine's evaluation of a position in an unfinished battle.

    Attributes:
        nodes: the node limit of the search.
        scores_by_depth: the score at each depth, from one ply on.
        principal_variation: the best line found, a ply and its expected continuation.

    Raises:
        InvalidValueError: ``scores_by_depth`` or ``principal_variation`` is empty.
    """

    nodes: int
    scores_by_depth: tuple[int, ...]
    principal_variation: Variation

    def __post_init__(self) -> None:
        if not self.scores_by_depth or not self.principal_variation:
            raise InvalidValueError(
                "expected at least one score and one ply,"
                f" got {len(self.scores_by_depth)} and {len(self.principal_variation)}"
            )

    @property
    def score(self) -> int:
        """The mean score of the last two depths, which cancels the odd-even effect.

        At each depth, the side that plays last looks better. A decided position has no mean.
        """
        if abs(self.scores_by_depth[-1]) >= WIN_SCORE:
            return clamp_score(self.scores_by_depth[-1])
        return sum(map(clamp_score, self.scores_by_depth[-2:])) // len(self.scores_by_depth[-2:])

    @property
    def depth(self) -> int:
        """The search depth in plies; practically infinite for a decided position."""
        return (
            _DECIDED_DEPTH
            if abs(self.scores_by_depth[-1]) >= WIN_SCORE
            else len(self.scores_by_depth)
        )

    def score_at_depth(self, depth: int) -> int:
        """Return the score at a depth, or at the greatest depth that was searched."""
        return clamp_score(self.scores_by_depth[min(depth, len(self.scores_by_depth)) - 1])


def clamp_score(score: int) -> int:
    """Clamp a score to that of a won battle, for either side."""
    return max(-WIN_SCORE, min(WIN_SCORE, score))


def on_game_scale(score: int, opening: int, game: Game) -> int:
    """Shift a position's score by the difference between the opening's and its game score.

    Scores can be compared with each other, but not with game scores. That of a won battle stays.

    Args:
        score: the score of a position of the battle.
        opening: the score of the battle's first position.
        game: the battle.
    """
    if abs(score) >= WIN_SCORE:
        return score
    begins = game.ruleset.score(game.initial_position)
    return clamp_score(score + 100 * (begins.dwarf - begins.troll) - opening)


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

    async def evaluate(
        self, game: Game, report: Callable[[Evaluation], object] | None = None
    ) -> Evaluation | None:
        """Evaluate a position for an analysis, at a lower priority than players' hints.

        Args:
            game: an unfinished battle.
            report: called with the evaluation at each depth, for a player who watches; the search
                may then be deeper. An adviser that blocks ignores it.

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
