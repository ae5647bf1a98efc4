"""Delayed calls that a test triggers by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf


@dataclass(eq=False)
class Alarm:
    at: float
    call: Callable[[], None]
    is_set: bool = True

    def cancel(self) -> None:
        self.is_set = False


class Alarms:
    """A replacement for an event loop's `call_later`, driven by the test's clock."""

    def __init__(self, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._clock = clock
        self._all: list[Alarm] = []

    def __call__(self, delay: float, call: Callable[[], None]) -> Alarm:
        self._all.append(Alarm(self._clock() + delay, call))
        return self._all[-1]

    @property
    def due(self) -> list[float]:
        """The due times of the pending alarms, in order."""
        return sorted(each.at for each in self._all if each.is_set)

    def take(self, until: float = inf) -> Alarm | None:
        """Remove and return the first pending alarm, or None if it is due after ``until``."""
        due = [each for each in self._all if each.is_set and each.at <= until]
        if not due:
            return None
        self._all.remove(first := min(due, key=lambda each: each.at))
        return first

    def ring(self) -> None:
        """Call all pending alarms in order, but none that they add."""
        for _ in self.due:
            if first := self.take():
                first.call()
