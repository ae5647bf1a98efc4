"""The check of a store, whether everything in it is as it was written; and of a server's health.

It runs in a process of its own, beside play: `thudmud store check`, or ``python -m thudmud.store
FILE``, which is how a store starts it. It reads one snapshot, however much is written meanwhile,
and runs at the lowest priority. First SQLite checks its pages and indexes; then each row is
checked, and whether any is missing; then the projections are made anew and compared.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import zip_longest
from math import isclose
from pathlib import Path
from time import time
from typing import Any, NamedTuple, cast

from thudmud.english import counted
from thudmud.features import load_storage
from thudmud.game.projections import PROJECTION
from thudmud.store import hooks
from thudmud.store.backend import Backend
from thudmud.store.database import Head
from thudmud.store.files import (
    HEAD,
    Sqlite,
    beside,
    check_head,
    connect,
    damaged,
    errors_translated,
    followed,
    require_nothing_left,
    require_ours,
)
from thudmud.store.interface import Damaged, StoreError
from thudmud.store.projected import ProjectedRows, project_all
from thudmud.store.rows import NOT_COMPARED, PROJECTIONS, SUMMED, SqlTable, crc, definitions, scan

IN_ORDER = 0
DAMAGED = 1
UNCHECKED = 2
"""The exit statuses: nothing wrong, damage, or not checked."""

PATIENCE = 5.0
"""Seconds for which it waits for other processes that write."""


class Contents(NamedTuple):
    """How much there is in a store that is in order."""

    events: int
    battles: int
    players: int

    def __str__(self) -> str:
        """Return it in words."""
        events, battles = counted(self.events, "event"), counted(self.battles, "battle")
        return f"{events}, {battles} and {counted(self.players, 'player')}"


def last_stored(path: Path) -> float | None:
    """Return how many seconds ago something was last stored; None if no server runs on the file.

    A server writes every few seconds that it runs: that goes through its event loop, its thread and
    the disk. The modification time of the witness shows when something was last stored. It is
    compared with the system's time, on which both depend; the nodes' own times may differ.

    Raises:
        StoreError: the file cannot be read.
    """
    path = followed(path)
    with errors_translated(path):
        require_ours(path)
        with closing(connect(path, PATIENCE, reading=True)) as connection:
            # A node that has ended, or was found dead, has no lease left.
            [(alive,)] = connection.execute("select count(*) from node where until > seen")
        stored = beside(path, HEAD).stat().st_mtime
    return max(0.0, time() - stored) if alive else None


def check_backend(backend: Backend) -> str | None:
    """Return what is damaged in a database, if anything.

    It is a snapshot that is checked, if the caller has begun a transaction.
    """
    load_storage()
    try:
        if problem := backend.problem():
            return problem
        _check_sum(backend)
        _check_events(backend)
        _check_projections(backend)
    except (sqlite3.DatabaseError, UnicodeDecodeError, LookupError, Damaged) as error:
        return str(error)
    return None


def check_database(dsn: str) -> Contents:
    """Check a PostgreSQL database as `check_file` does a file; return how much is in it."""
    from thudmud.store.postgres import Postgres  # noqa: PLC0415  (an optional dependency)

    with closing(Postgres(dsn)) as backend:
        backend.read_all()
        if found := check_backend(backend):
            raise backend.translated(Damaged(found))
        return _contents(SqlTable(backend.connection))


def check_file(path: Path, *, held: bool = False) -> Contents:
    """Check a file that may be in use; return how much is in it.

    ``held`` says that a server which has the file open asks. If the file is gone then, it was moved
    away: that server refuses writes until it is back, and needs no restart.

    Raises:
        Damaged: it is not as it was written.
        StoreError: it cannot be checked.
    """
    path = followed(path)
    with errors_translated(path):
        if not held:
            require_nothing_left(path)
        if not path.exists():
            raise StoreError(f"The store {path} could not be checked: there is no such file.")
        require_ours(path)
        check_head(path, PATIENCE)
        with closing(connect(path, PATIENCE, reading=True)) as connection:
            backend = Sqlite(connection, path)
            backend.read_all()
            if found := check_backend(backend):
                raise damaged(path, found)
            return _contents(SqlTable(connection))


def _contents(table: SqlTable) -> Contents:
    return Contents(
        table.number("select count(*) from event"),
        table.number("select count(*) from battle"),
        table.number("select count(*) from player"),
    )


def _check_sum(backend: Backend) -> None:
    """Check that the rows of the summed tables are the ones that were written last."""
    table, total = SqlTable(backend.connection), 0
    there = {name for (name,) in table.execute(backend.dialect.tables)}
    for name in SUMMED & there:  # a file of an older version lacks some
        for row in scan(backend, name):
            total ^= crc(row)
    head = table.row("head", "where id = 1")
    if head is None or Head(*cast("Any", head)).sum != total:
        raise Damaged("something of players or accounts is as it was before")


def _check_events(backend: Backend) -> None:
    """Check that positions and versions have no gaps but the recorded ones."""
    table = SqlTable(backend.connection)
    gaps = cast("Iterator[tuple[int, int]]", table.rows("gap", "order by first"))
    gap = next(gaps, None)
    versions: defaultdict[int, int] = defaultdict(int)
    position, pruned, missing = 0, 0, 0
    for row in scan(backend, "event", "order by position"):
        found, stream, version = cast("tuple[int, int, int]", row[:3])
        while gap and gap[0] == position + 1:
            pruned, position, gap = pruned + gap[1] - position, gap[1], next(gaps, None)
        if found != position + 1 or version <= versions[stream]:
            raise Damaged(f"the event {position + 1} is missing, or {found} is not where it was")
        missing += version - versions[stream] - 1
        versions[stream], position = version, found
    while gap and gap[0] == position + 1:
        pruned, position, gap = pruned + gap[1] - position, gap[1], next(gaps, None)
    head = table.row("head", "where id = 1")
    if head is None or head[1] != position:
        raise Damaged("the last events are missing")
    for row in table.rows("stream"):
        stream, _, _, version, _ = cast("tuple[int, str, str, int, int]", row)
        missing += version - versions.pop(stream, 0)
    if gap or versions or missing != pruned:
        raise Damaged("some streams have lost events")


def _check_projections(backend: Backend) -> None:
    """Make the projections anew in another database, and compare them with the stored ones.

    Those of another version are not compared: whoever opens the file next makes them anew.
    """
    table = SqlTable(backend.connection)
    head = table.row("head", "where id = 1")
    if head is None or Head(*cast("Any", head)).projection != PROJECTION:
        return
    for check in hooks.checks:
        check(backend)
    compared = PROJECTIONS.keys() - NOT_COMPARED
    with closing(sqlite3.connect("", isolation_level=None)) as anew:  # on the disk, if it is large
        anew.execute("pragma synchronous = off")
        for statement in definitions(PROJECTIONS):
            anew.execute(statement)
        anew.execute("begin")
        project_all(backend, ProjectedRows(SqlTable(anew), durable=table))
        for name in sorted(compared):
            # The key comes first, and some have five columns: any fewer leave rows in either order.
            columns = ", ".join(map(str, range(1, _width(table, name) + 1)))
            kept = scan(backend, name, f"order by {columns}")
            for found, made in zip_longest(kept, scan(Sqlite(anew), name, f"order by {columns}")):
                if not _is_same(found, made):
                    raise Damaged(f"a row of {name} is not what its events make it")


def _is_same(found: Sequence[object] | None, made: Sequence[object] | None) -> bool:
    """Return whether two rows are equal, but for rounding in computed numbers."""
    if found is None or made is None or len(found) != len(made):
        return False
    return all(
        isclose(one, other, rel_tol=1e-9)
        if isinstance(one, float) and isinstance(other, float)
        else one == other
        for one, other in zip(found, made, strict=True)
    )


def _width(table: SqlTable, name: str) -> int:
    return len(table.execute(f"select * from {name} limit 0").description)  # noqa: S608  (our own names)


def run(path: Path | None, dsn: str = "", *, held: bool = False) -> int:
    """Check a file or a PostgreSQL database, print what was found, and return the exit status.

    Findings go to standard output, reasons why it could not be checked to standard error. ``held``
    is as for `check_file`.
    """
    os.nice(19)
    try:
        contents = check_file(path, held=held) if path else check_database(dsn)
    except Damaged as damage:
        print(damage)
        return DAMAGED
    except StoreError as error:
        print(error, file=sys.stderr)
        return UNCHECKED
    except Exception as error:  # noqa: BLE001  (any other error is no damage)
        what = f"The store {path}" if path else "The database"
        print(f"{what} could not be checked: {error!r}.", file=sys.stderr)
        return UNCHECKED
    print(f"{path or 'The database'} is in order: {contents}")
    return IN_ORDER


async def check_beside(path: str, dsn: str) -> str | None:
    """Return what is damaged in a file or a PostgreSQL database; StoreError if it is unchecked.

    It is checked in a process that does not outlive the caller.
    """
    import asyncio  # noqa: PLC0415  (a house needs no asyncio)

    making = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "thudmud.store", *([path] if path else [])),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    )
    try:
        # A cancellation in the middle of this would leave a process that nobody ends.
        process = await asyncio.shield(making)
        printed = await process.communicate(dsn.encode())
    finally:
        process = await making
        if process.returncode is None:
            with suppress(ProcessLookupError):  # by asyncio's own method it would be reaped twice
                os.kill(process.pid, signal.SIGKILL)
        await process.communicate()  # waits until its pipes are closed, too
    said, trouble = (text.decode("utf-8", "replace").strip() for text in printed)
    if process.returncode == IN_ORDER:
        return None
    if process.returncode != DAMAGED or not said:  # Python exits with 1, too, if it cannot start it
        why = trouble.splitlines()[-1:] or ["What is stored could not be checked."]
        raise StoreError(why[0])
    return said
