"""Creation of a store's files, and files that cannot be used."""

from __future__ import annotations

import errno
import gc
import os
import pwd
import re
import resource
import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from thudmud.store import KeptName, NotWrittenError, Store, StoreError, accounts, files
from thudmud.store.files import InMemory, OnDisk, beside

# ruff: noqa: ASYNC240  (nothing else runs on the test's event loop)


async def fill(path: Path) -> None:
    """Create a store with a member and a guest."""
    store = await Store.open(path)
    await store.write(accounts.enrol, "Anna", "hash")
    await store.write(accounts.reserve_guest_name, KeptName("Gast", b"1" * 32, 5.0))
    await store.close()


async def fails_to_open(path: Path, match: str) -> None:
    """Assert that opening is refused and the file left unmodified."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=match) as problem:
        await Store.open(path)
    assert str(path) in str(problem.value)
    assert (path.read_bytes() if path.is_file() else None) == before


@contextmanager
def no_room() -> Iterator[None]:
    """Simulate a full disk: no file can grow, and no space is free."""
    disk = SimpleNamespace(f_bavail=0, f_frsize=4096, f_files=1, f_favail=1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "statvfs", lambda _: disk)
        # Keep it short: pytest's own output may go to a file, too.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_new_store_file_is_private_from_creation(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def look(source: Path, target: Path) -> None:
        assert stat.S_IMODE(source.stat().st_mode) == 0o600
        assert stat.S_IMODE(source.parent.stat().st_mode) == 0o700
        assert not target.exists()
        link(source, target)
        OnDisk(target, serving=False, lock_timeout=0.1).close()

    monkeypatch.setattr(os, "link", look)
    await fill(path)
    assert {each.name for each in path.parent.iterdir()} == {path.name, f"{path.name}-head"}
    for each in path.parent.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600


async def test_readable_store_file_becomes_private_at_start(path: Path) -> None:
    await fill(path)
    backup = path.with_name("backup")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("vacuum into ?", [os.fspath(backup)])
    for each in path.parent.iterdir():
        each.chmod(0o664)
    for found in (path, backup):
        store = await Store.open(found, serving=True)
        await store.write(accounts.enrol, "Bert", "hash")
        for suffix in ("", "-wal", "-shm", "-head"):
            assert stat.S_IMODE(beside(found, suffix).stat().st_mode) == 0o600
        await store.close()


async def test_store_file_of_another_user_is_warned_about(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_arguments: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    await fill(path)
    path.chmod(0o644)
    monkeypatch.setattr(os, "chmod", fail)
    await (await Store.open(path)).close()
    assert [each.getMessage() for each in caplog.records] == ["other users can read the store"]


async def test_refused_file_and_user_are_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(path)
    real = os.open

    def fail(file: Path, *rest: int) -> int:
        if str(file).endswith("-head"):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return real(file, *rest)

    monkeypatch.setattr(os, "open", fail)
    user = re.escape(pwd.getpwuid(os.geteuid()).pw_name)
    await fails_to_open(path, f"used: Permission denied for the user {user}: .*-head\\.$")


async def test_new_store_file_is_created_atomically(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", fail)
        await fails_to_open(path, "Input/output error")
    assert list(path.parent.iterdir()) == []
    await fill(path)


async def test_path_that_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    await fails_to_open(nowhere / "store", f"no folder {nowhere}")
    nowhere.mkdir()
    await fails_to_open(nowhere, "it is a folder")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        await fails_to_open(path, "not a file, but a device or a pipe")
        assert not beside(path, "-head").exists()
    assert {each.name for each in tmp_path.iterdir()} == {"nowhere", "pipe"}


async def test_unwritable_file_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(path)
    for suffix in ("-head", "-wal", "-shm"):
        beside(path, suffix).unlink(missing_ok=True)
    monkeypatch.setattr(os, "access", lambda place, _: place != path)
    await fails_to_open(path, "not writable")
    assert list(path.parent.iterdir()) == [path]


async def test_unwritable_folder_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(path)
    beside(path, "-shm").mkdir()  # prevents SQLite from creating that file
    await fails_to_open(path, r"read-only \(")
    monkeypatch.setattr(os, "access", lambda place, _: place != path.parent)
    await fails_to_open(path, f"the folder {path.parent} is not writable")


async def test_read_only_database_is_refused(path: Path) -> None:
    await fill(path)
    contents = bytearray(path.read_bytes())
    contents[18] = 3  # marks a newer file format, which SQLite opens read-only
    path.write_bytes(contents)
    await fails_to_open(path, r"read-only \(")


async def test_garbled_schema_is_reported_as_damage(path: Path) -> None:
    await fill(path)
    contents = bytearray(path.read_bytes())
    contents[contents.index(b"integer primary key,")] ^= 0x80
    path.write_bytes(contents)
    await fails_to_open(path, "is damaged")


@pytest.mark.parametrize("filled", [False, True])
async def test_full_disk_at_opening_is_reported(path: Path, *, filled: bool) -> None:
    if filled:
        await fill(path)
    with no_room():
        await fails_to_open(path, "the disk is full")


async def test_disk_error_at_opening_is_reported(path: Path) -> None:
    with no_room(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(files, "LITTLE", 0)
        await fails_to_open(path, r"input/output error on the disk \(disk I/O error\)")


async def test_full_disk_leaves_stored_data_unchanged(path: Path) -> None:
    store = await Store.open(path)
    await store.write(accounts.enrol, "Anna", "hash")
    with no_room(), pytest.raises(NotWrittenError, match="the disk is full"):
        await store.write(accounts.set_preferences, "Anna", {"much": "x" * 100_000})
    account = await store.read(accounts.find, "Anna")
    assert account
    assert account.preferences == {}
    await store.write(accounts.set_preferences, "Anna", {"much": "x" * 100_000})
    await store.close()


def test_memory_store_is_closed_by_gc_in_any_thread() -> None:
    """Garbage is collected in any thread, and Python 3.13 warns of unclosed connections."""
    backend = InMemory()
    backend.cycle = backend  # type: ignore[attr-defined]
    connection = backend.connection
    del backend
    with ThreadPoolExecutor(1) as another:
        another.submit(gc.collect).result()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("select 1")
