"""The scheduler: one-shot timers of a service, at most one per key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from thudmud.game.feature import Key


class Handle(Protocol):
    """A timer."""

    def cancel(self) -> None:
        """Prevent the call, if it hasn't been made."""


Later = Callable[[float, Callable[[], None]], Handle]
"""Schedules a call after some seconds, as ``asyncio.loop.call_later`` does."""


class TimerScheduler:
    """One-shot timers, at most one per key.

    Args:
        clock: returns the seconds since the epoch.
        later: schedules a call on the event loop; None without an event loop: timers never fire.

    Attributes:
        has_timers: whether timers fire.
    """

    def __init__(self, clock: Callable[[], float], later: Later | None) -> None:
        self._clock, self._later = clock, later
        self.has_timers = later is not None
        self._set: dict[Key, tuple[float, Handle]] = {}

    def __contains__(self, key: object) -> bool:
        """Return whether a timer is set for the given key."""
        return key in self._set

    def schedule(self, key: Key, time: float, call: Callable[[], object]) -> None:
        """Schedule a call, in seconds since the epoch; a time in the past means immediately.

        If the key is already scheduled, the earlier time wins: the callback can check again and
        schedule a later one.
        """
        if self._later is None:
            return
        if before := self._set.get(key):
            if before[0] <= time:
                return
            before[1].cancel()

        due = partial(self._due, key, call)  # a closure would take four times the memory
        self._set[key] = time, self._later(max(0.0, time - self._clock()), due)

    def _due(self, key: Key, call: Callable[[], object]) -> None:
        del self._set[key]
        call()

    def cancel(self, key: Key) -> bool:
        """Cancel a timer; return whether there was one."""
        timer = self._set.pop(key, None)
        if timer:
            timer[1].cancel()
        return timer is not None

    def close(self) -> None:
        """Cancel all timers, and accept no more."""
        for key in list(self._set):
            self.cancel(key)
        self._later = None
