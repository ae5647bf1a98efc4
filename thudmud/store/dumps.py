"""Backups of a store in PostgreSQL, by its own programs pg_dump and pg_restore.

A dump has the custom format, and contains the schema in which the store's tables are. Passwords go
to these programs by the environment: every user of the machine can see their arguments.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import time
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from thudmud.store.backups import (
    Backup,
    list_backups,
    make_folder,
    publish,
    remove_oldest,
    sync,
    temporary_file,
)
from thudmud.store.checking import Contents, check_database, check_snapshot
from thudmud.store.interface import StoreError
from thudmud.store.postgres import (
    LINK,
    Postgres,
    as_one_line,
    name_of,
    open_connection,
    parameters_of,
)
from thudmud.store.rows import DURABLE

SUFFIX = ".dump"


def dump(dsn: str, folder: Path, keep: int | None = None) -> Backup:
    """Make a backup of a store, which servers may be using.

    Args:
        dsn: the connection string.
        folder: where to put the backup; created if it does not exist.
        keep: the number of backups of this store to keep there, with the new one; None for all.

    Raises:
        DamagedStoreError: the store is damaged. No backup is made, and no older one deleted.
        StoreError: it is not possible.
    """
    program = _program("pg_dump")
    with closing(Postgres(dsn, reading=True)) as backend:
        execute = backend.connection.execute
        _require_version(program, backend.connection.session.info.server_version // 10_000)
        # Within one snapshot, so that what is checked and counted is what is dumped.
        backend.read_all()
        contents = check_snapshot(backend)
        # pg_dump takes a pattern, and pg_restore a name.
        names = "select quote_ident(current_schema()), pg_export_snapshot(), current_database(),"
        names += " current_schema(), (select store from head where id = 1)"
        ((quoted, snapshot, database, schema, store),) = execute(names).fetchall()
        make_folder(folder)
        # The identity, too: other hosts and databases may have the same names.
        stem = re.sub(r"[^\w.-]", "_", f"{database}-{schema}-{store:016x}")
        with temporary_file(folder / f"{stem}{SUFFIX}") as (part, _):
            words = "--format=custom", "--no-owner", "--no-privileges", f"--file={part}"
            _run(dsn, program, *words, f"--schema={quoted}", f"--snapshot={snapshot}")
            # Reads the table of contents, which pg_dump writes last.
            _run("", _program("pg_restore"), "--list", str(part))
            sync(part)
            target = publish(part, folder, stem, SUFFIX, time())
    removed: tuple[Path, ...] = ()
    if keep is not None:
        removed = remove_oldest(list_backups(folder, stem, SUFFIX), target, keep)
    return Backup(target, target.stat().st_size, contents, removed)


def load(dsn: str, path: Path) -> Contents:
    """Restore a backup into an empty database, and check it.

    Args:
        dsn: the connection string.
        path: the dump.

    Returns:
        The size of its contents.

    Raises:
        DamagedStoreError: the restored store is damaged.
        StoreError: the database is not empty, or the dump cannot be restored.
    """
    program, name = _program("pg_restore"), name_of(dsn)
    if not path.is_file():
        raise StoreError(f"{path}: no such file.")
    with _connected(dsn) as session:
        _require_version(program, session.info.server_version // 10_000)
        schema, path_of_schemas, there = session.execute(
            "select current_schema(), current_setting('search_path'),"
            " (select count(*) from pg_tables where schemaname = current_schema()"
            " and tablename = any(%s))",
            ([*DURABLE],),
        ).fetchall()[0]
    if schema is None:
        raise StoreError(
            f"{name} has no schema to restore into: none of its search_path ({path_of_schemas}) "
            "exists. Create it first: create schema NAME"
        )
    if there:
        raise StoreError(
            f"{name} already has tables of thudmud. Restore into an empty one: create it by "
            "createdb, and name it in the configuration. The present one stays as it is."
        )
    _run(
        dsn, program, "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction",
        f"--schema={schema}", str(path),
    )  # fmt: skip
    with _connected(dsn) as session:
        if session.execute("select to_regclass('head')").fetchall() == [(None,)]:
            raise StoreError(
                f"{path} has no store in the schema {schema}. Nothing was restored. Set the schema "
                "of the backup in the dsn: options=-csearch_path=NAME"
            )
    return check_database(dsn)


@contextmanager
def _connected(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a session for a block; raise StoreErrors in place of psycopg's."""
    try:
        with closing(open_connection(dsn)) as session:
            yield session
    except psycopg.Error as error:
        raise StoreError(f"{name_of(dsn)} could not be used: {as_one_line(error)}.") from error


def _program(name: str) -> str:
    if found := shutil.which(name):
        return found
    raise StoreError(
        f"{name}, which comes with PostgreSQL, is not installed. On Debian: apt install "
        "postgresql-client"
    )


def _require_version(program: str, server: int) -> None:
    """Refuse a program of PostgreSQL that is older than the database's server."""
    told = subprocess.run(  # noqa: S603  (a program of PostgreSQL)
        [program, "--version"], capture_output=True, text=True, check=False
    )
    found = re.search(r"\) (\d+)", told.stdout)
    if found and int(found[1]) < server:
        raise StoreError(
            f"{program} is of PostgreSQL {found[1]}, and the database of version {server}. Install "
            f"that version of it. On Debian: apt install postgresql-client-{server}"
        )


def _run(dsn: str, program: str, *words: str) -> None:
    """Run a program of PostgreSQL on a database, or without one.

    Raises:
        StoreError: it has failed.
    """
    environment = dict(os.environ)
    if dsn:
        given = parameters_of(dsn)
        if password := given.pop("password", None):
            environment["PGPASSWORD"] = str(password)
        if given.get("sslpassword"):
            raise StoreError(
                f"{Path(program).name} would show the sslpassword of the dsn to all users of this "
                "machine. Use a key without a password."
            )
        defaults = {name: value for name, value in LINK.items() if given.get(name) is None}
        words = f"--dbname={make_conninfo('', **given, **defaults)}", "--no-password", *words
    done = subprocess.run(  # noqa: S603  (likewise)
        [program, *words], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        why = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        raise StoreError(f"{Path(program).name} failed: {why.rstrip('.')}.")
