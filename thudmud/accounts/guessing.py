"""Guesses at a password or a resume word, made to wait when there are too many."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from thudmud.accounts.throttles import Throttle
from thudmud.english import counted

_CROWDED = "Too many are trying that at the moment. Please come again later."

_log = logging.getLogger(__name__)


class Console(Protocol):
    """Somebody at the other end of a connection, who is asked for lines."""

    async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
        """Return the next line, as it was typed.

        Args:
            prompt: what stands in front of it, a blank at its end.
            hidden: whether it is not to be seen while it is typed.
            before: a sentence to be shown before, to somebody who has not answered yet.
        """

    def say(self, sentence: str) -> None:
        """Show a sentence."""


class Guessing:
    """Lets guesses be made, no faster than the throttle allows.

    Args:
        pause: waits for a number of seconds.
        clock: returns seconds that never go back.
    """

    def __init__(
        self,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._throttle = Throttle()
        self._pause, self._clock = pause, clock

    async def guess(
        self, console: Console, name: str, address: str, is_right: Callable[[], Awaitable[bool]]
    ) -> bool | None:
        """Return whether a guess is right, after the time that it has to wait.

        Args:
            console: who guesses.
            name: whose secret it is.
            address: from where.
            is_right: finds out.

        Returns:
            None if it may not be made, of which they have been told.
        """
        guess = self._throttle.begin(name, address, self._clock())
        if guess is None:
            _log.info("too many answers", extra={"player": name, "address": address})
            console.say(_CROWDED)
            return None
        if guess.wait:
            seconds = counted(math.ceil(guess.wait), "second")
            console.say(f"There were too many wrong answers. Please wait {seconds}.")
            await self._pause(guess.wait)
        if await is_right():
            self._throttle.forgive(guess)
            return True
        _log.info("a wrong answer", extra={"player": name, "address": address})
        return False
