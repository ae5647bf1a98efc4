"""The file that accounts are kept in: opened, read and written, and what goes wrong with it.

Owns what the operator is told of a file that cannot be used. Must never know what is in it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thudmud.journal.layout import has_log
from thudmud.server import account_layout as layout

LITTLE = 1 << 20
"""Bytes. With less than this free on a disk, what it does not do it does not for want of room."""

_FULL = "the disk is full"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_MAYBE_NO_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_MAYBE_MISSING = {*_MAYBE_NO_ROOM, sqlite3.SQLITE_READONLY}
_REASONS = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: "the disk does not work as it should",
    sqlite3.SQLITE_READONLY: "it cannot be written to",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_BUSY: "another process does not let go of it",
    sqlite3.SQLITE_LOCKED: "another process does not let go of it",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
}
_Trouble = OSError | sqlite3.Error | UnicodeDecodeError


class AccountsError(Exception):
    """The accounts cannot be used, now or at all; ``str()`` is a sentence for the operator."""


class Unusable(AccountsError):
    """The file is no file of accounts that can be used, and will not become one by itself."""


class Unavailable(AccountsError):
    """The accounts could not be read or changed now. Nothing has changed; later it may work."""


class AccountFile:
    """An open file of accounts, or none on any disk. For one thread alone.

    Args:
        path: where it is, made if there is none; None for one in memory.

    Raises:
        Unusable: it cannot be opened, or is damaged, or is something else.
        Unavailable: another process keeps it busy.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        with self._told(opening=True):
            if path:
                _check(path)
            self._database = layout.connect(path)
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
            return int(layout.one(database, "pragma data_version"))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _prepare(self) -> None:
        if self._path is None:
            layout.fill(self._database)
        self._database.execute("pragma journal_mode = wal")
        self._database.execute("pragma synchronous = full")
        # So that it is told now if nothing can be written.
        self._database.execute(f"pragma user_version = {layout.SCHEMA}")

    @contextmanager
    def _told(self, *, opening: bool = False) -> Iterator[None]:
        """Turn what SQLite and the system raise into errors of ours."""
        try:
            yield
        # SQLite's complaint about a damaged file quotes it, so that it may be no text itself.
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            code = _code(error)
            if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or (
                opening and code not in _REASONS
            ):
                raise Unusable(f"{self._path}: {layout.DAMAGED}") from error
            lasts = opening and code != sqlite3.SQLITE_BUSY
            problem = f"{self._path or 'the accounts'}: {_reason(self._path, error)}"
            raise (Unusable if lasts else Unavailable)(problem) from error


def _check(path: Path) -> None:
    """Refuse a file that cannot be used as it is; make one if there is none."""
    if not path.exists() and not has_log(path):
        layout.create(path)
    if problem := layout.problem(path):
        raise Unusable(f"{path}: {problem}")


def _code(error: _Trouble) -> int:
    """Return SQLite's code, without detail; an error that has none comes from what was read."""
    if isinstance(error, OSError):
        return sqlite3.SQLITE_FULL if error.errno in _NO_ROOM else sqlite3.SQLITE_CANTOPEN
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


def _reason(path: Path | None, error: _Trouble) -> str:
    """Return why something could not be done, in plain words if there are any."""
    code = _code(error)
    detail = error.strerror if isinstance(error, OSError) else error
    if path and code in _MAYBE_MISSING and (missing := _missing(path)):
        return missing
    if path and code in _MAYBE_NO_ROOM and _is_full(path):
        return _FULL
    reason = _REASONS.get(code)
    return f"{reason}: {detail}" if code in _MAYBE_NO_ROOM else reason or str(error)


def _is_full(path: Path) -> bool:
    """Whether there is no room on a file's disk for more, or for more files."""
    try:
        disk = os.statvfs(path.absolute().parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < LITTLE or (disk.f_files > 0 and disk.f_favail == 0)


def _missing(path: Path) -> str | None:
    """Return what a file needs that it does not have where it is, if anything."""
    folder = path.absolute().parent  # which SQLite makes files of its own in
    if not folder.exists():
        return f"there is no folder {folder}"
    if not os.access(folder, os.W_OK):
        return f"the folder {folder} cannot be written to"
    return "it is a folder" if path.is_dir() else None


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return what tells a file from any other that may come to have its name."""
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status else None
