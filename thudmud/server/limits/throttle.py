"""Guessing is slowed down: for a name, and for an address.

Owns who has guessed how often of late. Pure: the time comes in as an argument. Must never know what
was guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thudmud.server.limits.addresses import origin

WINDOW = 300.0
"""Seconds for which a wrong guess counts."""

FREE = 5
"""Wrong guesses within the window that cost nothing."""

LONGEST = 30.0
"""Seconds that a guess may be made to wait behind the one before it."""

LONGEST_QUEUE = 300.0
"""Seconds that it may be made to wait in all; one that would wait longer may not be made."""

_MOST_KEYS = 20_000  # names and addresses; more are not remembered at once
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
