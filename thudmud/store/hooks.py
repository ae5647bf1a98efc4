"""What features do within the transactions of a store.

The ``storage`` module of a feature registers its functions here, and its answers to lookups in
`thudmud.store.lookups`, as it is imported; `thudmud.features.load_storage` imports all.
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
"""Each returns the state of a feature in the hall, as it is stored."""

unfinished: list[Callable[[Database], bool]] = []
"""Called in small transactions after a start, until all return False: what is left of ``rebuilt``.
"""

made_anew: list[Callable[[SqlTable, Backend, ProjectedRows], None]] = []
"""Called by the check of a store, with the stored rows, the database in which it has made the
projections anew to compare them, and its rows: each makes those there that are left to make.
"""

checks: list[Callable[[Database], object]] = []
"""Called by the check of a store, in a snapshot: each reads what may be damaged of its rows, and
raises Damaged if it is."""

letter_posted: list[Callable[[Database, int], None]] = []
"""Called with the number of a member in the transaction that stores a letter to them."""

last_written: list[Callable[[Database, int, int], Sequence[str]]] = []
"""Called for a report, with the numbers of a reader and of a writer: each returns the last lines
that the one has been written by the other."""

erased: list[Callable[[Database, int], None]] = []
"""Called with the number of a player in the transaction that erases the player."""

logins_ended: list[Callable[[Database, int], str]] = []
"""Called with the number of a member in the transaction that ends all of the member's logins.

Each returns what else has ended, in words for the member; "" for nothing.
"""
