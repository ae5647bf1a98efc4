"""Guessing is slowed down: for a name, and for an address.

Owns who has guessed how often of late. Pure: the time comes in as an argument. Must never know what
was guessed.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

WINDOW = 300.0
"""Seconds for which a wrong guess counts."""

FREE = 5
"""Wrong guesses within the window that cost nothing."""

LONGEST = 30.0
"""Seconds that a guess may be made to wait."""

_MOST_KEYS = 20_000  # names and addresses; more are not remembered at once
_MOST_TIMES = FREE + 6  # guesses of a key that make a difference: 2 ** 5 s is more than the longest
_IPV6_NETWORK = 64  # bits; what is given to one household


@dataclass(frozen=True, slots=True)
class Attempt:
    """A guess that has begun.

    Attributes:
        name: whose name it is about, in lower case.
        address: where it comes from.
        at: when it began, in seconds of the throttle's clock.
        wait: seconds for which it has to wait.
    """

    name: str
    address: str
    at: float
    wait: float


class Throttle:
    """Counts guesses from when they begin, so that many at the same time are counted too."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], list[float]] = {}  # the one used last comes last

    def begin(self, name: str, address: str, now: float) -> Attempt:
        """Count a guess, and say how long it has to wait. Time never goes back."""
        keys = [("name", name.lower()), ("address", _origin(address))]
        worst = max(self._count(key, now) for key in keys)
        wait = min(LONGEST, 2.0 ** (worst - FREE)) if worst >= FREE else 0.0
        return Attempt(name.lower(), _origin(address), now, wait)

    def forgive(self, attempt: Attempt) -> None:
        """Note that a guess was right.

        The name's wrong ones are forgotten, but not the address's: it may have an account of its
        own, and guess at others.
        """
        self._times.pop(("name", attempt.name), None)
        times = self._times.get(("address", attempt.address), [])
        if attempt.at in times:
            times.remove(attempt.at)

    def _count(self, key: tuple[str, str], now: float) -> int:
        """Return how many guesses came before this one, which is counted too."""
        times = [at for at in self._times.pop(key, ()) if at > now - WINDOW]
        self._times[key] = [*times, now][-_MOST_TIMES:]
        while len(self._times) > _MOST_KEYS:
            del self._times[next(iter(self._times))]
        return len(times)


def _origin(address: str) -> str:
    """Return an address; of an IPv6 address the network, for whoever has one has all of it."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
