"""Accepts links on a TCP port or a Unix socket, or serves standard input and output."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from thudmud.accounts.limiters import network
from thudmud.errors import StartError
from thudmud.gateway.gateway import CLOSING, Gateway
from thudmud.gateway.link import PIECE, Link
from thudmud.gateway.requests import Code, RequestError

STRANGERS = 64
"""The number of links without a hello at which further ones replace older ones."""

STRANGERS_PER_ADDRESS = 8
"""The number of links without a hello from one address at which further ones replace older ones."""

MOMENT = 1.0
"""Seconds for which a new link isn't replaced: real clients send their hello immediately."""

MOST_STRANGERS = 256
"""The maximum number of links without a hello, even if all are younger than `MOMENT`."""

_BACKLOG = 256  # connections that may wait to be accepted

STDIN, STDOUT = 0, 1


class AsyncioWriter:
    """A `Writer` over a socket or a pipe."""

    def __init__(self, writer: StreamWriter) -> None:
        self._writer = writer
        self.drain, self.close, self.wait_closed = writer.drain, writer.close, writer.wait_closed

    def write(self, data: bytes) -> None:
        """Send bytes, unless the connection is closing: uvloop would raise an error."""
        if not self._writer.is_closing():
            self._writer.write(data)

    def abort(self) -> None:
        """Close immediately, and discard the buffered bytes."""
        self._writer.transport.abort()


class GatewayAcceptor:
    """Accepts links on ports and Unix sockets, and serves them."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._links: dict[asyncio.Task[None], Link] = {}

    async def listen_on_sockets(self, sockets: Iterable[socket.socket]) -> list[asyncio.Server]:
        """Listen on bound sockets."""
        return [
            await asyncio.start_server(self._connected, sock=each, backlog=_BACKLOG)
            for each in sockets
        ]

    async def listen_on_path(self, path: Path) -> asyncio.Server:
        """Listen on a Unix socket that only this user can connect to.

        Raises:
            StartError: the socket can't be created.
        """
        before = os.umask(0o177)
        try:
            _remove_unused(path)
            server = await asyncio.start_unix_server(self._connected, path)
        except (OSError, ValueError) as error:
            raise StartError(f"{path}: {_reason(error)}") from error
        finally:
            os.umask(before)
        return server

    def close(self) -> None:
        """Begin to drop all links; `wait_closed` waits for the end."""
        for link in self._links.values():
            link.drop(RequestError(Code.CLOSING, CLOSING))

    async def wait_closed(self) -> None:
        """Wait until all links have ended."""
        while self._links:
            await asyncio.wait(self._links)

    def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        address = network(peer[0]) if isinstance(peer, tuple) else ""
        self._make_room(address)
        link = Link(self._gateway, reader, AsyncioWriter(writer), address=address)
        task = asyncio.create_task(link.run())
        self._links[task] = link
        task.add_done_callback(self._links.pop)

    def _make_room(self, address: str) -> None:
        """Drop links without a hello, oldest first, if there are too many for another one.

        Links from an address at its limit give way to further ones from there. At the overall limit
        a link of the address with the most links gives way. So a flood from one address can't lock
        out the others. Links younger than `MOMENT` are spared, except at `MOST_STRANGERS`.
        """
        strangers = [link for link in self._links.values() if link.is_stranger]
        crowd = [link for link in strangers if link.address == address]
        excess = len(crowd) - STRANGERS_PER_ADDRESS + 1
        if excess <= 0:
            if len(strangers) < STRANGERS:
                return
            [(crowded, _)] = Counter(link.address for link in strangers).most_common(1)
            crowd = [link for link in strangers if link.address == crowded]
            excess = 1
        enough = asyncio.get_running_loop().time() - MOMENT
        going = [link for link in crowd[:excess] if link.since <= enough]
        if not going and len(strangers) >= MOST_STRANGERS:
            going = crowd[:1]
        for link in going:
            link.drop(
                RequestError(
                    Code.FULL, "Other links are waiting to say hello, and this one has not."
                )
            )


async def serve_standard_streams(gateway: Gateway, stopped: asyncio.Event) -> None:
    """Serve the parent process by standard input and output.

    Returns when the input ends or ``stopped`` is set.
    """
    reader = StreamReader()
    close = await _read_from(STDIN, reader)
    link = Link(gateway, reader, await _writer_to(STDOUT), trusted=True)
    serving = asyncio.create_task(link.run())
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not serving.done():
        link.drop(RequestError(Code.CLOSING, CLOSING))
    await serving
    close()


class _File:
    """A `Writer` to a file, where writes block only briefly."""

    def __init__(self, number: int) -> None:
        self._number = number

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._number, data) :]

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        """Do nothing: the process owns the file."""

    async def wait_closed(self) -> None:
        """Return at once: everything has been written."""

    def abort(self) -> None:
        """Do nothing: there is no buffer to discard."""


async def _read_from(number: int, reader: StreamReader) -> Callable[[], None]:
    """Feed a reader from a file descriptor; return a function that closes the transport."""
    if _is_file(number):
        while piece := os.read(number, PIECE):
            reader.feed_data(piece)
        reader.feed_eof()
        return lambda: None
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(number), "rb", 0)
    )
    return transport.close


async def _writer_to(number: int) -> AsyncioWriter | _File:
    if _is_file(number):
        return _File(number)
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(StreamReader()), os.fdopen(os.dup(number), "wb", 0)
    )
    return AsyncioWriter(StreamWriter(transport, protocol, None, loop))


def _is_file(number: int) -> bool:
    """Whether a descriptor is a file or a device other than a terminal.

    asyncio can't poll such descriptors, and they never block for long.
    """
    mode = os.fstat(number).st_mode
    if stat.S_ISCHR(mode):
        return not os.isatty(number)
    return not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _remove_unused(path: Path) -> None:
    """Remove a stale Unix socket, which an earlier process left behind.

    Raises:
        OSError: a program listens on the socket, or the path isn't a socket.
    """
    if not path.exists():
        return
    if not path.is_socket():
        raise OSError("a file with that name already exists")
    with socket.socket(socket.AF_UNIX) as trial, suppress(ConnectionRefusedError):
        trial.connect(os.fspath(path))
        raise OSError("another program is already listening there")
    path.unlink()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
