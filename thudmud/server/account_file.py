"""The file that accounts are kept in: opened, checked, and made if there is none.

Owns the schema and what is wrong with a file. Must never know what an account is for.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

APPLICATION = 0x54485541  # "THUA"; SQLite's application_id says whose file it is
SCHEMA = 1

_PRIVATE = 0o600  # for the owner alone; SQLite gives its -wal and -shm files the same mode
_PATIENCE = 5.0  # seconds to wait for another process that is writing
_TABLES = """
create table members (
    key text primary key,           -- the name in lower case
    name text not null,             -- as it is shown
    password text not null,         -- argon2id; '' once the name is retired
    preferences text not null,      -- a JSON object
    created real not null,          -- seconds since the epoch
    seen real not null,
    banned integer not null default 0,
    retired integer not null default 0
) strict, without rowid;
create table guests (
    key text primary key,
    name text not null,
    word blob not null,             -- sha256
    seen real not null
) strict, without rowid;
"""
_UNREADABLE = """
select count(*) from members
where case when json_valid(preferences) then json_type(preferences) <> 'object' else true end
"""


class AccountsError(Exception):
    """The accounts cannot be used, now or at all; ``str()`` is a sentence for the operator."""


class Unusable(AccountsError):
    """The file is no file of accounts that can be used, and will not become one by itself."""


class Unavailable(AccountsError):
    """The accounts could not be read or changed now. Nothing has changed; later it may work."""


class AccountFile:
    """An open file of accounts, or none on any disk. For one thread at a time.

    Args:
        path: where it is; None for one in memory.

    Raises:
        Unusable: it cannot be opened, or is damaged, or is something else.
        Unavailable: another process keeps it busy.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        with self._told(opening=True):
            if path is not None:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, _PRIVATE))
            self._database = sqlite3.connect(
                path or ":memory:",
                timeout=_PATIENCE,
                isolation_level=None,
                check_same_thread=False,
            )
        try:
            with self._told(opening=True):
                self._prepare()
        except AccountsError:
            self._database.close()
            raise
        self._identity = _identity(path)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the database to read from.

        Raises:
            Unavailable: it cannot be read.
        """
        with self._told():
            yield self._database

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the database to change: all that is done is stored at the end, or nothing.

        Raises:
            Unavailable: it cannot be changed, or the file is not at its place any more.
        """
        with self._told():
            # SQLite would go on writing to a file that nobody can open any more.
            if _identity(self._path) != self._identity:
                raise Unavailable(f"{self._path}: the file was removed or replaced")
            self._database.execute("begin immediate")
            try:
                yield self._database
                self._database.execute("commit")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("rollback")
                raise

    def version(self) -> int:
        """Return a number that is another one after another process has changed something."""
        with self.reading() as database:
            return int(_one(database, "pragma data_version"))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _prepare(self) -> None:
        database = self._database
        # The tables are looked at first: somebody else may be making them just now.
        is_new = _one(database, "select count(*) from sqlite_schema") == 0
        application = _one(database, "pragma application_id")
        if application != APPLICATION and not (is_new and application == 0):
            raise Unusable(f"{self._path}: this is another program's file, not one of accounts")
        if _one(database, "pragma user_version") > SCHEMA:
            raise Unusable(f"{self._path}: a later version of thudmud has written this file")
        if not is_new and _one(database, "pragma integrity_check(1)") != "ok":
            raise Unusable(_damaged(self._path))
        if not is_new and _one(database, _UNREADABLE):
            raise Unusable(_damaged(self._path))
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = full")
        if is_new:
            self._make()

    def _make(self) -> None:
        self._database.execute("begin immediate")
        if _one(self._database, "pragma application_id") == 0:  # else somebody else was faster
            for statement in _TABLES.split(";\n"):
                self._database.execute(statement)
            self._database.execute(f"pragma application_id = {APPLICATION}")
            self._database.execute(f"pragma user_version = {SCHEMA}")
        self._database.execute("commit")

    @contextmanager
    def _told(self, *, opening: bool = False) -> Iterator[None]:
        """Turn what SQLite and the system raise into errors of ours."""
        try:
            yield
        except OSError as error:
            raise Unusable(f"{self._path}: cannot be opened: {error.strerror}") from error
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest is detail
            if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
                raise Unusable(_damaged(self._path)) from error
            problem = f"{self._path or 'the accounts'}: {error}"
            if opening and code != sqlite3.SQLITE_BUSY:
                raise Unusable(problem) from error
            raise Unavailable(problem) from error


def _damaged(path: Path | None) -> str:
    return f"{path}: the file is damaged, or not one of accounts; restore a copy of it"


def _one(database: sqlite3.Connection, statement: str) -> Any:
    with closing(database.execute(statement)) as found:
        return found.fetchone()[0]


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return what tells a file from any other that may come to have its name."""
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status else None
