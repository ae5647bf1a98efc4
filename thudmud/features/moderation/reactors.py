"""Tells operators of reports: the first at once, and those that follow soon after together.

Each node does so for its own operators, whichever node a report was made on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from thudmud.features.moderation.model import ReportMade, ReportsTold
from thudmud.game.feature import AppliedEvent
from thudmud.service.interface import Base

TOLD_EVERY = 60.0
"""Seconds between two sentences about reports, at least."""

_KEY = ("reports",)


class ReportNews:
    """Tells the operators who are here of new reports, in one sentence a minute at most.

    Args:
        base: what the parts of a service share.
        tell: tells an aside to those who are here.
    """

    def __init__(self, base: Base, tell: Callable[[ReportsTold], None]) -> None:
        self._hall, self._clock, self._tell = base.hall, base.clock, tell
        self._scheduler = base.scheduler
        self._waiting: list[ReportMade] = []
        base.bus.on(ReportMade, self._made)

    def _made(self, applied: AppliedEvent) -> None:
        """Announce a report, at once or in the next batch."""
        self._waiting.append(cast("ReportMade", applied.event))
        if _KEY not in self._scheduler:
            self._tell_all()

    def _tell_all(self) -> None:
        """Tell what has not been told, and wait before the next sentence."""
        reports, self._waiting = self._waiting, []
        if reports:
            self._scheduler.at(_KEY, self._clock() + TOLD_EVERY, self._tell_all)
            self._tell(ReportsTold("", tuple(reports)))
