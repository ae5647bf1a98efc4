from __future__ import annotations

from collections.abc import Iterable

import pytest

from thudmud.server import throttle
from thudmud.server.throttle import WINDOW, Throttle


def waits(guesses: Iterable[tuple[str, str, float]]) -> list[float]:
    slowing = Throttle()
    return [slowing.begin(*guess).wait for guess in guesses]


def test_five_cost_nothing_then_each_costs_more() -> None:
    guesses = [("Anna", "::1", 0.0)] * 13
    assert waits(guesses) == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30]


def test_names_and_addresses_count_by_themselves() -> None:
    slowing = Throttle()
    for number in range(5):
        slowing.begin("Anna", f"192.0.2.{number}", 0.0)
    for name in ("Bob", "Cara", "Dora", "Ella", "Fritz"):
        assert slowing.begin(name, "192.0.2.9", 0.0).wait == 0
    assert slowing.begin("anna", "192.0.2.20", 0.0).wait == 1
    assert slowing.begin("Greta", "192.0.2.9", 0.0).wait == 1
    assert slowing.begin("Greta", "192.0.2.30", 0.0).wait == 0


def test_they_count_for_five_minutes() -> None:
    slowing = Throttle()
    for second in range(5):
        slowing.begin("Anna", "::1", float(second))
    assert slowing.begin("Anna", "::1", WINDOW - 1).wait == 1
    assert slowing.begin("Anna", "::1", WINDOW + 1).wait == 0


def test_a_right_one_is_forgiven_and_so_are_the_wrong_ones_for_its_name() -> None:
    slowing = Throttle()
    for _ in range(7):
        attempt = slowing.begin("Anna", "192.0.2.1", 1.0)
    slowing.forgive(attempt)
    assert slowing.begin("Anna", "192.0.2.2", 2.0).wait == 0


def test_an_address_is_not_forgiven_its_guesses_at_others() -> None:
    slowing = Throttle()
    for name in ("Anna", "Bob", "Cara", "Dora"):
        slowing.begin(name, "192.0.2.1", 1.0)
    for second in range(10):
        own = slowing.begin("Mallory", "192.0.2.1", 2.0 + second)
        assert own.wait == 0
        slowing.forgive(own)
    assert slowing.begin("Ella", "192.0.2.1", 20.0).wait == 0
    assert slowing.begin("Fritz", "192.0.2.1", 21.0).wait == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2001:db8::1", "2001:db8::ffff:1"),
        ("fe80::1%eth0", "fe80::2"),
        ("192.0.2.1", "::ffff:192.0.2.1"),
        ("nowhere", "nowhere"),
    ],
)
def test_addresses_of_one_household_are_one(one: str, other: str) -> None:
    slowing = Throttle()
    for number in range(5):
        slowing.begin(f"Anna{number}", one, 0.0)
    assert slowing.begin("Bob", other, 0.0).wait == 1
    assert slowing.begin("Bob", "198.51.100.1", 0.0).wait == 0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "_MOST_KEYS", 100)
    slowing = Throttle()
    for number in range(1000):
        attempt = slowing.begin(f"Anna{number}", "192.0.2.1", 0.0)
    assert attempt.wait == throttle.LONGEST
    assert len(slowing._times) == 100
    assert max(map(len, slowing._times.values())) < 20
