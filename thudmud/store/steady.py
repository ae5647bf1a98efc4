"""A clock that does not jump when the system's time is set.

Battles are lost on time, so setting the system's time must not change any player's clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds() -> float:
    """Return the seconds of a monotonic clock, including suspend where the system has one."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class SteadyClock:
    """A clock of the seconds since the epoch, set by the system's time when it was created.

    Args:
        wall: returns the system's time, in seconds since the epoch.
        ticks: returns the seconds of a monotonic clock.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, ticks: Callable[[], float] = seconds
    ) -> None:
        self._wall, self._ticks = wall, ticks
        self._began = wall() - ticks()

    def __call__(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self._began + self._ticks()

    def advance_to(self, at: float) -> None:
        """Advance to a time if it is later: the system's time has been set back."""
        self._began += max(0.0, at - self())

    def set_to(self, at: float) -> None:
        """Set the clock to a time, earlier or later, that several nodes share."""
        self._began += at - self()

    @property
    def offset(self) -> float:
        """Seconds by which the system's time is ahead; negative if it was set back."""
        return self._wall() - self()
