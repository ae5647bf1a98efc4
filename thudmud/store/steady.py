"""A clock that does not jump when the machine's time is set.

Battles are lost on time, so no clock may change because the machine's time is set.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds() -> float:
    """Return a monotonic clock's seconds, of one that runs during suspend if there is one."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class SteadyClock:
    """Returns the seconds since the epoch, by the machine's time when the clock was made."""

    def __init__(
        self, wall: Callable[[], float] = time.time, ticks: Callable[[], float] = seconds
    ) -> None:
        self._wall, self._ticks = wall, ticks
        self._began = wall() - ticks()

    def __call__(self) -> float:
        """Return the time."""
        return self._began + self._ticks()

    def not_before(self, at: float) -> None:
        """Advance to a time if it is later: the machine's time has been set back since."""
        self._began += max(0.0, at - self())

    def go_on_from(self, at: float) -> None:
        """Set the clock to a time, earlier or later: the time that several nodes share."""
        self._began += at - self()

    @property
    def behind(self) -> float:
        """How many seconds the machine's time is ahead; negative if it was set back."""
        return self._wall() - self()
