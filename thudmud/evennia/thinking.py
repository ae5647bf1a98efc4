"""The computer player for boards: one worker process, started on first use.

A daemon thread runs an asyncio event loop for the worker, since Evennia runs Twisted's reactor. The
worker ends with the MUD.
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


def ask_worker(asked: Question | AdviserLookup[Any], then: Callable[[Any], None]) -> None:
    """Ask the worker in the background.

    Args:
        asked: the question for a bot's ply, or the lookup for an adviser.
        then: the callback for the answer, which is called in the reactor's thread; its argument is
            None if there is no answer.
    """
    loop, workers = _workers()

    async def answer() -> Any:
        try:
            return await _answer(workers, asked)
        except Exception:  # noqa: BLE001  (the callback gets None instead)
            logger.log_trace("Our own player doesn't answer.")
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
    """An adviser that never waits: it returns advice that was put into it before.

    Attributes:
        found: the advice by battle.
    """

    at_once = 1

    def __init__(self) -> None:
        self.found: Mapping[Game, Any] = {}

    async def advise(self, _board: str, game: Game) -> Variation | None:
        """Return the best variation, if it was found before."""
        return cast("Variation | None", self.found.get(game))

    async def evaluate(self, game: Game, _report: object = None) -> Evaluation | None:
        """Return the evaluation, if it was found before."""
        return cast("Evaluation | None", self.found.get(game))
