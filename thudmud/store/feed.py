"""The feed: which entries subscribers have been given, and which come next.

Entries are handed out in whole appends, in the order of their positions, without gaps. The feed
belongs to the store's thread; `thudmud.store.running` delivers its entries in the event loop.

Plies of other processes come without their players (`StoredPly`), unless a subscriber needs all
entries whole. Decoding a name can take a round trip, and most plies concern nobody here.

An entry leaves the feed in one of two ways: within our own transaction (`unread_entries`, then our
own entries), or when the thread looks for writes of other processes (`entries_after`). `advance_to`
moves the position only after the commit or the read has succeeded. If either fails, the same
entries come again, and nobody has been given any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from thudmud.store.interface import DamagedStoreError, FeedEntry
from thudmud.store.rows import Query, SqlTable
from thudmud.store.streams import Streams

BATCH = 1_000
"""The approximate number of entries read at once for subscribers."""


class Feed:
    """The position up to which entries have been delivered.

    Attributes:
        is_followed: whether anybody has subscribed; until then only ``position`` moves.
        gives_stored_plies: whether others' plies come as `StoredPly`: all subscribers take those.
    """

    def __init__(self, table: SqlTable, streams: Streams) -> None:
        self._table, self._streams = table, streams
        self.is_followed = False
        self.gives_stored_plies = streams.is_shared
        self.position = 0
        """The position up to which entries have been delivered, or skipped while unfollowed."""
        self._last: Sequence[object] | None = None
        """The row of the event at that position, if it was delivered."""
        self.newest: Sequence[object] | None = None
        """The row of the last event of the next batch, until `advance_to`."""

    def start_after(self, position: int) -> None:
        """Start delivering all entries after ``position``, that of the last event."""
        self.is_followed = True
        self.position = max(self.position, position)
        self._last = self._table.row("event", "where position = ?", self.position)

    def unread_entries(self, position: int) -> list[FeedEntry]:
        """Return the entries that have not been delivered yet.

        Args:
            position: the position of the last event to return.
        """
        if not self.is_followed or position == self.position:
            return []
        where = "where position > ? and position <= ? order by position"
        rows = list(self._table.rows("event", where, self.position, position))
        self.newest = rows[-1] if rows else None
        return self._decoded(rows)

    def next_rows(self) -> list[Query]:
        """Return the query for the next batch of rows; none if nobody has subscribed."""
        where = "where position > ? order by position limit ?"
        return [("event", where, (self.position, BATCH))] if self.is_followed else []

    def entries_after(
        self, position: int, last: int, found: Sequence[Sequence[object]] | None = None
    ) -> list[FeedEntry]:
        """Return the first entries after a position, in whole appends.

        Args:
            position: the position after which the first entry comes.
            last: the position of the last event.
            found: the first `BATCH` rows, if they have been read already.

        Raises:
            DamagedStoreError: some entries are missing, and were not pruned.
        """
        if last > position + BATCH:
            # Cut the batch at the end of an append, not in the middle of one. The rows read in
            # advance may end inside an append, so they can't be used then.
            rest = "where position >= ? and last = 1 order by position limit 1"
            end = self._table.row("event", rest, position + BATCH)
            last, found = (cast("int", end[0]) if end else last), None
        if found is None:
            where = "where position > ? and position <= ? order by position"
            found = list(self._table.rows("event", where, position, last))
        rows = [row for row in found if cast("int", row[0]) <= last]
        self.newest = rows[-1] if rows else None
        entries = self._decoded(rows)
        missing = max(0, last - position) - len(entries)
        if missing and missing != self._streams.count_pruned(position, last):
            raise DamagedStoreError(f"events after {position} are missing")
        return entries

    def _decoded(self, rows: Sequence[Sequence[object]]) -> list[FeedEntry]:
        streams = self._streams
        return (
            streams.feed_entries_of(rows)
            if self.gives_stored_plies
            else [*streams.entries_of(rows)]
        )

    def advance_to(self, position: int) -> None:
        """Record that all entries up to ``position`` have been delivered."""
        self.position = position
        self._last = self.newest or self._last

    def find_overwritten(self) -> int | None:
        """Return the position of the last event delivered, if another event is stored there now.

        This detects an outdated standby that was promoted and has since caught up in numbers.
        Events are compared without their texts, which may have been erased. Their times differ,
        because no two stores append at the same moment. A pruned event doesn't count.
        """
        if self._last is None:
            return None
        position = cast("int", self._last[0])
        row = self._table.row("event", "where position = ?", position)
        if row is None:
            return None if self._streams.count_pruned(position - 1, position) else position
        return None if row[:5] == self._last[:5] else position
