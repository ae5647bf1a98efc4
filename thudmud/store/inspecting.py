"""A look at a store from outside, without opening it: its schema, and who serves from it.

Nothing is changed. SQLite itself may leave its companion files behind, empty.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from thudmud.store.checking import PATIENCE, last_stored
from thudmud.store.files import (
    HEAD,
    beside,
    errors_translated,
    require_nothing_left,
    require_ours,
    resolve_symlink,
    verify_watermark,
)
from thudmud.store.interface import Schema, StoreError, UnknownFormatError
from thudmud.store.nodes import LEASE
from thudmud.store.rows import current_schema, require_known_format

_LOCKS = Path("/proc/locks")


class StoreFacts(NamedTuple):
    """What a look at a store finds.

    Attributes:
        schema: its schema.
        heartbeat: the seconds since a server last stored something; None if none runs.
        holder: the number of the process that serves from the file; 0 if there is none, or if it
            isn't known.
    """

    schema: Schema
    heartbeat: float | None
    holder: int = 0

    @property
    def is_served(self) -> bool:
        """Whether a server has stored something lately."""
        return self.heartbeat is not None and self.heartbeat <= LEASE

    @property
    def is_outdated(self) -> bool:
        """Whether the next start of a server upgrades the store."""
        return self.schema != current_schema()


def inspect_file(path: Path) -> StoreFacts:
    """Look at the store in a file, which a server may be using.

    Raises:
        DamagedStoreError: acknowledged data is missing.
        UnknownFormatError: a later version of this program wrote it, or another program.
        StoreError: it cannot be read.
    """
    path = resolve_symlink(path)
    with errors_translated(path):
        require_nothing_left(path)
        require_ours(path)
        _, schema = verify_watermark(path, PATIENCE)
        return StoreFacts(schema, last_stored(path), lock_holder(beside(path, HEAD)))


def inspect_database(dsn: str) -> StoreFacts | None:
    """Look at the store in a PostgreSQL database; return None if it has none yet.

    Raises:
        ImportError: psycopg isn't installed.
        UnknownFormatError: a later version of this program wrote it, or another program.
        StoreError: the database can't be reached.
    """
    import psycopg  # noqa: PLC0415  (an optional dependency)

    from thudmud.store.postgres import (  # noqa: PLC0415  (the same)
        OURS,
        as_one_line,
        name_of,
        open_connection,
    )

    name = name_of(dsn)
    try:
        with closing(open_connection(dsn)) as session:
            session.execute("set default_transaction_read_only = on")
            query = "select to_regclass('head'), obj_description(to_regclass('head'), 'pg_class')"
            ((table, comment),) = session.execute(query).fetchall()
            if table is None:
                return None
            if not str(comment).startswith(OURS):
                raise UnknownFormatError(
                    f'{name} has a table "head" of another program. Give thudmud a database of its '
                    "own."
                )
            found = int(str(comment).removeprefix(OURS))
            require_known_format(name, found)
            ((seconds, projection),) = session.execute(
                "select extract(epoch from clock_timestamp()) - max(seen),"
                " (select projection from head where id = 1) from node where until > seen"
            ).fetchall()
    except psycopg.Error as error:
        raise StoreError(f"{name} could not be used: {as_one_line(error)}.") from error
    schema = Schema(found, current_schema().projection if projection is None else projection)
    return StoreFacts(schema, None if seconds is None else max(0.0, float(seconds)))


def lock_holder(path: Path) -> int:
    """Return the process that holds a lock on a file; 0 if there is none or it isn't known.

    Trying to take the lock would keep a server from starting at that moment.
    """
    with suppress(OSError, ValueError):
        status = path.stat()
        place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for line in _LOCKS.read_text("ascii").splitlines():
            _, kind, *_, pid, where, _, _ = line.split()
            if kind == "FLOCK" and where == place:
                return max(0, int(pid))
    return 0
