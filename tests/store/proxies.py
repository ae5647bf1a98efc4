"""A link to a server that a test can cut, at a moment that it chooses."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread


class Proxy:
    """Passes on what clients and a server of PostgreSQL say to each other, on a port of its own.

    Args:
        port: the server's, on loopback.

    Attributes:
        cuts_before: told what a client says; where it is true, that is not passed on any more, and
            the link is cut, once.
        cuts_after: the same, but it is passed on, and what the server answers is not.
        refuses: whether those who connect are not connected to the server any more.
    """

    def __init__(self, port: int) -> None:
        self._server = "127.0.0.1", port
        self.cuts_before: Callable[[bytes], bool] | None = None
        self.cuts_after: Callable[[bytes], bool] | None = None
        self.refuses = False
        self.cuts = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def lead_to(self, port: int) -> None:
        """Connect whoever connects from now on to another server."""
        self._server = "127.0.0.1", port

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                try:
                    if self.refuses:
                        raise ConnectionRefusedError
                    server = socket.create_connection(self._server)
                except OSError:  # else it would be left open where the server has just stopped
                    client.close()
                    continue
                Thread(target=self._serve, args=(client, server), daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        answers = Thread(target=self._pass_on, args=(server, client), daemon=True)
        answers.start()
        with client, server:
            with suppress(OSError):
                while data := client.recv(65536):
                    if self.cuts_before and self.cuts_before(data):
                        self.cuts_before = None
                        self.cuts += 1
                        break
                    if self.cuts_after and self.cuts_after(data):
                        self.cuts_after = None
                        client.shutdown(socket.SHUT_RDWR)  # before the server can answer
                        server.sendall(data)
                        self.cuts += 1
                        answers.join()  # it says what it has to say, to nobody
                        break
                    server.sendall(data)
            # Whoever is read from hears of no end when that is closed here.
            for each in (client, server):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


def commits(data: bytes) -> bool:
    """Whether a client says that its transaction is to end."""
    return b"\0commit\0" in data
