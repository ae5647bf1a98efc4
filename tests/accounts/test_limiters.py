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
def test_addresses_of_one_household_share_a_network(one: str, other: str) -> None:
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
def test_networks_of_one_owner_share_a_site(one: str, other: str) -> None:
    assert site(one) == site(other) not in {site("198.51.100.1"), site("2001:db8:1::1")}


def test_recent_counts_decay_by_key() -> None:
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


def test_bucket_allows_a_burst_then_the_rate() -> None:
    bucket = TokenBucket(2, 3)
    assert [bucket.take(100.0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert bucket.take(100.25) == 0.25
    assert bucket.take(100.5) == 0
    assert bucket.take(100.5) == 0.5


def test_bucket_refills_to_its_size_at_most() -> None:
    bucket = TokenBucket(2, 3)
    bucket.take(0.0)
    assert [bucket.take(1e9) for _ in range(4)] == [0, 0, 0, 0.5]


def test_bucket_gains_nothing_when_the_clock_goes_back() -> None:
    bucket = TokenBucket(1, 1)
    bucket.take(50.0)
    assert bucket.take(10.0) == 1
    assert bucket.take(11.0) == 0


def test_bucket_charged_afterwards_goes_into_debt() -> None:
    bucket = TokenBucket(2, 3)
    assert bucket.take(0.0) == 0
    bucket.charge(6)
    assert bucket.take(0.0) == 2.5
    assert [bucket.take(2.5) for _ in range(2)] == [0, 0.5]


def test_bucket_can_keep_a_reserve() -> None:
    bucket = TokenBucket(1, 4)
    assert [bucket.take(0.0, leaving=2) for _ in range(3)] == [0, 0, 1]
    assert [bucket.take(0.0) for _ in range(3)] == [0, 0, 1]


@given(
    st.floats(0.01, 1e4),
    st.floats(1, 1e4),
    st.lists(st.floats(0, 100), min_size=1, max_size=50),
)
def test_bucket_honours_its_waiting_times_and_its_rate(
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


def test_rate_limiter_evicts_the_least_recently_used_bucket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limiters, "MAX_KEYS", 2)
    each = RateLimiter(1, 1)
    for key in ("a", "b", "a", "c"):
        each.bucket_for(key).take(0.0)
    assert [each.bucket_for(key).wait(0.0) for key in ("a", "c")] == [1, 1]
    assert each.bucket_for("b").wait(0.0) == 0


def test_rate_limiter_evicts_the_fullest_buckets_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiters, "MAX_KEYS", 20)
    each = RateLimiter(1, 10)
    for _ in range(10):
        each.bucket_for("empty").take(0.0)
    for number in range(100):
        each.bucket_for(f"key {number}").take(1.0)
    assert each.bucket_for("empty").wait(1.0) == pytest.approx(0.0)
    assert each.bucket_for("empty").seconds_until(1.0, 10) == pytest.approx(9.0)


class TestStorageQuota:
    def test_quota_blocks_a_full_network_until_a_share_is_free(self) -> None:
        quota = StorageQuota(3600)
        quota.charge("2001:db8::1", 1800, NOW)
        quota.charge("2001:db8::2", 1799, NOW)
        assert (quota.full, quota.wait("2001:db8::1", NOW)) == (set(), 0)
        quota.charge("2001:db8::2", 31, NOW)
        assert quota.wait("2001:db8::1", NOW) == pytest.approx(90)
        assert quota.wait("2001:db8:1::", NOW) == 0
        assert (quota.count_exhausted(NOW + 89), quota.count_exhausted(NOW + 90)) == (1, 0)
        assert quota.full == set()

    def test_quota_overrun_is_owed_as_a_debt(self) -> None:
        quota = StorageQuota(3600)
        quota.charge("192.0.2.1", 7200, NOW)
        assert quota.wait("192.0.2.1", NOW + 3600) == pytest.approx(60)

    def test_quota_ignores_local_addresses(self) -> None:
        quota = StorageQuota(1)
        for address in ("127.0.0.1", "::1", ""):
            quota.charge(address, 99, NOW)
        assert quota.full == set()

    def test_quota_is_reset_only_by_a_different_limit(self) -> None:
        quota = StorageQuota(10)
        quota.charge("192.0.2.1", 99, NOW)
        quota.adopt(10)
        assert quota.count_exhausted(NOW) == 1
        quota.adopt(20)
        assert quota.count_exhausted(NOW) == 0
