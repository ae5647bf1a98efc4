"""At the gate: whether there is room for another connection.

Owns how many are connected, in all and from where, and how fast they come. Pure: the time comes in
as an argument. Must never know a socket.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum

from thudmud.server.limits.addresses import is_local, origin
from thudmud.server.limits.buckets import Bucket, Buckets
from thudmud.server.settings import ServerSettings

_SHARE_OF_ONE = 1 / 4  # of what is accepted, for one address: else it could keep all others out
_SHARE_KEPT = 1 / 10  # of what is accepted, for this machine


class Rejection(Enum):
    """Why a connection is not accepted, in the sentence that it is sent."""

    FULL = "The server is full. Please try again in a while."
    CROWDED = "There are enough connections from where you are. Please try again in a while."
    HASTY = "Too many connections are being made just now. Please try again in a minute."


class Gate:
    """Counts connections in and out.

    Args:
        settings: the caps.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        rate, size = settings.accepts_per_second, settings.accepts_at_once
        self._pace = Bucket(rate, size)
        self._paces = Buckets(rate * _SHARE_OF_ONE, size * _SHARE_OF_ONE)
        self._here: Counter[str] = Counter()
        self._all = 0
        self._kept = size * _SHARE_KEPT

    def enter(self, address: str, now: float) -> Rejection | None:
        """Count a connection in, for which `leave` is to be called later; or say why not."""
        local, where = is_local(address), origin(address)
        reserved = 0 if local else self._settings.connections_reserved
        if self._all >= self._settings.connections - reserved:
            return Rejection.FULL
        if self._here[where] >= self._settings.connections_per_address:
            return Rejection.CROWDED
        own, kept = self._paces.of(where), 0.0 if local else self._kept
        if own.wait(now) or self._pace.take(now, leaving=kept):
            return Rejection.HASTY
        own.take(now)
        self._here[where] += 1
        self._all += 1
        return None

    def leave(self, address: str) -> None:
        """Count a connection out."""
        where = origin(address)
        self._here[where] -= 1
        self._all -= 1
        if not self._here[where]:
            del self._here[where]
