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

__all__ = ["Conflict", "Damaged", "Entry", "Journal", "JournalError", "NotWritten", "Unknown"]
