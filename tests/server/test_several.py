"""Several servers on one database of PostgreSQL, real processes: one dies, and play goes on."""

from __future__ import annotations

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.server.plain import PATIENCE, Client

pytestmark = pytest.mark.slow

CONFIG = """\
bot = []
[server]
log_level = "warning"
[web]
enabled = false
[storage]
backend = "postgresql"
dsn = "{dsn}"
standby = {standby}
"""
WORD = re.compile(rb"Your resume word, \w+: ([a-z-]+)")
LONG = 60.0
"""How many seconds it may take until a dead node is noticed, on a machine that has much to do."""

Start = Callable[..., Awaitable[Process]]
clients: list[Client] = []
"""Those of the test that runs; they are closed at its end."""


@pytest.fixture
async def start(tmp_path: Path, dsn: str) -> AsyncIterator[Start]:
    """Return what starts a server."""
    begun: list[Process] = []
    clients.clear()

    async def one(*, standby: bool = False) -> Process:
        config = tmp_path / f"config-{len(begun)}.toml"
        config.write_text(CONFIG.format(dsn=dsn, standby=str(standby).lower()), encoding="utf-8")
        words = "-m", "thudmud.cli.main", "serve", "--port", "0", "--config", str(config)
        server = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=PIPE)
        begun.append(server)
        return server

    yield one
    for client in clients:
        client.writer.close()
    for server in begun:
        if server.returncode is None:
            server.kill()
        await server.communicate()


async def line_of(server: Process) -> str:
    """Return the next line that a server prints."""
    assert server.stdout
    async with asyncio.timeout(LONG):
        return (await server.stdout.readline()).decode()


async def port_of(server: Process) -> int:
    """Wait until a server is ready; return its port."""
    ready = await line_of(server)
    assert "is ready" in ready
    return int(ready.split()[-1])


async def come(port: int, *lines: str) -> tuple[Client, bytes]:
    """Connect, and type some lines; return the connection, and what came of them."""
    client = Client(*await asyncio.open_connection("127.0.0.1", port))
    clients.append(client)
    told = b""
    for line in lines:
        told += await says(client, line)
    return client, told


async def says(client: Client, line: str) -> bytes:
    await client.send(line.encode() + b"\r\n")
    return await client.fence()


def word_in(told: bytes) -> str:
    found = WORD.search(told)
    assert found, told
    return found[1].decode()


async def test_one_server_dies_and_play_goes_on_at_the_other(start: Start) -> None:
    first = await start(standby=True)
    port = await port_of(first)
    anna, told = await come(port, "Anna", "join game as dwarf on oak board")
    word = word_in(told)
    _, told = await come(port, "Bert", "join game as troll on oak board", "start")
    words = [word, word_in(told)]
    await anna.until(b"begin")
    assert b"You move" in await says(anna, "move a6 to b6")
    second = await start(standby=True)
    assert "stands by" in await line_of(second)
    first.kill()
    port = await port_of(second)
    anna, told = await come(port, "Anna", words[0])
    assert b"It is Bert's turn" in told
    bert, told = await come(port, "Bert", words[1])
    assert b"Ply 1: Anna moves the dwarf from A6 to B6" in await says(bert, "last")
    assert b"You move" in await says(bert, "move g7 to f7")
    await anna.until(b"Bert moves the troll from G7 to F7")


async def test_who_does_not_stand_by_is_refused(start: Start) -> None:
    await port_of(await start())
    second = await start()
    assert not await line_of(second)
    assert await second.wait() != 0


async def test_who_stands_by_can_be_stopped(start: Start) -> None:
    await port_of(await start(standby=True))
    second = await start(standby=True)
    assert "stands by" in await line_of(second)
    second.terminate()
    async with asyncio.timeout(PATIENCE):
        assert await second.wait() == 0
