"""The check of all that is stored: whether it is what was written.

It runs in a process of its own, beside play: `thudmud store check`, or ``python -m thudmud.store
FILE``, which is how a store starts it. It reads one snapshot, however much is written meanwhile,
and gives way to all other processes. First it has SQLite check its pages and indexes; then it looks
whether a row has changed or is missing; then it makes the projections anew and compares them.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from itertools import zip_longest
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple, cast

from thudmud.english import counted
from thudmud.play.projections import PROJECTION
from thudmud.store.database import Head, project_all
from thudmud.store.files import (
    check_head,
    connect,
    damaged,
    require_nothing_left,
    require_ours,
    translated,
)
from thudmud.store.interface import Damage, Damaged, StoreError
from thudmud.store.rows import PROJECTIONS, SUMMED, ProjectedRows, SqlTable, crc, definitions

IN_ORDER = 0
DAMAGED = 1
UNCHECKED = 2
"""The statuses of the program: what it has found, or that it could not tell."""

PATIENCE = 5.0
"""How many seconds it waits for other processes that write."""


class Contents(NamedTuple):
    """How much there is in a store that is in order."""

    events: int
    battles: int
    players: int

    def __str__(self) -> str:
        """Return it in words."""
        events, battles = counted(self.events, "event"), counted(self.battles, "battle")
        return f"{events}, {battles} and {counted(self.players, 'player')}"


def check_connection(connection: sqlite3.Connection) -> Damage | None:
    """Check all that a connection reads."""
    try:
        for (line,) in connection.execute("pragma integrity_check(1)"):
            if line != "ok":
                return Damage(" ".join(line.split()))
        table = SqlTable(connection)
        _check_sum(table)
        _check_events(table)
        _check_projections(table)
    except (sqlite3.DatabaseError, UnicodeDecodeError, LookupError) as error:
        return Damage(str(error))
    except Damaged as error:
        return Damage(str(error))
    return None


def check_file(path: Path) -> Contents:
    """Check a file that may be in use; return how much is in it.

    Raises:
        Damaged: it is not as it was written.
        StoreError: it cannot be checked.
    """
    try:
        return _checked(path)
    except Exception as error:
        told = translated(path, error)
        if told is error:
            raise
        raise told from error


def _checked(path: Path) -> Contents:
    require_nothing_left(path)
    if not path.exists():
        raise StoreError(f"The store {path} could not be checked: there is no such file.")
    require_ours(path)
    check_head(path, PATIENCE)
    with closing(connect(path, PATIENCE, reading=True)) as connection:
        connection.execute("begin")
        if found := check_connection(connection):
            raise damaged(path, found.what)
        return _contents(SqlTable(connection))


def _contents(table: SqlTable) -> Contents:
    return Contents(
        table.number("select count(*) from event"),
        table.number("select count(*) from battle"),
        table.number("select count(*) from player"),
    )


def _check_sum(table: SqlTable) -> None:
    """Check that the rows which no event speaks of are those that were written last."""
    there = {name for (name,) in table.execute("select name from sqlite_schema")}
    for name in SUMMED & there:  # a file that an older version wrote has not all of them yet
        for row in table.rows(name):
            table.sum ^= crc(row)
    head = table.row("head", "where id = 1")
    if head is None or Head(*cast("Any", head)).sum != table.sum:
        raise Damaged("something of players or accounts is as it was before")


def _check_events(table: SqlTable) -> None:
    """Check that positions and versions go on without a gap, but for those that are recorded."""
    gaps = dict(cast("list[tuple[int, int]]", list(table.rows("gap"))))
    versions: defaultdict[int, int] = defaultdict(int)
    position, pruned, missing = 0, 0, 0
    for row in table.rows("event", "order by position"):
        found, stream, version = cast("tuple[int, int, int]", row[:3])
        while (last := gaps.get(position + 1)) is not None:
            pruned, position = pruned + last - position, last
        if found != position + 1 or version <= versions[stream]:
            raise Damaged(f"the event {position + 1} is missing, or {found} is not where it was")
        missing += version - versions[stream] - 1
        versions[stream], position = version, found
    while (last := gaps.get(position + 1)) is not None:
        pruned, position = pruned + last - position, last
    head = table.row("head", "where id = 1")
    if head is None or head[1] != position:
        raise Damaged("the last events are missing")
    for row in table.rows("stream"):
        stream, _, _, version, _ = cast("tuple[int, str, str, int, int]", row)
        missing += version - versions.pop(stream, 0)
    if versions or missing != pruned:
        raise Damaged("some streams have lost events")


def _check_projections(table: SqlTable) -> None:
    """Make the projections anew, beside the others, and compare.

    Those of another version are not compared: they are made anew by the next that opens the file.
    """
    head = table.row("head", "where id = 1")
    if head is None or Head(*cast("Any", head)).projection != PROJECTION:
        return
    with closing(sqlite3.connect("", isolation_level=None)) as anew:  # on the disk, if it is large
        anew.execute("pragma synchronous = off")
        for statement in definitions(PROJECTIONS):
            anew.execute(statement)
        anew.execute("begin")
        project_all(table, ProjectedRows(SqlTable(anew), durable=table))
        for name in PROJECTIONS:
            columns = ", ".join(f"{number}" for number in (1, 2, 3)[: _width(table, name)])
            rows = (
                table.rows(name, f"order by {columns}"),
                SqlTable(anew).rows(name, f"order by {columns}"),
            )
            for found, made in zip_longest(*rows):
                if not _is_same(found, made):
                    raise Damaged(f"a row of {name} is not what its events make it")


def _is_same(found: Sequence[object] | None, made: Sequence[object] | None) -> bool:
    """Whether two rows are the same, but for the last bits of a number that was worked out."""
    if found is None or made is None or len(found) != len(made):
        return False
    return all(
        isclose(one, other, rel_tol=1e-9)
        if isinstance(one, float) and isinstance(other, float)
        else one == other
        for one, other in zip(found, made, strict=True)
    )


def _width(table: SqlTable, name: str) -> int:
    return len(table.execute(f"select * from {name} limit 0").description)  # noqa: S608  (ours)


def run(path: Path) -> int:
    """Check a file; say what was found, and return the status.

    What was found is printed; why it could not be checked is an error.
    """
    os.nice(19)
    try:
        contents = check_file(path)
    except Damaged as damage:
        print(damage)
        return DAMAGED
    except StoreError as error:
        print(error, file=sys.stderr)
        return UNCHECKED
    except Exception as error:  # noqa: BLE001  (whatever it is, it is no damage)
        print(f"The store {path} could not be checked: {error!r}.", file=sys.stderr)
        return UNCHECKED
    print(f"{path} is in order: {contents}")
    return IN_ORDER
