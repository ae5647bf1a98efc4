"""A fake Mudlet that reproduces its telnet negotiation byte for byte.

Owns the negotiation of Mudlet 4.19 with default settings, after its manual ("Supported
Protocols"), `ctelnet.cpp` and `GMCPAuthenticator.cpp`; the real Mudlet needs a desktop. Must not
know the server's expected answers: those belong to the tests.
"""

from __future__ import annotations

import json
import re

from tests.clients.wire import (
    CHARSET,
    DO,
    DONT,
    ECHO,
    EOR,
    GMCP,
    IAC,
    MCCP2,
    MSSP,
    MXP,
    NAWS,
    NEW_ENVIRON,
    SB,
    SE,
    TTYPE,
    WILL,
    WONT,
    Wire,
)

IS, SEND = 0, 1  # TTYPE and NEW-ENVIRON
REQUEST, ACCEPTED, REJECTED = 1, 2, 3  # CHARSET
MSP = 90

ANSI, UTF_8, COLOURS, PALETTE, READER, TRUE_COLOUR, TLS = 1, 4, 8, 32, 64, 256, 2048
HELLO = 'Core.Hello { "client": "Mudlet", "version": "4.19.1"}'
SUPPORTS = (
    'Core.Supports.Set [ "Char 1", "Char.Skills 1", "Char.Items 1", "Room 1", "IRE.Rift 1", '
    '"IRE.Composer 1", "Client.Media 1", "Char.Login 2"]'
)
_WANTED = (EOR, CHARSET, GMCP, MSSP, MXP, MSP, MCCP2, NEW_ENVIRON)
_ABLE = (TTYPE, NAWS, NEW_ENVIRON, CHARSET)


class Mudlet(Wire):
    """A connection from Mudlet.

    Args:
        port: the server's port.
        columns: the width of its main window.
        reader: whether "Advertise screen reader use" is ticked in its settings.
    """

    def __init__(self, port: str, columns: int = 100, *, reader: bool = False) -> None:
        self.columns = columns
        self.standards = ANSI | UTF_8 | COLOURS | PALETTE | TRUE_COLOUR | TLS
        self.standards |= READER if reader else 0
        self._cycle = 0
        self._is_able: set[int] = set()
        self._wants: set[int] = set()
        self._announced: set[int] = set()
        super().__init__(port)

    def answer(self, command: bytes) -> None:
        """Answer a telnet command as Mudlet does."""
        match list(command):
            case [verb, option] if verb == WILL:
                self._announced.add(option)
                self._offered(option)
            case [verb, option] if verb == WONT:
                if option in self._announced:
                    self._say(DONT, option)
                self._announced.add(option)
            case [verb, option] if verb == DO:
                self._asked(option)
            case [verb, option] if verb == DONT:
                self._say(WONT, option)
                self._is_able.discard(option)
            case [verb, option, *rest] if verb == SB:
                self._told(option, bytes(rest))

    def tell(self, package: str, data: object) -> None:
        """Send a GMCP message, like `sendGMCP` in a Mudlet script."""
        self._inside(GMCP, f"{package} {json.dumps(data)}".encode())

    def resize(self, columns: int) -> None:
        """Change the window's width and report it."""
        self.columns = columns
        self._size()

    @property
    def heard(self) -> list[tuple[str, object]]:
        """The GMCP messages received so far: package and data, or None without data."""
        said = [each[2:].decode() for each in self.commands if each[:2] == bytes([SB, GMCP])]
        return [(name, json.loads(data) if data else None) for name, _, data in _split(said)]

    def until_heard(self, package: str) -> object:
        """Wait for a GMCP message of this package; return the data of the latest."""
        self.wait(lambda: any(name == package for name, _ in self.heard), package)
        return [data for name, data in self.heard if name == package][-1]

    def _offered(self, option: int) -> None:
        if option == ECHO:
            if option not in self._wants:
                self._wants.add(option)
                self._say(DO, option)
            return
        self._say(DO if option in _WANTED else DONT, option)
        if option == GMCP:
            self._inside(GMCP, HELLO.encode())
            self._inside(GMCP, SUPPORTS.encode())

    def _asked(self, option: int) -> None:
        if option not in self._is_able:
            self._say(WILL if option in _ABLE else WONT, option)
            if option in _ABLE:
                self._is_able.add(option)
        if option == NAWS:
            self._size()

    def _told(self, option: int, data: bytes) -> None:
        if option == TTYPE and data == bytes([SEND]):
            answers = ["MUDLET", "ANSI-TRUECOLOR", *[f"MTTS {self.standards}"] * 2]
            self._inside(TTYPE, bytes([IS]) + answers[self._cycle].encode())
            self._cycle = (self._cycle + 1) % len(answers)
        elif option == CHARSET and data[0] == REQUEST:
            names = data[2:].split(data[1:2])
            chosen = next((name for name in names if name.upper() == b"UTF-8"), b"")
            self._inside(CHARSET, bytes([ACCEPTED if chosen else REJECTED]) + chosen)
        elif option == NEW_ENVIRON and data[:1] == bytes([SEND]):
            self._inside(NEW_ENVIRON, bytes([IS]) + self._environment(data[1:]))

    def _environment(self, asked: bytes) -> bytes:
        """Return the NEW-ENVIRON variables requested, or all of them.

        With MNES off, the default, all are USERVARs; a VAR of the same name is unknown.
        """
        told = {
            b"CHARSET": b"UTF-8",
            b"CLIENT_NAME": b"MUDLET",
            b"CLIENT_VERSION": b"4/19/1",
            b"MTTS": str(self.standards).encode(),
            b"SCREEN_READER": b"1" if self.standards & READER else b"0",
            b"TERMINAL_TYPE": b"ANSI-TRUECOLOR",
        }
        wanted = re.findall(rb"([\0\3])([^\0\3]+)", asked) or [(b"\3", name) for name in told]
        return b"".join(
            kind + name + (b"\1" + told[name] if kind == b"\3" and name in told else b"")
            for kind, name in wanted
        )

    def _size(self) -> None:
        self._inside(NAWS, self.columns.to_bytes(2, "big") + (40).to_bytes(2, "big"))

    def _say(self, verb: int, option: int) -> None:
        self.send(bytes([IAC, verb, option]))

    def _inside(self, option: int, data: bytes) -> None:
        escaped = data.replace(b"\xff", b"\xff\xff")
        self.send(bytes([IAC, SB, option]) + escaped + bytes([IAC, SE]))


def _split(said: list[str]) -> list[tuple[str, str, str]]:
    return [each.partition(" ") for each in said]
