"""A person at a telnet client that negotiates nothing."""

from __future__ import annotations

import re
import socket
from typing import Self

PATIENCE = 60.0  # seconds


class PlainTelnet:
    """A connection, on which one person types and reads.

    Args:
        port: the port, on this machine.
        name: what to answer to the first question.
        answer: what to wait for then.
    """

    def __init__(self, port: int, name: str, answer: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._shown = ""
        self.type(name, answer)

    def type(self, line: str, answer: str) -> str:
        """Type a line, wait for the answer, and return what came before it."""
        self._socket.sendall(f"{line}\r\n".encode())
        return self.sees(answer)

    def sees(self, pattern: str) -> str:
        """Wait until text has come that matches, and return what came before it."""
        while not (found := re.search(pattern, self._shown)):
            piece = self._socket.recv(65_536)
            assert piece, self._shown
            self._shown += piece.decode("utf-8", "replace")
        seen, self._shown = self._shown[: found.start()], self._shown[found.end() :]
        return seen

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
