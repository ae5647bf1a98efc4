"""Input: pausing connections, and limiting how much telnet is interpreted in a turn."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from typing import Protocol

PER_TURN = 512
"""Bytes of telnet, from all connections, that are interpreted in one turn of the event loop.

telnetlib3 takes five to eight microseconds for each byte, which others have to wait for. An
ordinary client sends fewer at once, and so never waits because of itself.
"""

SHARE = 64
"""Bytes that a connection may use of that before it is the next one's turn, once some have to wait.
"""

_KEEPALIVE = {"TCP_KEEPIDLE": 120, "TCP_KEEPINTVL": 30, "TCP_KEEPCNT": 4}
"""A dead, silent link is noticed after four minutes, where the system lets that be set; by default
it takes two hours. Clients see nothing of it, unlike of a NOP."""

_log = logging.getLogger(__name__)


def notice_dead_links(transport: asyncio.BaseTransport) -> None:
    """Turn on TCP keep-alives for a connection."""
    if (end := transport.get_extra_info("socket")) is not None:  # else it is a test
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Reading:
    """Reads a connection, except while somebody holds it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held_by: set[object] = set()
        self._ended = False

    def hold(self, who: object) -> None:
        """Stop reading until ``who`` lets go."""
        self._held_by.add(who)
        if not self._ended:
            self._transport.pause_reading()

    def let_go(self, who: object) -> None:
        """Read on, unless somebody else holds it."""
        if who not in self._held_by:
            return
        self._held_by.remove(who)
        # This fails with TLS that has ended; a bare connection ignores it.
        if not (self._held_by or self._ended or self._transport.is_closing()):
            self._transport.resume_reading()

    def end(self) -> None:
        """Note that nothing more will come."""
        self._ended = True


class Source(Protocol):
    """A connection that has received telnet."""

    @property
    def is_behind(self) -> bool:
        """Whether it has bytes that are not interpreted yet."""

    def interpret(self, most: int) -> int:
        """Interpret them, up to so many bytes of telnet; return how many there were.

        The last command may count for a few more than were left.
        """

    def abort(self) -> None:
        """End the connection at once."""


class TelnetQueue:
    """Shares so many bytes of telnet in each turn of the event loop among all connections."""

    def __init__(self, per_turn: int = PER_TURN) -> None:
        self._per_turn = self._left = per_turn
        self._waiting: deque[Source] = deque()
        self._begins_anew = False

    def take(self, source: Source) -> None:
        """Let a connection interpret its bytes: now, if this turn has room for it."""
        if self._waiting or not self._left:
            self._waiting.append(source)
        else:
            self._let(source, self._left)

    def _let(self, source: Source, most: int) -> None:
        if not self._begins_anew:
            self._begins_anew = True
            asyncio.get_running_loop().call_soon(self._begin)
        try:
            spent = source.interpret(min(most, self._left))
            self._left = max(0, self._left - spent)
        except Exception:  # noqa: BLE001  (it is logged, and others go on)
            _log.exception("failed to interpret telnet")
            source.abort()
        else:
            if source.is_behind:
                self._waiting.append(source)

    def _begin(self) -> None:
        """Begin a turn, with the connections that have waited since the one before."""
        self._begins_anew = False
        self._left = self._per_turn
        while self._waiting and self._left:
            self._let(self._waiting.popleft(), SHARE)
