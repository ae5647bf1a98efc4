"""A proxy through which a test can cut a connection to a server at a chosen moment."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread


class Proxy:
    """Relays the traffic between clients and a PostgreSQL server, on its own port.

    Args:
        port: the server's port on loopback.

    Attributes:
        cuts_before: predicate on data sent by a client; when it is true, the data is dropped and
            the connection cut, once.
        cuts_after: likewise, but the data is relayed and the server's reply is dropped.
        refuses: whether new connections are refused.
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
        """Direct future connections to another server."""
        self._server = "127.0.0.1", port

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                try:
                    if self.refuses:
                        raise ConnectionRefusedError
                    server = socket.create_connection(self._server)
                except OSError:  # the server has just stopped; don't leak the connection
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
                        client.shutdown(socket.SHUT_RDWR)  # before the server can reply
                        server.sendall(data)
                        self.cuts += 1
                        answers.join()  # drains the server's reply, which goes nowhere
                        break
                    server.sendall(data)
            # Closing one socket here does not wake its peer's reader, so shut both down.
            for each in (client, server):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


def commits(data: bytes) -> bool:
    """Whether data sent by a client commits its transaction."""
    return b"\0commit\0" in data
