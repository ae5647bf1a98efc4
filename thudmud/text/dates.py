"""Days, as they are written everywhere: 2026-11-20.

Owns the way from seconds since the epoch to a day, by universal time. Must never ask what time it
is: the calendar is all that is wanted of `datetime`.
"""

from __future__ import annotations

from datetime import UTC, datetime


def day(at: float) -> str:
    """Return the day of a time in seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
