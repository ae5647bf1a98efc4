"""Servers of several versions of the program side by side, as during an upgrade.

Versions differ in the form of the projections, as given by their version number. So each version
rebuilds them once the servers of the others have ended, and must not write rows while they have
another form than its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tests.simulation.clockwork import Process, World
from thudmud.game.projections import PROJECTION
from thudmud.server import config
from thudmud.store import Store, StoreError, checking, database, files, rows, upkeep


class _Projection:
    """The version number of the projections, as seen by the current process."""

    def __int__(self) -> int:
        return PROJECTION + World.here.process.version

    def __eq__(self, other: object) -> bool:
        return int(self) == other

    def __hash__(self) -> int:
        return PROJECTION

    def __repr__(self) -> str:
        return str(int(self))

    def __conform__(self, _: object) -> int:  # for SQLite
        return int(self)


def by_version() -> dict[Any, dict[str, Any]]:
    """Return patches by module that give each process the constants of its own version."""
    projection = _Projection()
    return {each: {"PROJECTION": projection} for each in (config, checking, database, files, rows)}


def in_own_form(process: Process, query: str, values: Sequence[Any]) -> Sequence[Any]:
    """Return the parameters of a statement as the process's own version would send them.

    Writing to a database in another version's form is recorded as a failure.
    """
    if not query.startswith("insert into head "):
        return values
    sent = [int(each) if isinstance(each, _Projection) else each for each in values]
    if sent[3] != PROJECTION + process.version:
        World.here.broken(f"{process} writes its rows where they are in form {sent[3]}")
    return sent


async def explored(store: Store) -> None:
    """Finish the rebuild of the explorer, as a server does after its start; check nothing."""
    with suppress(StoreError):
        await upkeep.finish(store)
