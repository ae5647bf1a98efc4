"""What is in a file of accounts, how one comes into being, and whether it is as it was written.

Owns the tables, and the checksum in each row of them: SQLite keeps it up whatever is written, so
that a row which the disk has changed is told from one that we have. Must never know what an account
is for.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

from thudmud.storage import files
from thudmud.storage.files import beside, has_log, make
from thudmud.storage.wal import has_lost_something

APPLICATION = 0x54485541  # "THUA"; SQLite's application_id says whose file it is
SCHEMA = 1

DAMAGED = "the file is damaged, or not one of accounts; restore a copy of it"

_PRIVATE = 0o600  # for the owner alone; SQLite gives its -wal and -shm files the same mode
_PATIENCE = 5.0  # seconds to wait for another process that is writing
_CONTENTS = {
    "members": "key name password created seen banned retired preferences",
    "guests": "key name hex(word) seen",
}
"""What of a row goes into its checksum. No numbers but whole ones: SQLite writes others in more
than one way."""

_BETWEEN = " || ' ' || "
_SUMS = {
    table: f"crc32(cast({_BETWEEN.join(contents.split())} as blob))"
    for table, contents in _CONTENTS.items()
}
_TABLES = f"""
create table members (
    key text primary key,           -- the name in lower case
    name text not null,             -- as it is shown
    password text not null,         -- argon2id; '' if nobody has the name: banned, or retired
    preferences text not null,      -- a JSON object
    created integer not null,       -- seconds since the epoch
    seen integer not null,
    banned integer not null default 0,
    retired integer not null default 0,
    checksum integer as ({_SUMS["members"]}) stored
) strict, without rowid;
create table guests (
    key text primary key,
    name text not null,
    word blob not null,             -- sha256
    seen integer not null,
    checksum integer as ({_SUMS["guests"]}) stored
) strict, without rowid;
"""


def connect(path: Path | None, *, reading: bool = False) -> sqlite3.Connection:
    """Return a connection to a file that is there, or to an empty one in memory.

    Args:
        path: of the file; None for one in memory.
        reading: whether it only reads. Then nothing on the disk is ever changed.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    if path is None:
        connection = sqlite3.connect(":memory:", isolation_level=None)
    else:
        connection = files.connect(path, _PATIENCE, reading=reading)
    _prepare(connection)
    return connection


def fill(connection: sqlite3.Connection) -> None:
    """Make the tables, in a database that is empty."""
    connection.execute(f"pragma application_id = {APPLICATION}")
    connection.execute(f"pragma user_version = {SCHEMA}")
    connection.execute("pragma journal_mode = wal")
    connection.executescript(f"begin; {_TABLES} commit;")


def create(path: Path) -> None:
    """Make a file without accounts, unless another process is quicker.

    Whatever has that name is whole, and private.

    Raises:
        OSError: it cannot be made.
        sqlite3.Error: it cannot be made.
    """

    def filled(connection: sqlite3.Connection) -> None:
        _prepare(connection)
        fill(connection)

    make(path, filled, _PRIVATE)


def problem(path: Path) -> str | None:
    """Return why a file cannot be used as it is, None if it can. Nothing of it is changed.

    Raises:
        OSError: it cannot be read.
        sqlite3.Error: it cannot be read.
    """
    log = beside(path, "-wal")
    if not path.exists():
        return (
            f"the file is gone, but {log.name} is still there: bring both back, or delete"
            f" {log.name} to begin without any accounts"
        )
    if not path.stat().st_size:
        return "the file is empty; restore a copy of it, or delete it to begin without any accounts"
    with closing(connect(path, reading=True)) as connection:
        connection.execute("begin")
        found = _kind(connection) or _damage(connection)
    if not found and has_lost_something(log):
        found = DAMAGED
    is_left = found == DAMAGED and has_log(path)
    return f"{found}, without the {log.name} that is there now" if is_left else found


def one(connection: sqlite3.Connection, statement: str) -> Any:
    """Return the first value of the first row."""
    with closing(connection.execute(statement)) as found:
        return found.fetchone()[0]


def _kind(connection: sqlite3.Connection) -> str | None:
    """Return whose file it is, if that is not us."""
    if one(connection, "pragma application_id") != APPLICATION:
        return "this is another program's file, not one of accounts"
    if one(connection, "pragma user_version") > SCHEMA:
        return "a later version of thudmud has written this file"
    return None


def _damage(connection: sqlite3.Connection) -> str | None:
    """Return that it is damaged, if it is: in its tables, its structure or its rows."""
    with closing(connect(None)) as empty:
        fill(empty)
        if _tables(connection) != _tables(empty):
            return DAMAGED
    if one(connection, "pragma integrity_check(1)") != "ok":
        return DAMAGED
    changed = [
        one(connection, f"select count(*) from {table} where checksum is not {expected}")  # noqa: S608  (ours)
        for table, expected in _SUMS.items()
    ]
    return DAMAGED if any(changed) else None


def _tables(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    found = connection.execute("select type, name, tbl_name, sql from sqlite_schema order by name")
    return [*found.fetchall(), (one(connection, "pragma user_version"),)]


def _prepare(connection: sqlite3.Connection) -> None:
    connection.create_function("crc32", 1, crc32, deterministic=True)
