"""Visitors of the page behind a TLS proxy, who load all its files as browsers do."""

from __future__ import annotations

import asyncio
import gzip
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.typing import Origin, Subprotocol

from benchmarks.load.reverse_proxies import HOST, Front

CONNECTIONS = 6
"""Parallel connections that a browser opens to a host."""

PATIENCE = 60.0  # timeout of loading everything, in seconds
OK, SWITCHING = 200, 101
NOTHING = 0
"""Status of a request whose connection ended before the response was complete."""

_IN_PAGE = re.compile(r'<(?:link|script)\b[^>]*?\b(?:href|src)="(/[^"]+)"')
_IN_MODULE = re.compile(r'(?m)^(?:import|export)\b[^;]*?"\.(/[^"]+\.js)"')


@dataclass(frozen=True)
class Loaded:
    """The result of loading the page.

    Attributes:
        statuses: HTTP statuses by path, including that of the WebSocket.
        seconds: time taken.
    """

    statuses: Mapping[str, int]
    seconds: float

    @property
    def refused(self) -> int:
        """Number of failed requests."""
        return sum(status not in {OK, SWITCHING} for status in self.statuses.values())


async def load(front: Front, source: str) -> Loaded:
    """Load the page and its dependencies over parallel connections, then open a WebSocket."""
    begun, statuses = time.perf_counter(), dict[str, int]()
    wanted: asyncio.Queue[str] = asyncio.Queue()

    def want(path: str) -> None:
        if path not in statuses:
            statuses[path] = NOTHING
            wanted.put_nowait(path)

    async def work() -> None:
        async with _Connection(front, source) as connection:
            while True:
                path = await wanted.get()
                try:
                    statuses[path], text = await connection.get(path)
                    for each in _references(path, text):
                        want(each)
                finally:
                    wanted.task_done()

    want("/")
    workers = [asyncio.create_task(work()) for _ in range(CONNECTIONS)]
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            await wanted.join()
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    statuses["/ws"] = await _open_socket(front, source)
    return Loaded(statuses, time.perf_counter() - begun)


async def load_all(front: Front, sources: Sequence[str]) -> Sequence[Loaded]:
    """Load the page from several source addresses at once."""
    return await asyncio.gather(*(load(front, source) for source in sources))


async def get(front: Front, source: str, path: str) -> int:
    """Request a path over a new connection, and return the status."""
    async with asyncio.timeout(PATIENCE), _Connection(front, source) as connection:
        return (await connection.get(path))[0]


def _references(path: str, text: str) -> Iterator[str]:
    if path == "/":
        yield from _IN_PAGE.findall(text)
    elif path.endswith(".js"):
        yield from _IN_MODULE.findall(text)


class _Connection:
    """A keep-alive connection to the proxy, opened on first use and reopened when closed."""

    def __init__(self, front: Front, source: str) -> None:
        self._front, self._source = front, source
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> _Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._writer:
            self._writer.transport.abort()

    async def get(self, path: str) -> tuple[int, str]:
        """Return the status and the text of a path; `NOTHING` and no text on failure."""
        try:
            return await self._get(path)
        except (OSError, EOFError):
            self._writer = None
            return NOTHING, ""

    async def _get(self, path: str) -> tuple[int, str]:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(
                *self._front.place,
                ssl=self._front.trust,
                server_hostname=HOST,
                local_addr=(self._source, 0),
            )
        self._writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: gzip\r\n\r\n".encode()
        )
        first, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines if line)
        body = await self._reader.readexactly(int(fields["content-length"]))
        if fields.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if fields.get("connection") == "close":
            self._writer.close()
            self._writer = None
        return int(first.split()[1]), body.decode(errors="replace")


async def _open_socket(front: Front, source: str) -> int:
    host, port = front.place
    try:
        async with connect(
            f"wss://{HOST}/ws",
            host=host,
            port=port,
            local_addr=(source, 0),
            ssl=front.trust,
            origin=Origin(f"https://{HOST}"),
            subprotocols=[Subprotocol("gmcp.mudstandards.org")],
            proxy=None,
        ) as socket:
            await socket.recv()
            return SWITCHING
    except InvalidStatus as error:
        return error.response.status_code
    except (OSError, EOFError, WebSocketException):
        return NOTHING
