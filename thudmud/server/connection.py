"""Telnet: bytes of a socket -> lines and signals for a session, and its answers.

Owns everything that telnet says about itself, and is the only importer of telnetlib3, whose option
bookkeeping it uses and whose `Optional`s and `Union`s it keeps to itself. Lines do not pass through
telnetlib3's reader, which bounds nothing. Must never know what a line says.

Agreed to so far: NAWS (RFC 1073), and ECHO (RFC 857) while what is typed is to be hidden: we say
that we echo, and do not. Everything else that a client asks for or offers is refused, so that it
stays in line mode and echoes for itself (PuTTY waits for those refusals).
"""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Callable, Iterable
from typing import Protocol, cast

from telnetlib3 import telopt
from telnetlib3.server_base import BaseServer
from telnetlib3.stream_reader import TelnetReader
from telnetlib3.stream_writer import TelnetWriter

from thudmud.server.items import Item, Mark, Resized, Signal, Typing
from thudmud.server.lines import ERASE_CHARACTER, ERASE_LINE, LineSplitter

RECEIVE_BUFFER = 16384
"""Bytes read at once. One buffer serves all connections of an event loop: it is emptied at once."""

_LONGEST_SUBNEGOTIATION = 64  # bytes; NAWS needs 5, or 9 with every byte of it escaped
_REFUSALS = {telopt.DO: telopt.WONT, telopt.WILL: telopt.DONT, telopt.DONT: b"", telopt.WONT: b""}
"""What says no to a command about an option; to "no" there is no answer (RFC 854)."""
_NAWS_LENGTH = 5  # its option byte and two numbers of 16 bits
_LOWEST_COMMAND = telopt.EOF  # of those in use; RFC 1184, section 2.4


class Receiver(Protocol):
    """What a connection reports to its session."""

    def opened(self, typing: Typing) -> None:
        """The connection stands."""

    def received(self, items: Iterable[Item]) -> None:
        """These have come in, in this order."""

    def input_ended(self) -> None:
        """Nothing more will come."""

    def command(self, sequence: bytes) -> None:
        """Telnet bytes are to be sent."""

    def choke(self) -> None:
        """The client is not reading what it has been sent."""

    def resume(self) -> None:
        """The client has caught up."""

    def lost(self) -> None:
        """The connection is gone."""


class _InBand(TelnetReader):
    """Takes what is left of the bytes when telnet's own have been taken out."""

    sink: Callable[[bytes], None]

    def feed_data(self, data: bytes) -> None:
        self.sink(data)


class _Interpreter(TelnetWriter):
    """telnetlib3's command interpreter, with everything refused that we do not use.

    By itself it hangs on a malformed MSDP list, inflates what a client sends when told to, and
    keeps a megabyte of sub-negotiation; none of those bytes get that far.
    """

    slc_simulated = False
    connection: Connection
    _subnegotiated = 0

    def feed_byte(self, byte: bytes) -> bool:
        if self.cmd_received == telopt.SB:
            if self._is_surplus(byte):
                return False
            return super().feed_byte(byte)
        self._subnegotiated = 0
        if self.iac_received and not self.cmd_received and _is_unknown(byte):
            self.iac_received = False
            return False
        if byte == telopt.IAC and self.cmd_received in _REFUSALS:
            # Option 255 (RFC 861), which telnetlib3 takes for the beginning of another command.
            self._refuse(_REFUSALS[self.cmd_received], byte)
            self.cmd_received = False
            return False
        return super().feed_byte(byte)

    def _is_surplus(self, byte: bytes) -> bool:
        """Count a byte inside a sub-negotiation; return whether it is beyond the cap."""
        if bool(self.iac_received) != (byte == telopt.IAC):
            return False  # a command, or the first half of one
        self._subnegotiated += 1
        if self._subnegotiated <= _LONGEST_SUBNEGOTIATION:
            return False
        self.iac_received = False
        return True

    def handle_subnegotiation(self, buf: collections.deque[bytes]) -> None:
        if buf[0] == telopt.NAWS and len(buf) == _NAWS_LENGTH:
            super().handle_subnegotiation(buf)

    def handle_do(self, opt: bytes) -> bool:
        if opt == telopt.TM:
            self.connection.report(Mark(telopt.IAC + telopt.WILL + telopt.TM))
        elif opt != telopt.ECHO or not self.connection.echo.agreed():
            self._refuse(telopt.WONT, opt)
        return False

    def handle_dont(self, opt: bytes) -> None:
        if opt == telopt.ECHO:
            self.connection.echo.declined()

    def handle_will(self, opt: bytes) -> None:
        if opt == telopt.NAWS:
            super().handle_will(opt)
        else:
            self._refuse(telopt.DONT, opt)

    def handle_wont(self, opt: bytes) -> None:
        self.remote_option[opt] = False

    def _refuse(self, refusal: bytes, opt: bytes) -> None:
        if refusal:
            self.send_iac(telopt.IAC + refusal + opt)

    def handle_ayt(self, _byte: bytes) -> None:
        self.connection.report(Signal.ARE_YOU_THERE)

    def handle_ec(self, _byte: bytes) -> None:
        self.connection.take(ERASE_CHARACTER)

    def handle_el(self, _byte: bytes) -> None:
        self.connection.take(ERASE_LINE)

    def send_iac(self, buf: bytes) -> None:
        self.connection.session.command(buf)


class _Echo:
    """Whether the client leaves it to us to echo what is typed, which we do not.

    Args:
        send: Sends telnet bytes.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self.is_hidden = False
        self._send = send
        self._offered = False

    def hide(self) -> None:
        """Ask the client not to show what is typed, until `reveal`."""
        if not self._offered:
            self._offered = True
            self._send(telopt.IAC + telopt.WILL + telopt.ECHO)

    def reveal(self) -> None:
        """Let the client show what is typed."""
        if self._offered:
            self._offered = self.is_hidden = False
            self._send(telopt.IAC + telopt.WONT + telopt.ECHO)

    def agreed(self) -> bool:
        """Take the client's DO; return whether that is what we have offered."""
        self.is_hidden = self._offered
        return self._offered

    def declined(self) -> None:
        """Take the client's DONT: it goes on showing what is typed."""
        self.is_hidden = False


def _is_unknown(command: bytes) -> bool:
    """Whether the byte after an IAC is no command; telnetlib3 would take it for text."""
    return command < _LOWEST_COMMAND or command == telopt.SE


class Connection(BaseServer, asyncio.BufferedProtocol):
    """One client's connection, as asyncio drives it.

    telnetlib3's `TelnetServer` would begin rounds of negotiation by itself, and let the client
    choose the encoding; its base class does nothing unasked.

    Args:
        open_session: Makes the session of a connection.
        max_line: The most characters that a line may have.
        buffer: Where asyncio puts what it receives; shared with the loop's other connections.
    """

    session: Receiver

    def __init__(
        self,
        open_session: Callable[[asyncio.Transport], Receiver],
        max_line: int,
        buffer: memoryview,
    ) -> None:
        super().__init__(
            encoding=False,
            connect_maxwait=0,
            reader_factory=_InBand,
            writer_factory=_Interpreter,
        )
        self._open_session = open_session
        self._splitter = LineSplitter(max_line)
        self._buffer = buffer

    def encoding(self, outgoing: bool = False, incoming: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002  (telnetlib3's signature)
        """Return UTF-8, whatever a client may ask for."""
        return "utf-8"

    # What asyncio reports.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make the session; telnetlib3 calls `begin_negotiation` next."""
        super().connection_made(transport)
        self.session = self._open_session(cast("asyncio.Transport", transport))
        self._interpreter = cast("_Interpreter", self.writer)
        self._interpreter.connection = self
        self.echo = _Echo(self.session.command)
        self._interpreter.set_ext_callback(telopt.NAWS, self._resized)
        cast("_InBand", self.reader).sink = self.take

    def begin_negotiation(self) -> None:
        """Ask for the width, which shows a silent client 3 bytes of junk, and greet."""
        super().begin_negotiation()
        self._interpreter.iac(telopt.DO, telopt.NAWS)
        self.session.opened(self.echo)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return where to put what has been received."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take the bytes; those of a chunk without any telnet in it need no interpreter."""
        data = bytes(self._buffer[:nbytes])
        if telopt.IAC in data or self._interpreter.is_oob:
            self.data_received(data)
        else:
            self.take(data)

    # asyncio wants a bool here, which telnetlib3 leaves out.
    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection open until what has been received is answered."""
        self.session.input_ended()
        return True

    def pause_writing(self) -> None:
        """Tell the session that its client does not keep up."""
        super().pause_writing()
        self.session.choke()

    def resume_writing(self) -> None:
        """Tell the session that its client has caught up."""
        super().resume_writing()
        self.session.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the session."""
        super().connection_lost(exc)
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

    def _resized(self, _rows: int, columns: int) -> None:
        self.report(Resized(columns))
