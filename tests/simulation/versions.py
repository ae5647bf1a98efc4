"""Servers of several versions of the program side by side, as in an update.

They differ by the form of what is made from the events: the number of the projections is another
one. So each version makes them anew, once the servers of the others have ended, and may write no
row while they are in another form than its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tests.simulation.clockwork import Process, World
from thudmud.game.projections import PROJECTION
from thudmud.server import config
from thudmud.store import Store, StoreError, checking, database, files, upkeep


class _Projection:
    """The number of the projections, as the version of the process has it that runs."""

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
    """Return what is to be changed in which modules, so that each process is of its version."""
    projection = _Projection()
    return {each: {"PROJECTION": projection} for each in (config, checking, database, files)}


def in_own_form(process: Process, query: str, values: Sequence[Any]) -> Sequence[Any]:
    """Return the values that a process sends with a statement, as they are in its version.

    It is taken for wrong if it writes to a database that is another version's by now.
    """
    if not query.startswith("insert into head "):
        return values
    sent = [int(each) if isinstance(each, _Projection) else each for each in values]
    if sent[3] != PROJECTION + process.version:
        World.here.broken(f"{process} writes its rows where they are in form {sent[3]}")
    return sent


async def explored(store: Store) -> None:
    """Count what is left to count, as a server does after its start; and check nothing."""
    with suppress(StoreError):
        await upkeep.finish(store)
