"""Input: pauses reading, and shares the interpretation of telnet among the connections."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from typing import Protocol

PER_TURN = 512
"""Bytes of telnet, from all connections, that are interpreted in one turn of the event loop.

telnetlib3 takes five to eight microseconds for each byte, in which nobody else is served. An
ordinary client sends fewer at once, and so never waits for itself.
"""

SHARE = 64
"""Bytes that a waiting connection may have interpreted before it is the next one's turn."""

_KEEPALIVE = {"TCP_KEEPIDLE": 120, "TCP_KEEPINTVL": 30, "TCP_KEEPCNT": 4}
"""Options in seconds, and a number of probes: a dead link is noticed after four minutes instead of
two hours, if the system has these options. Unlike a telnet NOP, clients don't see the probes."""

_log = logging.getLogger(__name__)


def notice_dead_links(transport: asyncio.BaseTransport) -> None:
    """Turn on TCP keep-alives for a connection."""
    if (end := transport.get_extra_info("socket")) is not None:  # tests have none
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class ReadPauser:
    """The reading side of a transport: it is paused while anybody holds it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held_by: set[object] = set()
        self._ended = False

    def hold(self, who: object) -> None:
        """Pause reading until ``who`` lets go."""
        self._held_by.add(who)
        if not self._ended:
            self._transport.pause_reading()

    def release(self, who: object) -> None:
        """Resume reading, unless another holder is left."""
        if who not in self._held_by:
            return
        self._held_by.remove(who)
        # Resuming a TLS transport that has ended raises an exception; a bare one ignores it.
        if not (self._held_by or self._ended or self._transport.is_closing()):
            self._transport.resume_reading()

    def end(self) -> None:
        """Leave the transport alone from now on: the client's input has ended."""
        self._ended = True


class Source(Protocol):
    """A connection that has received telnet commands."""

    @property
    def is_behind(self) -> bool:
        """Whether received bytes are still uninterpreted."""

    def interpret(self, most: int) -> int:
        """Interpret received bytes, up to about ``most`` bytes of telnet commands.

        Returns:
            The number of telnet bytes, which the last command may push a little above ``most``.
        """

    def abort(self) -> None:
        """End the connection at once."""


class TelnetQueue:
    """Shares the interpretation of telnet among all connections, round-robin.

    Args:
        per_turn: the bytes of telnet that are interpreted in each turn of the event loop.
    """

    def __init__(self, per_turn: int = PER_TURN) -> None:
        self._per_turn = self._left = per_turn
        self._waiting: deque[Source] = deque()
        self._begins_anew = False

    def take(self, source: Source) -> None:
        """Let a connection interpret its bytes: now, unless this turn's bytes are used up."""
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
        """Renew the byte budget for this turn of the event loop; serve waiting connections."""
        self._begins_anew = False
        self._left = self._per_turn
        while self._waiting and self._left:
            self._let(self._waiting.popleft(), SHARE)
