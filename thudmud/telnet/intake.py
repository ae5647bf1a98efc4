"""What is taken in: whether a connection is read, and how much telnet is interpreted in a turn."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from typing import Protocol

PER_TURN = 512
"""Bytes of telnet, of all connections, that are interpreted in one turn of the event loop.

telnetlib3 takes five to eight microseconds for each, so that is how long others wait. It is more
than an ordinary client sends at once, which therefore never waits by itself.
"""

SHARE = 64
"""Bytes that a connection gets of that before it is the next one's turn, once some have to wait."""

_KEEPALIVE = {"TCP_KEEPIDLE": 120, "TCP_KEEPINTVL": 30, "TCP_KEEPCNT": 4}
"""A dead link on which nothing is sent is noticed after four minutes, where the system lets that be
set; by default it takes two hours. Clients see nothing of it, unlike of a NOP."""

_log = logging.getLogger(__name__)


def notice_dead_links(transport: asyncio.BaseTransport) -> None:
    """Have the system look now and then whether the other end of a connection is there."""
    if (end := transport.get_extra_info("socket")) is not None:  # else it is a test
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Reading:
    """Whether a connection is read: not while anybody holds it up.

    Args:
        transport: the connection.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held_by: set[object] = set()
        self._ended = False

    def hold(self, who: object) -> None:
        """Read nothing until ``who`` lets go."""
        self._held_by.add(who)
        if not self._ended:
            self._transport.pause_reading()

    def let_go(self, who: object) -> None:
        """Read on, unless somebody else holds it up."""
        if who not in self._held_by:
            return
        self._held_by.remove(who)
        # TLS that has ended fails at this, where a bare connection takes no notice.
        if not (self._held_by or self._ended or self._transport.is_closing()):
            self._transport.resume_reading()

    def end(self) -> None:
        """Note that nothing more will come."""
        self._ended = True


class Source(Protocol):
    """A connection that has received something."""

    @property
    def is_behind(self) -> bool:
        """Whether there is something that it has not interpreted yet."""

    def interpret(self, most: int) -> int:
        """Interpret it, but only so many bytes of telnet; return how many there were."""

    def abort(self) -> None:
        """End the connection at once."""


class TelnetQueue:
    """Shares out among connections how much telnet is interpreted in each turn of the event loop.

    Args:
        per_turn: bytes in a turn, of all connections.
    """

    def __init__(self, per_turn: int = PER_TURN) -> None:
        self._per_turn = self._left = per_turn
        self._waiting: deque[Source] = deque()
        self._begins_anew = False

    def take(self, source: Source) -> None:
        """Let a connection interpret what it has: now, if there is room for it in this turn."""
        if self._waiting or not self._left:
            self._waiting.append(source)
        else:
            self._let(source, self._left)

    def _let(self, source: Source, most: int) -> None:
        if not self._begins_anew:
            self._begins_anew = True
            asyncio.get_running_loop().call_soon(self._begin)
        try:
            self._left -= source.interpret(min(most, self._left))
        except Exception:  # noqa: BLE001  (it is logged, and nobody else has to wait for it)
            _log.exception("failed to interpret what a client sent")
            source.abort()
        else:
            if source.is_behind:
                self._waiting.append(source)

    def _begin(self) -> None:
        """Begin a turn, with those who have waited since the one before."""
        self._begins_anew = False
        self._left = self._per_turn
        while self._waiting and self._left:
            self._let(self._waiting.popleft(), SHARE)
