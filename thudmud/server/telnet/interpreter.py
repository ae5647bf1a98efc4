"""telnetlib3's command interpreter: what is telnet among the bytes that come in.

Owns what telnetlib3 may and may not do: it finds the commands, and nothing that it does about them
by itself ever happens. By itself it hangs on a malformed MSDP list, inflates what a client sends
when told to, and keeps a megabyte of sub-negotiation; none of those bytes get that far.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Protocol

from telnetlib3 import telopt
from telnetlib3.stream_reader import TelnetReader
from telnetlib3.stream_writer import TelnetWriter

from thudmud.server.telnet.items import Item, Mark, Signal
from thudmud.server.telnet.lines import ERASE_CHARACTER, ERASE_LINE

_OPTION_COMMANDS = {telopt.DO, telopt.DONT, telopt.WILL, telopt.WONT}
_LOWEST_COMMAND = telopt.EOF  # of those in use; RFC 1184, section 2.4


class Ear(Protocol):
    """Who is told of what is found."""

    def take(self, data: bytes) -> None:
        """Bytes of text, with no telnet among them."""

    def report(self, item: Item) -> None:
        """Something for the session that is not a line."""

    def hear(self, command: bytes, option: bytes) -> None:
        """A DO, DONT, WILL or WONT."""

    def hear_more(self, option: bytes, payload: bytes) -> None:
        """A sub-negotiation."""


class InBand(TelnetReader):
    """Takes what is left of the bytes when telnet's own have been taken out."""

    sink: Callable[[bytes], None]

    def feed_data(self, data: bytes) -> None:
        """Pass it on; telnetlib3 would keep it, and bounds nothing."""
        self.sink(data)


class Interpreter(TelnetWriter):
    """Finds telnet's commands. Its ear and its cap are set before the first byte comes."""

    slc_simulated = False
    ear: Ear
    max_subnegotiation: int
    _subnegotiated = 0

    def feed_byte(self, byte: bytes) -> bool:
        """Take a byte; return whether it is none of telnet's."""
        if self.cmd_received == telopt.SB:
            if self._is_surplus(byte):
                return False
            return super().feed_byte(byte)
        self._subnegotiated = 0
        if self.iac_received and not self.cmd_received and _is_unknown(byte):
            self.iac_received = False
            return False
        if byte == telopt.IAC and self.cmd_received in _OPTION_COMMANDS:
            # Option 255 (RFC 861), which telnetlib3 takes for the beginning of another command.
            self.ear.hear(self.cmd_received, byte)
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

    def handle_subnegotiation(self, buf: collections.deque[bytes]) -> None:
        """Pass it on."""
        option, *payload = buf
        self.ear.hear_more(option, b"".join(payload))

    def handle_do(self, opt: bytes) -> bool:
        """Pass it on; a timing mark is no option, but a question (RFC 860)."""
        if opt == telopt.TM:
            self.ear.report(Mark(telopt.IAC + telopt.WILL + telopt.TM))
        else:
            self.ear.hear(telopt.DO, opt)
        return False

    def handle_dont(self, opt: bytes) -> None:
        """Pass it on."""
        self.ear.hear(telopt.DONT, opt)

    def handle_will(self, opt: bytes) -> None:
        """Pass it on."""
        self.ear.hear(telopt.WILL, opt)

    def handle_wont(self, opt: bytes) -> None:
        """Pass it on."""
        self.ear.hear(telopt.WONT, opt)

    def handle_ayt(self, _byte: bytes) -> None:
        """Pass it on."""
        self.ear.report(Signal.ARE_YOU_THERE)

    def handle_ec(self, _byte: bytes) -> None:
        """Pass it on as what a key sends."""
        self.ear.take(ERASE_CHARACTER)

    def handle_el(self, _byte: bytes) -> None:
        """Pass it on as what a key sends."""
        self.ear.take(ERASE_LINE)


def _is_unknown(command: bytes) -> bool:
    """Whether the byte after an IAC is no command; telnetlib3 would take it for text."""
    return command < _LOWEST_COMMAND or command == telopt.SE
