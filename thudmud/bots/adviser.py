"""Who is asked for hints and analyses: our own player, in this process or in one of the workers.

It thinks for a moment, and makes no mistakes on purpose. Both are a
`thudmud.service.interface.Adviser`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from thudmud.bots.program import ProgramError
from thudmud.bots.workers import Question, Reply, Workers
from thudmud.play.analysis import Weighed
from thudmud.rules import Game, Move, Side

NODES = 2_000
"""How many positions are looked at for a hint: that takes less than a tenth of a second."""

ANALYSIS_NODES = 6_000
"""How many are looked at for each position of a battle that is analysed."""

_log = logging.getLogger(__name__)


class OwnAdviser:
    """Our own player in this process, which does nothing else meanwhile."""

    async def advise(self, _board: str, game: Game) -> tuple[Move, ...]:
        """Return what to play in a battle that goes on, and what is expected after that."""
        from thudmud.search.player import Player  # noqa: PLC0415  (only who asks waits for it)
        from thudmud.search.search import Limit  # noqa: PLC0415

        return Player(game.ruleset).think(game, Limit(nodes=NODES)).line

    async def weigh(self, game: Game) -> Weighed:
        """Return what a position of a battle is worth."""
        from thudmud.search.player import Player  # noqa: PLC0415  (as above)
        from thudmud.search.search import Limit, Thought  # noqa: PLC0415

        depths: list[Thought] = []
        limit = Limit(nodes=ANALYSIS_NODES)
        thought = Player(game.ruleset).think(game, limit, depths.append)
        worths = [each.worth for each in depths or [thought]]
        return _weighed(game, worths, thought.line)


class WorkersAdviser:
    """The workers, of which a hint is one question among others'.

    Args:
        workers: who are asked.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def advise(self, board: str, game: Game) -> tuple[Move, ...] | None:
        """Return what to play, and what is expected after that; None if no worker answers."""
        try:
            return (await self._ask(board, game, NODES))[1]
        except (ProgramError, ValueError) as error:
            _log.error("no hint: %s", error)
            return None

    async def weigh(self, game: Game) -> Weighed | None:
        """Return what a position of a battle is worth; None if no worker answers."""
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
        # In a task, since the service begins this in none, and there are no timeouts then.
        reply = await asyncio.create_task(thinking)
        for ply in reply.line:
            game = game.push(ply)
        return reply, game.moves[-len(reply.line) :]


def _weighed(game: Game, worths: Sequence[int], line: tuple[Move, ...]) -> Weighed:
    """Return what was found of a position, if the worths are in the view of the side to move."""
    sign = 1 if game.turn is Side.DWARF else -1
    return Weighed(ANALYSIS_NODES, tuple(sign * each for each in worths), line)
