"""Listening sockets and connection limits, also under a flood of strangers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.client import PATIENCE, SECRET, opened
from thudmud.errors import StartError
from thudmud.gateway import listening
from thudmud.gateway.listening import GatewayAcceptor
from thudmud.gateway.session import GatewayPolicy
from thudmud.server.sockets import bound_sockets

HELLO = {"type": "hello", "version": 1, "client": "mud", "secret": SECRET}


class Knocker:
    """A client connected over a socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    def say(self, **data: object) -> None:
        self.write(json.dumps(data).encode() + b"\n")

    async def hears(self) -> Any:
        """Return the next message."""
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self._reader.readline())

    async def answer(self, number: int, kind: str, **data: object) -> Any:
        self.say(type=kind, id=number, board="oak", **data)
        while (heard := await self.hears())["type"] != "answer":
            pass
        return heard

    async def is_ended(self) -> None:
        """Wait for the gateway to close; unread input may cost its last message."""
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):  # a reset, if the gateway left input unread
                await self._reader.read()

    def close(self) -> None:
        self._writer.transport.abort()


class Knocking:
    """A listening gateway and the connections to it."""

    def __init__(self, acceptor: GatewayAcceptor, place: str, stack: AsyncExitStack) -> None:
        self.acceptor = acceptor
        self._place, self._stack = place, stack

    async def link(self) -> Knocker:
        link = Knocker(*await asyncio.open_connection(*self._place.split()))
        self._stack.callback(link.close)
        return link


@asynccontextmanager
async def knocking(policy: GatewayPolicy | None = None) -> AsyncIterator[Knocking]:
    gateway = await opened(policy=policy)
    acceptor = GatewayAcceptor(gateway)
    [server] = await acceptor.listen_on_sockets(
        await bound_sockets(["127.0.0.1"], "gateway.port", 0)
    )
    host, port = server.sockets[0].getsockname()
    async with AsyncExitStack() as stack:
        try:
            yield Knocking(acceptor, f"{host} {port}", stack)
        finally:
            server.close()
            acceptor.close()
            async with asyncio.timeout(PATIENCE):
                await acceptor.wait_closed()
            await gateway.close()


async def test_connection_without_hello_is_evicted_for_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listening, "STRANGERS_PER_ADDRESS", 2)
    monkeypatch.setattr(listening, "MOMENT", 0.0)
    async with knocking() as port:
        first, client = await port.link(), await port.link()
        client.say(**HELLO)
        assert (await client.hears())["type"] == "welcome"
        second, third = await port.link(), await port.link()
        assert (await first.hears())["code"] == "full"
        third.say(**HELLO | {"client": "another-mud"})
        assert (await third.hears())["type"] == "welcome"
        # The remaining connections stay open until the gateway closes.
        port.acceptor.close()
        for link in (client, second, third):
            assert (await link.hears())["code"] == "closing"


async def test_eviction_prefers_the_address_with_most_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses = iter(["one", "two", "two", "three", "four"])
    monkeypatch.setattr(listening, "network", lambda _: next(addresses))
    monkeypatch.setattr(listening, "STRANGERS", 3)
    monkeypatch.setattr(listening, "MOMENT", 0.0)
    async with knocking() as port:
        one, two, _, three, _ = [await port.link() for _ in range(5)]
        assert (await two.hears())["code"] == "full"
        assert (await one.hears())["code"] == "full"
        three.say(**HELLO)
        assert (await three.hears())["type"] == "welcome"


async def test_recent_connection_is_not_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "STRANGERS_PER_ADDRESS", 1)
    monkeypatch.setattr(listening, "MOMENT", PATIENCE)
    monkeypatch.setattr(listening, "MOST_STRANGERS", 3)
    async with knocking() as port:
        links = [await port.link() for _ in range(4)]
        assert (await links[0].hears())["code"] == "full"
        for number, link in enumerate(links[1:]):
            link.say(**HELLO | {"client": f"mud-{number}"})
            assert (await link.hears())["type"] == "welcome"


async def test_clients_are_unaffected_by_a_flood_of_strangers() -> None:
    async with knocking() as port:
        client = await port.link()
        client.say(**HELLO)
        await client.hears()
        await client.answer(1, "open", name="oak board")
        talking = [await port.link() for _ in range(60)]
        wrong = [await port.link() for _ in range(24)]
        for link in talking:
            link.write(b"\n" * 1_000_000)
        for link in wrong:
            link.say(**HELLO | {"secret": "a secret that somebody guesses"})
        await client.answer(2, "enter", player="Anna")
        silent = [await port.link() for _ in range(80)]
        assert (await client.answer(3, "line", player="Anna", line="join game as dwarf"))["ok"]
        for link in talking:
            await link.is_ended()
        other = await port.link()
        other.say(**HELLO | {"client": "another-mud"})
        assert (await other.hears())["type"] == "welcome"
        assert (await client.answer(4, "show"))["version"] == 1
        for link in (*wrong, *silent):
            link.close()


async def test_closed_connections_do_not_count_towards_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listening, "STRANGERS_PER_ADDRESS", 2)
    monkeypatch.setattr(listening, "MOMENT", 0.0)
    async with knocking() as port:
        for number in range(20):
            for _ in range(3):
                (await port.link()).close()
            client = await port.link()
            client.say(**HELLO | {"client": f"mud-{number % 2}"})
            assert (await client.hears())["type"] == "welcome"
            client.say(type="bye")
            await client.is_ended()


async def test_socket_in_use_is_left_alone(tmp_path: Path) -> None:
    gateway = await opened()
    acceptor = GatewayAcceptor(gateway)
    server = await acceptor.listen_on_path(tmp_path / "socket")
    with pytest.raises(StartError, match="another program is already listening there"):
        await acceptor.listen_on_path(tmp_path / "socket")
    link = Knocker(*await asyncio.open_unix_connection(tmp_path / "socket"))
    link.write(b"nonsense\n")
    assert (await link.hears())["code"] == "hello_first"
    link.close()
    server.close()
    await gateway.close()
    async with asyncio.timeout(PATIENCE):
        await acceptor.wait_closed()
