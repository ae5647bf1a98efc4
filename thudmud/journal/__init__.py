"""What has happened, durably: one interface, and the backends behind it."""

from thudmud.journal.interface import (
    Conflict,
    Damaged,
    Entry,
    Journal,
    JournalError,
    NotWritten,
    Unknown,
)
from thudmud.journal.memory import MemoryJournal
from thudmud.journal.sqlite import SqliteJournal

__all__ = [
    "Conflict",
    "Damaged",
    "Entry",
    "Journal",
    "JournalError",
    "MemoryJournal",
    "NotWritten",
    "SqliteJournal",
    "Unknown",
]
