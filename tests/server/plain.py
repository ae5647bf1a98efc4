"""A server on a free port with a minimal stand-in for the game, and clients for it."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial

from thudmud.game.asides import Entered, Gone
from thudmud.game.command import Command
from thudmud.game.events import Parting
from thudmud.game.hall import Decision, Hall
from thudmud.game.more import LogoutEverywhere, Password, Register
from thudmud.game.table import BoardSpec
from thudmud.server.acceptor import Acceptor
from thudmud.server.session_registry import Sessions, keep_preferences
from thudmud.service import Policy, Result, Service, Visit
from thudmud.store import Store
from thudmud.views import Message, Terminal

PATIENCE = 60.0  # timeout of every wait, in seconds
CHUNK = 65_536  # bytes

OFFERS = b"\xff\xfd\x18\xff\xfd\x00\xff\xfb\x2a\xff\xfb\x19\xff\xfb\xc9\xff\xfb\x46"
"""DO TTYPE, BINARY, WILL CHARSET, EOR, GMCP, MSSP: what a client is sent that has just answered."""


class PlainService(Service):
    """A service with a single room and a few commands for tests.

    ``say`` broadcasts, ``flood N`` broadcasts N letters, ``big N`` sends them to the typist alone,
    ``hard N`` uses N milliseconds of CPU time, ``stall N`` blocks for as long without using any,
    ``dear N`` uses as many outside the event loop's thread, ``later`` is answered by the next
    ``say`` of another player, and ``boom`` raises. ``real LINE`` runs a command of the real
    service, as do ``quit``, ``register`` and ``password``; any other line is echoed.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(
            Hall([BoardSpec("oak board"), BoardSpec("elm board")]),
            store,
            clock=time.time,
            later=lambda delay, call: asyncio.get_running_loop().call_later(delay, call),
            policy=Policy(
                keep=partial(keep_preferences, store), leaves=(Register, Password, LogoutEverywhere)
            ),
        )
        self.typed: list[str] = []
        self.submit = self._submit  # type: ignore[assignment]  # it takes less
        self._carry_out = self.broadcaster.carry_out
        self.broadcaster.carry_out = self._told  # type: ignore[method-assign]

    @property
    def terminals(self) -> Mapping[str, Terminal]:
        return self.broadcaster.screens.terminals

    @property
    def widths(self) -> Mapping[str, int]:
        return {name: terminal.width for name, terminal in self.terminals.items()}

    def name_problem(self, name: str) -> str | None:
        return None if name.isalpha() else "Letters, please."

    async def _submit(self, visit: Visit, line: str | Command) -> Result:
        line = str(line)
        verb, _, rest = line.partition(" ")
        if verb in {"quit", "register", "password", "real"}:
            self.typed.append(line)
            return await self.lines.submit(visit, rest if verb == "real" else line)
        async with self.presence.names.holding(visit.name):
            if visit.is_over:
                return Result()
            self.typed.append(line)
            return self._answered(visit, verb, rest)

    def _answered(self, visit: Visit, verb: str, rest: str) -> Result:
        match verb:
            case "":
                pass
            case "say":
                self.announce(f"{visit.name} says: {rest}")
            case "flood":
                self.announce("x" * int(rest))
            case "big":
                self._tell(Message((visit.name,), "x" * int(rest)))
            case "ring":
                self._tell(Message((visit.name,), "Your turn.", with_bell=True))
            case "hard":
                done = time.thread_time() + int(rest) / 1000
                while time.thread_time() < done:
                    pass
            case "stall":
                time.sleep(int(rest) / 1000)
            case "dear":
                return Result(seconds=int(rest) / 1000)
            case "later":
                return Result(is_awaited=True)
            case "boom":
                raise RuntimeError("boom \x1b[31m")
            case "width":
                self._tell(Message((visit.name,), f"width {self.widths[visit.name]}"))
            case _:
                self._tell(Message((visit.name,), f"echo {self.typed[-1]}"))
        return Result()

    def _tell(self, message: Message) -> None:
        self.broadcaster.send([message])

    def _told(
        self,
        decision: Decision,
        cause: object = None,
        at: float | None = None,
        *,
        only_to: str = "",
        **how: bool,
    ) -> None:
        match decision.asides:
            case [Entered(name)]:
                self._carry_out(decision, cause, should_deliver=False)
                self._announce(f"{name} comes in.", only_to)
            case [Gone(name, _, Parting.QUIT)]:
                self._announce(f"{name} leaves.", only_to)
                self._carry_out(decision, cause, should_deliver=False)
            case [Gone(name)]:
                self._carry_out(decision, cause, should_deliver=False)
                self._announce(f"{name} is lost.", only_to)
            case _:
                self._carry_out(decision, cause, at, only_to=only_to, **how)

    def _announce(self, sentence: str, only_to: str) -> None:
        if not only_to:
            self.announce(sentence)


class Client:
    """A client on a bare socket that sees all bytes, including telnet commands."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.unread = b""

    async def send(self, data: bytes) -> None:
        # The timeout is per chunk: large data may take long as long as it progresses.
        for start in range(0, len(data), CHUNK):
            self.writer.write(data[start : start + CHUNK])
            async with asyncio.timeout(PATIENCE):
                await self.writer.drain()

    async def until(self, wanted: bytes) -> bytes:
        """Return the output up to and including ``wanted``."""
        come, seen = bytearray(self.unread), 0
        try:
            while (found := come.find(wanted, seen)) < 0:
                seen = max(0, len(come) - len(wanted))
                come += await self._more(wanted, come)
        finally:
            self.unread = bytes(come)
        end = found + len(wanted)
        taken, self.unread = self.unread[:end], self.unread[end:]
        return taken

    async def fence(self) -> bytes:
        """Return all answers to the input so far, delimited by a timing mark."""
        await self.send(b"\xff\xfd\x06")
        return (await self.until(b"\xff\xfb\x06")).removesuffix(b"\xff\xfb\x06")

    async def rest(self) -> bytes:
        """Return the output up to the end of the connection."""
        async with asyncio.timeout(PATIENCE):
            data = self.unread + await self.reader.read()
        self.unread = b""
        return data

    async def speak(self) -> None:
        """Prove to be a telnet client, and consume the offers that follow."""
        await self.send(b"\xff\xfc\x1f")
        await self.until(OFFERS)

    async def login(self, name: str) -> bytes:
        await self.send(name.encode() + b"\r\n")
        return await self.until(b"> ")

    def stop_reading(self) -> None:
        self.writer.transport.pause_reading()  # type: ignore[attr-defined]

    def read_on(self) -> None:
        self.writer.transport.resume_reading()  # type: ignore[attr-defined]

    def cut(self) -> None:
        """Make `close` reset the connection, which the server notices in any state.

        An orderly close only ends the input: the server would still send its answers, even
        after the delay for wrong passwords.
        """
        link = self.writer.get_extra_info("socket")
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def close(self) -> None:
        self.writer.transport.abort()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def _more(self, wanted: bytes, come: bytearray) -> bytes:
        try:
            async with asyncio.timeout(PATIENCE):
                data = await self.reader.read(CHUNK)
        except TimeoutError:
            raise AssertionError(f"{wanted!r} did not come, only {bytes(come[-2000:])!r}") from None
        assert data, f"the connection ended before {wanted!r}; there was {bytes(come[-2000:])!r}"
        return data


class Setup:
    """A running server with its service and helpers to connect."""

    def __init__(self, server: Acceptor, sessions: Sessions, stack: AsyncExitStack) -> None:
        assert isinstance(sessions.service, PlainService)
        self.service = sessions.service
        self.sessions = sessions
        self._server = server
        self._stack = stack

    @property
    def throttled(self) -> int:
        """How often lines were throttled."""
        return self._server.turns.throttled

    async def start(self) -> None:
        [(self.host, self.port)] = await self._server.bind()
        self.web_places = self._server.web_places
        await self.service.open()
        self._stack.push_async_callback(self.sessions.service.close)
        await self._server.start(self.sessions)
        self._stack.push_async_callback(self._server.stop)

    async def stop(self) -> None:
        await self._server.stop()

    async def connect_web(self, *, source: str | None = None) -> Client:
        """Return a client connected to the web port from a local address."""
        [(host, port)] = self.web_places
        here = (source, 0) if source else None
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(
                host, port, limit=1 << 16, local_addr=here
            )
        client = Client(reader, writer)
        self._stack.push_async_callback(client.close)
        return client

    async def connect(self, name: str = "", *, source: str | None = None) -> Client:
        """Return a client connected from a local address, logged in if a name is given."""
        here = (source, 0) if source else None
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(
                self.host, self.port, limit=1 << 16, local_addr=here
            )
        client = Client(reader, writer)
        self._stack.push_async_callback(client.close)
        if name:
            await client.until(b"name? ")
            await client.login(name)
        return client


Serving = Callable[..., Awaitable[Setup]]
