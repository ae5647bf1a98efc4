"""What can be wrong with a journal's file, said to its operator.

Owns those sentences. Must never decide what is to be done about it.
"""

from __future__ import annotations

import errno
import sqlite3
from contextlib import suppress
from os import statvfs
from pathlib import Path

from thudmud.journal.interface import Damaged, JournalError, NotWritten
from thudmud.journal.layout import beside, has_log

LITTLE = 1 << 20
"""Bytes. With less than this free on a disk, what it does not do it does not for want of room."""

_FULL = "the disk is full"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_REASONS = {
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: "the disk does not work as it should",
    sqlite3.SQLITE_READONLY: "it cannot be written to",
    sqlite3.SQLITE_BUSY: "another process does not let go of it",
    sqlite3.SQLITE_LOCKED: "another process does not let go of it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "access to it is denied",
    sqlite3.SQLITE_AUTH: "access to it is denied",
}
_IN_SHARED_MEMORY = {
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
}
_FOR_WANT_OF_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
"""What SQLite says if a disk is full, but not only then."""


def damaged(path: Path, what: str) -> Damaged:
    """Return the error of a file that is not as it was written."""
    log = ""
    with suppress(OSError):
        if has_log(path):
            log = f", without the {beside(path, '-wal').name} that is there now"
    return Damaged(f"The journal {path} is damaged: {what}. Restore it from a backup{log}.")


def not_written(path: Path, error: sqlite3.Error) -> NotWritten:
    """Return the error of events that could not be stored."""
    return NotWritten(f"The journal {path} could not be written: {_reason(path, error)}.")


def not_read(path: Path, error: sqlite3.Error | OSError) -> JournalError:
    """Return the error of a file that could not be opened or read."""
    if isinstance(error, OSError):
        reason = _FULL if error.errno in _NO_ROOM else error.strerror or error
        return JournalError(f"The journal {path} cannot be used: {reason}.")
    if _code(error) & 0xFF in _REASONS:
        return JournalError(f"The journal {path} cannot be used: {_reason(path, error)}.")
    return damaged(path, str(error))


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's extended code; an error that has none comes from what was read."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)


def _reason(path: Path, error: sqlite3.Error) -> str:
    """Return why something could not be done, in plain words if there are any."""
    code = _code(error)
    if code & 0xFF in _FOR_WANT_OF_ROOM and _is_full(path):
        return _FULL
    reason = _REASONS.get(code & 0xFF)
    if code in _IN_SHARED_MEMORY:
        reason = f"{beside(path, '-shm').name}, which belongs to it, cannot be made"
    elif code == sqlite3.SQLITE_IOERR_GETTEMPPATH:
        reason = "there is no folder for temporary files"
    return f"{reason} ({error})" if reason else str(error)


def _is_full(path: Path) -> bool:
    """Return whether there is no room on a file's disk for more, or for more files."""
    try:
        disk = statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < LITTLE or (disk.f_files > 0 and disk.f_favail == 0)
