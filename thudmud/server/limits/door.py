"""The door: the first that a new connection meets, before there is anything of telnet for it.

Owns that nobody gets past it for whom there is no room, and how they are told. Must never know what
happens inside.
"""

from __future__ import annotations

import asyncio
import logging
import socket
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


class _Admission:
    """A connection that the gate has counted in, until it is counted out, once."""

    def __init__(self, gate: Gate, address: str) -> None:
        self.address = address
        self._gate = gate
        self._is_taken = True

    def leave(self) -> None:
        """Have the gate count it out, unless it has."""
        if self._is_taken:
            self._is_taken = False
            self._gate.leave(self.address)


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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or show it out."""
        peer = transport.get_extra_info("peername") or ("", 0)
        address = str(peer[0])
        rejection = self._gate.enter(address, asyncio.get_running_loop().time())
        raw = cast("asyncio.Transport", transport)
        if rejection is not None:
            _log.info("turned away", extra={"peer": f"{address} {peer[1]}", "for": rejection.name})
            self._show_out(raw, rejection.value)
        elif self._context is not None:
            self._begin_tls(raw, _Admission(self._gate, address), self._context)
        else:
            inside = self._inside(_Admission(self._gate, address).leave)
            raw.set_protocol(inside)
            inside.connection_made(raw)

    def data_received(self, data: bytes) -> None:
        """Forget what somebody says who is shown out: left unread it could cost them our words."""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Note that somebody who was shown out has gone."""
        if self._ending is not None:
            self._ending.cancel()
            self._porch.guests -= 1

    def _begin_tls(
        self, raw: asyncio.Transport, admission: _Admission, context: ssl.SSLContext
    ) -> None:
        """Hand the socket to TLS, before anything is read from it.

        `loop.start_tls` would be a turn too late where the loop reads at once, as uvloop does: the
        client's first words would come here.
        """
        try:
            end = raw.get_extra_info("socket").dup()
        except OSError as error:  # too many open files
            _log.warning("no TLS", extra={"why": str(error)})
            admission.leave()
        else:
            self._securing = asyncio.create_task(self._secure(end, admission, context))
        raw.abort()  # which closes this end of the socket, and leaves the other open

    async def _secure(
        self, end: socket.socket, admission: _Admission, context: ssl.SSLContext
    ) -> None:
        """Let a connection in once it speaks TLS."""
        is_in = False
        try:
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._inside(admission.leave),
                end,
                ssl=context,
                ssl_handshake_timeout=_HANDSHAKE,
            )
            is_in = not transport.is_closing()
        except OSError as error:  # of which all are that go wrong with TLS or the connection
            _log.info("no TLS", extra={"peer": admission.address, "why": str(error)})
        finally:
            if not is_in:
                admission.leave()

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
