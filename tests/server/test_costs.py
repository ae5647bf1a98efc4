"""The cost of a line from input to output bytes, counted in Python function calls.

The transports are fake, so the event loop has nothing else to do and the counts are the same on
every machine. A change that makes a line more expensive raises its number here and says why.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from types import FrameType

import pytest

from tests.accounts.dialogues import CHEAP
from tests.conftest import GENEROUS, NO_WEB
from thudmud.game.hall import Hall
from thudmud.game.table import BoardSpec
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import ServerSettings, Settings
from thudmud.server.session import AcceptedConnection
from thudmud.server.session_registry import Sessions, make_service
from thudmud.store import Store
from thudmud.telnet.connection import Connection

MOST = {
    "say hello": 95,  # the two players hear their watchers, too
    "look": 94,  # seven more find out whether the answer is longer than the screen
    "move from a6 to a1": 85,
    "xyzzy": 93,  # not cached: an unknown command may be a password
}
"""By line, as many calls of ours as it may take: two more than it does. Other tests may have left
equal screens in a cache, which are then compared field by field."""

MOST_OF_A_PLY = 348
"""The limit for a ply, which two players and two who watch see on a drawn board. Thirty to fifty
calls find out which captures its player, a newcomer, has missed."""

TURNS = 2
"""In how many turns of the event loop it is answered: one takes it, one writes what is told."""


class Notebook(asyncio.Transport):
    """A fake transport that records its writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Line:
    """A player's connection."""

    def __init__(self, acceptor: Acceptor) -> None:
        caller = AcceptedConnection("127.0.0.1", 9, lambda: None, lambda _: "")
        self._connection: Connection = acceptor._connection(caller)
        self.wire = Notebook()
        self._connection.connection_made(self.wire)

    async def type(self, line: str) -> None:
        """Type a line and wait for its answer."""
        self.wire.written.clear()
        self.turns = 0
        data = f"{line}\r\n".encode()
        self._connection.get_buffer(-1)[: len(data)] = data
        self._connection.buffer_updated(len(data))
        while not any(piece.endswith(b"> ") for piece in self.wire.written):
            await asyncio.sleep(0)  # the number of turns is checked, too
            self.turns += 1

    def hang_up(self) -> None:
        """Close the connection."""
        self._connection.connection_lost(None)

    async def count(self, line: str) -> int:
        """Return the number of function calls until a line is answered."""
        called = 0

        def counted(frame: FrameType, event: str, _: object) -> None:
            nonlocal called
            if event == "call" and frame.f_globals.get("__name__", "").startswith("thudmud."):
                called += 1

        sys.setprofile(counted)
        try:
            await self.type(line)
        finally:
            sys.setprofile(None)
        return called


@pytest.fixture
async def lines() -> AsyncIterator[dict[str, Line]]:
    """Return the connections of two players and of two who watch them, by name."""
    store = Store.in_memory()
    hall = Hall([BoardSpec("oak board"), BoardSpec("elm board")])
    sessions = Sessions(make_service(store, hall))
    await sessions.service.open()
    settings = Settings(server=ServerSettings.model_validate(GENEROUS), web=NO_WEB)
    acceptor = Acceptor(settings, hasher=CHEAP)
    await acceptor.bind()
    await acceptor.start(sessions)
    lines = {name: Line(acceptor) for name in ("Anna", "Bert", "Carla", "Dora")}
    for name, line in lines.items():
        await line.type(name)
        await line.type("go to oak board")
    await lines["Anna"].type("join as dwarf")
    await lines["Bert"].type("join as troll")
    await lines["Anna"].type("start")
    yield lines
    for line in lines.values():
        line.hang_up()
    await acceptor.stop()
    await store.close()


@pytest.mark.parametrize("line", MOST)
async def test_line_stays_within_its_budget_of_calls(lines: dict[str, Line], line: str) -> None:
    dora = lines["Dora"]
    for _ in range(3):
        await dora.type(line)
    assert (made := await dora.count(line)) <= MOST[line], made
    assert len(dora.wire.written) == 1
    assert dora.turns <= TURNS


async def test_ply_stays_within_its_budget_of_calls(lines: dict[str, Line]) -> None:
    plies = [("Anna", "a6 b7"), ("Bert", "g7 f7"), ("Anna", "b7 a6"), ("Bert", "f7 g7")]
    for name, line in plies * 3:
        await lines[name].type(line)
    counts = [await lines[name].count(line) for name, line in plies]
    assert max(counts) <= MOST_OF_A_PLY, counts
