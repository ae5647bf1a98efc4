"""What is to be done later, which a test does when it likes."""

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
    """In place of an event loop's `call_later`, by a clock of the test's."""

    def __init__(self, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._clock = clock
        self._all: list[Alarm] = []

    def __call__(self, delay: float, call: Callable[[], None]) -> Alarm:
        self._all.append(Alarm(self._clock() + delay, call))
        return self._all[-1]

    @property
    def due(self) -> list[float]:
        """When something is to be done, in order."""
        return sorted(each.at for each in self._all if each.is_set)

    def take(self, until: float = inf) -> Alarm | None:
        """Take out what is to be done first, if that is soon enough."""
        due = [each for each in self._all if each.is_set and each.at <= until]
        if not due:
            return None
        self._all.remove(first := min(due, key=lambda each: each.at))
        return first

    def ring(self) -> None:
        """Do all of it in order, but nothing that comes of that."""
        for _ in self.due:
            if first := self.take():
                first.call()
