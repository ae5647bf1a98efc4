"""Sockets that clients connect to, and how many may."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.gateway.client import PATIENCE, SECRET, opened
from thudmud.errors import StartError
from thudmud.gateway import listening
from thudmud.gateway.listening import GatewayAcceptor
from thudmud.gateway.session import GatewayPolicy


async def code(reader: asyncio.StreamReader) -> str:
    async with asyncio.timeout(PATIENCE):
        word: str = json.loads(await reader.readline())["code"]
    return word


async def test_no_more_links_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "STRANGERS", 1)
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, links=1))
    acceptor = GatewayAcceptor(gateway)
    server, place = await acceptor.on_port("127.0.0.1", 0)
    host, port = place.split()
    links = [await asyncio.open_connection(host, port) for _ in range(3)]
    assert await code(links[2][0]) == "full"
    # The others may stay, until they are told that it is over.
    server.close()
    acceptor.close()
    assert [await code(reader) for reader, _ in links[:2]] == ["closing"] * 2
    async with asyncio.timeout(PATIENCE):
        await acceptor.ended()
    for _, writer in links:
        writer.close()
    await gateway.close()


async def test_a_socket_that_somebody_listens_on_is_left_alone(tmp_path: Path) -> None:
    gateway = await opened()
    acceptor = GatewayAcceptor(gateway)
    server, _ = await acceptor.on_path(tmp_path / "socket")
    with pytest.raises(StartError, match="another program listens there"):
        await acceptor.on_path(tmp_path / "socket")
    reader, writer = await asyncio.open_unix_connection(tmp_path / "socket")
    writer.write(b"nonsense\n")
    assert await code(reader) == "hello_first"
    writer.close()
    server.close()
    await gateway.close()
    async with asyncio.timeout(PATIENCE):
        await acceptor.ended()
