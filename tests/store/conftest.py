from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.store.deeds import Clock
from thudmud.store import Store

Opening = Callable[[], Awaitable[Store]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "thud.store"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
async def opening(
    request: pytest.FixtureRequest, path: Path, clock: Clock
) -> AsyncIterator[Opening]:
    """Return what opens a store of each kind. Another kind is put under the contract here."""
    opened: list[Store] = []
    dsn = request.getfixturevalue("dsn") if request.param == "postgresql" else ""

    async def open_one() -> Store:
        if request.param == "memory":
            store = Store.in_memory(clock=clock)
        elif dsn:
            store = await Store.connect(dsn, clock=clock)
        else:
            store = await Store.open(path, clock=clock, serving=True)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(opening: Opening) -> Store:
    """Return an empty store of each kind."""
    return await opening()
