"""A class of thirty behind one address, on a server with its default limits."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from tests.conftest import RunServer
from tests.server.plain import Client
from tests.server.test_proxies import header

SCHOOL = "192.0.2.7"
"""The class's address, which a proxy tells: limits by address leave this machine out."""

CONFIG = """
bot = []

[server]
proxies = ["127.0.0.1"]

[web]
enabled = false
"""

PUPILS = [f"{first}{last}" for first in ("Al", "Bo", "Cy") for last in "abcdefghij"]
PLIES = {b"dwarfs": b"a6 b6", b"trolls": b"g7 f7"}


async def come_in(place: tuple[str, int], name: str, stack: AsyncExitStack) -> Client:
    client = Client(*await asyncio.open_connection(*place))
    stack.push_async_callback(client.close)
    await client.send(header(SCHOOL))
    await client.until(b"name")
    await client.login(name)
    return client


async def begin(client: Client) -> bytes:
    """Wait for the match to begin; return the player's side."""
    told = await client.until(b"begin a match") + await client.until(b"> ")
    side = re.search(rb"You\s+have\s+the\s+(dwarfs|trolls)", told)
    assert side, told
    return side[1]


async def play(client: Client, side: bytes) -> None:
    """Play one ply for a side, and wait for the other side's."""
    for turn, line in PLIES.items():
        if turn == side:
            await client.send(line + b"\r\n")
        await client.until(b"You move the" if turn == side else b" moves the")


async def test_class_of_thirty_plays_from_one_address(
    run_server: RunServer, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG, "utf-8")
    words = [sys.executable, "-m", "thudmud.cli.main", "serve", "--port", "0", "--config", config]
    async with AsyncExitStack() as stack:
        place = stack.enter_context(run_server(words))
        clients = await asyncio.gather(*(come_in(place, name, stack) for name in PUPILS))
        for client in clients:
            await client.send(b"play\r\n")
        sides = await asyncio.gather(*map(begin, clients))
        assert sides.count(b"dwarfs") == len(PUPILS) // 2
        await asyncio.gather(*map(play, clients, sides))
