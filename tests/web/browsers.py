"""WebSocket clients of the server, without the page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from tests.server.plain import PATIENCE, Setup

GMCP = "gmcp.mudstandards.org"
WANTS = 'Core.Supports.Set ["Thud 1", "Char.Login 1"]'


class Browser:
    """A WebSocket with its received text and packages."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.text = ""
        self.packages: list[tuple[str, Any]] = []
        self._seen = 0

    async def type(self, *lines: str) -> None:
        for line in lines:
            await self.socket.send(line.encode())

    async def tell(self, package: str, data: object) -> None:
        await self.socket.send(f"{package} {json.dumps(data)}")

    async def until(self, words: str) -> str:
        """Return the text up to and including these words."""
        while words not in self.text:
            await self._take()
        before, _, self.text = self.text.partition(words)
        return before + words

    async def fact(self, package: str) -> Any:
        """Return the data of the next package with this name, skipping others."""
        while True:
            while self._seen < len(self.packages):
                name, data = self.packages[self._seen]
                self._seen += 1
                if name == package:
                    return data
            await self._take()

    async def login(self, name: str) -> None:
        await self.until("name? ")
        await self.type(name)
        await self.until("> ")

    async def end(self) -> int | None:
        """Read up to the end of the connection; return its close code."""
        try:
            while True:
                await self._take()
        except ConnectionClosed:
            return self.socket.close_code

    async def _take(self) -> None:
        async with asyncio.timeout(PATIENCE):
            message = await self.socket.recv()
        if isinstance(message, bytes):
            self.text += message.decode()
        else:
            name, _, data = message.partition(" ")
            self.packages.append((name, json.loads(data) if data else None))


@asynccontextmanager
async def browser(setup: Setup, name: str = "", **how: Any) -> AsyncIterator[Browser]:
    """Connect a browser, logged in if a name is given."""
    [(host, port)] = setup.web_places
    how = {"subprotocols": [Subprotocol(GMCP)], "compression": None, **how}
    if origin := how.pop("origin", None):
        how["origin"] = Origin(origin)
    async with connect(f"ws://{host}:{port}/ws", **how) as socket:
        opened = Browser(socket)
        if name:
            await opened.login(name)
        yield opened
