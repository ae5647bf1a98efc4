"""How long nothing has been typed on a connection, and how long somebody takes to say who they are.

Owns when a player is warned, and when it is too long. Must never know what was typed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from thudmud.rules.english import counted

_GLANCE = 30.0  # seconds; the longest between two looks at whether the opponent thinks
_MINUTE = 60.0
_EARLY = 0.001  # seconds; an event loop's timer may be early by less than that


class Idleness:
    """One timer, however much is typed, and one until somebody has a name.

    Args:
        warning: seconds after which there is a warning, fewer than ``limit``; 0 for never.
        limit: seconds after which it is over; 0 for never.
        login: seconds after which it is over for who has no name yet; 0 for never.
        is_excused: whether the player need not type now, since it is the opponent who thinks.
        warn: takes the warning.
        end: called when it is over, with the reason.
    """

    def __init__(
        self,
        warning: float,
        limit: float,
        login: float,
        *,
        is_excused: Callable[[], bool],
        warn: Callable[[str], None],
        end: Callable[[str], None],
    ) -> None:
        self._warning, self._limit, self._login = warning, limit, login
        self._is_excused, self._warn, self._end = is_excused, warn, end
        self._warned = False
        self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._naming: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to count."""
        self.heard()
        if self._limit:
            self._look_later(0.0)
        if self._login:
            loop = asyncio.get_running_loop()
            self._naming = loop.call_later(self._login, self._end_nameless)

    def heard(self) -> None:
        """Note that something has been typed."""
        self._heard = asyncio.get_running_loop().time()
        self._warned = False

    def named(self) -> None:
        """Note that it is known who it is."""
        if self._naming is not None:
            self._naming.cancel()

    def stop(self) -> None:
        """Count no longer."""
        self.named()
        if self._timer is not None:
            self._timer.cancel()

    def _end_nameless(self) -> None:
        self._end(f"This connection ends: it has had no name for {_told(self._login)}. Goodbye!")

    def _look_later(self, idle: float) -> None:
        due = self._warning if self._warning and not self._warned else self._limit
        wait = min(_GLANCE, max(0.0, due - idle))
        self._timer = asyncio.get_running_loop().call_later(wait, self._look)

    def _look(self) -> None:
        if self._is_excused():
            self.heard()
        idle = asyncio.get_running_loop().time() - self._heard
        if idle + _EARLY >= self._limit:
            self._end(f"You have typed nothing for {_told(self._limit)}. Goodbye!")
            return
        if self._warning and idle + _EARLY >= self._warning and not self._warned:
            self._warned = True
            self._warn(
                f"You have typed nothing for {_told(self._warning)}. After "
                f"{_told(self._limit - self._warning)} more the connection ends."
            )
        self._look_later(idle)


def _told(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return counted(round(seconds), "second")
    return counted(round(seconds / _MINUTE), "minute")
