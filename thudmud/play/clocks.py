"""Clocks: how much time players have for their plies, and how much of it they have used.

A clock is folded from the times of events, as the store has stamped them, and reads no other. It
runs for the side whose turn it is, from the first ply on. It stands still while no server was there
to play on, and, for so long in a battle and no longer, while a player is away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from thudmud.errors import InvalidValueError
from thudmud.rules import Side
from thudmud.values import value

MOST_MINUTES, MOST_INCREMENT, MOST_DAYS = 180, 180, 14
"""The most that a time control may give."""

AWAY = 120.0
"""For how many seconds of a battle, in all, a clock stands still while a player is away."""

DAY = 86_400.0


class TimeClass(Enum):
    """What battles of about the same pace are called: each has ratings of its own."""

    UNTIMED = "untimed"
    BLITZ = "blitz"
    RAPID = "rapid"
    LONG = "long"
    CORRESPONDENCE = "correspondence"


_WRITTEN = re.compile(r"([0-9]{1,4}) ?(?:days?|d)|([0-9]{1,4}) ?\+ ?([0-9]{1,4})", re.IGNORECASE)

_PLIES = 60
"""About how many plies each side plays in a battle."""

_PACES = (600, TimeClass.BLITZ), (1800, TimeClass.RAPID)
"""Below how many seconds for all plies of a side a battle is of a class."""


@value
class TimeControl:
    """How much time each side has: so many minutes, and more for each ply; or days for each ply.

    Attributes:
        minutes: for all plies of a battle.
        increment: how many seconds come on top after each ply.
        days: for each ply, if it is correspondence; then there is nothing else.

    Raises:
        InvalidValueError: nobody can play by that.
    """

    minutes: int = 0
    increment: int = 0
    days: int = 0

    def __post_init__(self) -> None:
        by_days = 1 <= self.days <= MOST_DAYS and self.minutes == self.increment == 0
        by_minutes = 1 <= self.minutes <= MOST_MINUTES and 0 <= self.increment <= MOST_INCREMENT
        if not (by_days or (by_minutes and self.days == 0)):
            raise InvalidValueError(f"there is no such time control as {self}")

    @classmethod
    def of(cls, text: str) -> TimeControl:
        """Return the time control that is written like that: ``10+5``, ``3 days``.

        Raises:
            InvalidValueError: nobody can play by that, or it is none.
        """
        if found := _WRITTEN.fullmatch(text):
            days, minutes, increment = (int(each or 0) for each in found.groups())
            return cls(minutes, increment, days)
        raise InvalidValueError(f"there is no such time control as {text!r:.50}")

    def __str__(self) -> str:
        """Return it as it is typed: ``10+5``, or ``3 days``."""
        if self.days:
            return f"{self.days} day{'s' * (self.days != 1)}"
        return f"{self.minutes}+{self.increment}"

    @property
    def is_correspondence(self) -> bool:
        """Whether each ply has days, so that both players may be away meanwhile."""
        return self.days > 0

    @property
    def short(self) -> float:
        """Below how many seconds a player is told that their time runs short."""
        if self.is_correspondence:
            return DAY / 4
        return 30.0 if self.minutes > 2 else 10.0

    @property
    def time_class(self) -> TimeClass:
        """Return what battles of about its pace are called."""
        if self.is_correspondence:
            return TimeClass.CORRESPONDENCE
        seconds = 60 * self.minutes + _PLIES * self.increment
        return next((name for below, name in _PACES if seconds < below), TimeClass.LONG)


def time_class(control: TimeControl | None) -> TimeClass:
    """Return what battles with a time control, or with none, are called."""
    return control.time_class if control else TimeClass.UNTIMED


def left_after(control: TimeControl, spent: Iterable[float]) -> list[float]:
    """Return how many seconds were left after each ply to who played it.

    Args:
        control: how much time there was.
        spent: how many seconds each ply took; the sides take turns.
    """
    if control.is_correspondence:
        return [max(0.0, control.days * DAY - each) for each in spent]
    rest = [60.0 * control.minutes] * 2
    left = []
    for ply, each in enumerate(spent):
        rest[ply % 2] += control.increment - each
        left.append(max(0.0, rest[ply % 2]))
    return left


@value
class Clock:
    """The clock of a battle, as it stood at a time.

    Attributes:
        control: how much time there is.
        at: the time, in seconds since the epoch.
        turn: whose time runs.
        spent: how many seconds each ply took that was played, in order; the sides take turns.
        used: how many seconds the ply to come has taken so far.
        stood: for how many seconds the clock has stood still since a player was away.
        stands: whether a player is away now, so that it stands still as long as it may.
    """

    control: TimeControl
    at: float
    turn: Side
    spent: tuple[float, ...] = ()
    used: float = 0.0
    stood: float = 0.0
    stands: bool = False

    def __post_init__(self) -> None:
        # The plies before the last one were checked when they were the last.
        if min((*self.spent[-1:], self.used, self.stood)) < 0:
            raise InvalidValueError("no ply takes less than no time")

    def left(self, side: Side) -> float:
        """Return how many seconds a side had left then, 0 or more."""
        used = self.used if side is self.turn else 0.0
        if self.control.is_correspondence:
            return max(0.0, self.control.days * DAY - used)
        # The last ply was the other side's, the one before it this side's, and so on.
        own = self.spent[::-1][side is self.turn :: 2]
        given = 60 * self.control.minutes + self.control.increment * len(own)
        return max(0.0, given - sum(own) - used)

    @property
    def deadline(self) -> float:
        """When the flag falls of the side whose turn it is, if nothing happens before."""
        still = AWAY - self.stood if self.stands else 0.0
        return self.at + self.left(self.turn) + still

    def read(self, at: float) -> Clock:
        """Return the clock as it stands later on, if nothing has happened meanwhile."""
        passed = max(0.0, at - self.at)
        still = min(passed, AWAY - self.stood) if self.stands else 0.0
        return replace(
            self, at=max(at, self.at), used=self.used + passed - still, stood=self.stood + still
        )

    def pressed(self, at: float) -> Clock:
        """Return the clock after a ply: the other side's time runs."""
        now = self.read(at)
        # It was decided in time; if it was stored a little later, that costs the increment nothing.
        used = min(now.used, self.used + self.left(self.turn))
        return replace(now, turn=self.turn.other, spent=(*self.spent, used), used=0.0)

    def taken_back(self, plies: int, at: float) -> Clock:
        """Return the clock after so many plies were taken back, with the time that they took."""
        turn = self.turn.other if plies % 2 else self.turn
        return replace(self.read(at), turn=turn, spent=self.spent[: -plies or None], used=0.0)

    def standing(self, at: float, *, away: bool) -> Clock:
        """Return the clock once a player is away, or all are back. Correspondence goes on."""
        stands = away and not self.control.is_correspondence
        return replace(self.read(at), stands=stands)

    def held(self, at: float, seconds: float) -> Clock:
        """Return the clock later on, if it has stood still for so many seconds since ``at``."""
        since = max(0.0, at - self.at)
        return replace(self.read(self.at + max(0.0, since - seconds)), at=max(at, self.at))

    def resumed(self, at: float) -> Clock:
        """Return the clock of a battle that was put away, as it goes on."""
        return replace(self, at=at, stands=False)
