from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from thudmud.journal import Journal, MemoryJournal, SqliteJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "thud.journal"


@pytest.fixture(params=["memory", "sqlite"])
async def journal(request: pytest.FixtureRequest, path: Path) -> AsyncIterator[Journal]:
    """Return an empty journal of each kind."""
    journal: Journal
    journal = MemoryJournal() if request.param == "memory" else await SqliteJournal.open(path)
    yield journal
    await journal.close()


@pytest.fixture
async def stored(path: Path) -> AsyncIterator[SqliteJournal]:
    """Return an empty journal in a file."""
    journal = await SqliteJournal.open(path)
    yield journal
    await journal.close()


@pytest.fixture
async def other(stored: SqliteJournal, path: Path) -> AsyncIterator[SqliteJournal]:
    """Return another instance of a journal, on the same file."""
    journal = await SqliteJournal.open(path, poll=0.01)
    yield journal
    await journal.close()
