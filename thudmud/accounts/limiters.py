"""Rate limiters by name and by address.

Pure: the time comes in as an argument, in seconds.
"""

from __future__ import annotations

import ipaddress
import math
from functools import lru_cache

MAX_KEYS = 20_000
"""Names or addresses that one limiter remembers."""

_SHARE_FORGOTTEN = 1 / 4  # of those, when there are too many: the search takes time

_ROUNDING = 1e-6  # tokens; too few for a clock to wait for


class TokenBucket:
    """Fills at a steady rate up to a size; each allowed action takes a token out.

    Args:
        rate: tokens gained in a second, more than 0.
        size: the most that it holds, at least 1; it begins full.
    """

    __slots__ = ("_rate", "_seen", "_size", "_tokens")

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._tokens = size
        self._seen: float | None = None

    def take(self, now: float, leaving: float = 0.0) -> float:
        """Take a token and return 0; or take none, and return the seconds until there is one.

        If the clock goes back, nothing is gained. ``leaving`` tokens, fewer than the size, have to
        stay in.
        """
        missing = min(1 + leaving, self._size) - self.left(now)
        if missing > _ROUNDING:
            return missing / self._rate
        self._tokens -= 1
        return 0.0

    def charge(self, tokens: float) -> None:
        """Take out the further cost of an action; missing tokens are owed."""
        self._tokens -= tokens

    def wait(self, now: float, leaving: float = 0.0) -> float:
        """Return the seconds until a token could be taken; 0 if one can be taken now."""
        return self.until(now, min(1 + leaving, self._size))

    def until(self, now: float, tokens: float) -> float:
        """Return the seconds until it has so many tokens; 0 if it has them."""
        missing = tokens - self.left(now)
        return missing / self._rate if missing > _ROUNDING else 0.0

    def left(self, now: float) -> float:
        """Return how many tokens it has now; below 0 if some are owed."""
        if self._seen is not None and now > self._seen:
            self._tokens = min(self._size, self._tokens + (now - self._seen) * self._rate)
        self._seen = now
        return self._tokens

    @property
    def full_at(self) -> float:
        """When it will be full, if nothing is taken out."""
        return (self._seen or 0.0) + (self._size - self._tokens) / self._rate


class RateLimiter:
    """A token bucket for each key. A forgotten bucket is full when its key comes back.

    If there are too many, those that are full, or will be soonest, are forgotten first; of equal
    ones, the least recently used. So a client that uses many keys, to have others' buckets
    forgotten, gets its own forgotten.
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._buckets: dict[str, TokenBucket] = {}  # the one used last comes last

    def of(self, key: str) -> TokenBucket:
        """Return the bucket of a key."""
        bucket = self._buckets.pop(key, None)
        if bucket is None:
            if len(self._buckets) >= MAX_KEYS:
                self._forget_some()
            bucket = TokenBucket(self._rate, self._size)
        self._buckets[key] = bucket
        return bucket

    def find(self, key: str) -> TokenBucket | None:
        """Return the bucket of a key; None if it has none, so that it would begin full."""
        return self._buckets.get(key)

    def _forget_some(self) -> None:
        fullest = sorted(self._buckets, key=lambda key: self._buckets[key].full_at)
        for key in fullest[: max(1, int(MAX_KEYS * _SHARE_FORGOTTEN))]:
            del self._buckets[key]


class RecentCounts:
    """Counts events by key; each fades exponentially.

    If there are too many keys, those with the lowest counts are forgotten, as if they had none. So
    a client that uses many keys, to have its own counts forgotten, only loses the lowest.

    Args:
        lifetime: seconds after which an event counts 1/e.
    """

    def __init__(self, lifetime: float) -> None:
        self._lifetime = lifetime
        self._counts: dict[str, tuple[float, float]] = {}
        """By key, its count and when it was that much."""

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, key: str, now: float) -> None:
        """Count an event."""
        if key not in self._counts and len(self._counts) >= MAX_KEYS:
            self._forget_some(now)
        self._counts[key] = self.count(key, now) + 1, now

    def count(self, key: str, now: float) -> float:
        """Return how many recent events a key has had; those that fade count in part."""
        count, at = self._counts.get(key, (0.0, now))
        return count * math.exp(min(0.0, at - now) / self._lifetime)

    def _forget_some(self, now: float) -> None:
        lowest = sorted(self._counts, key=lambda key: self.count(key, now))
        for key in lowest[: max(1, int(MAX_KEYS * _SHARE_FORGOTTEN))]:
            del self._counts[key]


class TalkLimiter:
    """Limits how much a player can tell others: by name, and by address.

    So leaving and coming back does not help, nor do many names from one address. Connections from
    this machine itself may be anybody's, behind a program of the operator's: only their names
    count. The rate in messages a second, and how many may come at once, are for each name; all
    names from one address together may send ``share`` times as much.
    """

    def __init__(self, rate: float, at_once: float, share: float) -> None:
        self._limits = 0.0, 0.0, 0.0
        self.adopt(rate, at_once, share)

    def adopt(self, rate: float, at_once: float, share: float) -> None:
        """Apply new limits; if they differ from the old ones, all buckets begin full."""
        before, self._limits = self._limits, (rate, at_once, share)
        if self._limits == before:
            return
        self._names = RateLimiter(rate, at_once)
        self._addresses = RateLimiter(rate * share, at_once * share)

    def take(self, name: str, address: str, now: float) -> tuple[float, bool]:
        """Count a message, unless it has to wait.

        Returns:
            The seconds until it is allowed, 0 if it is; and whether the address is the reason.
        """
        own, shared = self._names.of(name.lower()), _network_of_others(address)
        if not shared:
            return own.take(now), False
        everybody = self._addresses.of(shared)
        wait, longer = own.wait(now), everybody.wait(now)
        if not wait and not longer:
            own.take(now)
            everybody.take(now)
        return max(wait, longer), longer > wait


class StorageQuota:
    """Limits how many events the players from one address have stored, by network.

    What has to go on is stored all the same, and is owed: whoever asks `wait` decides what has not.
    Connections from this machine itself are not counted, as by `TalkLimiter`.

    Attributes:
        full: the networks that have used theirs up.
    """

    _SHARE_AGAIN = 1 / 60  # of an hour's, which has to be there before more is begun

    def __init__(self, per_hour: float) -> None:
        self._per_hour = 0.0
        self.full: set[str] = set()
        self.adopt(per_hour)

    def adopt(self, per_hour: float) -> None:
        """Apply a new limit; if it differs from the old one, all begin anew."""
        if per_hour != self._per_hour:
            self._per_hour = per_hour
            self._networks = RateLimiter(per_hour / 3600, per_hour)
            self.full.clear()

    def note(self, address: str, events: int, now: float) -> None:
        """Count events that were stored."""
        if shared := _network_of_others(address):
            bucket = self._networks.of(shared)
            bucket.charge(events)
            if bucket.left(now) <= 0:
                self.full.add(shared)

    def wait(self, address: str, now: float) -> float:
        """Return the seconds until more can be begun from an address; 0 if it can be now."""
        shared = _network_of_others(address)
        if shared not in self.full:
            return 0.0
        wait = self._networks.of(shared).until(now, self._per_hour * self._SHARE_AGAIN)
        if not wait:
            self.full.discard(shared)
        return wait

    def over(self, now: float) -> int:
        """Return from how many networks nothing can be begun now."""
        return sum(self.wait(each, now) > 0 for each in list(self.full))


# Addresses.

_IPV6_PREFIX = 64  # bits; what one household is given

_SITE_PREFIXES = {4: 24, 6: 48}  # bits; what one customer of a provider can have all of


@lru_cache(maxsize=1024)
def network(address: str) -> str:
    """Return what an address is counted as: itself, or its /64 network if it is IPv6.

    The owner of one address of such a network has all of them.
    """
    parsed = parsed_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))
    return str(parsed or address)


@lru_cache(maxsize=1024)
def site(address: str) -> str:
    """Return the network that one owner often has all of: /24 of IPv4, /48 of IPv6, or loopback."""
    parsed = parsed_address(address)
    if parsed is None:
        return address
    if parsed.is_loopback:
        return "loopback"
    prefix = _SITE_PREFIXES[parsed.version]
    return str(ipaddress.ip_network((parsed, prefix), strict=False))


@lru_cache(maxsize=1024)
def _network_of_others(address: str) -> str:
    """Return the network of an address, as `network` does; nothing if that is local or none."""
    return network(address) if address and not is_local(address) else ""


def is_local(address: str) -> bool:
    """Return whether that is a loopback address, which nobody else can come from."""
    parsed = parsed_address(address)
    return parsed is not None and parsed.is_loopback


def parsed_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address as a value; None if it is invalid. An IPv4 address in IPv6 is just that."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed
