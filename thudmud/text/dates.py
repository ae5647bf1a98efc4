"""Days, as they are written everywhere: 2026-11-20.

Owns the way from seconds since the epoch to a day and back, by universal time. Must never ask what
time it is: the calendar is all that is wanted of `datetime`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime


def day(at: float) -> str:
    """Return the day of a time in seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def day_begins(text: str) -> float | None:
    """Return when a day such as 2026-11-20 begins, in epoch seconds; None if it is no day."""
    try:
        first = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
