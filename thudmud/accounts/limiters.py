"""Rate limiters by name and by address: of new names, of talk, of guesses at a password.

Pure: the time comes in as an argument, in seconds.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_KEYS = 20_000
"""Names or addresses that one limiter remembers. The one used longest ago is forgotten first."""

_ROUNDING = 1e-6  # tokens; no clock can wait for so few


class TokenBucket:
    """Fills at a steady rate up to a size; each thing that is allowed takes a token out.

    Args:
        rate: tokens that come in a second, more than 0.
        size: the most that it holds, at least 1; it begins full.
    """

    __slots__ = ("_rate", "_seen", "_size", "_tokens")

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._tokens = size
        self._seen: float | None = None

    def take(self, now: float, leaving: float = 0.0) -> float:
        """Take a token and return 0; or take none, and return the seconds until there is one.

        Args:
            now: the time. If the clock goes back, nothing comes in meanwhile.
            leaving: tokens that have to be left in, fewer than the size.
        """
        wait = self.wait(now, leaving)
        if not wait:
            self._tokens -= 1
        return wait

    def wait(self, now: float, leaving: float = 0.0) -> float:
        """Return the seconds until a token could be taken; 0 if one can be taken now."""
        if self._seen is not None and now > self._seen:
            self._tokens = min(self._size, self._tokens + (now - self._seen) * self._rate)
        self._seen = now
        if self._tokens >= 1 + leaving:
            return 0.0
        missing = min(1 + leaving, self._size) - self._tokens
        return missing / self._rate if missing > _ROUNDING else 0.0


class RateLimiter:
    """A token bucket for each key. A bucket that is forgotten is full when its key comes back.

    Args:
        rate: tokens a second, of each bucket.
        size: of each bucket.
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._buckets: dict[str, TokenBucket] = {}  # the one used last comes last

    def of(self, key: str) -> TokenBucket:
        """Return the bucket of a key."""
        bucket = self._buckets.pop(key, None) or TokenBucket(self._rate, self._size)
        self._buckets[key] = bucket
        _forget_oldest(self._buckets)
        return bucket


class TalkLimiter:
    """Limits what others are told of somebody: by their name, and by their address.

    Leaving and coming back does not help, then, nor do many names from one address. Those who come
    from this machine itself may be anybody, behind a program of the operator's: only their names
    count.

    Args:
        rate: how often a second, of each name.
        at_once: how often at once.
        share: how many times as much all names from one address may do together.
    """

    def __init__(self, rate: float, at_once: float, share: float) -> None:
        self._names = RateLimiter(rate, at_once)
        self._addresses = RateLimiter(rate * share, at_once * share)

    def take(self, name: str, address: str, now: float) -> float:
        """Count one more and return 0; or count none, and return the seconds until it may be."""
        buckets = [self._names.of(name.lower())]
        if address and not is_local(address):
            buckets.append(self._addresses.of(network(address)))
        wait = max(bucket.wait(now) for bucket in buckets)
        if not wait:
            for bucket in buckets:
                bucket.take(now)
        return wait


def _forget_oldest(remembered: dict[Any, Any]) -> None:
    while len(remembered) > MAX_KEYS:
        del remembered[next(iter(remembered))]


# Guesses.

WINDOW = 300.0
"""Seconds for which a wrong guess counts."""

FREE = 5
"""Wrong guesses within the window that cost nothing."""

LONGEST = 30.0
"""Seconds that a guess may have to wait behind the one before it."""

LONGEST_QUEUE = 300.0
"""Seconds that a guess may have to wait in all; one that would wait longer is refused."""

_MAX_TURNS = FREE + 6  # guesses of a key that make a difference: 2 ** 5 s is more than the longest

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess that may be made.

    Attributes:
        turns: when it may be made, by what it counts for: the name, then the address.
        wait: seconds that it has to wait.
    """

    turns: Mapping[Key, float]
    wait: float


class GuessThrottle:
    """Gives each guess its turn. Of many at the same time, each waits behind the others.

    Guesses at a name, from an address where somebody has been right before, do not wait behind
    guesses from elsewhere: else anybody could keep the owner out by guessing.
    """

    def __init__(self) -> None:
        self._turns: dict[Key, list[float]] = {}  # the key used last comes last
        self._homes: dict[str, str] = {}  # by name, the address of the last right guess

    def begin(self, name: str, address: str, now: float) -> Guess | None:
        """Count a guess, and say how long it has to wait; None if too many wait before it.

        ``now`` must never go back.
        """
        name, where = name.lower(), network(address)
        own: Key = ("home", name) if self._homes.get(name) == where else ("name", name)
        turns = {key: self._next(key, now) for key in (own, ("address", where))}
        wait = max(turns.values()) - now
        if wait > LONGEST_QUEUE:
            return None
        for key, turn in turns.items():
            self._turns[key] = [*self._turns.pop(key, ()), turn][-_MAX_TURNS:]
        _forget_oldest(self._turns)
        return Guess(turns, wait)

    def forgive(self, guess: Guess) -> None:
        """Note that a guess was right.

        The wrong guesses at the name are forgotten. Those of the address are not: whoever guesses
        there may have an account of their own.
        """
        (own, _), (address, turn) = guess.turns.items()
        self._turns.pop(own, None)
        if turn in (turns := self._turns.get(address, [])):
            turns.remove(turn)
        self._homes.pop(own[1], None)
        self._homes[own[1]] = address[1]
        _forget_oldest(self._homes)

    def _next(self, key: Key, now: float) -> float:
        """Return when the next guess of a key may be made."""
        turns = [turn for turn in self._turns.get(key, ()) if turn > now - WINDOW]
        if len(turns) < FREE:
            return now
        return max(now, turns[-1]) + min(LONGEST, 2.0 ** (len(turns) - FREE))


# Addresses.

_IPV6_PREFIX = 64  # bits; what one household is given


def network(address: str) -> str:
    """Return what to count an address as: itself, or its /64 network if it is IPv6.

    Whoever has one address of such a network has all of them.
    """
    parsed = _parsed(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))
    return str(parsed or address)


def is_local(address: str) -> bool:
    """Whether that is this machine's own address, which nobody else can come from."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed
