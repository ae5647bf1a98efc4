"""Guests on blocking sockets, who wait for every answer, and the time they take to return."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from benchmarks.load.players import NAME_PROMPT, PROMPT
from thudmud.accounts.login import PASSWORD_PROMPT, TOLD_WORD, WORD_PROMPT

CHUNK = 1 << 16
AGAIN = 0.5  # seconds between attempts to log in
SECRET_PROMPTS = (WORD_PROMPT.encode(), PASSWORD_PROMPT.encode())
_WORD = re.compile(TOLD_WORD.pattern.encode())

Place = tuple[str, int]


class ConnectionLeftError(ConnectionError):
    """Raised when the server has closed the connection."""


class Guest:
    """A blocking client.

    Args:
        place: the server's address and port.
        address: source address.
        patience: timeout of each answer, in seconds.
    """

    def __init__(self, place: Place, address: str, patience: float = 20.0) -> None:
        self._socket, self._patience = socket.socket(), patience
        self._socket.settimeout(patience)
        self._socket.bind((address, 0))
        self._socket.connect(place)
        self.seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def until(self, *wanted: bytes) -> bytes:
        """Return all output up to the first read that contains one of the given words."""
        while not any(each in self.seen for each in wanted):
            self.seen += self._more()
        taken, self.seen = self.seen, b""
        return taken

    def hear(self, seconds: float) -> bytes:
        """Return all output of the next few seconds."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self._socket.settimeout(left)
            try:
                self.seen += self._more()
            except TimeoutError:
                break
        self._socket.settimeout(self._patience)
        taken, self.seen = self.seen, b""
        return taken

    def send(self, line: str) -> None:
        """Type a line."""
        self._socket.sendall(line.encode() + b"\r\n")

    def say(self, line: str) -> bytes:
        """Type a line, and return the output up to the next prompt."""
        self.send(line)
        return self.until(PROMPT)

    def take(self, name: str) -> str:
        """Log in under a new name; return the resume word."""
        self.until(NAME_PROMPT)
        found = _WORD.search(self.say(name))
        assert found, "there is no resume word"
        return found[1].decode()

    def cut(self) -> None:
        """Reset the connection, by closing without lingering."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def _more(self) -> bytes:
        data = self._socket.recv(CHUNK)
        if not data:
            raise ConnectionLeftError
        return data


@dataclass(frozen=True)
class Return:
    """The result of resuming a session.

    Attributes:
        seconds: time taken; infinity if unsuccessful.
        delayed: number of times the server said to wait, or closed the connection.
    """

    seconds: float
    delayed: int


def come_back(place: Place, address: str, name: str, secret: str, patience: float) -> Return:
    """Resume with the right word or password, retrying until it works or patience runs out."""
    begun = time.perf_counter()
    delayed = 0
    while (left := begun + patience - time.perf_counter()) > 0:
        try:
            with Guest(place, address, left) as guest:
                guest.until(NAME_PROMPT)
                guest.send(name)
                guest.until(*SECRET_PROMPTS)
                guest.send(secret)
                seen = guest.until(PROMPT, NAME_PROMPT, *SECRET_PROMPTS)
                delayed += b"too many" in seen
                if seen.endswith(PROMPT):
                    return Return(time.perf_counter() - begun, delayed)
        except OSError:  # connection refused or closed
            delayed += 1
        time.sleep(AGAIN)
    return Return(float("inf"), delayed)


def all_back(place: Place, secrets: Sequence[tuple[str, str]], patience: float) -> Return:
    """Resume everyone's session at once from one address; return the slowest and all delays."""
    with ThreadPoolExecutor(len(secrets)) as pool:
        every = list(
            pool.map(
                lambda each: come_back(place, "127.0.0.1", each[0], each[1], patience), secrets
            )
        )
    return Return(max(each.seconds for each in every), sum(each.delayed for each in every))
