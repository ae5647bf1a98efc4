"""A server on a free port with a plain stand-in for the house, and clients that wait for things."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

from thudmud.server.listening import Server

PATIENCE = 20.0  # seconds after which something that was waited for will not come


@dataclass(frozen=True)
class Text:
    to: tuple[str, ...]
    text: str


class PlainHouse:
    """Everybody is in one room.

    ``say`` tells all, ``flood N`` tells all N letters, ``big N`` the typist alone, ``boom`` is a
    mistake of ours, any other line comes back to whoever typed it.
    """

    greeting = "Welcome.\nThis is a test."

    def __init__(self) -> None:
        self.widths: dict[str, int] = {}
        self.lines: list[str] = []

    def __contains__(self, name: object) -> bool:
        return name in self.widths

    def name_problem(self, name: str) -> str | None:
        if not name.isalpha():
            return "Letters, please."
        return "That name is taken." if self.canonical(name) in self.widths else None

    def canonical(self, name: str) -> str:
        return name.capitalize()

    def enter(self, name: str, width: int) -> Sequence[Text]:
        self.widths[name] = width
        return [self._all(f"{name} comes in.")]

    def depart(self, name: str, now: float) -> Sequence[Text]:
        del self.widths[name]
        return [self._all(f"{name} is lost.")]

    def resize(self, name: str, width: int) -> None:
        self.widths[name] = width

    def close(self, sentence: str) -> Sequence[Text]:
        return [self._all(sentence)]

    def obey(self, name: str, line: str, now: float) -> Sequence[Text]:
        self.lines.append(line)
        verb, _, rest = line.partition(" ")
        match verb:
            case "":
                return []
            case "say":
                return [self._all(f"{name} says: {rest}")]
            case "flood":
                return [self._all("x" * int(rest))]
            case "big":
                return [Text((name,), "x" * int(rest))]
            case "boom":
                raise RuntimeError("boom \x1b[31m")
            case "quit":
                leaving = [self._all(f"{name} leaves.")]
                del self.widths[name]
                return leaving
            case "width":
                return [Text((name,), f"width {self.widths[name]}")]
        return [Text((name,), f"echo {line}")]

    def _all(self, text: str) -> Text:
        return Text(tuple(self.widths), text)


class Client:
    """A bare socket: what comes is looked at as bytes, telnet's own among them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.unread = b""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        async with asyncio.timeout(PATIENCE):
            await self.writer.drain()

    async def until(self, wanted: bytes) -> bytes:
        """Return everything up to and with ``wanted``."""
        seen = 0
        while (found := self.unread.find(wanted, seen)) < 0:
            seen = max(0, len(self.unread) - len(wanted))
            self.unread += await self._more(wanted)
        end = found + len(wanted)
        taken, self.unread = self.unread[:end], self.unread[end:]
        return taken

    async def fence(self) -> bytes:
        """Return everything that answers what was sent so far."""
        await self.send(b"\xff\xfd\x06")
        return (await self.until(b"\xff\xfb\x06")).removesuffix(b"\xff\xfb\x06")

    async def rest(self) -> bytes:
        """Return everything up to the end of the connection."""
        async with asyncio.timeout(PATIENCE):
            data = self.unread + await self.reader.read()
        self.unread = b""
        return data

    async def login(self, name: str) -> bytes:
        await self.send(name.encode() + b"\r\n")
        return await self.until(b"> ")

    def stop_reading(self) -> None:
        self.writer.transport.pause_reading()  # type: ignore[attr-defined]

    def read_on(self) -> None:
        self.writer.transport.resume_reading()  # type: ignore[attr-defined]

    async def close(self) -> None:
        self.writer.transport.abort()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def _more(self, wanted: bytes) -> bytes:
        try:
            async with asyncio.timeout(PATIENCE):
                data = await self.reader.read(65536)
        except TimeoutError:
            raise AssertionError(f"{wanted!r} did not come, only {self.unread[-2000:]!r}") from None
        assert data, f"the connection ended before {wanted!r}; there was {self.unread[-2000:]!r}"
        return data


class Setup:
    """A running server, its house, and how to connect to it."""

    def __init__(self, server: Server, house: PlainHouse, stack: AsyncExitStack) -> None:
        self.house = house
        self._server = server
        self._stack = stack

    async def start(self) -> None:
        [(self.host, self.port)] = await self._server.start()
        self._stack.push_async_callback(self._server.stop)

    async def stop(self) -> None:
        await self._server.stop()

    async def connect(self, name: str = "") -> Client:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 16)
        client = Client(reader, writer)
        self._stack.push_async_callback(client.close)
        if name:
            await client.until(b"name? ")
            await client.login(name)
        return client


Serving = Callable[..., Awaitable[Setup]]
