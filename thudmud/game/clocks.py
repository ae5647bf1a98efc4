"""Time controls and clocks: the time that players have for their plies, and the time used.

A clock is folded from the times of events and reads no other clock. It runs for the side to move.
Before its first move, each side has some time that doesn't count, since not everybody looks at the
board when a battle begins. It stands still while no server runs, and for a limited time while a
player is away. Each side has a grace period for the whole battle. Without one, a lost connection
would cost the game. A long one would be time to think, since players can read the board without a
connection of their own. Players whom a server has cut off get the longest grace period.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from enum import Enum

from thudmud.errors import InvalidValueError
from thudmud.rules import Side
from thudmud.values import ArrayValue, replace

MOST_MINUTES, MOST_INCREMENT, MOST_DAYS = 180, 180, 14
"""Upper limits of time controls."""

LONGEST_GRACE = 120.0
"""Most seconds of a battle, in total, for which a clock stands still while a side is away."""

_GRACE_SHARE = 1 / 10
"""Grace period of a side as a fraction of its minutes."""

DAY = 86_400.0


class TimeClass(Enum):
    """Speed category of a battle. Each category has its own ratings."""

    UNTIMED = "untimed"
    BLITZ = "blitz"
    RAPID = "rapid"
    LONG = "long"
    CORRESPONDENCE = "correspondence"


_WRITTEN = re.compile(r"([0-9]{1,4}) ?(?:days?|d)|([0-9]{1,4}) ?\+ ?([0-9]{1,4})", re.IGNORECASE)

_PLIES = 60
"""Rough number of plies that each side plays in a battle."""

_PACES = (600, TimeClass.BLITZ), (1800, TimeClass.RAPID)
"""Upper bounds of the faster categories, as the total seconds of a side, exclusive."""


class TimeControl(ArrayValue):
    """The time allowance of each side: minutes per battle with an increment, or days per ply.

    Attributes:
        minutes: minutes for all plies of a battle.
        increment: seconds added after each ply.
        days: days for each ply, in correspondence, where the other two are 0.

    Raises:
        InvalidValueError: a number is out of range, or days are mixed with minutes.
    """

    minutes: int = 0
    increment: int = 0
    days: int = 0

    def __post_init__(self) -> None:
        by_days = 1 <= self.days <= MOST_DAYS and self.minutes == self.increment == 0
        by_minutes = 1 <= self.minutes <= MOST_MINUTES and 0 <= self.increment <= MOST_INCREMENT
        if not (by_days or (by_minutes and self.days == 0)):
            raise InvalidValueError(f"invalid time control: {self}")

    @classmethod
    def of(cls, text: str) -> TimeControl:
        """Parse a time control such as ``10+5`` or ``3 days``.

        Raises:
            InvalidValueError: the string isn't a time control, or a number is out of range.
        """
        if found := _WRITTEN.fullmatch(text):
            days, minutes, increment = (int(each or 0) for each in found.groups())
            return cls(minutes, increment, days)
        raise InvalidValueError(f"expected a time control such as 10+5 or 3 days, got {text!r:.50}")

    def __str__(self) -> str:
        """Return the form that players type: ``10+5``, or ``3 days``."""
        if self.days:
            return f"{self.days} day{'s' * (self.days != 1)}"
        return f"{self.minutes}+{self.increment}"

    @property
    def is_correspondence(self) -> bool:
        """Whether this is a correspondence control (days per ply), with no need to be present."""
        return self.days > 0

    @property
    def grace(self) -> float:
        """Total seconds of a battle for which the clock stands still while a side is away.

        Increments don't count, since players earn them by moving. A correspondence clock never
        stands still.
        """
        return min(LONGEST_GRACE, 60.0 * self.minutes * _GRACE_SHARE)

    @property
    def short(self) -> float:
        """Remaining seconds at which a player is warned that time is short."""
        if self.is_correspondence:
            return DAY / 4
        return 30.0 if self.minutes > 2 else 10.0

    @property
    def time_class(self) -> TimeClass:
        """Speed category, estimated from the minutes and the increments of a typical battle."""
        if self.is_correspondence:
            return TimeClass.CORRESPONDENCE
        seconds = 60 * self.minutes + _PLIES * self.increment
        return next((name for below, name in _PACES if seconds < below), TimeClass.LONG)


def time_class(control: TimeControl | None) -> TimeClass:
    """Return the speed category of a time control; untimed if it is None."""
    return control.time_class if control else TimeClass.UNTIMED


def seconds_left_after_plies(control: TimeControl, spent: Iterable[float]) -> list[float]:
    """Return the seconds that the moving player had left after each ply.

    Args:
        control: the time control.
        spent: seconds that each ply took, in order; the sides alternate.
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
    """State of a battle's clock at a given time.

    Attributes:
        control: the time control.
        at: the time of this state, in seconds since the epoch.
        turn: the side whose time runs.
        spent: seconds that each ply took, in order; the sides alternate.
        used: seconds that the current turn has taken so far.
        stood: total seconds of standstill for players whom a server cut off.
        is_cut_off: whether such a player is still away.
        away: the sides that are away for a reason of their own.
        excused: total seconds of standstill for each side that was away for such a reason; the
            dwarfs first.
        first_move: seconds for the first move of each side before its clock starts.
        waited: those of them that have passed in the current turn.
    """

    control: TimeControl
    at: float
    turn: Side
    spent: tuple[float, ...] = ()
    used: float = 0.0
    stood: float = 0.0
    is_cut_off: bool = False
    away: tuple[Side, ...] = ()
    excused: tuple[float, float] = (0.0, 0.0)
    first_move: float = 0.0
    waited: float = 0.0

    def __post_init__(self) -> None:
        # Checking only the last ply suffices: each earlier one was the last when it was added.
        least = min((*self.spent[-1:], self.used, self.stood, *self.excused, self.first_move))
        if least < 0:
            raise InvalidValueError(f"expected non-negative times, got {least}")

    def seconds_left(self, side: Side) -> float:
        """Return the seconds that a side had left at that time; at least 0."""
        used = self.used if side is self.turn else 0.0
        if self.control.is_correspondence:
            return max(0.0, self.control.days * DAY - used)
        # The last ply was the other side's, the one before it this side's, and so on.
        own = self.spent[::-1][side is self.turn :: 2]
        given = 60 * self.control.minutes + self.control.increment * len(own)
        return max(0.0, given - sum(own) - used)

    @property
    def until_start(self) -> float:
        """Seconds until the clock of the side to move starts; 0 after the side's first move."""
        return self.first_move - self.waited if len(self.spent) < len(Side) else 0.0

    @property
    def remaining_standstill(self) -> float:
        """Longest further standstill in seconds, if the players who are away stay away."""
        if not (self.is_cut_off or self.away):
            return 0.0
        graces = [self.control.grace - self.excused[_PLACES[side]] for side in self.away]
        if self.is_cut_off:
            graces.append(LONGEST_GRACE - self.stood)
        return max(0.0, *graces)

    @property
    def deadline(self) -> float:
        """Time at which the flag of the side to move falls, unless something happens before."""
        return self.runs_at + self.seconds_left(self.turn)

    @property
    def runs_at(self) -> float:
        """Time from which the clock runs, unless something happens before."""
        return self.at + self.until_start + self.remaining_standstill

    def advanced_to(self, at: float) -> Clock:
        """Return the clock advanced to a later time."""
        passed = max(0.0, at - self.at)
        waited = min(passed, self.until_start)
        passed -= waited
        if not (self.is_cut_off or self.away):
            return replace(
                self, at=max(at, self.at), used=self.used + passed, waited=self.waited + waited
            )
        still = min(passed, self.remaining_standstill)
        return replace(
            self,
            at=max(at, self.at),
            used=self.used + passed - still,
            waited=self.waited + waited,
            stood=min(LONGEST_GRACE, self.stood + still) if self.is_cut_off else self.stood,
            excused=self._absences_after(still),
        )

    def _absences_after(self, seconds: float) -> tuple[float, float]:
        """Return each side's used grace after a further standstill of ``seconds``."""
        grace, dwarf, troll = self.control.grace, *self.excused
        if Side.DWARF in self.away:
            dwarf = min(grace, dwarf + seconds)
        if Side.TROLL in self.away:
            troll = min(grace, troll + seconds)
        return dwarf, troll

    def pressed(self, at: float) -> Clock:
        """Return the clock after a ply, running for the other side."""
        now = self.advanced_to(at)
        # The ply was decided in time. Storing it a little late mustn't cost any of the increment.
        used = min(now.used, self.used + self.seconds_left(self.turn))
        spent = *self.spent, used
        return replace(now, turn=self.turn.other, spent=spent, used=0.0, waited=0.0)

    def taken_back(self, plies: int, at: float) -> Clock:
        """Return the clock after a takeback of ``plies`` plies, with their times removed."""
        turn = self.turn.other if plies % 2 else self.turn
        return replace(
            self.advanced_to(at),
            turn=turn,
            spent=self.spent[: -plies or None],
            used=0.0,
            waited=0.0,
        )

    def with_absences(self, at: float, away: Collection[Side], *, cut_off: bool) -> Clock:
        """Return the clock after a player went away or came back; a correspondence clock runs on.

        Args:
            at: the time of the change.
            away: the sides that are away for a reason of their own.
            cut_off: whether a player is away whom a server has cut off.
        """
        if self.control.is_correspondence:
            return self.advanced_to(at)
        sides = tuple([side for side in Side if side in away])
        return replace(self.advanced_to(at), is_cut_off=cut_off, away=sides)

    def with_outage(self, at: float, seconds: float) -> Clock:
        """Return the clock at a later time, less a standstill of ``seconds`` in between."""
        since = max(0.0, at - self.at)
        return replace(self.advanced_to(self.at + max(0.0, since - seconds)), at=max(at, self.at))

    def resumed(self, at: float) -> Clock:
        """Return the clock of a resumed battle: it runs from ``at``, and no side is away."""
        return replace(self, at=at, is_cut_off=False, away=())
