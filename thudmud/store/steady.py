"""A clock that goes on whatever somebody does to the machine's.

Battles are lost by time, so nobody's may change because the machine's time is set.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds() -> float:
    """Return seconds of a clock that also runs while the machine sleeps, if there is one."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class SteadyClock:
    """Returns the seconds since the epoch, as the machine had them when the clock was made.

    Args:
        wall: the machine's time, which can be set.
        ticks: seconds from any beginning, which cannot.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, ticks: Callable[[], float] = seconds
    ) -> None:
        self._wall, self._ticks = wall, ticks
        self._began = wall() - ticks()

    def __call__(self) -> float:
        """Return the time."""
        return self._began + self._ticks()

    def not_before(self, at: float) -> None:
        """Go on from a time if that is later: the machine's has been set back since."""
        self._began += max(0.0, at - self())

    def go_on_from(self, at: float) -> None:
        """Go on from a time, be it earlier or later: that of whom several nodes go by."""
        self._began += at - self()

    @property
    def behind(self) -> float:
        """How many seconds the machine's time is ahead of it by now; below 0 if it was set back."""
        return self._wall() - self()
