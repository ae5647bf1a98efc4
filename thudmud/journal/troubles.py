"""What can be wrong with a journal's file, said to its operator.

Owns those sentences. Must never decide what is to be done about it.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from thudmud.journal.interface import Damaged, JournalError, NotWritten
from thudmud.storage.files import beside, has_log
from thudmud.storage.reasons import is_damage, reason


def damaged(path: Path, what: str) -> Damaged:
    """Return the error of a file that is not as it was written."""
    log = ""
    with suppress(OSError):
        if has_log(path):
            log = f", without the {beside(path, '-wal').name} that is there now"
    return Damaged(f"The journal {path} is damaged: {what}. Restore it from a backup{log}.")


def not_written(path: Path, error: sqlite3.Error) -> NotWritten:
    """Return the error of events that could not be stored."""
    return NotWritten(f"The journal {path} could not be written: {reason(path, error)}.")


def not_read(path: Path, error: sqlite3.Error | OSError) -> JournalError:
    """Return the error of a file that could not be opened or read."""
    if is_damage(error):
        return damaged(path, str(error))
    return JournalError(f"The journal {path} cannot be used: {reason(path, error)}.")
