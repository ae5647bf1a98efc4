"""Timers, one for each key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from thudmud.service.interface import Handle, Later


class Alarms:
    """Calls functions at set times, one for each key.

    Args:
        clock: returns the seconds since the epoch.
        later: calls a function later; None where nothing waits, and no alarm ever rings.
    """

    def __init__(self, clock: Callable[[], float], later: Later | None) -> None:
        self._clock, self._later = clock, later
        self._set: dict[str, tuple[float, Handle]] = {}

    def __contains__(self, key: object) -> bool:
        """Return whether an alarm is set for a key."""
        return key in self._set

    def set(self, key: str, at: float, ring: Callable[[], object]) -> None:
        """Call a function at a time, or at once if it is past.

        Of two times for one key the earlier stands: the function can look again and set a later
            one.
        """
        if self._later is None:
            return
        if before := self._set.get(key):
            if before[0] <= at:
                return
            before[1].cancel()

        rings = partial(self._ring, key, ring)  # a closure would take four times the memory
        self._set[key] = at, self._later(max(0.0, at - self._clock()), rings)

    def _ring(self, key: str, ring: Callable[[], object]) -> None:
        del self._set[key]
        ring()

    def cancel(self, key: str) -> bool:
        """Cancel the alarm of a key; return whether there was one."""
        alarm = self._set.pop(key, None)
        if alarm:
            alarm[1].cancel()
        return alarm is not None

    def close(self) -> None:
        """Cancel all alarms, and set no more."""
        for key in list(self._set):
            self.cancel(key)
        self._later = None
