"""A dialogue's terminal, and what it takes to guess at something on it.

Owns how somebody who guesses too often is told to wait, and waits. Must never know what is guessed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from thudmud.engine.english import counted
from thudmud.server.throttle import Throttle

_log = logging.getLogger(__name__)


class Terminal(Protocol):
    """Somebody at the other end of a connection, who is asked for lines."""

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        """Return the next line, as it was typed.

        Args:
            prompt: what stands in front of it, a blank at its end.
            hidden: whether it is not to be seen while it is typed.
        """

    def say(self, sentence: str) -> None:
        """Show a sentence."""


class Guessing:
    """Lets guesses be made, no faster than the throttle allows.

    Args:
        pause: waits for a number of seconds.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._throttle = Throttle()
        self._pause = pause

    async def guess(
        self, terminal: Terminal, name: str, address: str, is_right: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Return whether a guess is right, after the time that it has to wait.

        Args:
            terminal: who guesses.
            name: whose secret it is.
            address: from where.
            is_right: finds out.
        """
        attempt = self._throttle.begin(name, address, asyncio.get_running_loop().time())
        if attempt.wait:
            seconds = counted(round(attempt.wait), "second")
            terminal.say(f"There were too many wrong answers. Please wait {seconds}.")
            await self._pause(attempt.wait)
        if await is_right():
            self._throttle.forgive(attempt)
            return True
        _log.info("a wrong answer for %s from %s", name, address)
        return False
