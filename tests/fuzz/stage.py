"""A real server process with two players at a board, open to attackers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import cycle, product
from pathlib import Path
from string import ascii_lowercase
from time import perf_counter

from tests.server.plain import PATIENCE, Client

BOARD = "oak board"
PLIES = [("Anna", "a7", "a8"), ("Bert", "g7", "g6"), ("Anna", "a8", "a7"), ("Bert", "g6", "g7")]
"""A dwarf and a troll move back and forth, repeated for as long as necessary."""

DEFAULTS: dict[str, dict[str, object]] = {
    "server": {
        "port": 0,
        "shutdown_grace": 0.2,
        "log_level": "info",
        "log_file": "log",
        # Tests connect from one address, and faster than people.
        "connections_per_address": 1000,
        "accepts_at_once": 100_000,
    },
    "web": {"enabled": False},
    "players": {"names_per_hour": 10_000},
    "game": {"quiet_plies": 0},
    "storage": {"backend": "memory"},
}

SERVING = """
import sys
from thudmud.server import logs
logs.MOST_OF_STRANGERS = 1_000_000
from thudmud.cli.main import main
sys.exit(main())
"""
"""Runs a server that logs all events caused by strangers, which the tests count."""


class Stage:
    """A server where Anna and Bert play.

    Attributes:
        names: unused player names.
        slowest: the longest time in seconds from sending a ply until both players saw it.
    """

    def __init__(self, server: Process, port: int, folder: Path) -> None:
        self._server, self._port, self._folder = server, port, folder
        self._players: dict[str, Client] = {}
        self._clients: list[Client] = []
        self._plies = cycle(PLIES)
        self.slowest = 0.0
        self.names = map("".join, product(["Mal"], ascii_lowercase, ascii_lowercase))

    async def connect(self, name: str = "") -> Client:
        """Return a new client, logged in if a name is given."""
        async with asyncio.timeout(PATIENCE):
            client = Client(*await asyncio.open_connection("127.0.0.1", self._port))
        self._clients.append(client)
        if name:
            await client.until(b"name? ")
            await client.login(name)
        return client

    async def stranger(self) -> Client:
        """Return a new client, logged in under an unused name."""
        return await self.connect(next(self.names))

    async def begin(self) -> None:
        """Start a game between Anna and Bert."""
        for name, side in (("Anna", "dwarf"), ("Bert", "troll")):
            self._players[name] = client = await self.connect(name)
            await client.send(f"join game as {side} on {BOARD}\r\n".encode())
            await client.send(f"set board brief on {BOARD}\r\n".encode())
            await client.fence()
        await self._players["Anna"].send(b"start game\r\n")
        await self._players["Bert"].send(b"start game\r\n")
        for client in self._players.values():
            await client.fence()
        await self.play()

    async def play(self) -> None:
        """Play a ply and wait until both players have seen it."""
        name, start, end = next(self._plies)
        begun = perf_counter()
        for client in self._players.values():
            client.unread = b""
        await self._players[name].send(f"move {start} {end}\r\n".encode())
        for client in self._players.values():
            await client.until(f"from {start.upper()} to {end.upper()}".encode())
        self.slowest = max(self.slowest, perf_counter() - begun)

    async def all_others_gone(self) -> None:
        """Wait until the server has noticed that only Anna and Bert are connected."""
        async with asyncio.timeout(PATIENCE):
            while sum(map(_balance, self.log)) > len(self._players):
                await self.play()

    @property
    def memory(self) -> int:
        """The resident memory of the server in bytes, from Linux's /proc."""
        pages = Path(f"/proc/{self._server.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def log(self) -> list[str]:
        """The lines of the server's log."""
        return (self._folder / "log").read_text().splitlines()

    async def close(self) -> None:
        """Disconnect all clients."""
        for client in self._clients:
            await client.close()


def _balance(line: str) -> int:
    """Return the change in the number of connections that a log line records."""
    return ("event=connected" in line) - ("event=gone" in line)


@asynccontextmanager
async def open_stage(folder: Path, **settings: Mapping[str, object]) -> AsyncIterator[Stage]:
    """Run a server with ``settings``, given by section, for the duration of the context."""
    sections = {key: {**each, **settings.get(key, {})} for key, each in DEFAULTS.items()}
    (folder / "config.toml").write_text(_toml(sections))
    command = (sys.executable, "-c", SERVING)
    server = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=PIPE)
    assert server.stdout
    line = await server.stdout.readline()
    stage = Stage(server, int(line.split()[-1]), folder)
    try:
        await stage.begin()
        yield stage
    finally:
        await stage.close()
        server.terminate()
        await server.wait()
    assert server.returncode == 0


def _toml(sections: Mapping[str, Mapping[str, object]]) -> str:
    lines: list[str] = []
    for name, section in sections.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in section.items())]
    return "\n".join(lines)
