"""Rate limiters by name and by network: token buckets, decaying counts, quotas.

Pure: the time is an argument, in seconds.
"""

from __future__ import annotations

import ipaddress
import math
from functools import lru_cache

MAX_KEYS = 20_000
"""The most names or addresses that one limiter remembers."""

_SHARE_FORGOTTEN = 1 / 4  # of the keys, whenever there are too many: sorting them takes time

_ROUNDING = 1e-6  # tokens; the time to gain them is too short to wait for


class TokenBucket:
    """A token bucket: it fills at a steady rate, and each allowed action takes a token out.

    If the clock goes back, nothing is gained.

    Args:
        rate: the tokens gained each second, more than 0.
        size: the most tokens it holds, at least 1; it begins full.
    """

    __slots__ = ("_rate", "_seen", "_size", "_tokens")

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._tokens = size
        self._seen: float | None = None

    def take(self, now: float, leaving: float = 0.0) -> float:
        """Take a token, if there is one beyond ``leaving`` tokens that have to stay.

        Returns:
            0 if a token was taken; otherwise the seconds until one can be.
        """
        missing = min(1 + leaving, self._size) - self.balance(now)
        if missing > _ROUNDING:
            return missing / self._rate
        self._tokens -= 1
        return 0.0

    def charge(self, tokens: float) -> None:
        """Take out the remaining cost of an action; the balance may become negative."""
        self._tokens -= tokens

    def wait(self, now: float, leaving: float = 0.0) -> float:
        """Return the seconds until a token could be taken; 0 if one can be taken now."""
        return self.seconds_until(now, min(1 + leaving, self._size))

    def seconds_until(self, now: float, tokens: float) -> float:
        """Return the seconds until the bucket holds a number of tokens; 0 if it does now."""
        missing = tokens - self.balance(now)
        return missing / self._rate if missing > _ROUNDING else 0.0

    def balance(self, now: float) -> float:
        """Return the number of tokens, which is negative if some are owed."""
        if self._seen is not None and now > self._seen:
            self._tokens = min(self._size, self._tokens + (now - self._seen) * self._rate)
        self._seen = now
        return self._tokens

    @property
    def full_at(self) -> float:
        """The time at which the bucket will be full if nothing is taken out."""
        return (self._seen or 0.0) + (self._size - self._tokens) / self._rate


class RateLimiter:
    """A token bucket for each key. An evicted bucket is full when its key is used again.

    If there are too many, the fullest are evicted first, and of equal ones the least recently used.
    So a client that uses many keys in order to evict others' buckets loses its own.
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._buckets: dict[str, TokenBucket] = {}  # in order of use

    def bucket_for(self, key: str) -> TokenBucket:
        """Return the bucket of the given key; a new one is full."""
        bucket = self._buckets.pop(key, None)
        if bucket is None:
            if len(self._buckets) >= MAX_KEYS:
                self._forget_some()
            bucket = TokenBucket(self._rate, self._size)
        self._buckets[key] = bucket
        return bucket

    def find(self, key: str) -> TokenBucket | None:
        """Return the bucket of the given key; None if there is none, which is as good as full."""
        return self._buckets.get(key)

    def _forget_some(self) -> None:
        fullest = sorted(self._buckets, key=lambda key: self._buckets[key].full_at)
        for key in fullest[: max(1, int(MAX_KEYS * _SHARE_FORGOTTEN))]:
            del self._buckets[key]


class RecentCounts:
    """Exponentially decaying event counts by key.

    If there are too many keys, the lowest counts are evicted. So a client that uses many keys in
    order to evict its own count only loses the lowest ones.

    Args:
        lifetime: the seconds after which an event counts 1/e.
    """

    def __init__(self, lifetime: float) -> None:
        self._lifetime = lifetime
        self._counts: dict[str, tuple[float, float]] = {}
        """By key, the count and the time for which it was computed."""

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, key: str, now: float) -> None:
        """Count an event."""
        if key not in self._counts and len(self._counts) >= MAX_KEYS:
            self._forget_some(now)
        self._counts[key] = self.count(key, now) + 1, now

    def count(self, key: str, now: float) -> float:
        """Return the decayed number of a key's events."""
        count, at = self._counts.get(key, (0.0, now))
        return count * math.exp(min(0.0, at - now) / self._lifetime)

    def _forget_some(self, now: float) -> None:
        lowest = sorted(self._counts, key=lambda key: self.count(key, now))
        for key in lowest[: max(1, int(MAX_KEYS * _SHARE_FORGOTTEN))]:
            del self._counts[key]


class TalkLimiter:
    """The talk limit: how often a player may disturb others, by name and by network.

    Neither reconnecting nor using many names from one address gets round it. Loopback connections
    may be anybody's, behind a program of the operator's, so only their names count.

    Args:
        rate: messages a second, for each name.
        at_once: the most messages in a burst, for each name.
        share: the factor by which all names from one network together may send more.
    """

    def __init__(self, rate: float, at_once: float, share: float) -> None:
        self._limits = 0.0, 0.0, 0.0
        self.adopt(rate, at_once, share)

    def adopt(self, rate: float, at_once: float, share: float) -> None:
        """Change the limits; if they differ from the old ones, all buckets begin full."""
        before, self._limits = self._limits, (rate, at_once, share)
        if self._limits == before:
            return
        self._names = RateLimiter(rate, at_once)
        self._addresses = RateLimiter(rate * share, at_once * share)

    def take(self, name: str, address: str, now: float) -> tuple[float, bool]:
        """Charge a message, unless it has to wait.

        Returns:
            The seconds to wait, 0 if the message is allowed; and whether the network is the reason.
        """
        own, shared = self._names.bucket_for(name.lower()), _network_of_others(address)
        if not shared:
            return own.take(now), False
        everybody = self._addresses.bucket_for(shared)
        wait, longer = own.wait(now), everybody.wait(now)
        if not wait and not longer:
            own.take(now)
            everybody.take(now)
        return max(wait, longer), longer > wait


class StorageQuota:
    """A quota of stored events for the players from each network.

    Events that can't wait, such as the plies of a running battle, are stored beyond the quota and
    owed; the caller of `wait` decides which can. Loopback connections don't count, as in
    `TalkLimiter`.

    Args:
        per_hour: the events stored in an hour, for each network.

    Attributes:
        full: the networks that have used up their quota.
    """

    _SHARE_AGAIN = 1 / 60  # of an hour's quota, before something new may begin

    def __init__(self, per_hour: float) -> None:
        self._per_hour = 0.0
        self.full: set[str] = set()
        self.adopt(per_hour)

    def adopt(self, per_hour: float) -> None:
        """Change the quota; if it differs from the old one, all networks begin with a full one."""
        if per_hour != self._per_hour:
            self._per_hour = per_hour
            self._networks = RateLimiter(per_hour / 3600, per_hour)
            self.full.clear()

    def charge(self, address: str, events: int, now: float) -> None:
        """Charge events that were stored for a player from an address."""
        if shared := _network_of_others(address):
            bucket = self._networks.bucket_for(shared)
            bucket.charge(events)
            if bucket.balance(now) <= 0:
                self.full.add(shared)

    def wait(self, address: str, now: float) -> float:
        """Return the seconds until an address may begin something new; 0 if it may now."""
        shared = _network_of_others(address)
        if shared not in self.full:
            return 0.0
        wait = self._networks.bucket_for(shared).seconds_until(
            now, self._per_hour * self._SHARE_AGAIN
        )
        if not wait:
            self.full.discard(shared)
        return wait

    def count_exhausted(self, now: float) -> int:
        """Return the number of networks that may begin nothing new now."""
        return sum(self.wait(each, now) > 0 for each in list(self.full))


# Addresses.

_IPV6_PREFIX = 64  # bits; the usual network of one household

_SITE_PREFIXES = {4: 24, 6: 48}  # bits; the largest networks that providers commonly assign


@lru_cache(maxsize=1024)
def network(address: str) -> str:
    """Return the key by which an address is limited: itself, or the /64 network of an IPv6 address.

    The owner of one address of a /64 network has all of them.
    """
    parsed = parsed_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))
    return str(parsed or address)


@lru_cache(maxsize=1024)
def site(address: str) -> str:
    """Return the site of an address, often one owner's: /24 for IPv4, /48 for IPv6, "loopback"."""
    parsed = parsed_address(address)
    if parsed is None:
        return address
    if parsed.is_loopback:
        return "loopback"
    prefix = _SITE_PREFIXES[parsed.version]
    return str(ipaddress.ip_network((parsed, prefix), strict=False))


@lru_cache(maxsize=1024)
def _network_of_others(address: str) -> str:
    """Return the `network` of an address; "" for a loopback address or an empty string."""
    return network(address) if address and not is_local(address) else ""


def is_local(address: str) -> bool:
    """Return whether an address is a loopback address, so that the client is on this machine."""
    parsed = parsed_address(address)
    return parsed is not None and parsed.is_loopback


def parsed_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address, without its zone; return None if it is invalid.

    An IPv4-mapped IPv6 address becomes the IPv4 address (RFC 4291, section 2.5.5.2).
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed
