"""Hints and analyses by the built-in engine, in this process or in a worker.

The engine searches briefly, and makes no deliberate mistakes. Both classes implement
`thudmud.game.evaluation.Adviser`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from thudmud.bots.program import ProgramError
from thudmud.bots.workers import Question, Reply, Workers
from thudmud.game.evaluation import Evaluation
from thudmud.rules import Game, Move, Side

NODES = 2_000
"""Positions searched for a hint, which takes less than a tenth of a second."""

ANALYSIS_NODES = 6_000
"""Positions searched for each position of an analysed battle."""

_log = logging.getLogger(__name__)


class OwnAdviser:
    """Adviser that searches in this process and blocks it."""

    at_once = 1

    async def advise(self, _board: str, game: Game) -> tuple[Move, ...]:
        """Return the principal variation of a running battle: the best ply, then the replies."""
        from thudmud.search.player import Player  # noqa: PLC0415  (loaded when first asked)
        from thudmud.search.search import Limit  # noqa: PLC0415

        return Player(game.ruleset).think(game, Limit(nodes=NODES)).principal_variation

    async def evaluate(self, game: Game) -> Evaluation:
        """Evaluate a position."""
        from thudmud.search.player import Player  # noqa: PLC0415  (as above)
        from thudmud.search.search import Limit, SearchResult  # noqa: PLC0415

        depths: list[SearchResult] = []
        limit = Limit(nodes=ANALYSIS_NODES)
        thought = Player(game.ruleset).think(game, limit, depths.append)
        scores = [each.score for each in depths or [thought]]
        return _evaluation(game, scores, thought.principal_variation)


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

    async def evaluate(self, game: Game) -> Evaluation | None:
        """Evaluate a position; None if no worker answers."""
        try:
            reply, line = await self._ask(None, game, ANALYSIS_NODES)
        except (ProgramError, ValueError) as error:
            _log.error("could not evaluate a position: %s", error)
            return None
        return _evaluation(game, reply.scores_by_depth or [reply.score], line)

    async def _ask(
        self, board: str | None, game: Game, nodes: int
    ) -> tuple[Reply, tuple[Move, ...]]:
        """Ask a worker; return its reply, and the moves of its principal variation."""
        thinking = self._workers.think(Question(board, game, nodes=nodes))
        # `asyncio.timeout` needs a task, and the service runs this coroutine without one.
        reply = await asyncio.create_task(thinking)
        for ply in reply.principal_variation:
            game = game.push(ply)
        return reply, game.moves[-len(reply.principal_variation) :]


def _evaluation(game: Game, scores: Sequence[int], line: tuple[Move, ...]) -> Evaluation:
    """Return an evaluation from the dwarfs' point of view, given scores from the mover's."""
    sign = 1 if game.turn is Side.DWARF else -1
    return Evaluation(ANALYSIS_NODES, tuple(sign * each for each in scores), line)
