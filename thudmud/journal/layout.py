"""The SQLite file of a journal: what is in it, and how it comes into being and is opened.

Owns its tables, and the sum that runs through them. Must never know what an event means.

Each row of ``event`` carries in ``chain`` a sum over itself and all rows before it: a CRC of the
texts in the upper 32 bits, below it a sum of the numbers, modulo a prime. Both can be worked out
again for thousands of rows in one query, without a loop in Python over each.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from zlib import crc32

from thudmud.journal.interface import Damaged
from thudmud.storage.files import beside, has_log, make

APPLICATION = 0x54687564
"""What marks the file as ours: ``Thud``."""

TABLES = """
create table stream (
    id integer primary key, -- 1, 2, 3 ...
    name text not null,
    chain integer not null
) strict;
create table event (
    position integer primary key, -- 1, 2, 3 ...
    stream integer not null,
    version integer not null,
    schema integer not null,
    landmark integer not null, -- 1 for the kinds that battles are told apart by
    last integer not null, -- 1 for the last event of an append
    body text not null,
    chain integer not null
) strict;
create unique index head on event (stream, version);
create index landmark on event (position) where landmark;
"""

NUMBERS = "stream * 1000003 + version * 10007 + schema * 64 + landmark * 8 + last"
"""What of a row goes into the sum of the numbers, in SQL; `numbers` is the same in Python."""

PRIME = 2**31 - 1
_CRC_SHIFT = 31


def numbers(stream: int, version: int, schema: int, *, landmark: bool, last: bool) -> int:
    """Return what of a row goes into the sum of the numbers."""
    return stream * 1000003 + version * 10007 + schema * 64 + landmark * 8 + last


def link(chain: int, total: int, texts: bytes) -> int:
    """Return a chain that goes on for some rows.

    Args:
        chain: that of the row before; 0 if there is none.
        total: the sum of the rows' `numbers`.
        texts: their bodies, with line feeds between them.
    """
    crc = crc32(b"\n", crc32(texts, chain >> _CRC_SHIFT))
    return crc << _CRC_SHIFT | ((chain & PRIME) + total) % PRIME


def stream_chain(number: int, name: str) -> int:
    """Return the sum over a row of ``stream``."""
    return crc32(f"{number} {name}".encode())


def create(path: Path, schema: int) -> None:
    """Make an empty journal, unless another process is quicker.

    Raises:
        Damaged: a part of an earlier journal is still there.
        OSError: it cannot be made.
        sqlite3.Error: it cannot be made.
    """
    if has_log(path):
        rest = beside(path, "-wal")
        raise Damaged(
            f"The journal {path} is gone, but {rest.name} is still there: bring both back from a"
            f" backup, or delete {rest.name} to begin a new one."
        )

    def fill(connection: sqlite3.Connection) -> None:
        connection.execute(f"pragma application_id = {APPLICATION}")
        connection.execute(f"pragma user_version = {schema}")
        connection.execute("pragma journal_mode = wal")
        connection.executescript(f"begin; {TABLES} commit;")

    make(path, fill)
