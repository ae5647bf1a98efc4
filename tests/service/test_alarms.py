from __future__ import annotations

import pytest

from tests import alarms as loop
from thudmud.service.alarms import Alarms


class Hours:
    """A clock, and what is to be called by it."""

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
def alarms(hours: Hours) -> Alarms:
    return Alarms(lambda: hours.at, hours.later)


def test_of_two_times_the_earlier_stands(hours: Hours, alarms: Alarms) -> None:
    rung: list[str] = []
    alarms.set("oak", 120, lambda: rung.append("first"))
    alarms.set("oak", 130, lambda: rung.append("later"))
    alarms.set("oak", 110, lambda: rung.append("earlier"))
    alarms.set("elm", 115, lambda: rung.append("elm"))
    hours.pass_until(112)
    assert rung == ["earlier"]
    assert "oak" not in alarms
    hours.pass_until(200)
    assert rung == ["earlier", "elm"]


def test_what_rings_may_set_it_again(hours: Hours, alarms: Alarms) -> None:
    rung: list[float] = []

    def ring() -> None:
        rung.append(hours.at)
        alarms.set("oak", hours.at + 10, ring)

    alarms.set("oak", 90, ring)  # that is over: at once
    hours.pass_until(125)
    assert rung == [100, 110, 120]


def test_what_is_cancelled_does_not_ring(hours: Hours, alarms: Alarms) -> None:
    rung: list[str] = []
    alarms.set("oak", 110, lambda: rung.append("oak"))
    assert alarms.cancel("oak")
    assert not alarms.cancel("oak")
    alarms.set("oak", 120, lambda: rung.append("oak"))
    alarms.close()
    alarms.set("oak", 130, lambda: rung.append("oak"))
    hours.pass_until(200)
    assert not rung


def test_nothing_rings_where_nothing_waits() -> None:
    alarms = Alarms(lambda: 0.0, None)
    alarms.set("oak", 10, lambda: None)
    assert "oak" not in alarms
