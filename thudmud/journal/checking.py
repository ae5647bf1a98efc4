"""Whether a journal's file is what was written, checked as a whole when it is opened.

Owns that check. Must never repair anything, nor let SQLite do so: a file that is not as it was
written, and the log beside it, are evidence.

Everything that can be read of the file afterwards is covered: SQLite checks how its pages hang
together, the chain (see `thudmud.journal.layout`) covers the rows, and each index is compared with
what follows from the rows. All of the work is done inside SQLite and zlib, in two threads. None of
it is needed for a file that still has its seal.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from thudmud.journal import layout
from thudmud.journal.interface import Unknown
from thudmud.journal.seal import is_sealed
from thudmud.journal.troubles import damaged, not_read
from thudmud.storage.files import connect

_ROWS = 20_000
"""How many rows are summed up in one query."""

_LONGEST = 1 << 26
"""How many bytes their texts may take together; if they take more, fewer are summed up."""

_SUMS = f"""
    select (select chain from event where position = ?2), count(*),
        cast(group_concat(body, x'0a') as blob), sum({layout.NUMBERS}),
        count(*) filter (where landmark), ifnull(sum(position) filter (where landmark), 0)
    from event where position between ?1 and ?2
"""  # noqa: S608 - made of our own constants

_LANDMARKS = """
    select count(*), ifnull(sum(position), 0) from event indexed by landmark where landmark
"""


def check(path: Path, patience: float, schema: int) -> None:
    """Check a journal's file as a whole.

    Args:
        path: of the file; it is there.
        patience: for how many seconds other connections are waited for.
        schema: the latest one that is known.

    Raises:
        Damaged: it is not what was written.
        Unknown: a later version of this program wrote it, or another program.
        JournalError: it cannot be read.
    """
    try:
        if not path.stat().st_size:
            raise damaged(path, "it is empty")
        with _reading(path, patience) as connection:
            _check_kind(path, connection, schema)
        if not is_sealed(path):
            check_all(path, patience)
    except (sqlite3.Error, OSError) as error:
        raise not_read(path, error) from error
    except UnicodeDecodeError as error:  # of SQLite's message about a table that it cannot read
        raise damaged(path, "what it says of its tables has changed") from error


def check_all(path: Path, patience: float) -> None:
    """Check all that is in a journal's file, sealed or not.

    Raises:
        Damaged: it is not what was written.
        sqlite3.Error: it cannot be read.
    """
    with ThreadPoolExecutor(1) as other:
        structure = other.submit(_check_structure, path, patience)
        try:
            _check_rows(path, patience)
        finally:
            structure.result()


@contextmanager
def _reading(path: Path, patience: float) -> Iterator[sqlite3.Connection]:
    """Open a connection that sees the file as it is now, whoever writes to it meanwhile."""
    with closing(connect(path, patience, reading=True)) as connection:
        connection.execute("begin")
        yield connection


def _check_kind(path: Path, connection: sqlite3.Connection, schema: int) -> None:
    """Check that it is a journal, that it is known how to read it, and that it has its tables."""
    ((application,),) = connection.execute("pragma application_id")
    if application != layout.APPLICATION:
        raise Unknown(f"{path} is not a journal of thudmud, but another program's database.")
    ((found,),) = connection.execute("pragma user_version")
    if found > schema:
        raise Unknown(
            f"The journal {path} was written by a later version of thudmud: it has schema {found},"
            f" and this version knows {schema}."
        )
    if found < 1 or _tables(connection) != _expected_tables():
        raise damaged(path, "its tables are not those of a journal")


def _tables(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    return connection.execute(
        "select type, name, tbl_name, sql from sqlite_schema order by name"
    ).fetchall()


def _expected_tables() -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(layout.TABLES)
        return _tables(connection)


def _check_structure(path: Path, patience: float) -> None:
    """Check how the file hangs together, and that each event is found by stream and version."""
    with _reading(path, patience) as connection:
        for (line,) in connection.execute("pragma quick_check(1)"):
            if line != "ok":
                raise damaged(path, " ".join(line.split()))
        ((last,),) = connection.execute("select ifnull(max(position), 0) from event")
        found, total = 0, 0
        for (stream,) in connection.execute("select id from stream order by id").fetchall():
            count, streams, highest, versions, positions = connection.execute(
                "select count(*), sum(stream), max(version), sum(version), sum(position)"
                " from event indexed by head where stream = ?",
                (stream,),
            ).fetchone()
            # An entry of another stream, in the midst of these by mistake, is found like them.
            as_written = (count * stream, count, _up_to(count))
            if not count or (streams, highest, versions) != as_written:
                raise damaged(path, "a stream has lost some of its events")
            found, total = found + count, total + positions
        if found != last or total != _up_to(last):
            raise damaged(path, "some events are not where they should be")


def _check_rows(path: Path, patience: float) -> None:
    """Check that the rows are those that were written, and which of them are landmarks."""
    with _reading(path, patience) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        names = connection.execute("select id, name, chain from stream order by id")
        for expected, (number, name, chain) in enumerate(names, 1):
            if number != expected or chain != layout.stream_chain(number, name):
                raise damaged(path, "the name of a stream has changed")
        ((first, last),) = connection.execute(
            "select ifnull(min(position), 1), ifnull(max(position), 0) from event"
        )
        if first != 1:
            raise damaged(path, "its first events are missing")
        landmarks = _check_chain(path, connection, last)
        if landmarks != connection.execute(_LANDMARKS).fetchone():
            raise damaged(path, "some battles are not where they should be")


def _check_chain(path: Path, connection: sqlite3.Connection, last: int) -> tuple[int, int]:
    """Check all rows; return how many landmarks they hold, and the sum of their positions."""
    chain, landmarks, total = 0, 0, 0
    for start in range(1, last + 1, _ROWS):
        for piece in _sums(connection, start, min(start + _ROWS - 1, last)):
            chain = layout.link(chain, piece.numbers, piece.texts)
            if piece.rows != piece.high - piece.low + 1 or piece.chain != chain:
                raise damaged(path, f"one of the events {piece.low} to {piece.high} has changed")
            landmarks, total = landmarks + piece.landmarks, total + piece.positions
    return landmarks, total


class _RowSums(NamedTuple):
    """Some rows that come one after the other, summed up."""

    low: int
    high: int
    chain: int
    rows: int
    texts: bytes
    numbers: int
    landmarks: int
    positions: int


def _sums(connection: sqlite3.Connection, low: int, high: int) -> Iterator[_RowSums]:
    """Yield the sums of rows, in several pieces if their texts are long."""
    try:
        (row,) = connection.execute(_SUMS, (low, high))
    except sqlite3.DataError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_TOOBIG or low == high:
            raise
        middle = (low + high) // 2
        yield from _sums(connection, low, middle)
        yield from _sums(connection, middle + 1, high)
    else:
        yield _RowSums(low, high, *row)


def _up_to(last: int) -> int:
    """Return the sum of 1, 2, 3 ... up to a number."""
    return last * (last + 1) // 2
