"""Server processes on a shared database, and players who move between them."""

from __future__ import annotations

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.server.plain import Client
from thudmud.accounts.login import TOLD_WORD

CONFIG = """\
bot = {bot}
[server]
log_level = "info"
log_file = "{log}"
accepts_per_second = 1000
accepts_at_once = 1000
{server}
[players]
names_per_hour = 1000000
chat_at_once = 1000
[web]
enabled = false
{web}
[storage]
backend = "postgresql"
dsn = "{dsn}"
{storage}
[game]
{game}
"""
SERVER = "-m", "thudmud.cli.main"
WORD = re.compile(TOLD_WORD.pattern.encode())

LONG = 60.0
"""How many seconds it may take until something is noticed, on a machine that has much to do."""


class KilledError(Exception):
    """The server closed the connection."""


@dataclass
class Player:
    """A player with a real connection and a resume word."""

    name: str
    word: bytes = b""
    client: Client | None = None
    source: str | None = None
    """The address of this machine that they come from, if it matters."""

    async def connect(self, port: int) -> str:
        """Log in, with the resume word if known; return the output."""
        await self.hang_up()
        try:
            here = (self.source, 0) if self.source else None
            opened = await asyncio.open_connection("127.0.0.1", port, local_addr=here)
            self.client = Client(*opened)
        except OSError as error:
            raise KilledError from error
        shown = await self.say(self.name)
        if self.word:
            shown += await self.say(self.word.decode())
        return shown + await self.say("set board brief on oak board")

    async def say(self, line: str) -> str:
        """Type a line; return the output up to the end of its answer."""
        assert self.client
        try:
            await self.client.send(line.encode() + b"\r\n")
            seen = await self.client.fence()
        except (OSError, AssertionError) as error:
            raise KilledError from error
        found = WORD.search(seen)
        if found:
            self.word = found[1]
        return seen.decode("utf-8", "replace")

    async def until(self, wanted: str) -> str:
        """Wait for a string; return the output up to it."""
        assert self.client
        return (await self.client.until(wanted.encode())).decode("utf-8", "replace")

    async def hang_up(self) -> None:
        """Close the connection."""
        if self.client:
            await self.client.close()
            self.client = None


class Nodes:
    """Server processes on one database. `close` ends those still running.

    Args:
        folder: the folder of their configurations and logs.
        dsn: the connection string of the database.
        program: the arguments by which Python runs the server, without the server's own.
    """

    def __init__(self, folder: Path, dsn: str, program: Sequence[str] = SERVER) -> None:
        self._folder, self._dsn, self._program = folder, dsn, program
        self.begun: list[Process] = []

    async def start(
        self,
        *,
        bot: str = "[]",
        server: str = "",
        storage: str = "",
        game: str = "",
        dsn: str = "",
        web: str = "",
    ) -> Process:
        """Start a server.

        Args:
            bot: the ``[[bot]]`` sections.
            server: additional lines of ``[server]``.
            storage: additional lines of ``[storage]``.
            game: the lines of ``[game]``.
            dsn: another connection string.
            web: additional lines of ``[web]``, and sections after it.
        """
        number = len(self.begun) + 1
        config = self._folder / f"config-{number}.toml"
        text = CONFIG.format(
            dsn=dsn or self._dsn,
            log=f"log-{number}",
            bot=bot,
            server=server,
            storage=storage,
            game=game,
            web=web,
        )
        config.write_text(text, encoding="utf-8")
        words = *self._program, "serve", "--port", "0", "--config", str(config)
        process = await asyncio.create_subprocess_exec(
            sys.executable, *words, stdout=PIPE, stderr=PIPE
        )
        self.begun.append(process)
        return process

    async def close(self) -> None:
        """End all servers."""
        for each in self.begun:
            await kill(each)
            await each.communicate()


async def line_of(server: Process) -> str:
    """Return the next line printed by a server."""
    assert server.stdout
    async with asyncio.timeout(LONG):
        return (await server.stdout.readline()).decode()


async def port_of(server: Process) -> int:
    """Wait until a server is ready; return its port. Fail with its output if it ends instead."""
    ready = await line_of(server)
    if "is ready" not in ready:
        said = (await server.communicate())[1].decode()
        raise AssertionError(f"the server ended with {server.returncode}: {ready}{said}")
    return int(ready.split()[-1])


async def kill(server: Process) -> None:
    """Kill a server."""
    with suppress(ProcessLookupError):  # already ended
        server.kill()
    await server.wait()
