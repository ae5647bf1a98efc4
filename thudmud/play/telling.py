"""What is told, and to whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from thudmud.play.archive import RatingChange
from thudmud.play.events import HallEvent, TableEvent
from thudmud.play.table import Table

if TYPE_CHECKING:
    from thudmud.play.asides import Aside


@dataclass(frozen=True, slots=True, eq=False)
class Occupants:
    """Those in a room, or told of it; a new value once one comes, goes or changes an option.

    So whatever is computed from all of them may be kept with it.

    Attributes:
        names: in the order they came to the server; who only observes comes last.
        members: the same, quick to look up.
        kept: what has been computed from all of them, by whoever wants to keep it.
    """

    names: tuple[str, ...]
    members: frozenset[str]
    kept: dict[object, Any] = field(default_factory=dict, repr=False)

    def and_also(self, concerned: Iterable[str]) -> tuple[str, ...]:
        """Return them and, once each, those whom it concerns wherever they are."""
        elsewhere: list[str] = []
        for name in concerned:
            if name not in self.members and name not in elsewhere:
                elsewhere.append(name)
        return (*self.names, *elsewhere) if elsewhere else self.names


@dataclass(slots=True)
class Telling:
    """One thing that happened, who is to be told, and the table as it stood right after.

    It is stamped with the time once, as it is told, and does not change after that.

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
        """Return it, as it is told now: clocks stand as they do then, or did at the event."""
        self.at = self.event.at if isinstance(self.event, TableEvent) else now
        if self.table and self.table.clock:
            self.table = self.table.as_of(self.at)
        return self
