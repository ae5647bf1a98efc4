"""What can be wrong with a journal's file, said to its operator.

Owns those sentences. Must never decide what is to be done about it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from thudmud.journal.interface import Damaged, JournalError, NotWritten

_REASONS = {
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk does not work as it should",
    sqlite3.SQLITE_READONLY: "it cannot be written to",
    sqlite3.SQLITE_BUSY: "another process does not let go of it",
    sqlite3.SQLITE_LOCKED: "another process does not let go of it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "access to it is denied",
    sqlite3.SQLITE_AUTH: "access to it is denied",
}


def damaged(path: Path, what: str) -> Damaged:
    """Return the error of a file that is not as it was written."""
    return Damaged(f"The journal {path} is damaged: {what}. Restore it from a backup.")


def not_written(path: Path, error: sqlite3.Error) -> NotWritten:
    """Return the error of events that could not be stored."""
    return NotWritten(f"The journal {path} could not be written: {_reason(error)}.")


def not_read(path: Path, error: sqlite3.Error | OSError) -> JournalError:
    """Return the error of a file that could not be opened or read."""
    if isinstance(error, OSError):
        return JournalError(f"The journal {path} cannot be used: {error.strerror or error}.")
    if _code(error) in _REASONS:
        return JournalError(f"The journal {path} cannot be used: {_reason(error)}.")
    return damaged(path, str(error))


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary code; an error that has none comes from what was read."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


def _reason(error: sqlite3.Error) -> str:
    reason = _REASONS.get(_code(error))
    return f"{reason} ({error})" if reason else str(error)
