"""Yardsticks: servers that do next to nothing, each run as a separate process.

Owns the minimum cost of a connection. Must never interpret data.

- ``bare``: an ``asyncio.Protocol`` that greets, and echoes each line.
- ``telnetlib3``: the same in the style of telnetlib3's documentation: a shell with a reader and a
  writer.
- ``back``: an ``asyncio.Protocol`` that echoes all bytes, and stops reading while the client
  doesn't.
- ``tell``: an ``asyncio.Protocol`` that sends all connections as many bytes as a line asks for.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any, cast

import telnetlib3

BACKLOG = 4096
GREETING = b"> "


class Bare(asyncio.Protocol):
    """Echoes each line."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the greeting."""
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._rest = transport, b""
        transport.write(GREETING)

    def data_received(self, data: bytes) -> None:
        """Echo complete lines."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._transport.write(line + b"\n")


class Back(asyncio.Protocol):
    """Echoes all bytes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the greeting."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(GREETING)

    def data_received(self, data: bytes) -> None:
        """Echo the data."""
        self._transport.write(data)

    def pause_writing(self) -> None:
        """Stop reading."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Resume reading."""
        self._transport.resume_reading()


class Tell(asyncio.Protocol):
    """Broadcasts a requested number of bytes, which end in the greeting."""

    everybody: set[asyncio.Transport] = set()  # noqa: RUF012  (one process, one crowd)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the greeting."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.everybody.add(transport)
        transport.write(GREETING)

    def data_received(self, data: bytes) -> None:
        """Broadcast as many bytes as the data says."""
        told = GREETING.rjust(int(data), b"x")
        for each in self.everybody:
            each.write(told)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Forget the connection."""
        self.everybody.discard(self._transport)


async def shell(reader: Any, writer: Any) -> None:  # telnetlib3 leaves the types open
    writer.write(GREETING.decode())
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()
    writer.close()


async def protocol(kind: type[asyncio.Protocol]) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    return await loop.create_server(kind, "127.0.0.1", 0, backlog=BACKLOG)


async def documented(wait: float) -> asyncio.Server:
    created = await telnetlib3.create_server("127.0.0.1", 0, shell=shell, connect_maxwait=wait)
    server = cast("asyncio.Server", created)
    # telnetlib3 keeps asyncio's backlog of 100; further connections would hang.
    with socket.socket(fileno=os.dup(server.sockets[0].fileno())) as listening:
        listening.listen(BACKLOG)
    return server


KINDS: dict[str, Callable[[float], Awaitable[asyncio.Server]]] = {
    "bare": lambda _: protocol(Bare),
    "back": lambda _: protocol(Back),
    "telnetlib3": documented,
    "tell": lambda _: protocol(Tell),
}


async def main(kind: str, wait: float) -> None:
    server = await KINDS[kind](wait)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"ready: {host} {port}", flush=True)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
