"""What thinks for the boards: a process of our own player, which is started when first asked.

It is asked in a thread with an event loop of its own, since Evennia's is Twisted's. It ends when
the MUD does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from typing import Any, cast

from evennia.utils import logger
from twisted.internet import reactor

from thudmud.bots.adviser import WorkersAdviser
from thudmud.bots.workers import Question, Workers
from thudmud.game.evaluation import AdviserLookup, Evaluation, Variation
from thudmud.rules import Game


def find_out(asked: Question | AdviserLookup[Any], then: Callable[[Any], None]) -> None:
    """Have something found out; ``then`` is called in Evennia's thread, with None if nothing is."""
    loop, workers = _workers()

    async def answer() -> Any:
        try:
            return await _answer(workers, asked)
        except Exception:  # noqa: BLE001  (whoever has asked is told that there is no answer)
            logger.log_trace("Our own player does not answer.")
            return None

    asking = asyncio.run_coroutine_threadsafe(answer(), loop)
    asking.add_done_callback(lambda done: reactor.callFromThread(then, done.result()))


def _answer(workers: Workers, asked: Question | AdviserLookup[Any]) -> Coroutine[Any, Any, Any]:
    if isinstance(asked, Question):
        return workers.think(asked)
    return asked.ask(WorkersAdviser(workers))


@cache
def _workers() -> tuple[asyncio.AbstractEventLoop, Workers]:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="thud", daemon=True).start()
    return loop, Workers(1)


class FoundAdvice:
    """The adviser of a board's house, which waits for nothing: what was found is put here first.

    Attributes:
        found: by a battle as it stands, what an adviser says of it.
    """

    at_once = 1

    def __init__(self) -> None:
        self.found: Mapping[Game, Any] = {}

    async def advise(self, _board: str, game: Game) -> Variation | None:
        """Return what was found; None if nothing was."""
        return cast("Variation | None", self.found.get(game))

    async def weigh(self, game: Game) -> Evaluation | None:
        """Return what was found; None if nothing was."""
        return cast("Evaluation | None", self.found.get(game))
