"""Limits by name and by address: guesses, new names, talk. Pure: the time comes in as an argument.

The means are token buckets: so much at once, and in the long run so much a second.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thudmud.english import lasting
from thudmud.play.commands import Command, Emote, Invite, Say, Tell

_IPV6_NETWORK = 64  # bits; what is given to one household


def origin(address: str) -> str:
    """Return an address; of an IPv6 address the network, for whoever has one has all of it."""
    parsed = _parsed(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
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


_MOST_KEYS = 20_000  # more are not remembered at once
_ROUNDING = 1e-6  # tokens; to wait for so few would be too short for any clock


class Bucket:
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
        """Take a token; or return the seconds until there will be one, and take none.

        Args:
            now: the time, in seconds since whenever; if it goes back, nothing comes in.
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


class Buckets:
    """A bucket for each key; those that were used longest ago are forgotten, and so full again.

    Args:
        rate: of each.
        size: of each.
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._buckets: dict[str, Bucket] = {}  # the one used last comes last

    def of(self, key: str) -> Bucket:
        """Return the bucket of a key."""
        bucket = self._buckets.pop(key, None) or Bucket(self._rate, self._size)
        self._buckets[key] = bucket
        if len(self._buckets) > _MOST_KEYS:
            del self._buckets[next(iter(self._buckets))]
        return bucket


WINDOW = 300.0
"""Seconds for which a wrong guess counts."""

FREE = 5
"""Wrong guesses within the window that cost nothing."""

LONGEST = 30.0
"""Seconds that a guess may be made to wait behind the one before it."""

LONGEST_QUEUE = 300.0
"""Seconds that it may be made to wait in all; one that would wait longer may not be made."""

# names and addresses; more are not remembered at once
_MOST_TURNS = FREE + 6  # guesses of a key that make a difference: 2 ** 5 s is more than the longest


Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess that may be made.

    Attributes:
        turns: when it may be made, by what it is counted for: the name, and the address.
        wait: seconds for which it has to wait.
    """

    turns: Mapping[Key, float]
    wait: float


class Throttle:
    """Gives each guess its turn, so that of many at the same time each waits behind the others.

    Somebody's guesses at a name from where they have been right before do not wait behind those
    from elsewhere: else anybody could keep them out, by guessing.
    """

    def __init__(self) -> None:
        self._turns: dict[Key, list[float]] = {}  # the key used last comes last
        self._homes: dict[str, str] = {}

    def begin(self, name: str, address: str, now: float) -> Guess | None:
        """Count a guess, and say how long it has to wait; None if there are too many before it.

        Time never goes back.
        """
        name, where = name.lower(), origin(address)
        own: Key = ("home", name) if self._homes.get(name) == where else ("name", name)
        turns = {key: self._next(key, now) for key in (own, ("address", where))}
        wait = max(turns.values()) - now
        if wait > LONGEST_QUEUE:
            return None
        for key, turn in turns.items():
            self._turns[key] = [*self._turns.pop(key, ()), turn][-_MOST_TURNS:]
        _shorten(self._turns)
        return Guess(turns, wait)

    def forgive(self, guess: Guess) -> None:
        """Note that a guess was right.

        The name's wrong ones are forgotten, but not the address's: it may have an account of its
        own, and guess at others.
        """
        (own, _), (address, turn) = guess.turns.items()
        self._turns.pop(own, None)
        if turn in (turns := self._turns.get(address, [])):
            turns.remove(turn)
        self._homes.pop(own[1], None)
        self._homes[own[1]] = address[1]
        _shorten(self._homes)

    def _next(self, key: Key, now: float) -> float:
        """Return when a guess may be made that comes behind all that count."""
        turns = [turn for turn in self._turns.get(key, ()) if turn > now - WINDOW]
        if len(turns) < FREE:
            return now
        return max(now, turns[-1]) + min(LONGEST, 2.0 ** (len(turns) - FREE))


def _shorten(remembered: dict[Any, Any]) -> None:
    """Forget what was used longest ago."""
    while len(remembered) > _MOST_KEYS:
        del remembered[next(iter(remembered))]


_HOUR = 3600.0


class Newcomers:
    """Counts the names taken from each address.

    Args:
        per_hour: names, at once and in an hour.
    """

    def __init__(self, per_hour: int) -> None:
        self._buckets = Buckets(per_hour / _HOUR, per_hour)

    def problem(self, address: str, now: float) -> str | None:
        """Count a new name; or return why it cannot be taken."""
        wait = self._buckets.of(origin(address)).take(now)
        if not wait:
            return None
        return (
            "Many new names have been taken from where you are. You can take another one in "
            f"{lasting(wait)}, and come back under one of yours at any time."
        )


_MINUTE = 60.0
_SPEECH = Say | Emote | Tell | Invite


class Talk:
    """Counts what each player says, also when they leave and come back.

    Args:
        per_minute: lines in the long run.
        at_once: lines at once, after a quiet while.
    """

    def __init__(self, per_minute: float, at_once: float) -> None:
        self._buckets = Buckets(per_minute / _MINUTE, at_once)

    def problem(self, name: str, command: Command, now: float) -> str | None:
        """Return what is to be told instead of obeying a command; None if that may be done."""
        if not isinstance(command, _SPEECH):
            return None
        wait = self._buckets.of(name.lower()).take(now)
        if not wait:
            return None
        return f"That was not passed on: you can say something again in {lasting(wait)}."
