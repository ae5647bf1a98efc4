from __future__ import annotations

from collections.abc import Callable

import pytest

from thudmud.accounts import throttles
from thudmud.accounts.throttles import LONGEST_QUEUE, WINDOW, Guess, Throttle


def begun(slowing: Throttle, name: str, address: str, now: float) -> Guess:
    guess = slowing.begin(name, address, now)
    assert guess
    return guess


def test_five_cost_nothing_then_each_costs_more() -> None:
    slowing, now, waits = Throttle(), 0.0, []
    for _ in range(13):
        waits.append(begun(slowing, "Anna", "::1", now).wait)
        now += waits[-1]
    assert waits == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30]


@pytest.mark.parametrize(
    "guess",
    [lambda number: ("Anna", f"192.0.2.{number}"), lambda number: (f"Anna{number}", "192.0.2.1")],
)
def test_those_at_once_come_one_after_the_other(guess: Callable[[int], tuple[str, str]]) -> None:
    slowing = Throttle()
    waits = [begun(slowing, *guess(number), 0.0).wait for number in range(18)]
    assert waits == [0] * 5 + [1, 3, 7, 15, 31, 61, 91, 121, 151, 181, 211, 241, 271]
    for number in range(100):
        assert slowing.begin(*guess(number), 0.0) is None
    assert begun(slowing, *guess(0), 1.0).wait == LONGEST_QUEUE
    assert slowing.begin(*guess(0), 30.9) is None
    assert begun(slowing, *guess(0), 31.0).wait == LONGEST_QUEUE


def test_names_and_addresses_count_by_themselves() -> None:
    slowing = Throttle()
    for number in range(5):
        slowing.begin("Anna", f"192.0.2.{number}", 0.0)
    for name in ("Bob", "Cara", "Dora", "Ella", "Fritz"):
        assert begun(slowing, name, "192.0.2.9", 0.0).wait == 0
    assert begun(slowing, "anna", "192.0.2.20", 0.0).wait == 1
    assert begun(slowing, "Greta", "192.0.2.9", 0.0).wait == 1
    assert begun(slowing, "Greta", "192.0.2.30", 0.0).wait == 0


def test_they_count_for_five_minutes() -> None:
    slowing = Throttle()
    for second in range(5):
        slowing.begin("Anna", "::1", float(second))
    assert begun(slowing, "Anna", "::1", WINDOW - 1).wait == 1
    assert begun(slowing, "Anna", "::1", WINDOW + 1).wait == 0


def test_they_count_from_when_they_are_made() -> None:
    slowing = Throttle()
    for _ in range(12):
        last = begun(slowing, "Anna", "::1", 0.0)
    assert last.wait == 91
    assert begun(slowing, "Anna", "::1", WINDOW + 0.5).wait == 4  # seven of 1 s and later


def test_where_somebody_was_right_they_do_not_wait_for_others() -> None:
    slowing = Throttle()
    slowing.forgive(begun(slowing, "Anna", "198.51.100.1", 0.0))
    while slowing.begin("anna", "192.0.2.1", 1.0):
        pass
    assert slowing.begin("Anna", "203.0.113.1", 1.5) is None
    assert begun(slowing, "ANNA", "198.51.100.1", 2.0).wait == 0
    waits = [begun(slowing, "Anna", "198.51.100.1", 3.0).wait for _ in range(6)]
    assert waits == [0, 0, 0, 0, 1, 3], "they are slowed down, too, if they are wrong there"


def test_a_right_one_is_forgiven_and_so_are_the_wrong_ones_for_its_name() -> None:
    slowing = Throttle()
    for _ in range(7):
        guess = begun(slowing, "Anna", "192.0.2.1", 1.0)
    slowing.forgive(guess)
    assert begun(slowing, "Anna", "192.0.2.2", 2.0).wait == 0


def test_an_address_is_not_forgiven_its_guesses_at_others() -> None:
    slowing = Throttle()
    for name in ("Anna", "Bob", "Cara", "Dora"):
        slowing.begin(name, "192.0.2.1", 1.0)
    for second in range(10):
        own = begun(slowing, "Mallory", "192.0.2.1", 2.0 + second)
        assert own.wait == 0
        slowing.forgive(own)
    assert begun(slowing, "Ella", "192.0.2.1", 20.0).wait == 0
    assert begun(slowing, "Fritz", "192.0.2.1", 21.0).wait == 1


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
    assert begun(slowing, "Bob", other, 0.0).wait == 1
    assert begun(slowing, "Bob", "198.51.100.1", 0.0).wait == 0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttles, "_MOST_KEYS", 100)
    slowing = Throttle()
    for number in range(1000):
        guess = begun(slowing, f"Anna{number}", "192.0.2.1", 40.0 * number)
        slowing.begin("Bob", f"198.51.100.{number}", 40.0 * number)
        slowing.forgive(begun(slowing, f"Cara{number}", f"203.0.113.{number}", 40.0 * number))
    assert guess.wait > 0
    assert len(slowing._turns) <= 100
    assert len(slowing._homes) == 100
    assert max(map(len, slowing._turns.values())) < 20
