from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.accounts import limiters
from thudmud.accounts.limiters import (
    RateLimiter,
    RecentCounts,
    StorageQuota,
    TokenBucket,
    network,
    site,
)

NOW = 1_800_000_000.0


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
    assert network(one) == network(other) != network("198.51.100.1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2001:db8::1", "2001:db8:0:ffff::1"),
        ("192.0.2.1", "::ffff:192.0.2.255"),
        ("127.0.0.1", "127.255.0.1"),
        ("127.0.0.1", "::1"),
        ("nowhere", "nowhere"),
    ],
)
def test_networks_of_one_owner_are_one_site(one: str, other: str) -> None:
    assert site(one) == site(other) not in {site("198.51.100.1"), site("2001:db8:1::1")}


def test_recent_counts_fade_by_key() -> None:
    counts = RecentCounts(100.0)
    for _ in range(8):
        counts.add("Anna", NOW)
    assert counts.count("Anna", NOW) == 8
    assert counts.count("Anna", NOW + 100) == pytest.approx(8 / math.e)
    assert counts.count("Anna", NOW - 100) == 8
    assert counts.count("Bert", NOW) == 0


def test_recent_counts_of_too_many_keys_drop_the_lowest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiters, "MAX_KEYS", 8)
    counts = RecentCounts(100.0)
    for _ in range(3):
        counts.add("Anna", NOW)
    for number in range(1000):
        counts.add(f"once {number}", NOW + number / 1000)
        assert len(counts) <= 8
    assert counts.count("Anna", NOW + 1) > 2


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


def test_those_that_are_fullest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiters, "MAX_KEYS", 20)
    each = RateLimiter(1, 10)
    for _ in range(10):
        each.of("empty").take(0.0)
    for number in range(100):
        each.of(f"key {number}").take(1.0)
    assert each.of("empty").wait(1.0) == pytest.approx(0.0)
    assert each.of("empty").until(1.0, 10) == pytest.approx(9.0)


class TestStorageQuota:
    def test_network_that_has_stored_too_much_waits_until_a_share_is_free_again(self) -> None:
        quota = StorageQuota(3600)
        quota.note("2001:db8::1", 1800, NOW)
        quota.note("2001:db8::2", 1799, NOW)
        assert (quota.full, quota.wait("2001:db8::1", NOW)) == (set(), 0)
        quota.note("2001:db8::2", 31, NOW)
        assert quota.wait("2001:db8::1", NOW) == pytest.approx(90)
        assert quota.wait("2001:db8:1::", NOW) == 0
        assert (quota.over(NOW + 89), quota.over(NOW + 90)) == (1, 0)
        assert quota.full == set()

    def test_what_goes_on_all_the_same_is_owed(self) -> None:
        quota = StorageQuota(3600)
        quota.note("192.0.2.1", 7200, NOW)
        assert quota.wait("192.0.2.1", NOW + 3600) == pytest.approx(60)

    def test_this_machine_is_not_counted(self) -> None:
        quota = StorageQuota(1)
        for address in ("127.0.0.1", "::1", ""):
            quota.note(address, 99, NOW)
        assert quota.full == set()

    def test_another_limit_lets_all_begin_anew_and_the_same_one_does_not(self) -> None:
        quota = StorageQuota(10)
        quota.note("192.0.2.1", 99, NOW)
        quota.adopt(10)
        assert quota.over(NOW) == 1
        quota.adopt(20)
        assert quota.over(NOW) == 0
