"""What is told, and to whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from thudmud.game.archive import RatingChange
from thudmud.game.events import HallEvent, TableEvent
from thudmud.game.table import Table

if TYPE_CHECKING:
    from thudmud.game.asides import Aside


@dataclass(frozen=True, slots=True, eq=False)
class Occupants:
    """The people in a room, perhaps with its observers. A new value after each change.

    So results computed from all of them can be cached in it.

    Attributes:
        names: their names, in the order they came to the server; observers come last.
        members: the same names as a set.
        kept: cached results.
    """

    names: tuple[str, ...]
    members: frozenset[str]
    kept: dict[object, Any] = field(default_factory=dict, repr=False)

    def and_also(self, concerned: Iterable[str]) -> tuple[str, ...]:
        """Return their names and then those of others concerned, each once."""
        elsewhere: list[str] = []
        for name in concerned:
            if name not in self.members and name not in elsewhere:
                elsewhere.append(name)
        return (*self.names, *elsewhere) if elsewhere else self.names


@dataclass(slots=True)
class Telling:
    """Something that happened, who is told, and the table right after it.

    It gets the time when it is told, and does not change after that.

    ``changes`` are the changes of ratings, if it ended a rated match, or battle with a bot.
    """

    event: TableEvent | HallEvent | Aside
    audience: tuple[str, ...]
    table: Table | None = None
    occupants: Occupants | None = field(default=None, compare=False)
    """The people in the room where it happened, perhaps with its observers, if all of them are
    told. They come first in the audience."""
    changes: tuple[RatingChange, ...] = ()
    goes_on: bool = False
    """Whether a battle ends or begins at once after it, so that nothing can be typed between."""
    at: float = 0.0
    """When it is told, in seconds since the epoch. Clocks are shown as they stand then."""

    def told_at(self, now: float) -> Telling:
        """Return it with the time set: that of the event, or else ``now``."""
        self.at = self.event.at if isinstance(self.event, TableEvent) else now
        if self.table and self.table.clock:
            self.table = self.table.as_of(self.at)
        return self
