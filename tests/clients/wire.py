"""A player on a bare socket, with text and telnet commands separated.

Owns the parsing of bytes. Answers no telnet commands itself; subclasses may override `answer`.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable

from tests.clients.window import PATIENCE

IAC = 0xFF
SB, SE = 0xFA, 0xF0
WILL, WONT, DO, DONT = 0xFB, 0xFC, 0xFD, 0xFE
ECHO, SGA, TTYPE, EOR, NAWS, NEW_ENVIRON, CHARSET = 1, 3, 24, 25, 31, 39, 42
MSDP, MSSP, MCCP2, MXP, GMCP = 69, 70, 86, 91, 201

_COMMAND = re.compile(
    rb"\xff(?:\xfa((?:[^\xff]|\xff\xff)*)\xff\xf0|([\xfb-\xfe].)|([^\xfa-\xff]))", re.DOTALL
)
"""A whole telnet command without its IAC: a subnegotiation, an option negotiation, or another."""


class Wire:
    """A connection to the server.

    Attributes:
        text: received text that `until` has not consumed yet.
        commands: all telnet commands received, without their IAC; a sub-negotiation is SB and
            its unescaped payload.
    """

    def __init__(self, port: str) -> None:
        self.text = ""
        self.commands: list[bytes] = []
        self.is_over = False
        self._socket = socket.create_connection(("127.0.0.1", int(port)), PATIENCE)
        self._raw = b""

    def send(self, data: bytes) -> None:
        """Send raw bytes."""
        self._socket.sendall(data)

    def type(self, line: str) -> None:
        """Send a line; `until` sees only later text."""
        self.text = ""
        self.send(line.encode() + b"\r\n")

    def until(self, words: str) -> str:
        """Wait for these words; return the text before them and consume both."""
        self.wait(lambda: words in self.text, words)
        before, _, self.text = self.text.partition(words)
        return before

    def until_told(self, *command: int | bytes) -> bytes:
        """Wait for a telnet command with this prefix; return the first match."""
        start = b"".join(part if isinstance(part, bytes) else bytes([part]) for part in command)
        self.wait(lambda: any(each.startswith(start) for each in self.commands), repr(start))
        return next(each for each in self.commands if each.startswith(start))

    def until_closed(self) -> None:
        """Wait until the server closes the connection."""
        self.wait(lambda: self.is_over, "the end")

    def wait(self, is_done: Callable[[], bool], what: str) -> None:
        """Read until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not is_done():
            assert not self.is_over, f"closed without {what}, after {self.text!r}"
            self._socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                came = self._socket.recv(65536)
            except TimeoutError:
                raise AssertionError(f"no {what} in {self.text!r}, {self.commands}") from None
            self.is_over = not came
            self._take(came)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def answer(self, command: bytes) -> None:
        """Handle a received telnet command; does nothing by default."""

    def _take(self, came: bytes) -> None:
        self._raw += came
        text = b""
        while (at := self._raw.find(IAC)) >= 0:
            text, self._raw = text + self._raw[:at], self._raw[at:]
            if not (match := _COMMAND.match(self._raw)):
                break
            self._raw = self._raw[match.end() :]
            inside, option, other = match.groups()
            command = option or other or bytes([SB]) + inside.replace(b"\xff\xff", b"\xff")
            self.commands.append(command)
            self.answer(command)
        else:
            text, self._raw = text + self._raw, b""
        self.text += text.decode().replace("\r\n", "\n")
