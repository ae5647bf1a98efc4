"""telnetlib3's command interpreter, and the clean lines of text between the commands.

telnetlib3 finds the commands, and nothing that it does about them by itself ever happens. By itself
it hangs on a malformed MSDP list, inflates what a client sends when told to, and keeps a megabyte
of sub-negotiation; none of those bytes get that far.

A line ends, may be so long, is read as characters, and loses those that were erased, as the class
`LineSplitter` says.
"""

from __future__ import annotations

import collections
import re
import unicodedata
from collections.abc import Callable
from typing import Protocol

from telnetlib3 import telopt
from telnetlib3.stream_reader import TelnetReader
from telnetlib3.stream_writer import TelnetWriter

from thudmud.telnet.interface import Item, Line, Mark, Overlong, Signal

ERASE_CHARACTER = b"\x7f"
ERASE_LINE = b"\x15"

_LONGEST_CHARACTER = 4  # bytes, in UTF-8
_ERASES_CHARACTER = "\b\x7f"
_ERASES_LINE = "\x15"
_JOINERS = "\u200c\u200d"  # invisible, but part of words in several scripts, and of emoji
# What cursor and function keys send where the client has no use for them: CSI and SS3 sequences
# (ECMA-48, section 5.4), whole, so that no "[A" is left in the line.
_KEY = re.compile(r"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|$)|O[A-Za-z])")
# surrogateescape stands an undecodable byte 0x80..0xFF for by U+DC80..U+DCFF.
_LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


class LineSplitter:
    """Cuts a stream of bytes into lines, however the stream was cut into packets.

    A line ends with CR LF, CR NUL, LF or CR. At most four bytes for every allowed character are
    held, however long a line is.

    Args:
        limit: The most characters that a line may have.
    """

    __slots__ = ("_after_return", "_held", "_limit", "_overlong")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._overlong = False
        self._after_return = False

    def feed(self, data: bytes) -> list[Line]:
        """Return the lines that ``data`` completes, in order; keep what follows the last end."""
        if self._after_return and data:
            self._after_return = False
            if data[0] in b"\n\0":
                data = data[1:]
        if b"\r" in data:
            self._after_return = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r\0", b"\n").replace(b"\r", b"\n")
        *ended, rest = data.split(b"\n")
        lines: list[Line] = []
        for piece in ended:
            self._hold(piece)
            lines.append(self._line())
        self._hold(rest)
        return lines

    def _hold(self, piece: bytes) -> None:
        if len(self._held) + len(piece) > self._limit * _LONGEST_CHARACTER:
            self._overlong = True
            self._held.clear()
        elif not self._overlong:
            self._held += piece

    def _line(self) -> Line:
        text = readable(bytes(self._held))
        overlong = self._overlong or len(text) > self._limit
        self._held.clear()
        self._overlong = False
        return Overlong.LINE if overlong else text


def readable(raw: bytes) -> str:
    """Return the bytes of one line as printable text.

    They are read as UTF-8, and each byte that can't be UTF-8 as Latin-1. Backspace and DEL take the
    character before them away, Control-U all of them. White space of any kind becomes blanks; every
    other character that can't be printed is dropped.
    """
    text = raw.decode("utf-8", "surrogateescape")
    if text.isprintable():
        return text
    kept: list[str] = []
    for char in _KEY.sub("", text.translate(_LATIN_1)):
        if char in _ERASES_CHARACTER:
            del kept[-1:]
        elif char == _ERASES_LINE:
            kept.clear()
        elif char == "\t" or unicodedata.category(char) == "Zs":
            kept.append(" ")
        elif char.isprintable() or char in _JOINERS:
            kept.append(char)
    return "".join(kept)


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
