"""Telnet players on a MUD, and a transcript stage made of them.

The client is minimal: it reports its screen width, accepts GMCP and refuses all other options.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from thudmud.script import Seen

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
NAWS, GMCP = 31, 201
PATIENCE = 120.0

_COMMAND = re.compile(
    rb"\xff(?:(?P<escaped>\xff)|(?P<verb>[\xfb-\xfe])(?P<option>.)"
    rb"|\xfa(?P<about>.)(?P<data>(?:[^\xff]|\xff\xff)*)\xff\xf0|[\xf1-\xf9])",
    re.DOTALL,
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Player:
    """A player with a telnet client."""

    def __init__(self, port: int, width: int = 80) -> None:
        self.data: list[tuple[str, Any]] = []
        self._width = width
        self._raw = b""
        self._lines: list[str] = []
        self._fences = 0
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)

    def close(self) -> None:
        self._socket.close()

    def type(self, line: str) -> None:
        self._socket.sendall(line.encode() + b"\r\n")

    def until(self, fits: Callable[[str], bool]) -> list[str]:
        """Return all lines up to and including the first that fits."""
        before = []
        for line in self._arriving():
            before.append(line)
            if fits(line):
                return before
        raise AssertionError(f"not seen; before that: {before}")

    def settled(self) -> list[str]:
        """Return all lines so far; a fence works, as the MUD answers input in order."""
        self._fences += 1
        fence = f"zzfence{self._fences}zz"
        self.type(fence)
        return self.until(lambda line: fence in line)[:-1]

    def _arriving(self) -> Iterator[str]:
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            while self._lines:
                yield self._lines.pop(0)
            received = self._socket.recv(65536)
            assert received, "the MUD has hung up"
            self._raw += received
            text, rest = self._clean(self._raw)
            *whole, part = text.split(b"\n")
            self._raw = part + rest
            self._lines += [_COLOUR.sub("", line.decode()).rstrip() for line in whole]

    def _clean(self, raw: bytes) -> tuple[bytes, bytes]:
        """Return the text without telnet commands, and an incomplete command at the end."""
        text, at = b"", 0
        while (start := raw.find(b"\xff", at)) >= 0:
            found = _COMMAND.match(raw, start)
            if not found:
                return text + raw[at:start], raw[start:]
            text += raw[at:start] + (found["escaped"] or b"")
            self._heed(found)
            at = found.end()
        return text + raw[at:], b""

    def _heed(self, found: re.Match[bytes]) -> None:
        if found["verb"]:
            verb, option = found["verb"][0], found["option"][0]
            if verb == DO and option == NAWS:
                size = bytes([0, self._width, 0, 24])
                naws = bytes([IAC, WILL, NAWS, IAC, SB, NAWS, *size, IAC, SE])
                self._socket.sendall(naws)
            elif verb == DO:
                self._socket.sendall(bytes([IAC, WONT, option]))
            elif verb == WILL:
                self._socket.sendall(bytes([IAC, DO if option == GMCP else DONT, option]))
        elif found["about"] and found["about"][0] == GMCP:
            package, _, data = found["data"].decode().partition(" ")
            self.data.append((package, json.loads(data) if data else None))


class MudStage:
    """A stage for transcripts: all players are in one room of a MUD."""

    def __init__(self, players: dict[str, Player]) -> None:
        self._players = players

    def enter(self, who: str) -> Seen:
        return {who: seen(self._players[who].settled())}

    def type(self, who: str, line: str) -> Seen:
        self._players[who].type(line)
        # The MUD answers the typing player last.
        order = sorted(self._players, key=lambda name: name != who)
        return {name: seen(self._players[name].settled()) for name in order}

    def vanish(self, who: str) -> Seen:
        raise AssertionError(f"{who} stays")


def seen(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip()]
