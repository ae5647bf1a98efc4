from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from tests.conftest import ASYNCIO, Loops
from tests.simulation.alone import DrivingLoop, simulated
from tests.store.deeds import Clock
from thudmud.store import Store

Opening = Callable[[], Awaitable[Store]]

SIMULATED = "simulated"


def _made_for(kind: str) -> asyncio.AbstractEventLoop:
    """Return an event loop for a kind of store; the simulated kind needs a loop of its own."""
    loop = DrivingLoop() if kind == SIMULATED else asyncio.new_event_loop()
    _kinds[loop] = kind
    return loop


_kinds: WeakKeyDictionary[asyncio.AbstractEventLoop, str] = WeakKeyDictionary()

KINDS: Loops = {
    kind: partial(_made_for, kind) for kind in ("memory", "sqlite", "postgresql", SIMULATED)
}
"""Loop factories by kind of store. Add a kind here to run the contract against it."""


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Run tests that open stores once for each kind of store."""
    return KINDS if "opening" in getattr(item, "fixturenames", ()) else ASYNCIO


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "thud.store"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def opening(
    request: pytest.FixtureRequest, path: Path, clock: Clock
) -> AsyncIterator[Opening]:
    """Return a function that opens a store of the loop's kind."""
    opened: list[Store] = []
    loop = asyncio.get_running_loop()
    kind, dsn = _kinds[loop], ""
    if kind == "postgresql":
        dsn = request.getfixturevalue("dsn")
    elif kind == SIMULATED:
        dsn = "dbname=world"

    async def open_one() -> Store:
        if kind == "memory":
            store = Store.in_memory(clock=clock)
        elif dsn:
            store = await Store.connect(dsn, clock=clock)
        else:
            store = await Store.open(path, clock=clock, serving=True)
        opened.append(store)
        return store

    with simulated(loop, path) if isinstance(loop, DrivingLoop) else nullcontext():
        yield open_one
        for store in opened:
            await store.close()


@pytest.fixture
async def store(opening: Opening) -> Store:
    """Return an empty store of each kind."""
    return await opening()
