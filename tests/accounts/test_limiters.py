from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.accounts import limiters
from thudmud.accounts.limiters import (
    LONGEST_QUEUE,
    WINDOW,
    Guess,
    GuessThrottle,
    RateLimiter,
    TokenBucket,
)


def begun(slowing: GuessThrottle, name: str, address: str, now: float) -> Guess:
    guess = slowing.begin(name, address, now)
    assert guess
    return guess


def test_five_cost_nothing_then_each_costs_more() -> None:
    slowing, now, waits = GuessThrottle(), 0.0, []
    for _ in range(13):
        waits.append(begun(slowing, "Anna", "::1", now).wait)
        now += waits[-1]
    assert waits == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30]


@pytest.mark.parametrize(
    "guess",
    [lambda number: ("Anna", f"192.0.2.{number}"), lambda number: (f"Anna{number}", "192.0.2.1")],
)
def test_those_at_once_come_one_after_the_other(guess: Callable[[int], tuple[str, str]]) -> None:
    slowing = GuessThrottle()
    waits = [begun(slowing, *guess(number), 0.0).wait for number in range(18)]
    assert waits == [0] * 5 + [1, 3, 7, 15, 31, 61, 91, 121, 151, 181, 211, 241, 271]
    for number in range(100):
        assert slowing.begin(*guess(number), 0.0) is None
    assert begun(slowing, *guess(0), 1.0).wait == LONGEST_QUEUE
    assert slowing.begin(*guess(0), 30.9) is None
    assert begun(slowing, *guess(0), 31.0).wait == LONGEST_QUEUE


def test_names_and_addresses_count_by_themselves() -> None:
    slowing = GuessThrottle()
    for number in range(5):
        slowing.begin("Anna", f"192.0.2.{number}", 0.0)
    for name in ("Bob", "Cara", "Dora", "Ella", "Fritz"):
        assert begun(slowing, name, "192.0.2.9", 0.0).wait == 0
    assert begun(slowing, "anna", "192.0.2.20", 0.0).wait == 1
    assert begun(slowing, "Greta", "192.0.2.9", 0.0).wait == 1
    assert begun(slowing, "Greta", "192.0.2.30", 0.0).wait == 0


def test_they_count_for_five_minutes() -> None:
    slowing = GuessThrottle()
    for second in range(5):
        slowing.begin("Anna", "::1", float(second))
    assert begun(slowing, "Anna", "::1", WINDOW - 1).wait == 1
    assert begun(slowing, "Anna", "::1", WINDOW + 1).wait == 0


def test_they_count_from_when_they_are_made() -> None:
    slowing = GuessThrottle()
    for _ in range(12):
        last = begun(slowing, "Anna", "::1", 0.0)
    assert last.wait == 91
    assert begun(slowing, "Anna", "::1", WINDOW + 0.5).wait == 4  # seven of 1 s and later


def test_where_somebody_was_right_they_do_not_wait_for_others() -> None:
    slowing = GuessThrottle()
    slowing.forgive(begun(slowing, "Anna", "198.51.100.1", 0.0))
    while slowing.begin("anna", "192.0.2.1", 1.0):
        pass
    assert slowing.begin("Anna", "203.0.113.1", 1.5) is None
    assert begun(slowing, "ANNA", "198.51.100.1", 2.0).wait == 0
    waits = [begun(slowing, "Anna", "198.51.100.1", 3.0).wait for _ in range(6)]
    assert waits == [0, 0, 0, 0, 1, 3], "they are slowed down, too, if they are wrong there"


def test_a_right_one_is_forgiven_and_so_are_the_wrong_ones_for_its_name() -> None:
    slowing = GuessThrottle()
    for _ in range(7):
        guess = begun(slowing, "Anna", "192.0.2.1", 1.0)
    slowing.forgive(guess)
    assert begun(slowing, "Anna", "192.0.2.2", 2.0).wait == 0


def test_an_address_is_not_forgiven_its_guesses_at_others() -> None:
    slowing = GuessThrottle()
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
    slowing = GuessThrottle()
    for number in range(5):
        slowing.begin(f"Anna{number}", one, 0.0)
    assert begun(slowing, "Bob", other, 0.0).wait == 1
    assert begun(slowing, "Bob", "198.51.100.1", 0.0).wait == 0


def test_names_and_addresses_used_longest_ago_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limiters, "MAX_KEYS", 20)
    slowing = GuessThrottle()
    for _ in range(6):
        slowing.begin("Anna", "192.0.2.1", 0.0)
    assert begun(slowing, "Anna", "203.0.113.1", 0.0).wait > 0
    assert begun(slowing, "Bob", "192.0.2.1", 0.0).wait > 0
    for number in range(20):
        slowing.begin(f"Cara{number}", f"198.51.100.{number}", 0.0)
    assert begun(slowing, "Anna", "203.0.113.1", 0.0).wait == 0
    assert begun(slowing, "Bob", "192.0.2.1", 0.0).wait == 0


def test_where_somebody_was_right_longest_ago_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limiters, "MAX_KEYS", 20)
    slowing = GuessThrottle()
    for number in range(21):
        slowing.forgive(begun(slowing, f"Anna{number}", f"198.51.100.{number}", 0.0))
    for number in (0, 20):
        for _ in range(6):
            slowing.begin(f"Anna{number}", "192.0.2.1", 0.0)
    assert begun(slowing, "Anna0", "198.51.100.0", 0.0).wait > 0
    assert begun(slowing, "Anna20", "198.51.100.20", 0.0).wait == 0


def test_so_much_at_once_then_so_much_a_second() -> None:
    bucket = TokenBucket(2, 3)
    assert [bucket.take(100.0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert bucket.take(100.25) == 0.25
    assert bucket.take(100.5) == 0
    assert bucket.take(100.5) == 0.5


def test_it_holds_no_more_than_its_size() -> None:
    bucket = TokenBucket(2, 3)
    bucket.take(0.0)
    assert [bucket.take(1e9) for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_clock_that_goes_back_brings_nothing() -> None:
    bucket = TokenBucket(1, 1)
    bucket.take(50.0)
    assert bucket.take(10.0) == 1
    assert bucket.take(11.0) == 0


def test_what_is_charged_later_is_owed() -> None:
    bucket = TokenBucket(2, 3)
    assert bucket.take(0.0) == 0
    bucket.charge(6)
    assert bucket.take(0.0) == 2.5
    assert [bucket.take(2.5) for _ in range(2)] == [0, 0.5]


def test_some_can_be_left_in() -> None:
    bucket = TokenBucket(1, 4)
    assert [bucket.take(0.0, leaving=2) for _ in range(3)] == [0, 0, 1]
    assert [bucket.take(0.0) for _ in range(3)] == [0, 0, 1]


@given(
    st.floats(0.01, 1e4),
    st.floats(1, 1e4),
    st.lists(st.floats(0, 100), min_size=1, max_size=50),
)
def test_who_waits_as_told_gets_one_and_never_more_than_the_rate(
    rate: float, size: float, pauses: list[float]
) -> None:
    bucket, now, taken = TokenBucket(rate, size), 1e9, 0
    for pause in pauses:
        now += pause
        if wait := bucket.take(now):
            now += wait + 1e-6
            assert bucket.take(now) <= 1e-6
        taken += 1
    assert taken <= size + (now - 1e9) * rate + 1 + len(pauses) * 1e-5 * (1 + rate)


def test_those_used_longest_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiters, "MAX_KEYS", 2)
    each = RateLimiter(1, 1)
    for key in ("a", "b", "a", "c"):
        each.of(key).take(0.0)
    assert [each.of(key).wait(0.0) for key in ("a", "c")] == [1, 1]
    assert each.of("b").wait(0.0) == 0
