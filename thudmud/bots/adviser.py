"""Hints and analyses by our own player, in this process or in one of the workers.

It thinks for a moment, and makes no deliberate mistakes. Both classes are a
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
"""Positions that are searched for a hint: that takes less than a tenth of a second."""

ANALYSIS_NODES = 6_000
"""Positions that are searched for each position of an analysed battle."""

_log = logging.getLogger(__name__)


class OwnAdviser:
    """Our own player in this process, which it blocks."""

    at_once = 1

    async def advise(self, _board: str, game: Game) -> tuple[Move, ...]:
        """Return the best ply of a running battle, and the plies expected after it."""
        from thudmud.search.player import Player  # noqa: PLC0415  (loaded when first asked)
        from thudmud.search.search import Limit  # noqa: PLC0415

        return Player(game.ruleset).think(game, Limit(nodes=NODES)).line

    async def weigh(self, game: Game) -> Evaluation:
        """Return the analysis of a position."""
        from thudmud.search.player import Player  # noqa: PLC0415  (as above)
        from thudmud.search.search import Limit, Thought  # noqa: PLC0415

        depths: list[Thought] = []
        limit = Limit(nodes=ANALYSIS_NODES)
        thought = Player(game.ruleset).think(game, limit, depths.append)
        worths = [each.worth for each in depths or [thought]]
        return _weighed(game, worths, thought.line)


class WorkersAdviser:
    """The workers, for which a hint is one question among others."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.at_once = workers.spare

    async def advise(self, board: str, game: Game) -> tuple[Move, ...] | None:
        """Return the best ply, and the plies expected after it; None if no worker answers."""
        try:
            return (await self._ask(board, game, NODES))[1]
        except (ProgramError, ValueError) as error:
            _log.error("no hint: %s", error)
            return None

    async def weigh(self, game: Game) -> Evaluation | None:
        """Return the analysis of a position; None if no worker answers."""
        try:
            reply, line = await self._ask(None, game, ANALYSIS_NODES)
        except (ProgramError, ValueError) as error:
            _log.error("a position was not weighed: %s", error)
            return None
        return _weighed(game, reply.worths or [reply.worth], line)

    async def _ask(
        self, board: str | None, game: Game, nodes: int
    ) -> tuple[Reply, tuple[Move, ...]]:
        """Return a worker's reply, and the moves of its line."""
        thinking = self._workers.think(Question(board, game, nodes=nodes))
        # In a task: the service starts this without one, and timeouts need one.
        reply = await asyncio.create_task(thinking)
        for ply in reply.line:
            game = game.push(ply)
        return reply, game.moves[-len(reply.line) :]


def _weighed(game: Game, worths: Sequence[int], line: tuple[Move, ...]) -> Evaluation:
    """Return an analysis from worths in the view of the side to move."""
    sign = 1 if game.turn is Side.DWARF else -1
    return Evaluation(ANALYSIS_NODES, tuple(sign * each for each in worths), line)
