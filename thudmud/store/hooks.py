"""Extension points for features, within the transactions of a store.

A feature's ``storage`` module registers functions here when it is imported, and answers to lookups
in `thudmud.store.lookups`. `thudmud.features.load_storage` imports all of these modules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thudmud.game.hall import HallPart
    from thudmud.store.backend import Backend
    from thudmud.store.database import Database
    from thudmud.store.projected import ProjectedRows
    from thudmud.store.rows import SqlTable

hall_parts: list[Callable[[Database], HallPart]] = []
"""Each returns a feature's state in the hall, as it is stored."""

unfinished: list[Callable[[Database], bool]] = []
"""Called in small transactions after a start, until each has returned False: the rest of the work
that ``rebuilt`` in `thudmud.store.database` began."""

made_anew: list[Callable[[SqlTable, Backend, ProjectedRows], None]] = []
"""Called by the check of a store after it has rebuilt the projections in another database for
comparison. Each gets the stored rows, that database, and its projected rows, and finishes its own
projections there."""

checks: list[Callable[[Database], object]] = []
"""Called by the check of a store, in a snapshot. Each reads its rows, and raises DamagedStoreError
if they are damaged."""

letter_posted: list[Callable[[Database, int], None]] = []
"""Called with a member's number in the transaction that stores a letter to them."""

last_written: list[Callable[[Database, int, int], Sequence[str]]] = []
"""Called for a report, with the numbers of a reader and of a writer. Each returns the last lines
that the writer sent to the reader."""

erased: list[Callable[[Database, int], None]] = []
"""Called with a player's number in the transaction that erases the player."""

logins_ended: list[Callable[[Database, int], str]] = []
"""Called with a member's number in the transaction that ends all of their logins. Each returns a
sentence for the member about what else has ended; "" for nothing."""
