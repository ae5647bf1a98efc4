"""What is to be done later, one thing for each key."""

from __future__ import annotations

from collections.abc import Callable

from thudmud.service.interface import Handle, Later


class Alarms:
    """Has things done at their times.

    Args:
        clock: returns the seconds since the epoch.
        later: has something done later; None where nothing waits: there no alarm ever rings.
    """

    def __init__(self, clock: Callable[[], float], later: Later | None) -> None:
        self._clock, self._later = clock, later
        self._set: dict[str, tuple[float, Handle]] = {}

    def __contains__(self, key: object) -> bool:
        """Return whether an alarm is set for a key."""
        return key in self._set

    def set(self, key: str, at: float, ring: Callable[[], object]) -> None:
        """Have something done at a time, or at once if that is over.

        Of two times for one key the earlier one stands: who looks then sees when to look again.
        """
        if self._later is None:
            return
        if before := self._set.get(key):
            if before[0] <= at:
                return
            before[1].cancel()

        def rings() -> None:
            del self._set[key]
            ring()

        self._set[key] = at, self._later(max(0.0, at - self._clock()), rings)

    def cancel(self, key: str) -> bool:
        """Do not do what was set for a key; return whether anything was."""
        alarm = self._set.pop(key, None)
        if alarm:
            alarm[1].cancel()
        return alarm is not None

    def close(self) -> None:
        """Do nothing of it, and take no more."""
        for key in list(self._set):
            self.cancel(key)
        self._later = None
