"""What is done at the end of a turn of the event loop, for all who have something to do there.

Owns the one callback that the loop has for it: with a thousand who look on, one of each session's
own would cost more than what it does. Must never know what is done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Turn:
    """Calls everybody who has asked for it, once each, when the turn ends."""

    def __init__(self) -> None:
        self._due: list[Callable[[], None]] = []

    def at_end(self, work: Callable[[], None]) -> None:
        """Call ``work`` at the end of this turn."""
        if not self._due:
            asyncio.get_running_loop().call_soon(self._end)
        self._due.append(work)

    def _end(self) -> None:
        due, self._due = self._due, []
        for work in due:
            try:
                work()
            except Exception:  # noqa: BLE001  (it is logged, and nobody else has to wait for it)
                _log.exception("failed at the end of a turn")
