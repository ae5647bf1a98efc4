"""The countdown to a shutdown that an operator asked for.

It is for one node. Players on other nodes are not told, and play on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from thudmud.features.moderation.model import ShutdownTold
from thudmud.service.scheduler import TimerScheduler

MARKS = (600, 300, 120, 60, 30, 10)
"""The remaining seconds at which everybody is told again."""


class Countdown:
    """Tells everybody how long until this node stops, and stops it.

    Args:
        scheduler: the timers. Without any, nothing stops.
        tell: tells an aside to those who are here.

    Attributes:
        end: called when it is time; None where nothing is to be stopped.
    """

    def __init__(self, scheduler: TimerScheduler, tell: Callable[[ShutdownTold], None]) -> None:
        self._scheduler, self._tell = scheduler, tell
        self.end: Callable[[], None] | None = None

    def begin(self, told: ShutdownTold) -> None:
        """Count down to a shutdown, in place of an earlier one; or cancel it."""
        for mark in (*MARKS, 0):
            self._scheduler.cancel(("shutdown", str(mark)))
        if told.seconds is None:
            return
        for mark in MARKS:
            if mark < told.seconds:
                marked = replace(told, seconds=mark)
                self._scheduler.at(
                    ("shutdown", str(mark)), told.at - mark, partial(self._tell, marked)
                )
        self._scheduler.at(("shutdown", "0"), told.at, self._finish)

    def _finish(self) -> None:
        if self.end:
            self.end()
