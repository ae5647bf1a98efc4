"""Telnet connections, with telnetlib3's scanner to find the telnet commands.

Only this module drives telnetlib3, so its `Optional` and `Union` types stay in here.
"""

from __future__ import annotations

import asyncio
import collections
import re
from collections.abc import Callable
from typing import cast

from telnetlib3 import telopt
from telnetlib3.stream_writer import TelnetWriter

from thudmud.telnet import tls
from thudmud.telnet.intake import ReadPauser, notice_dead_links
from thudmud.telnet.interface import Mark, SessionConnection, Signal, TelnetPolicy, TelnetReceiver
from thudmud.telnet.lines import LineSplitter
from thudmud.telnet.negotiation import Negotiation

RECEIVE_BUFFER = 4096
"""The most bytes of one read, and the size of the buffer that all connections share.

That is more than anybody types, and little enough that others don't wait long for a client that
sends nothing but telnet commands.
"""

_SIZES = re.compile(rb"(?:\xff\xfa\x1f((?:[^\xff]|\xff\xff){4})\xff\xf0)+", re.DOTALL)
"""A series of NAWS sub-negotiations (RFC 1073); the group is the last size. A byte of 255 in it is
doubled (RFC 855)."""

_SIZES_COST = 3
"""The bytes that such a series is charged. While a window is dragged, a client sends 100 sizes a
second: byte by byte they would use up the budget in ten seconds."""


class Connection(SessionConnection):
    """A telnet client's connection.

    Bytes without telnet commands are cheap, and go straight to the line splitter. All others, which
    telnetlib3 examines one by one, take turns with those of other connections and are charged to a
    budget. Nothing more is read while bytes wait for their turn.

    Args:
        open_session: creates the session.
        policy: the limits and offers.
        buffer: see `SessionConnection`.
    """

    session: TelnetReceiver
    negotiation: Negotiation

    def __init__(
        self,
        open_session: Callable[[asyncio.Transport, ReadPauser], TelnetReceiver],
        policy: TelnetPolicy,
        buffer: memoryview,
    ) -> None:
        super().__init__(buffer)
        self._interpreter = _Interpreter(self, policy.max_subnegotiation)
        self._open_session = open_session
        self._policy = policy
        self._budget = policy.budget()
        self._splitter = LineSplitter(policy.max_line)
        self._waiting = b""  # received bytes that wait for their turn
        self._opening: bytes | None = b""  # the first bytes; None once they are checked for TLS
        self._has_ended = False  # whether the client's input has ended
        self._is_over = False  # whether all further input is dropped

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Create the session, begin to negotiate, and greet."""
        notice_dead_links(transport)
        super().connection_made(transport)
        self.session = self._open_session(self._transport, self._reading)
        self.negotiation = Negotiation(self.session, self._policy)
        self.negotiation.begin()
        self.session.connection_made(self.negotiation)

    def buffer_updated(self, nbytes: int) -> None:
        """Handle received bytes; a chunk without telnet commands needs no interpreter."""
        if self._is_over or self.session.screen.closed:
            return  # reading goes on only to notice the end of the connection
        data = bytes(self._buffer[:nbytes])
        if self._opening is not None:
            self._look_for_tls(self._opening + data)
        if self._is_over:
            return
        if self._waiting:
            self._waiting += data
        elif telopt.IAC in data or self._interpreter.is_oob:
            self._waiting = data
            self._policy.queue.take(self)
            if self._waiting:
                self._reading.hold(self)
        else:
            self.take(data)

    def eof_received(self) -> bool:
        """Keep the connection open until all received input is answered."""
        self._has_ended = True
        if not self._waiting:
            return super().eof_received()
        self._reading.end()
        return not self._is_tls

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the session."""
        self._drop()
        super().connection_lost(exc)

    def _look_for_tls(self, opening: bytes) -> None:
        """Detect a client that begins with TLS, which this port doesn't support."""
        is_tls = tls.is_tls(opening)
        self._opening = opening if is_tls is None else None
        if is_tls:
            self._is_over = True
            self.session.tls_received()

    def take(self, data: bytes) -> None:
        """Split bytes of text, without telnet commands, and pass complete lines to the session."""
        lines = self._splitter.feed(data)
        if lines:
            self.session.items_received(lines)

    # The interface of a `Source`.

    @property
    def is_behind(self) -> bool:
        """Whether received bytes are still uninterpreted."""
        return bool(self._waiting)

    def interpret(self, most: int) -> int:
        """Interpret waiting bytes, see `Source.interpret`; end a connection over its budget."""
        if self.session.screen.closed:
            self._waiting = b""
        left = int(self._budget.balance(asyncio.get_running_loop().time()))
        spent = self._scan(min(most, left))
        self._budget.charge(spent)
        if self._waiting and spent >= left:
            self._drop()
            self.session.budget_exceeded()
        elif not self._waiting:
            self._reading.release(self)
            if self._has_ended:
                self.session.input_ended()
        return spent

    def abort(self) -> None:
        """End the connection at once."""
        self._drop()
        self._transport.abort()

    def _scan(self, most: int) -> int:
        """Interpret text and telnet in order, with about ``most`` bytes of telnet.

        Returns:
            The number of telnet bytes; the rest of the input stays in ``_waiting``.
        """
        data, at, spent = self._waiting, 0, 0
        while at < len(data):
            if not self._interpreter.is_oob:
                command = data.find(telopt.IAC, at)
                end = len(data) if command < 0 else command
                if end > at:
                    self.take(data[at:end])
                    at = end
                    continue
            if spent >= most:
                break
            if not self._interpreter.is_inside and (sizes := _SIZES.match(data, at)):
                hear, size = self.negotiation.handle_subnegotiation, _unescaped(sizes[1])
                self.handle_package(hear, telopt.NAWS + size)
                at = sizes.end()
                spent += _SIZES_COST
                continue
            byte = data[at : at + 1]
            at += 1
            spent += 1
            if self._interpreter.feed_byte(byte):
                self.take(byte)
        self._waiting = data[at:]
        return spent

    def _drop(self) -> None:
        """Drop waiting bytes, and all further input."""
        self._waiting = b""
        self._is_over = True


def _unescaped(payload: bytes) -> bytes:
    return payload.replace(telopt.IAC + telopt.IAC, telopt.IAC)


# The adapter to telnetlib3, of which only the scanner is used.


_ERASE_CHARACTER, _ERASE_LINE = b"\x7f", b"\x15"  # the bytes that the keys send
_OPTION_COMMANDS = {telopt.DO, telopt.DONT, telopt.WILL, telopt.WONT}
_LONG_COMMANDS = {*_OPTION_COMMANDS, telopt.SB}
_LOWEST_COMMAND = telopt.EOF  # the lowest command that is assigned (RFC 1184, section 2.4)


class _Interpreter(TelnetWriter):
    """Finds telnet commands with telnetlib3's ``feed_byte``, and passes them to a connection.

    It drops sub-negotiations that are too long, and mends two faults of ``feed_byte``.
    """

    slc_simulated = False

    def __init__(self, connection: Connection, max_subnegotiation: int) -> None:
        # Without a transport, it cannot write anything by itself.
        super().__init__(cast("asyncio.Transport", None), None, server=True)
        self.connection = connection
        self.max_subnegotiation = max_subnegotiation
        self._subnegotiated = 0

    @property
    def is_inside(self) -> bool:
        """Whether a command is incomplete. `is_oob` still holds after the last byte of one."""
        return bool(self.iac_received) or self.cmd_received in _LONG_COMMANDS

    def feed_byte(self, byte: bytes) -> bool:
        """Interpret a byte; return whether it is text."""
        if self.cmd_received == telopt.SB:
            return False if self._is_surplus(byte) else super().feed_byte(byte)
        self._subnegotiated = 0
        is_command = _LOWEST_COMMAND <= byte != telopt.SE
        if self.iac_received and not self.cmd_received and not is_command:
            self.iac_received = False  # an unknown command, which telnetlib3 would pass on as text
            return False
        if byte == telopt.IAC and self.cmd_received in _OPTION_COMMANDS:
            # Option 255 (RFC 861), which telnetlib3 would treat as the start of another command.
            self.connection.negotiation.handle_command(self.cmd_received, byte)
            self.cmd_received = False
            return False
        return super().feed_byte(byte)

    def _is_surplus(self, byte: bytes) -> bool:
        """Count a byte of a sub-negotiation; return whether it is beyond the limit."""
        if bool(self.iac_received) != (byte == telopt.IAC):
            return False  # IAC, or the command after it, such as SE: not a byte of the payload
        self._subnegotiated += 1
        if self._subnegotiated <= self.max_subnegotiation:
            return False
        self.iac_received = False
        return True

    # Callbacks of the scanner. telnetlib3's own would act on the commands.

    def handle_subnegotiation(self, buf: collections.deque[bytes]) -> None:
        if self._subnegotiated > self.max_subnegotiation:
            return  # its end is missing
        hear, whole = self.connection.negotiation.handle_subnegotiation, b"".join(buf)
        self.connection.handle_package(hear, whole)

    def handle_do(self, opt: bytes) -> bool:
        if opt == telopt.TM:  # a timing mark is a request, not an option (RFC 860)
            self.connection.session.items_received([Mark(telopt.IAC + telopt.WILL + telopt.TM)])
        else:
            self.connection.negotiation.handle_command(telopt.DO, opt)
        return False

    def handle_dont(self, opt: bytes) -> None:
        self.connection.negotiation.handle_command(telopt.DONT, opt)

    def handle_will(self, opt: bytes) -> None:
        self.connection.negotiation.handle_command(telopt.WILL, opt)

    def handle_wont(self, opt: bytes) -> None:
        self.connection.negotiation.handle_command(telopt.WONT, opt)

    def handle_ayt(self, _byte: bytes) -> None:
        self.connection.session.items_received([Signal.ARE_YOU_THERE])

    def handle_ec(self, _byte: bytes) -> None:
        self.connection.take(_ERASE_CHARACTER)

    def handle_el(self, _byte: bytes) -> None:
        self.connection.take(_ERASE_LINE)
