"""What is done at the end of a turn of the event loop, for all who have something to do there.

Owns the one callback that the loop has for it: with a thousand who look on, one of each session's
own would cost more than what it does. Must never know what is done.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

_log = logging.getLogger(__name__)


class Due(Protocol):
    """Somebody who has something to do when a turn ends."""

    def end_turn(self) -> None:
        """Do it."""


class Turn:
    """Calls everybody who has asked for it, once each, when the turn ends."""

    def __init__(self) -> None:
        self._due: list[Due] = []
        self._pieces: list[bytes] = []
        self._joined = b""

    def at_end(self, due: Due) -> None:
        """Call ``due.end_turn`` at the end of this turn."""
        if not self._due:
            asyncio.get_running_loop().call_soon(self._end)
        self._due.append(due)

    def joined(self, pieces: list[bytes]) -> bytes:
        """Return pieces in one; the same bytes for all whose pieces are the same in this turn."""
        if pieces != self._pieces:  # which is quick to see, since nearly all are the same objects
            self._pieces, self._joined = pieces.copy(), b"".join(pieces)
        return self._joined

    def _end(self) -> None:
        due, self._due = self._due, []
        for each in due:
            try:
                each.end_turn()
            except Exception:  # noqa: BLE001  (it is logged, and nobody else has to wait for it)
                _log.exception("failed at the end of a turn")
        self._pieces, self._joined = [], b""
