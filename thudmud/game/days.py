"""Calendar days such as 2026-11-20, in UTC, and their start times."""

from __future__ import annotations

import calendar
import re

from thudmud.game.clocks import DAY

TODAY, YESTERDAY, TOMORROW = "today", "yesterday", "tomorrow"
"""Days relative to the current time."""

_AWAY = {TODAY: 0, YESTERDAY: -1, TOMORROW: 1}

_WRITTEN = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)


def day_begins(text: str, now: float | None = None) -> float | None:
    """Parse a day and return its start, in seconds since the epoch; None if it is invalid.

    Args:
        text: the day, such as ``2026-11-20``.
        now: the current time, in seconds since the epoch; allows ``today``, ``yesterday`` and
            ``tomorrow``.
    """
    if now is not None and text in _AWAY:
        return now - now % DAY + DAY * _AWAY[text]
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    year, month, day = map(int, found.groups())
    if not (year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    return float(calendar.timegm((year, month, day, 0, 0, 0)))
