"""Failures of disks and files: they are reported, and nothing is half-written."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import force_setattr

from tests.store.deeds import OAK, PATIENCE, PINE, Taken, everything, joined, moved
from thudmud.store import DamagedStoreError, NotWrittenError, Store, StoreError
from thudmud.store.checking import check_backend
from thudmud.store.database import Database, Head
from thudmud.store.files import OnDisk, connect


class Connections(list[sqlite3.Connection]):
    """Connections opened by stores, whose settings the tests change."""

    def set(self, statement: str) -> None:
        """Change a setting of the latest connection."""
        self[-1].execute(statement).fetchall()


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Connections:
    made = Connections()

    def connecting(path: Path, lock_timeout: float, *, reading: bool = False) -> sqlite3.Connection:
        connection = connect(path, lock_timeout, reading=reading)
        if not reading:
            made.append(connection)
        return connection

    monkeypatch.setattr("thudmud.store.files.connect", connecting)
    return made


@pytest.fixture
async def stored(path: Path, connections: Connections) -> AsyncIterator[Store]:
    """Return a file-backed store with two events."""
    store = await Store.open(path)
    await store.append({OAK: (0, [joined(1), joined(2)])})
    yield store
    await store.close()


@contextmanager
def no_more_than(size: int) -> Iterator[None]:
    """Limit the size of every file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def works(store: Store) -> None:
    """Assert that events can be appended and are delivered."""
    taken = Taken()
    position, version = await store.position(), await store.version(PINE)
    following = await store.subscribe(None, position, taken.take, taken.failed)
    await store.append({PINE: (version, [joined(version)])})
    await store.append({"a new board": (0, [joined(1)])})
    await taken.until(lambda: len(taken.entries) == 2)
    assert not taken.errors
    following.close()


async def fails(store: Store, words: str) -> None:
    """Assert that appends fail with the given message and change nothing."""
    before, taken = await everything(store), Taken()
    following = await store.subscribe(None, await store.position(), taken.take, taken.failed)
    versions = {name: await store.version(name) for name in (OAK, PINE, "a new board")}
    outcomes = await asyncio.gather(
        *(store.append({name: (version, [moved(1)])}) for name, version in versions.items()),
        return_exceptions=True,
    )
    for outcome in outcomes:
        assert isinstance(outcome, NotWrittenError), outcome
    assert any(words in str(outcome) for outcome in outcomes), outcomes
    assert await everything(store) == before
    assert not taken.entries
    following.close()


async def test_full_disk_is_reported_and_recovered_from(
    stored: Store, connections: Connections
) -> None:
    connections.set("pragma max_page_count = 1")
    with pytest.raises(NotWrittenError, match="the disk is full"):
        await stored.append({OAK: (2, [moved(ply) for ply in range(1000)])})
    assert await stored.read(Database.stream_versions) == {OAK: 2}
    connections.set("pragma max_page_count = 1000")
    await works(stored)


async def test_full_disk_fails_every_append_of_the_batch(
    stored: Store, connections: Connections
) -> None:
    connections.set("pragma max_page_count = 1")
    outcomes = await asyncio.gather(
        stored.append({OAK: (2, [moved(ply) for ply in range(1000)])}),
        stored.append({PINE: (0, [moved(ply) for ply in range(1000)])}),
        return_exceptions=True,
    )
    assert [type(each) for each in outcomes] == [NotWrittenError] * 2
    assert await stored.read(Database.stream_versions) == {OAK: 2}


async def test_end_of_a_full_disk_is_logged_once(
    stored: Store, connections: Connections, caplog: pytest.LogCaptureFixture
) -> None:
    connections.set("pragma max_page_count = 1")
    for _ in range(3):
        with pytest.raises(NotWrittenError):
            await stored.append({OAK: (2, [moved(ply) for ply in range(1000)])})
    assert "stores again" not in caplog.messages
    connections.set("pragma max_page_count = 1000")
    await works(stored)
    [record] = [each for each in caplog.records if each.getMessage() == "stores again"]
    assert (record.levelname, vars(record)["refused"]) == ("WARNING", 3)
    assert vars(record)["seconds"] >= 0


async def test_disk_write_error_is_reported(stored: Store) -> None:
    before = await everything(stored)
    with (
        no_more_than(8192),
        pytest.raises(NotWrittenError, match=r"input/output error on the disk|the disk is full"),
    ):
        await stored.append({OAK: (2, [moved(1)])})
    assert await everything(stored) == before
    await works(stored)


async def test_read_only_database_is_reported(stored: Store, connections: Connections) -> None:
    connections.set("pragma query_only = 1")
    await fails(stored, "read-only")
    connections.set("pragma query_only = 0")
    await works(stored)


async def test_invalid_event_fails_only_its_own_append(stored: Store) -> None:
    spoilt = moved(2)
    force_setattr(spoilt, "ply", float("nan"))  # the constructor rejects it
    wrong, right = await asyncio.gather(
        stored.append({PINE: (0, [joined(1), spoilt])}),
        stored.append({OAK: (2, [joined(3)])}),
        return_exceptions=True,
    )
    assert isinstance(wrong, Exception)
    assert right
    assert await stored.read(Database.stream_versions) == {OAK: 3}


async def test_unexpected_error_fails_waiting_appends(
    stored: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Database, "append", fail)
    waiting = asyncio.gather(
        stored.append({OAK: (2, [joined(3)])}),
        stored.append({PINE: (0, [joined(4)])}),
        return_exceptions=True,
    )
    outcomes = await asyncio.wait_for(waiting, PATIENCE)
    assert all(isinstance(each, Exception) for each in outcomes)
    monkeypatch.undo()
    assert await stored.read(Database.stream_versions) == {OAK: 2}
    await works(stored)


async def test_damage_found_by_a_subscription_is_reported(stored: Store, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as vandal:
        vandal.execute("update event set body = '[]'")
    with pytest.raises(DamagedStoreError):
        await stored.subscribe(None, 0, Taken().take, Taken().failed)
    with pytest.raises(DamagedStoreError):
        await stored.read_stream(OAK)


class TestOpening:
    async def test_path_with_special_characters_is_supported(self, tmp_path: Path) -> None:
        path = tmp_path / "a store? 100%#1.thud"
        store = await Store.open(str(path))
        await store.append({OAK: (0, [joined(1)])})
        await store.close()
        assert path.exists()

    async def test_concurrent_opening_creates_one_file(self, path: Path) -> None:
        stores = await asyncio.gather(*(Store.open(path) for _ in range(6)))
        for version, store in enumerate(stores):
            await store.append({OAK: (version, [joined(version)])})
        await asyncio.gather(*(store.close() for store in stores))

    async def test_full_disk_at_opening_is_reported(
        self, stored: Store, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Files cannot grow and no space is left; this is not reported as a disk failure."""
        await stored.close()
        disk = os.statvfs_result((4096, 4096, 1000, 10, 10, 1000, 900, 900, 0, 255))
        monkeypatch.setattr("thudmud.store.files.os.statvfs", lambda _: disk)
        with no_more_than(8192), pytest.raises(StoreError, match=r"the disk is full\.$"):
            await Store.open(path)

    async def test_full_disk_at_creation_is_reported(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("thudmud.store.files.os.link", refuse)
        with pytest.raises(StoreError, match=r"the disk is full\.$"):
            await Store.open(path)

    async def test_uncreatable_shm_file_is_reported(self, stored: Store, path: Path) -> None:
        await stored.close()
        with (
            no_more_than(8192),
            pytest.raises(StoreError, match=f"cannot create its companion file {path.name}-shm"),
        ):
            await Store.open(path)

    async def test_cancelled_opening_leaves_nothing_open(self, path: Path) -> None:
        opening = asyncio.create_task(Store.open(path, serving=True))
        await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
        assert opening.cancelled()
        again = await Store.open(path, serving=True)
        await again.close()


async def test_end_of_the_store_thread_is_reported(
    stored: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Database, "read_news", fail)
    for _ in range(2):
        with pytest.raises(StoreError, match="ZeroDivisionError"):
            await asyncio.wait_for(stored.wait_stopped(), PATIENCE)
    assert "the store's thread failed" in caplog.text
    with pytest.raises(NotWrittenError):
        await stored.append({OAK: (2, [joined(3)])})


async def test_read_error_after_a_write_error_leaves_no_gap(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(OnDisk(path, serving=True, lock_timeout=5.0), lambda: 1.0)

    def append(version: int) -> object:
        [outcome], _ = database.write([lambda db: db.append({OAK: (version, [joined(version)])})])
        return outcome

    def refuse(*_: object) -> None:
        raise NotWrittenError("The disk is full.")

    assert isinstance(append(0), dict)
    monkeypatch.setattr(database.backend, "require_durable", refuse)

    def fail() -> Head:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(database, "read_head", fail)
    assert isinstance(append(1), NotWrittenError)
    monkeypatch.undo()
    assert isinstance(append(1), dict)
    assert [entry.position for entry in database.read_stream(OAK, 1, None)] == [1, 2]
    assert check_backend(database.backend) is None
    database.close()
