from __future__ import annotations

import pytest

from tests import alarms as loop
from thudmud.service.scheduler import TimerScheduler


class Hours:
    """A clock and its pending alarms."""

    def __init__(self) -> None:
        self.at = 100.0
        self.later = loop.Alarms(lambda: self.at)

    def pass_until(self, at: float) -> None:
        while first := self.later.take(at):
            self.at = first.at
            first.call()
        self.at = at


@pytest.fixture
def hours() -> Hours:
    return Hours()


@pytest.fixture
def scheduler(hours: Hours) -> TimerScheduler:
    return TimerScheduler(lambda: hours.at, hours.later)


def test_earlier_of_two_times_for_a_key_wins(hours: Hours, scheduler: TimerScheduler) -> None:
    rung: list[str] = []
    scheduler.schedule(("board", "oak"), 120, lambda: rung.append("first"))
    scheduler.schedule(("board", "oak"), 130, lambda: rung.append("later"))
    scheduler.schedule(("board", "oak"), 110, lambda: rung.append("earlier"))
    scheduler.schedule(("board", "elm"), 115, lambda: rung.append("elm"))
    hours.pass_until(112)
    assert rung == ["earlier"]
    assert ("board", "oak") not in scheduler
    hours.pass_until(200)
    assert rung == ["earlier", "elm"]


def test_callback_may_reschedule_its_key(hours: Hours, scheduler: TimerScheduler) -> None:
    rung: list[float] = []

    def ring() -> None:
        rung.append(hours.at)
        scheduler.schedule(("board", "oak"), hours.at + 10, ring)

    scheduler.schedule(("board", "oak"), 90, ring)  # in the past: fires schedule once
    hours.pass_until(125)
    assert rung == [100, 110, 120]


def test_cancelled_timer_does_not_fire(hours: Hours, scheduler: TimerScheduler) -> None:
    rung: list[str] = []
    scheduler.schedule(("board", "oak"), 110, lambda: rung.append("oak"))
    assert scheduler.cancel(("board", "oak"))
    assert not scheduler.cancel(("board", "oak"))
    scheduler.schedule(("board", "oak"), 120, lambda: rung.append("oak"))
    scheduler.close()
    scheduler.schedule(("board", "oak"), 130, lambda: rung.append("oak"))
    hours.pass_until(200)
    assert not rung


def test_scheduler_without_a_loop_sets_no_timers() -> None:
    scheduler = TimerScheduler(lambda: 0.0, None)
    scheduler.schedule(("board", "oak"), 10, lambda: None)
    assert ("board", "oak") not in scheduler
