"""Copying of a whole store from one database to another, of either kind.

Rows are copied unchanged, with the numbers of players, streams and events. The projections are
rebuilt from the events in the target, which is then checked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path
from time import time
from typing import cast

from thudmud.store.backend import Backend
from thudmud.store.checking import check_backend
from thudmud.store.database import Database
from thudmud.store.files import OnDisk
from thudmud.store.interface import (
    DamagedStoreError,
    StoreError,
    StoreInUseError,
    Upgrade,
)
from thudmud.store.rows import DURABLE, SqlTable, insertion, scan

AT_ONCE = 1000
"""The number of rows in one insert."""

Progress = Callable[[int, int], None]


def is_database(place: str) -> bool:
    """Return whether a place is a PostgreSQL connection string, rather than a file's path."""
    return place.startswith(("postgresql://", "postgres://")) or "=" in place


def open_backend(place: str, *, is_source: bool) -> Backend:
    """Open a file or a PostgreSQL database.

    Args:
        place: a file's path, or a PostgreSQL connection string.
        is_source: whether it has to exist.

    Raises:
        StoreInUseError: a server serves boards from the file.
        StoreError: it cannot be used, or the source does not exist.
    """
    if is_database(place):
        from thudmud.store.postgres import Postgres  # noqa: PLC0415  (an optional dependency)

        return Postgres(place)
    path = Path(place)
    if is_source and not path.exists():
        raise StoreError(f"{path}: no such file.")
    return OnDisk(path, serving=True, lock_timeout=5.0)


def copy(source: str, target: str, progress: Progress = lambda _done, _of: None) -> int:
    """Copy everything to another, empty place, and check the copy.

    Args:
        source: a file's path, or a PostgreSQL connection string. No server may run on it.
        target: likewise; a file is created if it does not exist.
        progress: called now and then with the number of events copied, and the number of all.

    Returns:
        The number of events.

    Raises:
        StoreInUseError: a server runs on the source.
        DamagedStoreError: the source or the copy is damaged.
        StoreError: one of them cannot be used, or the target is not empty.
    """
    with (
        closing(open_backend(source, is_source=True)) as old,
        closing(open_backend(target, is_source=False)) as new,
    ):
        if not new.is_new:
            raise StoreError(
                "The destination is not empty. Copy to a new file or an empty database."
            )
        try:
            old.read_all()
            events = _copy(old, new, progress)
        except old.errors as error:
            raise old.translate_error(error) from error
        try:
            Database(new, time, upgrade=Upgrade())  # rebuilds the projections
            new.read_all()
            found = check_backend(new)
        except new.errors as error:
            raise new.translate_error(error) from error
        if found:
            raise new.translate_error(DamagedStoreError(found))
        return events


def _copy(old: Backend, new: Backend, progress: Progress) -> int:
    table = SqlTable(old.connection)
    head = table.row("head", "where id = 1")
    if head is None:
        raise StoreError("The store is empty: nothing to copy.")
    if table.row("node", "where until > ? limit 1", old.now()):
        raise StoreInUseError("A server is running on the store. Stop it before copying.")
    new.begin()
    # Projection 0 is never current, so whoever opens the copy rebuilds its projections.
    done, (_, position, commits, _, *rest) = 0, head
    for name in DURABLE:
        rows = iter([(1, position, commits, 0, *rest)]) if name == "head" else scan(old, name)
        while batch := list(islice(rows, AT_ONCE)):
            new.connection.executemany(insertion(name), batch)
            if name == "event":
                done += len(batch)
                progress(done, cast("int", position))
    new.commit()
    return done
