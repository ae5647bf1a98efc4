"""Who is asked for hints: our own player, in this process or in one of the workers.

It thinks for a moment, and makes no mistakes on purpose. Both are a
`thudmud.service.interface.Adviser`.
"""

from __future__ import annotations

import asyncio
import logging

from thudmud.bots.program import ProgramError
from thudmud.bots.workers import Question, Workers
from thudmud.rules import Game, Move

NODES = 2_000
"""How many positions are looked at for a hint: that takes less than a tenth of a second."""

_log = logging.getLogger(__name__)


class OwnAdviser:
    """Our own player in this process, which does nothing else meanwhile."""

    async def advise(self, _board: str, game: Game) -> tuple[Move, ...]:
        """Return what to play in a battle that goes on, and what is expected after that."""
        from thudmud.search.levels import Player  # noqa: PLC0415  (only who asks waits for it)
        from thudmud.search.search import Limit  # noqa: PLC0415

        return Player(game.ruleset).think(game, Limit(nodes=NODES)).line


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
            thinking = self._workers.think(Question(board, game, nodes=NODES))
            # In a task, since the service begins this in none, and there are no timeouts then.
            answer = await asyncio.create_task(thinking)
            for ply in answer.line:
                game = game.push(ply)
        except (ProgramError, ValueError) as error:
            _log.error("no hint: %s", error)
            return None
        return game.moves[-len(answer.line) :]
