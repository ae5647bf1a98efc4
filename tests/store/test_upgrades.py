"""Stores that another version has written: who upgrades them, and what is kept and reported."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from tests.store.deeds import OAK, joined, started
from thudmud.cli.main import main
from thudmud.game.projections import PROJECTION
from thudmud.server import shared_store
from thudmud.server.shared_store import ServerUpgrade
from thudmud.store import (
    DamagedStoreError,
    OutdatedStoreError,
    Store,
    accounts,
    battles,
)
from thudmud.store.checking import check_file
from thudmud.store.files import beside
from thudmud.store.rows import FORMAT

Shown = pytest.CaptureFixture[str]
Logged = pytest.LogCaptureFixture

OLD, NEW = f"{FORMAT}.{PROJECTION - 1}", f"{FORMAT}.{PROJECTION}"
REFUSED = (
    f"thudmud: The store thudmud.db has schema {OLD}, and this version of thudmud uses {NEW}: "
    '"thudmud serve" will upgrade it.\n'
)
KEPT = f"thudmud.db.schema-{OLD}"

READING = [
    "user list",
    "user list Anna",
    "user export Anna",
    "user reports",
    "board list",
    "export --to records",
    "draw 1 -o board.svg",
    "store prune --before 2020-01-01 --dry-run",
]
WRITING = [
    "user operator Anna",
    "user ban Anna",
    "board open yew board",
    "import game.thud",
    "store prune --before 2020-01-01",
    "store compact",
    "store copy thudmud.db other.db",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change into a folder whose store holds a member and a battle."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    (tmp_path / "game.thud").write_text("dA6-B6\n", "ascii")

    async def fill() -> None:
        store = await Store.open("thudmud.db")
        await store.write(accounts.enrol, "Anna", "hash")
        await store.append({OAK: (0, [started(1), joined(2)])})
        await store.close()

    asyncio.run(fill())
    return tmp_path


def contents(path: Path) -> list[bytes]:
    """Return the contents of a store's files, apart from SQLite's index of the log."""
    files = (beside(path, suffix) for suffix in ("", "-wal", "-head"))
    return [each.read_bytes() if each.exists() else b"" for each in files]


def make_old(path: Path, projection: int = PROJECTION - 1) -> list[bytes]:
    """Let a store have been written by another version; return its contents."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("update head set projection = ?", (projection,))
        connection.execute("delete from battle")
    return contents(path)


def upgraded(path: Path, upgrade: ServerUpgrade) -> int:
    """Upgrade a store; return the number of its battles."""

    async def open_it() -> int:
        store = await Store.open(path, serving=True, upgrade=upgrade)
        try:
            return len(await store.read(battles.battles))
        finally:
            await store.close()

    return asyncio.run(open_it())


def records(caplog: Logged) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == shared_store.__name__]


@pytest.mark.parametrize("line", READING)
def test_reading_command_changes_no_file(folder: Path, line: str, capsys: Shown) -> None:
    path = folder / "thudmud.db"
    before = contents(path)
    status = main(line.split())
    assert (status, contents(path)) == (0, before), capsys.readouterr().err


@pytest.mark.parametrize("line", [*READING, *WRITING])
def test_command_on_an_older_store_is_refused(folder: Path, line: str, capsys: Shown) -> None:
    before = make_old(folder / "thudmud.db")
    assert main(line.split()) == 3
    assert capsys.readouterr().err == REFUSED
    assert contents(folder / "thudmud.db") == before
    assert not [each for each in folder.iterdir() if "schema" in each.name]


def test_check_and_backup_of_an_older_store_work(folder: Path, capsys: Shown) -> None:
    before = make_old(folder / "thudmud.db")
    assert main(["store", "check"]) == 3
    assert main(["store", "backup", "copies"]) == 0
    [copy] = (folder / "copies").iterdir()
    assert main(["store", "restore", str(copy), "--file", "other.db"]) == 0
    told = capsys.readouterr().out
    computed = f'what is computed from the events. It has schema {OLD}, which "thudmud serve"'
    assert told.startswith("thudmud.db is in order: 2 events, 0 battles and ")
    assert f"Not checked: {computed} will upgrade to {NEW}.\n" in told
    assert f"not checked: {computed} will upgrade to {NEW}.\n" in told
    assert contents(folder / "thudmud.db") == before


def test_upgrade_keeps_the_old_file_and_reports(
    folder: Path, caplog: Logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_store, "PAUSE", 0.0)
    caplog.set_level(logging.INFO)
    path = folder / "thudmud.db"
    make_old(path)
    said: list[str] = []
    assert upgraded(path, ServerUpgrade(said.append)) == 1
    first, kept, share, last = records(caplog)
    assert first == f"upgrading the store from schema {OLD} to {NEW}"
    assert kept == "kept the store as it was"
    assert share == "upgrading the store"
    assert vars(caplog.records[2])["percent"] == 50
    assert (
        last
        == f'upgraded the store in 0 s; "thudmud store restore {path}.schema-{OLD}" undoes that'
    )
    upgrading = f"Upgrading the store from schema {OLD} to {NEW}"
    assert said == [upgrading, f"{upgrading}: 50 %"]
    assert stat.S_IMODE((folder / KEPT).stat().st_mode) == 0o600
    assert check_file(folder / KEPT).outdated
    check_file(path)
    assert main(["store", "restore", KEPT]) == 0
    assert check_file(path).outdated


def test_earlier_version_computes_its_own_rows_again(folder: Path, caplog: Logged) -> None:
    path = folder / "thudmud.db"
    make_old(path, PROJECTION + 1)
    assert upgraded(path, ServerUpgrade()) == 1
    assert records(caplog)[0].endswith(f"from schema {FORMAT}.{PROJECTION + 1} to {NEW}")
    assert check_file(path).outdated is None


def test_current_store_is_not_reported_or_kept(folder: Path, caplog: Logged) -> None:
    caplog.set_level(logging.INFO)
    said: list[str] = []
    assert upgraded(folder / "thudmud.db", ServerUpgrade(said.append)) == 1
    assert (records(caplog), said) == ([], [])
    assert not (folder / KEPT).exists()


def test_upgrade_without_room_for_a_copy_goes_on(
    folder: Path, caplog: Logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimpleNamespace(f_bavail=10_000, f_frsize=4096, f_files=1, f_favail=1)
    monkeypatch.setattr(os, "statvfs", lambda _: disk)
    make_old(folder / "thudmud.db")
    assert upgraded(folder / "thudmud.db", ServerUpgrade()) == 1
    _, lacking, last = records(caplog)
    assert lacking == "could not keep the store as it was"
    assert "and only 41.0 MB are free." in str(vars(caplog.records[1])["why"])
    assert last == (
        'upgraded the store in 0 s; no copy was kept; see "Upgrades" in docs/reliability.md'
    )
    assert not (folder / KEPT).exists()


def interrupt(monkeypatch: pytest.MonkeyPatch, what: str, then: Callable[[], None]) -> None:
    """Replace a function of the store by one that fails."""

    def fail(*_: object, **__: object) -> None:
        then()
        raise DamagedStoreError("interrupted")

    monkeypatch.setattr(f"thudmud.store.{what}", fail)


def test_interrupted_upgrade_changes_nothing_and_keeps_one_copy(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "thudmud.db"
    make_old(path)
    for _ in range(3):
        with monkeypatch.context() as patched:
            interrupt(patched, "database.project_all", lambda: None)
            with pytest.raises(DamagedStoreError, match="interrupted"):
                upgraded(path, ServerUpgrade())
        assert check_file(path).outdated
    assert [each.name for each in folder.iterdir() if "schema" in each.name] == [KEPT]
    assert upgraded(path, ServerUpgrade()) == 1
    assert [each.name for each in folder.iterdir() if "schema" in each.name] == [KEPT]


def test_copy_is_kept_before_anything_is_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "thudmud.db"
    before, seen = make_old(path), list[list[bytes]]()
    with monkeypatch.context() as patched:
        interrupt(patched, "backups.keep_copy", lambda: seen.append(contents(path)))
        with pytest.raises(DamagedStoreError, match="interrupted"):
            upgraded(path, ServerUpgrade())
    assert seen == [before]
    assert contents(path) == before


def test_kept_copy_of_another_state_is_not_overwritten(folder: Path) -> None:
    path = folder / "thudmud.db"
    (folder / KEPT).write_bytes(b"something else")
    make_old(path)
    assert upgraded(path, ServerUpgrade()) == 1
    assert (folder / KEPT).read_bytes() == b"something else"
    assert check_file(folder / f"{KEPT}-2").outdated


def test_older_database_is_upgraded_by_a_server_alone(
    dsn: str, caplog: Logged, tmp_path: Path, capsys: Shown
) -> None:
    async def fill() -> None:
        store = await Store.connect(dsn)
        await store.append({OAK: (0, [started(1), joined(2)])})
        await store.close()

    async def serve() -> int:
        store = await Store.connect(dsn, serving=True, upgrade=ServerUpgrade())
        found = len(await store.read(battles.battles))
        await store.close()
        return found

    asyncio.run(fill())
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("update head set projection = %s", (PROJECTION - 1,))
    config = tmp_path / "config.toml"
    config.write_text(f"[storage]\nbackend = 'postgresql'\ndsn = '{dsn}'\n", "utf-8")
    for words in ("user list", "user operator Anna"):
        assert main([*words.split(), "--config", str(config)]) == 3
        assert f"The store has schema {OLD}" in capsys.readouterr().err
    assert main(["health", "--config", str(config)]) == 2
    with pytest.raises(OutdatedStoreError):
        asyncio.run(fill())
    assert asyncio.run(serve()) == 1
    assert records(caplog)[0] == f"upgrading the store from schema {OLD} to {NEW}"


def test_reading_an_empty_database_creates_no_tables(
    cluster: object, tmp_path: Path, capsys: Shown
) -> None:
    dsn = cluster.schema()  # type: ignore[attr-defined]
    config = tmp_path / "config.toml"
    config.write_text(f"[storage]\nbackend = 'postgresql'\ndsn = '{dsn}'\n", "utf-8")
    for words in ("user list", "store check", "store backup copies"):
        assert main([*words.split(), "--config", str(config)]) == 2
        assert "could not be used: it has no data yet." in capsys.readouterr().err
    with psycopg.connect(dsn) as session:
        there = "select count(*) from pg_tables where schemaname = current_schema()"
        assert session.execute(there).fetchall() == [(0,)]
