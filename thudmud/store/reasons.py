"""Why a SQLite file cannot be used, in words for its operator."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from thudmud.store.disk import beside

LITTLE = 1 << 20
"""Bytes. With less than this free on a disk, what it does not do it does not for want of room."""

Trouble = OSError | sqlite3.Error | UnicodeDecodeError
TROUBLES = (OSError, sqlite3.Error, UnicodeDecodeError)
"""What can come of using a file. SQLite's complaint about a damaged one quotes it, and so may be no
text itself."""

_FULL = "the disk is full"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_REASONS = {
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
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
_FOR_WANT_OF_RIGHTS = {*_FOR_WANT_OF_ROOM, sqlite3.SQLITE_READONLY}
"""The same, of a folder that it cannot use."""


def is_damage(error: Trouble) -> bool:
    """Whether it is what was read that is wrong, not the disk or the system."""
    return _code(error) & 0xFF not in {*_REASONS, sqlite3.SQLITE_FULL}


def reason(path: Path | None, error: Trouble) -> str:
    """Return why something could not be done with a file, in plain words if there are any.

    Args:
        path: of the file; None for one in memory.
        error: what came of it.
    """
    code = _code(error)
    if path and code & 0xFF in _FOR_WANT_OF_RIGHTS and (missing := _missing(path)):
        return missing
    if code == sqlite3.SQLITE_FULL or (
        path and code & 0xFF in _FOR_WANT_OF_ROOM and _is_full(path)
    ):
        return _FULL
    if isinstance(error, OSError):
        return error.strerror or str(error)
    words = _REASONS.get(code & 0xFF)
    if path and code in _IN_SHARED_MEMORY:
        words = f"{beside(path, '-shm').name}, which belongs to it, cannot be made"
    elif code == sqlite3.SQLITE_IOERR_GETTEMPPATH:
        words = "there is no folder for temporary files"
    return f"{words} ({error})" if words else str(error)


def _code(error: Trouble) -> int:
    """Return SQLite's extended code; an error that has none comes from what was read."""
    if isinstance(error, OSError):
        return sqlite3.SQLITE_FULL if error.errno in _NO_ROOM else sqlite3.SQLITE_CANTOPEN
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)


def _missing(path: Path) -> str | None:
    """Return what a file needs that it does not have where it is, if anything."""
    folder = path.absolute().parent  # which SQLite makes files of its own in
    if not folder.exists():
        return f"there is no folder {folder}"
    if not os.access(folder, os.W_OK):
        return f"the folder {folder} cannot be written to"
    return "it is a folder" if path.is_dir() else None


def _is_full(path: Path) -> bool:
    """Return whether there is no room on a file's disk for more, or for more files."""
    try:
        disk = os.statvfs(path.absolute().parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < LITTLE or (disk.f_files > 0 and disk.f_favail == 0)
