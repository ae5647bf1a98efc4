"""What a command comes to in the hall: what it would bring about, and then who is told what.

Owns the two values that pass between deciding, storing and telling. Must never decide anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thudmud.tables.asides import Aside
from thudmud.tables.events import TableEvent
from thudmud.tables.people import Company
from thudmud.tables.table import Table


@dataclass(frozen=True, slots=True)
class Decision:
    """What a command would bring about.

    ``events`` are those of the table ``board``, decided when it stood at ``version``; ``asides``
    happen before them.
    """

    player: str
    board: str | None = None
    version: int = 0
    events: tuple[TableEvent, ...] = ()
    asides: tuple[Aside, ...] = ()


@dataclass(frozen=True, slots=True)
class Telling:
    """One thing that happened, who is to be told, and the table as it stood right after."""

    event: TableEvent | Aside
    audience: tuple[str, ...]
    table: Table | None = None
    company: Company | None = field(default=None, compare=False)
    """Those who are in the room where it happened, if all of them are told: they come first."""
