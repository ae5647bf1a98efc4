"""What is told, and to whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thudmud.play.archive import RatingChange
from thudmud.play.events import HallEvent, TableEvent
from thudmud.play.table import Table

if TYPE_CHECKING:
    from thudmud.play.asides import Aside


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Occupants:
    """Those in a room, or told of it; a new value once one comes, goes or changes an option.

    So whatever is computed from all of them may be cached by it.

    Attributes:
        names: in the order they came to the server; who only observes comes last.
        members: the same, quick to look up.
    """

    names: tuple[str, ...]
    members: frozenset[str]

    def and_also(self, concerned: Iterable[str]) -> tuple[str, ...]:
        """Return them and, once each, those whom it concerns wherever they are."""
        elsewhere: list[str] = []
        for name in concerned:
            if name not in self.members and name not in elsewhere:
                elsewhere.append(name)
        return (*self.names, *elsewhere) if elsewhere else self.names


@dataclass(frozen=True, slots=True)
class Telling:
    """One thing that happened, who is to be told, and the table as it stood right after.

    ``changes`` are those of ratings, if it ended a match that counts for them.
    """

    event: TableEvent | HallEvent | Aside
    audience: tuple[str, ...]
    table: Table | None = None
    occupants: Occupants | None = field(default=None, compare=False)
    """Those in the room where it happened, perhaps with who observes it, if all of them are told:
    they come first."""
    changes: tuple[RatingChange, ...] = ()
    at: float = 0.0
    """When it is told: clocks are shown as they stand then."""

    def told_at(self, now: float) -> Telling:
        """Return it as it is told now: clocks stand as they do then, or did at the event."""
        at = self.event.at if isinstance(self.event, TableEvent) else now
        table = self.table and self.table.as_of(at)
        # That is `replace`, which takes three times as long, for each line.
        return Telling(self.event, self.audience, table, self.occupants, self.changes, at)
