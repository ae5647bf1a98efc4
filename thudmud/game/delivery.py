"""Deliveries: events together with their audience."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from thudmud.game.archive import RatingChange
from thudmud.game.events import HallEvent, TableEvent
from thudmud.game.table import Table
from thudmud.immutable import immutable

if TYPE_CHECKING:
    from thudmud.game.asides import Aside


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class Occupants:
    """An immutable snapshot of the people in a room, optionally with its observers.

    Each change makes a new snapshot, so results that depend on all occupants can be cached in it.

    Attributes:
        names: their names, in the order of arrival on the server; observers come last.
        members: the same names as a set.
        cache: the cached results.
    """

    names: tuple[str, ...]
    members: frozenset[str]
    cache: dict[object, Any] = field(default_factory=dict, repr=False)

    def names_with(self, concerned: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the occupants, then the other given names without duplicates."""
        elsewhere: list[str] = []
        for name in concerned:
            if name not in self.members and name not in elsewhere:
                elsewhere.append(name)
        return (*self.names, *elsewhere) if elsewhere else self.names


class Delivery(Struct):
    """The delivery of an event: the event, its audience, and the table right after it.

    `stamp` sets the time of delivery; the value doesn't change after that.

    ``changes`` are the rating changes, if the event ended a rated match or a battle with a bot.
    """

    event: TableEvent | HallEvent | Aside
    recipients: tuple[str, ...]
    table: Table | None = None
    occupants: Occupants | None = None
    """The people in the room of the event, perhaps with its observers, if the audience includes all
    of them; they come first in the audience."""
    changes: tuple[RatingChange, ...] = ()
    is_intermediate: bool = False
    """Whether a battle ends or begins immediately afterwards, before any input is possible."""
    programs: tuple[str, ...] = ()
    """Players whose programs get the facts, if not only those of the audience do."""
    at: float = 0.0
    """The time of delivery, in seconds since the epoch; clocks are shown as of this time."""

    def stamp(self, now: float) -> Delivery:
        """Set the time of delivery and return ``self``.

        The time is that of a table event, or ``now`` for anything else.
        """
        self.at = self.event.at if isinstance(self.event, TableEvent) else now
        if self.table and self.table.clock:
            self.table = self.table.as_of(self.at)
        return self
