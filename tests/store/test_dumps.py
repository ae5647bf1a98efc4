"""``thudmud store backup`` and ``restore`` of PostgreSQL databases."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import psycopg
import pytest

from tests.store.clusters import PROGRAMS, Cluster
from tests.store.deeds import OAK, joined, started
from thudmud.cli.main import main
from thudmud.store import Store, dumps
from thudmud.store.checking import check_database

Shown = pytest.CaptureFixture[str]

NOW = 1796009220.0  # 2026-11-30, 03:27 UTC
STAMP = "2026-11-30T0327Z"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change into a folder, with PostgreSQL's programs on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dumps, "time", lambda: NOW)
    if PROGRAMS:
        monkeypatch.setenv("PATH", f"{PROGRAMS[0]}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


async def fill(dsn: str) -> None:
    store = await Store.connect(dsn)
    await store.append({OAK: (0, [started(1), joined(2)])})
    await store.close()


def name_of(dsn: str) -> str:
    """Return the name of a store's backup, without its suffix."""
    with psycopg.connect(dsn) as session:
        ((schema, store),) = session.execute("select current_schema(), store from head").fetchall()
    return f"postgres-{schema}-{store:016x}-{STAMP}"


def configured(folder: Path, dsn: str) -> str:
    """Write a configuration with a database; return its path."""
    path = folder / "config.toml"
    path.write_text(f"[storage]\nbackend = 'postgresql'\ndsn = '{dsn}'\n", "utf-8")
    return str(path)


def test_dump_is_private_and_can_be_restored(cluster: Cluster, folder: Path, capsys: Shown) -> None:
    dsn = cluster.schema()
    asyncio.run(fill(dsn))
    config = configured(folder, dsn)
    for _ in range(3):
        assert main(["store", "backup", "copies", "--keep", "2", "--config", config]) == 0
    told = capsys.readouterr().out.splitlines()
    name = name_of(dsn)
    assert told[0].startswith(f"copies/{name}.dump: 0.0 MB, 2 events and 1 battle")
    assert told[2].endswith("; deleted 1 older backup")
    kept = sorted(each.name for each in (folder / "copies").iterdir())
    assert kept == [f"{name}-2.dump", f"{name}-3.dump"]
    backup = folder / "copies" / f"{name}-3.dump"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert main(["store", "restore", str(backup), "--config", config]) == 2
    assert "already has tables of thudmud. Restore into an empty one" in capsys.readouterr().err
    schema = dsn.rpartition("=")[2]
    with psycopg.connect(cluster.dsn(), autocommit=True) as session:
        session.execute(f"drop schema {schema} cascade; create schema {schema}".encode())
    assert main(["store", "restore", str(backup), "--config", config]) == 0
    assert (
        capsys.readouterr().out == f"the database: restored from {backup}, 2 events and 1 battle\n"
    )
    assert check_database(dsn).events == 2


def test_dump_of_another_schema_is_not_restored(
    cluster: Cluster, folder: Path, capsys: Shown
) -> None:
    dsn = cluster.schema()
    asyncio.run(fill(dsn))
    assert main(["store", "backup", "copies", "--config", configured(folder, dsn)]) == 0
    config = configured(folder, cluster.schema())
    assert main(["store", "restore", f"copies/{name_of(dsn)}.dump", "--config", config]) == 2
    assert "has no store in the schema" in capsys.readouterr().err


def test_password_is_not_an_argument(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = cluster.schema()
    asyncio.run(fill(dsn))
    spy = folder / "bin"
    spy.mkdir()
    real = dumps._program("pg_dump")
    (spy / "pg_dump").write_text(
        f'#!/bin/sh\necho "$@" >>{spy}/words\necho "$PGPASSWORD" >>{spy}/password\n'
        f'exec {real} "$@"\n',
        "utf-8",
    )
    (spy / "pg_dump").chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy}{os.pathsep}{os.environ['PATH']}")
    config = configured(folder, f"{dsn} password=swordfish")
    assert main(["store", "backup", "copies", "--config", config]) == 0
    assert "swordfish" not in (spy / "words").read_text("utf-8")
    assert "swordfish" in (spy / "password").read_text("utf-8")


def test_unusable_pg_dump_is_named(
    dsn: str, folder: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(fill(dsn))
    backup = ["store", "backup", "copies", "--config", configured(folder, dsn)]
    tools = folder / "bin"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    assert main(backup) == 2
    assert capsys.readouterr().err == (
        "thudmud: pg_dump, which comes with PostgreSQL, is not installed. On Debian: apt install "
        "postgresql-client\n"
    )
    (tools / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6'\n", "ascii")
    (tools / "pg_dump").chmod(0o755)
    assert main(backup) == 2
    assert "is of PostgreSQL 9, and the database of version 1" in capsys.readouterr().err


def test_damaged_dump_is_not_restored(cluster: Cluster, folder: Path, capsys: Shown) -> None:
    (folder / "rubbish.dump").write_bytes(b"rubbish" * 100)
    config = configured(folder, cluster.schema())
    assert main(["store", "restore", "rubbish.dump", "--config", config]) == 2
    assert "pg_restore failed: pg_restore: error:" in capsys.readouterr().err
    assert main(["store", "restore", "none.dump", "--config", config]) == 2
    assert capsys.readouterr().err == "thudmud: none.dump: no such file.\n"


def test_keep_deletes_only_backups_of_the_same_database(cluster: Cluster, folder: Path) -> None:
    dsns = [cluster.schema() for _ in range(2)]
    for dsn in dsns:
        asyncio.run(fill(dsn))
        backup = ["store", "backup", "copies", "--keep", "1", "--config", configured(folder, dsn)]
        assert main(backup) == 0
    first = name_of(dsns[0])
    with psycopg.connect(dsns[0], autocommit=True) as session:  # as on another host
        session.execute("update head set store = 17")
    assert main([*backup[:-1], configured(folder, dsns[0])]) == 0
    kept = {each.name for each in (folder / "copies").iterdir()}
    assert kept == {f"{name}.dump" for name in (first, *map(name_of, dsns))}


def test_damaged_database_is_not_backed_up(cluster: Cluster, folder: Path, capsys: Shown) -> None:
    dsn = cluster.schema()
    asyncio.run(fill(dsn))
    backup = ["store", "backup", "copies", "--keep", "1", "--config", configured(folder, dsn)]
    assert main(backup) == 0
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("delete from event where position = 2")
    assert main(backup) == 1
    assert "the last events are missing" in capsys.readouterr().err
    assert len(list((folder / "copies").iterdir())) == 1


def test_restore_without_a_schema_says_how_to_create_it(
    cluster: Cluster, folder: Path, capsys: Shown
) -> None:
    dsn = cluster.schema()
    asyncio.run(fill(dsn))
    assert main(["store", "backup", "copies", "--config", configured(folder, dsn)]) == 0
    path = f"copies/{name_of(dsn)}.dump"
    schema = dsn.rpartition("=")[2]
    with psycopg.connect(cluster.dsn(), autocommit=True) as session:
        session.execute(f"drop schema {schema} cascade".encode())
    assert main(["store", "restore", path, "--config", configured(folder, dsn)]) == 2
    assert f"({schema}) exists. Create it first: create schema NAME\n" in capsys.readouterr().err
