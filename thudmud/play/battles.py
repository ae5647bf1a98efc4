"""The battles that were played: what is known of each, its number, and where its plies are."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from thudmud.play.events import BattleId
from thudmud.rules import Outcome, Side


class State(Enum):
    """How far a battle has come."""

    RUNNING = "running"
    ENDED = "ended"
    ADJOURNED = "adjourned"
    UNFINISHED = "unfinished"
    """Given up without an end: both left, or began another one."""


class Battle(NamedTuple):
    """What is known of a battle without its plies. A tuple, since there are many.

    Attributes:
        number: as players ask for it: 1 for the first that began or was imported.
        id: where it began.
        at: when, in seconds since the epoch.
        rules: its ruleset's name.
        dwarf: who played the dwarfs, in the end; "" if that is not known.
        troll: the same for the trolls.
        source: from where on its plies are read: the event that it began, was resumed or was
            imported with.
        until: the version of its last event in the stream of ``source``; None while it is running.
        state: how far it has come.
        part: 1 or 2, which of the two battles of its match.
        before: the points of the match before it, of who has the dwarfs and of who has the trolls.
        plies: how many were played; None where only its events tell that.
        outcome: how it ended; None if it has not, or if it was imported and that is not known.
        rated: whether it counts for ratings.
        points: if its match was over with it, the points of who has the dwarfs and of who has the
            trolls.
        imported: whether it was brought in from elsewhere.
    """

    number: int
    id: BattleId
    at: float
    rules: str
    dwarf: str
    troll: str
    source: BattleId
    until: int | None = None
    state: State = State.RUNNING
    part: int = 1
    before: tuple[int, int] = (0, 0)
    plies: int | None = None
    outcome: Outcome | None = None
    rated: bool = False
    points: tuple[int, int] | None = None
    imported: bool = False

    @property
    def players(self) -> tuple[str, str]:
        """Who played the dwarfs and who played the trolls; "" if that is not known."""
        return self.dwarf, self.troll

    def player(self, side: Side) -> str:
        """Return who played a side; "" if that is not known."""
        return self.dwarf if side is Side.DWARF else self.troll

    @property
    def length(self) -> int | None:
        """How many events have to be read for it from its source on; None for all that follow."""
        return None if self.until is None else self.until - self.source.version + 1
