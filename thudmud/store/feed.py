"""Hands out events to subscribers: whole appends, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from thudmud.store.interface import Damaged, Entry
from thudmud.store.rows import Query, SqlTable
from thudmud.store.streams import Streams

BATCH = 1_000
"""About how many entries are read at once for subscribers."""


class Feed:
    """How far entries have been handed out, and which come next."""

    def __init__(self, table: SqlTable, streams: Streams) -> None:
        self._table, self._streams = table, streams
        self.is_followed = False
        self.position = 0
        """The position up to which entries have been handed out, or seen."""
        self._last: Sequence[object] | None = None
        """The row of the event at that position, if it was handed out."""
        self.newest: Sequence[object] | None = None
        """The row of the last event that is handed out next."""

    def begin(self, position: int) -> None:
        """Hand out everything after a position, that of the last event."""
        self.is_followed = True
        self.position = max(self.position, position)
        self._last = self._table.row("event", "where position = ?", self.position)

    def unseen(self, position: int) -> list[Entry]:
        """Return all entries not handed out yet; ``position`` is that of the last one."""
        if not self.is_followed or position == self.position:
            return []
        where = "where position > ? order by position"
        rows = list(self._table.rows("event", where, self.position))
        self.newest = rows[-1] if rows else None
        return self._streams.entries_of(rows)

    def next_rows(self) -> list[Query]:
        """Return the query for the next batch of rows; none if nobody follows."""
        where = "where position > ? order by position limit ?"
        return [("event", where, (self.position, BATCH))] if self.is_followed else []

    def after(
        self, position: int, last: int, found: Sequence[Sequence[object]] | None = None
    ) -> list[Entry]:
        """Return the first entries after a position: whole appends.

        ``last`` is the position of the last event; ``found`` are the first rows, a batch of them,
        if they have been read already.

        Raises:
            Damaged: some are missing that have not been pruned.
        """
        if last > position + BATCH:
            rest = "where position >= ? and last = 1 order by position limit 1"
            end = self._table.row("event", rest, position + BATCH)
            last, found = (cast("int", end[0]) if end else last), None
        if found is None:
            where = "where position > ? and position <= ? order by position"
            found = list(self._table.rows("event", where, position, last))
        rows = [row for row in found if cast("int", row[0]) <= last]
        self.newest = rows[-1] if rows else None
        entries = self._streams.entries_of(rows)
        missing = max(0, last - position) - len(entries)
        if missing and missing != self._streams.pruned(position, last):
            raise Damaged(f"events after {position} are missing")
        return entries

    def hand_on(self, position: int) -> None:
        """Record the position up to which entries are handed out."""
        self.position = position
        self._last = self.newest or self._last

    def overwritten(self) -> int | None:
        """Return the position of the last event handed out, if another event is stored there now.

        A pruned one does not count. Events are told apart by their times, since no two stores
        append at the same time; the text of one may have been erased.
        """
        if self._last is None:
            return None
        position = cast("int", self._last[0])
        row = self._table.row("event", "where position = ?", position)
        if row is None:
            return None if self._streams.pruned(position - 1, position) else position
        return None if row[:5] == self._last[:5] else position
