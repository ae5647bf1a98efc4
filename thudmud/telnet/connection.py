"""Telnet: bytes of a socket -> lines and signals for a session, and its answers.

With interpreter.py this is the only place that drives telnetlib3, whose `Optional`s and `Union`s it
keeps to itself. Lines do not pass through telnetlib3's reader, which bounds nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import cast

from telnetlib3 import telopt
from telnetlib3.server_base import BaseServer

from thudmud.telnet import tls
from thudmud.telnet.interface import Item, Receiver, Signal, TelnetPolicy
from thudmud.telnet.interpreter import InBand, Interpreter, LineSplitter
from thudmud.telnet.negotiation import Negotiation

RECEIVE_BUFFER = 4096
"""Bytes read at once. One buffer serves all connections of an event loop: it is emptied at once.

It is more than anybody types, and little enough that others do not wait long for their turn while
somebody sends nothing but telnet commands.
"""

_KEEPALIVE = {"TCP_KEEPIDLE": 120, "TCP_KEEPINTVL": 30, "TCP_KEEPCNT": 4}
"""A link that is dead, and on which nothing is sent, is noticed after four minutes, where the
system lets that be set; by default it is two hours. Clients see nothing of it, unlike of a NOP."""


class _Telnet(BaseServer):
    """telnetlib3's side of a connection, which does nothing unasked.

    Its `TelnetServer` would begin rounds of negotiation by itself, and let the client choose the
    encoding.
    """

    def __init__(self) -> None:
        super().__init__(
            encoding=False,
            connect_maxwait=0,
            reader_factory=InBand,
            writer_factory=Interpreter,
        )

    def encoding(self, outgoing: bool = False, incoming: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002  (telnetlib3's signature)
        """Return UTF-8, whatever a client may ask for."""
        return "utf-8"

    def begin_negotiation(self) -> None:
        """Do nothing: this is called in a later turn, when something may have come in already.

        How callbacks and what comes in follow on each other is up to the event loop.
        """


class Connection(asyncio.BufferedProtocol):
    """One client's connection, as asyncio drives it.

    It is no `asyncio.Protocol`, as telnetlib3's classes are: to uvloop, what is both is not
    buffered.

    Args:
        open_session: Makes the session of a connection.
        policy: What holds for all connections.
        buffer: Where asyncio puts what it receives; shared with the loop's other connections.
    """

    session: Receiver

    def __init__(
        self,
        open_session: Callable[[asyncio.Transport], Receiver],
        policy: TelnetPolicy,
        buffer: memoryview,
    ) -> None:
        self._telnet = _Telnet()
        self._open_session = open_session
        self._policy = policy
        self._splitter = LineSplitter(policy.max_line)
        self._buffer = buffer
        self._opening: bytes | None = b""  # until it is known whether that is TLS
        self._deaf = False

    # What asyncio reports.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make the session, begin to negotiate, and greet."""
        self._telnet.connection_made(transport)
        _keep_alive(transport.get_extra_info("socket"))
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self.session = self._open_session(cast("asyncio.Transport", transport))
        self._negotiation = Negotiation(self.session, self._policy)
        self._interpreter = cast("Interpreter", self._telnet.writer)
        self._interpreter.ear = self
        self._interpreter.max_subnegotiation = self._policy.max_subnegotiation
        cast("InBand", self._telnet.reader).sink = self.take
        self._negotiation.begin()
        self.session.opened(self._negotiation)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return where to put what has been received."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take the bytes; those of a chunk without any telnet in it need no interpreter."""
        data = bytes(self._buffer[:nbytes])
        if self._opening is not None:
            self._look_for_tls(self._opening + data)
        if self._deaf:
            return
        if telopt.IAC in data or self._interpreter.is_oob:
            self._telnet.data_received(data)
        else:
            self.take(data)

    def eof_received(self) -> bool:
        """Keep the connection open until what has been received is answered."""
        self.session.input_ended()
        return not self._is_tls  # which cannot be closed at one end only

    def pause_writing(self) -> None:
        """Tell the session that its client does not keep up."""
        self.session.choke()

    def resume_writing(self) -> None:
        """Tell the session that its client has caught up."""
        self.session.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the session."""
        self._telnet.connection_lost(exc)
        self.session.lost()

    # What the interpreter reports.

    def take(self, data: bytes) -> None:
        """Take bytes of text, with no telnet among them."""
        lines = self._splitter.feed(data)
        if lines:
            self.session.received(lines)

    def report(self, item: Item) -> None:
        """Hand the session something that is not a line."""
        self.session.received([item])

    def hear(self, command: bytes, option: bytes) -> None:
        """Take a DO, DONT, WILL or WONT."""
        self._negotiation.hear(command, option)

    def hear_more(self, option: bytes, payload: bytes) -> None:
        """Take a sub-negotiation."""
        self._negotiation.hear_more(option, payload)

    def _look_for_tls(self, opening: bytes) -> None:
        """See whether a client begins with TLS; there is no sense in what it sends then."""
        self._opening = opening if tls.may_be_tls(opening) else None
        if tls.is_tls(opening):
            self._opening = None
            self._deaf = True
            self.report(Signal.SPEAKS_TLS)


def _keep_alive(end: socket.socket | None) -> None:
    """Let the system look, now and then, whether the other end is still there."""
    if end is None:  # in a test
        return
    end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
