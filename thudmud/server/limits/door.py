"""The door: the first that a new connection meets, before there is anything of telnet for it.

Owns that nobody gets past it for whom there is no room, and how they are told. Must never know what
happens inside.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import cast

from thudmud.server.limits.gate import Gate

_GRACE = 2.0  # seconds for the client to read why it cannot come in, and to close the connection
_MOST = 50  # connections that are given the time for it

_log = logging.getLogger(__name__)


class Porch:
    """Those who are being shown out again, and how many they are."""

    def __init__(self) -> None:
        self.guests = 0


class Door(asyncio.Protocol):
    """Lets a connection in, or tells it in one line why not.

    Args:
        gate: counts who is here.
        porch: counts who is being shown out.
        inside: makes what takes a connection's place here that may come in.
    """

    def __init__(
        self, gate: Gate, porch: Porch, inside: Callable[[Callable[[], None]], asyncio.BaseProtocol]
    ) -> None:
        self._gate, self._porch, self._inside = gate, porch, inside
        self._ending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or show it out."""
        peer = transport.get_extra_info("peername") or ("", 0)
        address = str(peer[0])
        refusal = self._gate.enter(address, asyncio.get_running_loop().time())
        if refusal is None:
            inside = self._inside(lambda: self._gate.leave(address))
            transport.set_protocol(inside)
            inside.connection_made(transport)
        else:
            _log.info("turned away", extra={"peer": f"{address} {peer[1]}", "for": refusal.name})
            self._show_out(cast("asyncio.Transport", transport), refusal.value)

    def data_received(self, data: bytes) -> None:
        """Drop what somebody says who is shown out: bytes left unread could cost them our words."""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Note that somebody who was shown out has gone."""
        if self._ending is not None:
            self._ending.cancel()
            self._porch.guests -= 1

    def _show_out(self, transport: asyncio.Transport, reason: str) -> None:
        transport.write(f"{reason}\r\n".encode())
        if self._porch.guests >= _MOST or not transport.can_write_eof():
            transport.close()
            return
        self._porch.guests += 1
        self._ending = asyncio.get_running_loop().call_later(_GRACE, transport.abort)
        transport.write_eof()
