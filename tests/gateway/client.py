"""An in-process gateway client: no socket between it and the link."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from thudmud.gateway.bots import GatewayBots
from thudmud.gateway.gateway import Gateway
from thudmud.gateway.link import Link
from thudmud.gateway.session import GatewayPolicy
from thudmud.store import Store

SECRET = "a secret that is long enough"  # noqa: S105  (nobody's)
PATIENCE = 20.0  # seconds before a wait is given up
NOW = 1_767_225_600.0

Heard = dict[str, Any]


class Wire:
    """The stream a link writes to; while ``stuck``, the peer does not read."""

    def __init__(self) -> None:
        self.stuck = False
        self.written = bytearray()
        self.closed = self.aborted = False
        self.news = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.written += data
        self.news.set()

    async def drain(self) -> None:
        if self.stuck:
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(0)

    def close(self) -> None:
        self.closed = True

    async def wait_closed(self) -> None:
        await self.drain()

    def abort(self) -> None:
        self.aborted = True


class Client:
    """A single link of a client."""

    def __init__(self, gateway: Gateway, numbers: Iterator[int] | None = None) -> None:
        self.reader, self.wire = asyncio.StreamReader(), Wire()
        self.heard: list[Heard] = []
        self._numbers = numbers or count(1)
        self._at = 0
        self.link = Link(gateway, self.reader, self.wire)
        self.running = asyncio.create_task(self.link.run())

    def say(self, **data: object) -> None:
        self.write(json.dumps(data).encode() + b"\n")

    def write(self, data: bytes) -> None:
        self.reader.feed_data(data)

    async def hear(self) -> Heard:
        """Return the next message from the gateway."""
        async with asyncio.timeout(PATIENCE):
            while (end := self.wire.written.find(b"\n", self._at)) < 0:
                assert not self.running.done(), "the link has ended"
                self.wire.news.clear()
                await self.wire.news.wait()
        line = bytes(self.wire.written[self._at : end])
        self._at = end + 1
        assert line.isascii()
        self.heard.append(json.loads(line))
        return self.heard[-1]

    async def answer(self, kind: str, **data: object) -> Heard:
        """Send a request and return its answer; earlier messages are added to ``heard``."""
        return await self.answer_as(next(self._numbers), kind, **data)

    async def answer_as(self, number: int, kind: str, **data: object) -> Heard:
        """Send a request with the given id and return its answer."""
        self.say(type=kind, id=number, **data)
        while (heard := await self.hear())["type"] != "answer" or heard["id"] != number:
            pass
        return heard

    async def greet(self, client: str = "mud", **data: object) -> Heard:
        self.say(type="hello", version=1, client=client, secret=SECRET, **data)
        return await self.hear()

    async def end(self) -> list[Heard]:
        """Wait until the link has ended and return the messages not yet read."""
        async with asyncio.timeout(PATIENCE):
            await self.running
        rest = bytes(self.wire.written[self._at :])
        return [json.loads(line) for line in rest.splitlines()]

    async def cut(self) -> None:
        """Lose the connection."""
        self.reader.set_exception(ConnectionResetError())
        async with asyncio.timeout(PATIENCE):
            await self.running

    async def seat(self, board: str = "oak", *, data: bool = False) -> None:
        """Open a board and start a battle there."""
        await self.answer("open", board=board, name="oak board", style="brief")
        for player, side in (("Anna", "dwarf"), ("Bert", "troll")):
            await self.answer("enter", board=board, player=player, data=data)
            await self.answer("line", board=board, player=player, line=f"join game as {side}")
        await self.answer("line", board=board, player="Anna", line="start")


def stored() -> Store:
    return Store.in_memory(clock=lambda: NOW)


async def opened(
    store: Store | None = None,
    policy: GatewayPolicy | None = None,
    word: str = "token",
    bots: GatewayBots | None = None,
) -> Gateway:
    numbers = count(1)
    gateway = Gateway(
        store or stored(),
        policy or GatewayPolicy(secret=SECRET),
        bots=bots,
        clock=lambda: NOW,
        token=lambda: f"{word}-{next(numbers)}",
    )
    await gateway.open()
    return gateway
