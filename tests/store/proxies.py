"""A proxy through which a test can cut a connection to a server at a chosen moment."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread


class Proxy:
    """Relays the traffic between clients and a PostgreSQL server, on its own port.

    Args:
        port: the server's port on loopback.

    Attributes:
        cuts_before: predicate on data sent by a client; when it is true, the data is dropped and
            the connection cut, once.
        cuts_after: likewise, but the data is relayed and the server's reply is dropped.
        cuts_within: if a client sends these bytes, the data before them is relayed and the
            connection cut, once.
        round_trips: data sent by clients, split wherever the server has answered in between.
        refuses: whether new connections are refused.
    """

    def __init__(self, port: int) -> None:
        self._server = "127.0.0.1", port
        self.cuts_before: Callable[[bytes], bool] | None = None
        self.cuts_after: Callable[[bytes], bool] | None = None
        self.cuts_within = b""
        self.round_trips: list[bytes] = []
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
        answered = Event()
        answers = Thread(target=self._pass_on, args=(server, client, answered), daemon=True)
        answers.start()
        with client, server:
            with suppress(OSError):
                answered.set()
                while data := client.recv(65536):
                    if answered.is_set():
                        answered.clear()
                        self.round_trips.append(b"")
                    self.round_trips[-1] += data
                    if self.cuts_within and self.cuts_within in data:
                        server.sendall(data.partition(self.cuts_within)[0])
                        self.cuts_within = b""
                        self.cuts += 1
                        break
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

    def _pass_on(self, server: socket.socket, client: socket.socket, answered: Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                answered.set()
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


def commits(data: bytes) -> bool:
    """Whether data sent by a client commits its transaction."""
    return b"\0commit\0" in data
