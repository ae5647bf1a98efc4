"""Hints and analyses by the built-in engine, in this process or in a worker.

The engine searches briefly, and makes no deliberate mistakes. Both classes implement
`thudmud.game.evaluation.Adviser`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from thudmud.bots.program import ProgramError
from thudmud.bots.workers import Question, Reply, Workers
from thudmud.game.evaluation import Evaluation
from thudmud.rules import Game, Move, Side

NODES = 2_000
"""Positions searched for a hint, which takes less than a tenth of a second."""

ANALYSIS_NODES = 6_000
"""Positions searched for each position of an analysed battle."""

WATCHED_NODES = 40_000
"""Positions searched for a position whose evaluation somebody watches. That takes a second or two,
and finds a line of five plies or more."""

_SHALLOWEST = 4
"""The least depth to report, which finds a line of four plies. Lower ones take no time."""

_log = logging.getLogger(__name__)


class OwnAdviser:
    """Adviser that searches in this process and blocks it."""

    at_once = 1

    async def advise(self, _board: str, game: Game) -> tuple[Move, ...]:
        """Return the principal variation of a running battle: the best ply, then the replies."""
        from thudmud.search.player import Player  # noqa: PLC0415  (loaded when first asked)
        from thudmud.search.search import Limit  # noqa: PLC0415

        return Player(game.ruleset).think(game, Limit(nodes=NODES)).principal_variation

    async def evaluate(
        self, game: Game, _report: Callable[[Evaluation], object] | None = None
    ) -> Evaluation:
        """Evaluate a position, without reports."""
        from thudmud.search.player import Player  # noqa: PLC0415  (as above)
        from thudmud.search.search import Limit, SearchResult  # noqa: PLC0415

        depths: list[SearchResult] = []
        limit = Limit(nodes=ANALYSIS_NODES)
        thought = Player(game.ruleset).think(game, limit, depths.append)
        scores = [each.score for each in depths or [thought]]
        return _evaluation(game, ANALYSIS_NODES, scores, thought.principal_variation)


class WorkersAdviser:
    """Adviser that asks the workers, which share their queue with the bots."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.at_once = workers.spare

    async def advise(self, board: str, game: Game) -> tuple[Move, ...] | None:
        """Return the principal variation; None if no worker answers."""
        try:
            return (await self._ask(board, game, NODES))[1]
        except (ProgramError, ValueError) as error:
            _log.error("could not find a hint: %s", error)
            return None

    async def evaluate(
        self, game: Game, report: Callable[[Evaluation], object] | None = None
    ) -> Evaluation | None:
        """Evaluate a position, more deeply if there are reports; None if no worker answers."""
        nodes = WATCHED_NODES if report else ANALYSIS_NODES
        reported = 0

        def tell(reply: Reply) -> None:
            nonlocal reported
            depth = len(reply.scores_by_depth)
            if report and depth >= _SHALLOWEST and depth > reported:
                reported = depth
                with suppress(ValueError):  # a wrong line, which fails at the end
                    line = _moves(game, reply)
                    report(_evaluation(game, nodes, reply.scores_by_depth, line))

        try:
            reply, line = await self._ask(None, game, nodes, tell)
        except (ProgramError, ValueError) as error:
            _log.error("could not evaluate a position: %s", error)
            return None
        return _evaluation(game, nodes, reply.scores_by_depth or [reply.score], line)

    async def _ask(
        self,
        board: str | None,
        game: Game,
        nodes: int,
        report: Callable[[Reply], object] | None = None,
    ) -> tuple[Reply, tuple[Move, ...]]:
        """Ask a worker; return its reply, and the moves of its principal variation."""
        thinking = self._workers.think(Question(board, game, nodes=nodes), report)
        # `asyncio.timeout` needs a task, and the service runs this coroutine without one.
        reply = await asyncio.create_task(thinking)
        return reply, _moves(game, reply)


def _moves(game: Game, reply: Reply) -> tuple[Move, ...]:
    """Return the moves of a reply's principal variation.

    Raises:
        ValueError: one of them is illegal.
    """
    for ply in reply.principal_variation:
        game = game.push(ply)
    return game.moves[-len(reply.principal_variation) :]


def _evaluation(
    game: Game, nodes: int, scores: Sequence[int], line: tuple[Move, ...]
) -> Evaluation:
    """Return an evaluation from the dwarfs' point of view, given scores from the mover's."""
    sign = 1 if game.turn is Side.DWARF else -1
    return Evaluation(nodes, tuple(sign * each for each in scores), line)
