"""Connections, as asyncio drives them, and telnetlib3 beneath them, which finds telnet's commands.

This is the only place that drives telnetlib3. Its `Optional`s and `Union`s do not get out.
"""

from __future__ import annotations

import asyncio
import collections
import socket
from collections.abc import Callable
from typing import cast

from telnetlib3 import telopt
from telnetlib3.server_base import BaseServer
from telnetlib3.stream_reader import TelnetReader
from telnetlib3.stream_writer import TelnetWriter

from thudmud.telnet import tls
from thudmud.telnet.interface import Mark, Receiver, Signal, TelnetPolicy
from thudmud.telnet.lines import LineSplitter
from thudmud.telnet.negotiation import Negotiation

RECEIVE_BUFFER = 4096
"""Bytes read at once, into one buffer for all connections of an event loop: it is emptied at once.

It is more than anybody types, and little enough that others do not wait long for their turn while
somebody sends nothing but telnet commands.
"""

_KEEPALIVE = {"TCP_KEEPIDLE": 120, "TCP_KEEPINTVL": 30, "TCP_KEEPCNT": 4}
"""A dead link on which nothing is sent is noticed after four minutes, where the system lets that be
set; by default it takes two hours. Clients see nothing of it, unlike of a NOP."""


class Connection(asyncio.BufferedProtocol):
    """One client's connection, as asyncio drives it.

    It has telnetlib3's protocol, and does not inherit from it: that is an `asyncio.Protocol`, and
    uvloop does not treat what is both as buffered.

    Args:
        open_session: makes the session of a connection.
        policy: what holds for all connections.
        buffer: where asyncio puts what it receives; shared with the loop's other connections.
    """

    session: Receiver
    negotiation: Negotiation

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
        self._is_over = False  # nothing that comes makes sense any more

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make the session, begin to negotiate, and greet."""
        self._telnet.connection_made(transport)
        if (end := transport.get_extra_info("socket")) is not None:  # else it is a test
            end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _KEEPALIVE.items():
                if hasattr(socket, name):
                    end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self.session = self._open_session(cast("asyncio.Transport", transport))
        self.negotiation = Negotiation(self.session, self._policy)
        self._interpreter = cast("_Interpreter", self._telnet.writer)
        self._interpreter.connection = self
        self._interpreter.max_subnegotiation = self._policy.max_subnegotiation
        cast("_TextReader", self._telnet.reader).take = self.take
        self.negotiation.begin()
        self.session.opened(self.negotiation)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return where to put what has been received."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take the bytes; a chunk that holds no telnet commands needs no interpreter."""
        data = bytes(self._buffer[:nbytes])
        if self._opening is not None:
            self._look_for_tls(self._opening + data)
        if self._is_over:
            return
        if telopt.IAC in data or self._interpreter.is_oob:
            self._telnet.data_received(data)
        else:
            self.take(data)

    def eof_received(self) -> bool:
        """Keep the connection open until what has been received is answered."""
        self.session.input_ended()
        return not self._is_tls  # TLS cannot be closed at one end only

    def pause_writing(self) -> None:
        """Tell the session that its client does not keep up."""
        self.session.pause()

    def resume_writing(self) -> None:
        """Tell the session that its client has caught up."""
        self.session.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the session."""
        self._telnet.connection_lost(exc)
        self.session.lost()

    def _look_for_tls(self, opening: bytes) -> None:
        """See whether a client begins with TLS, which is not spoken here."""
        is_tls = tls.is_tls(opening)
        self._opening = opening if is_tls is None else None
        if is_tls:
            self._is_over = True
            self.session.received([Signal.SPEAKS_TLS])

    def take(self, data: bytes) -> None:
        """Take bytes of text, with no telnet among them."""
        lines = self._splitter.feed(data)
        if lines:
            self.session.received(lines)


# telnetlib3, with nothing left of it but that it finds the commands.


class _Telnet(BaseServer):
    """telnetlib3's protocol. It does nothing unasked.

    Its `TelnetServer` would begin to negotiate by itself, and let the client choose the encoding.
    """

    def __init__(self) -> None:
        super().__init__(
            encoding=False,
            connect_maxwait=0,
            reader_factory=_TextReader,
            writer_factory=_Interpreter,
        )

    def encoding(self, outgoing: bool = False, incoming: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002  (telnetlib3's signature)
        """Return UTF-8, whatever a client may ask for."""
        return "utf-8"

    def begin_negotiation(self) -> None:
        """Do nothing: this is called in a later turn, when bytes may have come in already."""


class _TextReader(TelnetReader):
    """Takes the bytes that are left when telnet's own have been taken out."""

    take: Callable[[bytes], None]

    def feed_data(self, data: bytes) -> None:
        self.take(data)  # telnetlib3 would keep them, without limit


_ERASE_CHARACTER, _ERASE_LINE = b"\x7f", b"\x15"  # what keys send for it
_OPTION_COMMANDS = {telopt.DO, telopt.DONT, telopt.WILL, telopt.WONT}
_LOWEST_COMMAND = telopt.EOF  # of those in use; RFC 1184, section 2.4


class _Interpreter(TelnetWriter):
    """Finds telnet's commands, and passes them on to a connection.

    Attributes:
        connection: whose bytes these are. It is set before the first of them comes, as the next is.
        max_subnegotiation: the most bytes that are kept of a sub-negotiation.
    """

    slc_simulated = False
    connection: Connection
    max_subnegotiation: int
    _subnegotiated = 0

    def feed_byte(self, byte: bytes) -> bool:
        """Take a byte; return whether it is none of telnet's."""
        if self.cmd_received == telopt.SB:
            return False if self._is_surplus(byte) else super().feed_byte(byte)
        self._subnegotiated = 0
        is_command = _LOWEST_COMMAND <= byte != telopt.SE
        if self.iac_received and not self.cmd_received and not is_command:
            self.iac_received = False  # telnetlib3 would take the byte for text
            return False
        if byte == telopt.IAC and self.cmd_received in _OPTION_COMMANDS:
            # Option 255 (RFC 861), which telnetlib3 takes for the beginning of another command.
            self.connection.negotiation.hear(self.cmd_received, byte)
            self.cmd_received = False
            return False
        return super().feed_byte(byte)

    def _is_surplus(self, byte: bytes) -> bool:
        """Count a byte inside a sub-negotiation; return whether it is beyond the cap."""
        if bool(self.iac_received) != (byte == telopt.IAC):
            return False  # a command, or the first half of one
        self._subnegotiated += 1
        if self._subnegotiated <= self.max_subnegotiation:
            return False
        self._sb_buffer.clear()
        self.iac_received = False
        return True

    # What has been found. telnetlib3 would act on it by itself; here it is only passed on.

    def handle_subnegotiation(self, buf: collections.deque[bytes]) -> None:
        option, *payload = buf
        self.connection.negotiation.hear_subnegotiation(option, b"".join(payload))

    def handle_do(self, opt: bytes) -> bool:
        if opt == telopt.TM:  # no option, but a question (RFC 860)
            self.connection.session.received([Mark(telopt.IAC + telopt.WILL + telopt.TM)])
        else:
            self.connection.negotiation.hear(telopt.DO, opt)
        return False

    def handle_dont(self, opt: bytes) -> None:
        self.connection.negotiation.hear(telopt.DONT, opt)

    def handle_will(self, opt: bytes) -> None:
        self.connection.negotiation.hear(telopt.WILL, opt)

    def handle_wont(self, opt: bytes) -> None:
        self.connection.negotiation.hear(telopt.WONT, opt)

    def handle_ayt(self, _byte: bytes) -> None:
        self.connection.session.received([Signal.ARE_YOU_THERE])

    def handle_ec(self, _byte: bytes) -> None:
        self.connection.take(_ERASE_CHARACTER)

    def handle_el(self, _byte: bytes) -> None:
        self.connection.take(_ERASE_LINE)
