"""The door: the first that a new connection meets, before there is anything of telnet for it.

Owns that nobody gets past it for whom there is no room, and how they are told. Must never know what
happens inside.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import cast

from thudmud.server.limits.gate import Gate

_GRACE = 2.0  # seconds for the client to read why it cannot come in, and to close the connection
_MOST = 50  # connections that are given the time for it
_HANDSHAKE = 10.0  # seconds that a client may take to begin with TLS

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
        context: what TLS needs, where it is spoken. It begins behind the gate, which would
            otherwise not count those who never do.
    """

    def __init__(
        self,
        gate: Gate,
        porch: Porch,
        inside: Callable[[Callable[[], None]], asyncio.BufferedProtocol],
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._gate, self._porch, self._inside, self._context = gate, porch, inside, context
        self._ending: asyncio.TimerHandle | None = None
        self._early = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or show it out."""
        peer = transport.get_extra_info("peername") or ("", 0)
        address = str(peer[0])
        refusal = self._gate.enter(address, asyncio.get_running_loop().time())
        raw = cast("asyncio.Transport", transport)
        if refusal is not None:
            _log.info("turned away", extra={"peer": f"{address} {peer[1]}", "for": refusal.name})
            self._show_out(raw, refusal.value)
        elif self._context is not None:
            self._securing = asyncio.create_task(self._secure(raw, address, self._context))
        else:
            self._let_in(raw, address)

    def data_received(self, data: bytes) -> None:
        """Keep what comes together with the end of the handshake, for the inside.

        What somebody says who is shown out is read, too, but for nothing: bytes left unread could
        cost them our words.
        """
        if self._ending is None:
            self._early += data

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Note that somebody who was shown out has gone."""
        if self._ending is not None:
            self._ending.cancel()
            self._porch.guests -= 1

    async def _secure(
        self, transport: asyncio.Transport, address: str, context: ssl.SSLContext
    ) -> None:
        """Let a connection in that speaks TLS."""
        loop = asyncio.get_running_loop()
        try:
            secure = await loop.start_tls(
                transport, self, context, server_side=True, ssl_handshake_timeout=_HANDSHAKE
            )
        except OSError as error:  # of which all are that go wrong with TLS or the connection
            _log.info("no TLS", extra={"peer": address, "why": str(error)})
            secure = None
        except asyncio.CancelledError:
            self._gate.leave(address)
            raise
        if secure is None or secure.is_closing():
            self._gate.leave(address)
            return
        inside = self._let_in(secure, address)
        if self._early:
            loop.call_soon(self._hand_over, inside)  # behind what the inside has put off to then

    def _let_in(self, transport: asyncio.Transport, address: str) -> asyncio.BufferedProtocol:
        inside = self._inside(lambda: self._gate.leave(address))
        transport.set_protocol(inside)
        inside.connection_made(transport)
        return inside

    def _hand_over(self, inside: asyncio.BufferedProtocol) -> None:
        """Give the inside what has come before it was there."""
        rest = bytes(self._early)
        while rest:
            buffer = memoryview(inside.get_buffer(len(rest)))
            count = min(len(buffer), len(rest))
            buffer[:count] = rest[:count]
            rest = rest[count:]
            inside.buffer_updated(count)

    def _show_out(self, transport: asyncio.Transport, reason: str) -> None:
        if self._context is not None:
            transport.close()  # they would read our words as TLS
            return
        transport.write(f"{reason}\r\n".encode())
        if self._porch.guests >= _MOST or not transport.can_write_eof():
            transport.close()
            return
        self._porch.guests += 1
        self._ending = asyncio.get_running_loop().call_later(_GRACE, transport.abort)
        transport.write_eof()
