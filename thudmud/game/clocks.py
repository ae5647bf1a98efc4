"""Clocks: how much time players have for their plies, and how much they have used.

A clock is folded from the times of events and reads no other clock. It runs for the side to move,
from the first ply on. It stands still while no server runs, and for a limited time while a player
is away. Each side has a grace for the whole battle: without one a lost connection would cost the
game, and a long one would be time to think, since players can read the board without a connection
of their own. Players whom a server has cut off have the longest grace there is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from enum import Enum

from thudmud.errors import InvalidValueError
from thudmud.rules import Side
from thudmud.values import ArrayValue, replace

MOST_MINUTES, MOST_INCREMENT, MOST_DAYS = 180, 180, 14
"""The limits of time controls."""

LONGEST_GRACE = 120.0
"""The most seconds of a battle, in all, for which a clock stands still while a side is away."""

_GRACE_SHARE = 1 / 10
"""The share of a side's minutes for which it can be away."""

DAY = 86_400.0


class TimeClass(Enum):
    """The paces of battles. Each has its own ratings."""

    UNTIMED = "untimed"
    BLITZ = "blitz"
    RAPID = "rapid"
    LONG = "long"
    CORRESPONDENCE = "correspondence"


_WRITTEN = re.compile(r"([0-9]{1,4}) ?(?:days?|d)|([0-9]{1,4}) ?\+ ?([0-9]{1,4})", re.IGNORECASE)

_PLIES = 60
"""Roughly how many plies each side plays in a battle."""

_PACES = (600, TimeClass.BLITZ), (1800, TimeClass.RAPID)
"""The paces by total seconds for a side: below the number, a battle is of the class."""


class TimeControl(ArrayValue):
    """How much time each side has: so many minutes, and more for each ply; or days for each ply.

    Attributes:
        minutes: minutes for all plies of a battle.
        increment: seconds added after each ply.
        days: days for each ply, in correspondence, where the other two are 0.

    Raises:
        InvalidValueError: it is out of range.
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
        """Return the time control that is written like ``10+5`` or ``3 days``.

        Raises:
            InvalidValueError: it is none, or out of range.
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
        """Whether there are days for each ply, so that both players may be away."""
        return self.days > 0

    @property
    def grace(self) -> float:
        """Seconds of a battle, in all, for which the clock stands still while a side is away.

        Increments do not count: they are earned by moving. By correspondence it never stands still.
        """
        return min(LONGEST_GRACE, 60.0 * self.minutes * _GRACE_SHARE)

    @property
    def short(self) -> float:
        """The remaining seconds at which a player is told that time is short."""
        if self.is_correspondence:
            return DAY / 4
        return 30.0 if self.minutes > 2 else 10.0

    @property
    def time_class(self) -> TimeClass:
        """Its pace."""
        if self.is_correspondence:
            return TimeClass.CORRESPONDENCE
        seconds = 60 * self.minutes + _PLIES * self.increment
        return next((name for below, name in _PACES if seconds < below), TimeClass.LONG)


def time_class(control: TimeControl | None) -> TimeClass:
    """Return the pace of a time control, or of none."""
    return control.time_class if control else TimeClass.UNTIMED


def left_after(control: TimeControl, spent: Iterable[float]) -> list[float]:
    """Return how many seconds the player of each ply had left after it.

    Args:
        control: the time control.
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


_PLACES = {Side.DWARF: 0, Side.TROLL: 1}


class Clock(ArrayValue):
    """The clock of a battle, as it stood at a time.

    Attributes:
        control: how much time there is.
        at: the time, in seconds since the epoch.
        turn: the side whose time runs.
        spent: how many seconds each ply took, in order; the sides take turns.
        used: how many seconds the current turn has taken so far.
        stood: how many seconds it has stood still for players whom a server cut off.
        stands: whether such a player is still away.
        away: the sides that are away for a reason of their own.
        excused: how many seconds it has stood still for each side that was away for such a reason,
            the dwarfs' first.
    """

    control: TimeControl
    at: float
    turn: Side
    spent: tuple[float, ...] = ()
    used: float = 0.0
    stood: float = 0.0
    stands: bool = False
    away: tuple[Side, ...] = ()
    excused: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        # Earlier plies were checked when they were the last one.
        if min((*self.spent[-1:], self.used, self.stood, *self.excused)) < 0:
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
    def still(self) -> float:
        """For how many seconds it stands still at most, if those who are away stay away."""
        if not (self.stands or self.away):
            return 0.0
        graces = [self.control.grace - self.excused[_PLACES[side]] for side in self.away]
        if self.stands:
            graces.append(LONGEST_GRACE - self.stood)
        return max(0.0, *graces)

    @property
    def deadline(self) -> float:
        """When the flag of the side to move falls, if nothing happens before."""
        return self.at + self.left(self.turn) + self.still

    def read(self, at: float) -> Clock:
        """Return the clock advanced to a later time."""
        passed = max(0.0, at - self.at)
        if not (self.stands or self.away):
            return replace(self, at=max(at, self.at), used=self.used + passed)
        still = min(passed, self.still)
        return replace(
            self,
            at=max(at, self.at),
            used=self.used + passed - still,
            stood=min(LONGEST_GRACE, self.stood + still) if self.stands else self.stood,
            excused=self._excused_for(still),
        )

    def _excused_for(self, seconds: float) -> tuple[float, float]:
        """Return the grace used by each side after the clock has stood still for some time."""
        grace, dwarf, troll = self.control.grace, *self.excused
        if Side.DWARF in self.away:
            dwarf = min(grace, dwarf + seconds)
        if Side.TROLL in self.away:
            troll = min(grace, troll + seconds)
        return dwarf, troll

    def pressed(self, at: float) -> Clock:
        """Return the clock after a ply: the other side's time runs."""
        now = self.read(at)
        # The ply was decided in time. If it was stored a little late, the increment stays whole.
        used = min(now.used, self.used + self.left(self.turn))
        return replace(now, turn=self.turn.other, spent=(*self.spent, used), used=0.0)

    def taken_back(self, plies: int, at: float) -> Clock:
        """Return the clock after some plies were taken back, and their time with them."""
        turn = self.turn.other if plies % 2 else self.turn
        return replace(self.read(at), turn=turn, spent=self.spent[: -plies or None], used=0.0)

    def standing(self, at: float, away: Collection[Side], *, cut_off: bool) -> Clock:
        """Return the clock after a player went away or came back. Correspondence runs on.

        Args:
            at: when.
            away: the sides that are away for a reason of their own.
            cut_off: whether a side is away that a server has cut off.
        """
        if self.control.is_correspondence:
            return self.read(at)
        sides = tuple([side for side in Side if side in away])
        return replace(self.read(at), stands=cut_off, away=sides)

    def held(self, at: float, seconds: float) -> Clock:
        """Return the clock at a later time, having stood still for so many seconds since."""
        since = max(0.0, at - self.at)
        return replace(self.read(self.at + max(0.0, since - seconds)), at=max(at, self.at))

    def resumed(self, at: float) -> Clock:
        """Return the clock of a battle that is resumed."""
        return replace(self, at=at, stands=False, away=())
