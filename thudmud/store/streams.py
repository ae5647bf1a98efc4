"""Streams and their events: reading them, and adding the events of a transaction.

The events of a transaction, and the new versions of their streams, are queued and written together
at its end. The results of requests with a key are stored here too, one for each stream. Caches hold
until another connection has written, see `thudmud.store.database`; only a stream's key never
changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from time import monotonic
from typing import Any, NamedTuple, cast

from thudmud.game.archive import RatingChange
from thudmud.game.events import NO_BOTS, BattleEnded, BattleId, BattleStarted, Resumed, StoredEvent
from thudmud.game.projections import realm_of
from thudmud.store.backend import Backend
from thudmud.store.codec import SCHEMA, from_text, players_of, ply_from_text
from thudmud.store.interface import DamagedStoreError, Entry, FeedEntry, Stored, StoredPly
from thudmud.store.players import Players, cache
from thudmud.store.projected import ProjectedRows, as_text
from thudmud.store.rows import Query, SqlTable

Changes = Mapping[str, tuple[int, Sequence[StoredEvent]]]
EventRow = tuple[int, int, int, int, float, int, str]

KEPT_REQUESTS = 3 * 86_400.0
"""Seconds for which the result of a request with a key is stored."""


class Stream(NamedTuple):
    """A row of ``stream``; `thudmud.store.rows.DURABLE` describes the columns."""

    id: int
    key: str
    name: str
    version: int
    beginning: int


class Streams:
    """The rows of ``stream``, ``event``, ``gap`` and ``request``.

    Attributes:
        is_shared: whether several nodes append.
    """

    def __init__(
        self, backend: Backend, table: SqlTable, players: Players, projected: ProjectedRows
    ) -> None:
        self._backend, self._table, self.is_shared = backend, table, backend.is_shared
        self._players, self._projected = players, projected
        self._known: dict[str, Stream] = {}
        self._keys: dict[int, str] = {}
        self._moved: dict[str, Stream] = {}
        """The streams with new events in this transaction, as their rows will be."""
        self.waiting: list[EventRow] = []
        """The rows of this transaction's events, not written yet."""
        self._pruned_at: float | None = None
        """When old requests were last deleted, by a monotonic clock."""

    # Changes by a transaction

    def find_or_create(self, key: str) -> Stream:
        """Return the stream with the given key; create one if there is none."""
        stream = self.find(key)
        if stream is None:
            number = self._table.number("select coalesce(max(id), 0) + 1 from stream")
            stream = Stream(number, key, key, 0, 1)
            self._put(stream)
        return stream

    def rename(self, key: str, name: str) -> None:
        """Store a board's current name."""
        self._put(self.find_or_create(key)._replace(name=name))

    def add(
        self, stream: Stream, position: int, at: float, body: str, *, last: bool, is_whole: bool
    ) -> EventRow:
        """Queue an event to be written at the end of the transaction.

        Args:
            stream: the stream before the event.
            position: the event's position.
            at: its time, in seconds since the epoch.
            body: its text.
            last: whether it is the last event of an append.
            is_whole: whether no earlier event is needed to fold the board's state.

        Returns:
            The event's row.
        """
        number, key, name, version, beginning = stream
        version += 1
        gone_on = Stream(number, key, name, version, version if is_whole else beginning)
        self._moved[key] = self._known[key] = gone_on
        row = position, number, version, SCHEMA, at, int(last), body
        self.waiting.append(row)
        return row

    def write(self) -> None:
        """Write the queued events, and the new versions of their streams."""
        self._table.insert_events(self.waiting)
        self._table.advance(self._moved.values())
        self.drop_queued()

    @property
    def moved(self) -> Sequence[Stream]:
        """The streams of the queued events, as their rows will be."""
        return list(self._moved.values())

    def drop_queued(self) -> None:
        """Empty the queue, once it has been written."""
        self.waiting.clear()
        self._moved.clear()

    def clear(self, *, keys: bool) -> None:
        """Empty the caches, and drop the queued events.

        Args:
            keys: whether to forget the keys of streams, too: a transaction that was rolled back may
                have created some.
        """
        self._known.clear()
        self.drop_queued()
        if keys:
            self._keys.clear()

    def _put(self, stream: Stream) -> None:
        self._table.put("stream", *stream)
        self._moved.pop(stream.key, None)
        cache(self._known, stream.key, stream)

    # Reading

    def find(self, key: str) -> Stream | None:
        """Return the stream with the given key; None if there is none."""
        stream = self._known.get(key)
        if stream is None and key in self._moved:
            return self._moved[key]
        if stream is None and (row := self._table.row("stream", "where key = ?", key)):
            stream = Stream(*cast("Any", row))
            cache(self._known, key, stream)
        return stream

    def with_number(self, number: int) -> Stream:
        """Return the stream with the given number."""
        row = self._table.row("stream", "where id = ?", number)
        if row is None:
            raise DamagedStoreError(f"no stream {number}")
        return Stream(*cast("Any", row))

    def version(self, key: str) -> int:
        """Return the version of a stream; 0 if it has no events."""
        found = self.find(key)
        return found.version if found else 0

    def versions(self) -> Mapping[str, int]:
        """Return the versions of all streams, by key; many, so for export and checks only."""
        streams = [Stream(*cast("Any", row)) for row in self._table.rows("stream")]
        return {each.key: each.version for each in streams if each.version}

    def read(self, key: str, first: int, most: int | None, position: int) -> Sequence[Entry]:
        """Return the events of a stream from a version on, in order.

        Args:
            key: the stream.
            first: the first version.
            most: the most events to return; None for all.
            position: the position of the last event of all streams.

        Raises:
            DamagedStoreError: some events are missing, and were not pruned.
        """
        stream = self.find(key)
        if stream is None:
            return []
        first = max(first, 1)
        last = stream.version if most is None else min(stream.version, first + most - 1)
        where = "where stream = ? and version between ? and ? order by version"
        entries = self.entries(where, stream.id, first, last)
        # A damaged index may have lost rows, so compare the versions found with those expected.
        versions = [each.version for each in entries]
        are_ours = all(each.stream == key for each in entries)
        if are_ours and versions == list(range(first, max(first, last + 1))):
            return entries
        # Each hole in the versions must be explained by pruned positions between its neighbours.
        # Other streams may have pruned events there too, so the count is only an upper bound.
        at = [0, *(each.position for each in entries), position + 1]
        for place, (one, other) in enumerate(pairwise([first - 1, *versions, last + 1])):
            missing = other - one - 1
            if not 0 <= missing <= self.count_pruned(at[place], at[place + 1] - 1):
                are_ours = False
        if not are_ours:
            raise DamagedStoreError(f"events of {key!r} are missing")
        return entries

    def count_pruned(self, after: int, last: int) -> int:
        """Count the pruned events after position ``after``, up to and including ``last``."""
        before = self._table.row("gap", "where first <= ? order by first desc limit 1", after + 1)
        where = "where first between ? and ?"
        gaps = self._table.rows("gap", where, before[0] if before else 0, last)
        return sum(
            max(0, min(end, last) - max(first, after + 1) + 1)
            for first, end in cast("Iterable[tuple[int, int]]", gaps)
        )

    def last_before(self, at: float, position: int) -> int:
        """Return the last position whose event is older than a time, by binary search.

        Args:
            at: the time, in seconds since the epoch.
            position: the position of the last event.
        """
        low, high = 0, position
        while low < high:
            middle = (low + high + 1) // 2
            row = self._table.row("event", "where position >= ? order by position limit 1", middle)
            if row and cast("float", row[4]) < at:
                low = middle
            else:
                high = middle - 1
        return low

    # Results of requests with a key

    def request_result(self, stream: str, key: str) -> Stored | None:
        """Return the stored result of a request at a stream; None if unknown."""
        known = self.find(stream)
        row = known and self._table.row("request", "where stream = ? and key = ?", known.id, key)
        return Stored(cast("int", row[2]), cast("int", row[3])) if row else None

    def request_results(self, changes: Changes, key: str) -> Mapping[str, Stored]:
        """Return the stored results of a request, by stream; empty if it wasn't stored."""
        found = {}
        for name, (_, events) in changes.items():
            if events:
                place = self.request_result(name, key)
                if place is None:  # a match's stream may know the key from another board
                    return {}
                found[name] = place
        return found

    def store_request(self, key: str, stored: Mapping[str, Stored], at: float, last: int) -> None:
        """Store the results of a request, and delete old ones once an hour.

        Args:
            key: the key of the request.
            stored: its results, by stream.
            at: the time of its events, in seconds since the epoch.
            last: the position of the last event of all streams.
        """
        if self._pruned_at is None or monotonic() >= self._pruned_at + 3600.0:
            self._pruned_at = monotonic()
            old = self.last_before(at - KEPT_REQUESTS, last)
            self._table.delete("request", "where position <= ?", old)
        for name, place in stored.items():
            self._table.put("request", self.find_or_create(name).id, key, *place)

    # Events

    def entries(self, rest: str, *values: object) -> list[Entry]:
        """Return the events that a query finds."""
        return self.entries_of(list(self._table.rows("event", rest, *values)))

    def entries_of(self, rows: Sequence[Sequence[object]]) -> list[Entry]:
        """Decode rows of ``event``."""
        events = cast("Sequence[EventRow]", rows)
        self._look_up_numbers(events, events)
        return [self._decoded(row) for row in events]

    def _decoded(self, row: EventRow) -> Entry:
        position, stream, version, schema, at, _, body = row
        key, event = self._key_of(stream), from_text(schema, body, at, self._players.name_of)
        return self.entry(position, key, version, event)

    def feed_entries_of(self, rows: Sequence[Sequence[object]]) -> list[FeedEntry]:
        """Decode rows of ``event``, and plies without their players."""
        events = cast("Sequence[EventRow]", rows)
        plies = [ply_from_text(row[3], row[6]) for row in events]
        self._look_up_numbers(
            events, [row for row, ply in zip(events, plies, strict=True) if not ply]
        )
        entries: list[FeedEntry] = []
        for row, ply in zip(events, plies, strict=True):
            if ply is None:
                entries.append(self._decoded(row))
            else:
                position, stream, version, _, at, *_ = row
                entries.append(StoredPly(position, self._key_of(stream), version, at, *ply))
        return entries

    def entry(
        self, position: int, stream: str, version: int, event: StoredEvent, mark: object = None
    ) -> Entry:
        """Return an entry, with the data that the projections have on its event."""
        battle: int | None = None
        changes: tuple[RatingChange, ...] = ()
        match event:
            case BattleStarted():
                battle = self._projected.number_of(BattleId(stream, version))
            case Resumed(match=saved):
                battle = self._projected.number_of(saved.battle_id)
            case BattleEnded(rated=True) if event.points or event.levels != NO_BOTS:
                changes = tuple(
                    change._replace(player=self._players.name_of(int(change.player)))
                    for change in self._projected.changes(position)
                )
        return Entry(position, stream, version, event, battle, mark, changes)

    def _key_of(self, number: int) -> str:
        if number not in self._keys:
            cache(self._keys, number, self.with_number(number).key)
        return self._keys[number]

    # Prefetching, where each query takes a round trip

    def look_up(self, appends: Iterable[Changes]) -> None:
        """Prefetch the streams and players that appends need, in one round trip."""
        streams: set[str] = set()
        players: dict[str, set[str]] = {}
        for changes in appends:
            for stream, (_, events) in changes.items():
                if stream not in self._known:
                    streams.add(stream)
                realm = realm_of(stream)
                names = (name for event in events for name in players_of(event))
                if keys := self._players.not_cached(realm, names):
                    players.setdefault(realm, set()).update(keys)
        asked: list[Query] = [
            ("player", "where realm = ? and key = any(?)", (realm, sorted(keys)))
            for realm, keys in players.items()
        ]
        if streams:
            asked.append(("stream", "where key = any(?)", (sorted(streams),)))
        self._learn(asked)

    def relied_on(
        self, appends: Iterable[Changes]
    ) -> tuple[Mapping[int, int], Mapping[int, str]] | None:
        """Return the rows that appends rely on, to be compared once the writers' lock is held.

        Returns:
            The versions of the streams, and the names of the players in the events, by number. None
            if a row would have to be created, or a name to be changed.
        """
        versions, names = {}, {}
        for changes in appends:
            for key, (_, events) in changes.items():
                if (stream := self.find(key)) is None:
                    return None
                versions[stream.id] = stream.version
                for name in {name for event in events for name in players_of(event) if name}:
                    number, as_written = self._players.find(name, realm_of(key)) or (0, "")
                    if as_written != name:
                        return None
                    names[number] = name
        return versions, names

    def _look_up_numbers(self, rows: Sequence[EventRow], whole: Sequence[EventRow]) -> None:
        """Prefetch the streams of rows of events, and the players that ``whole`` rows refer to."""
        if not self._backend.is_shared:
            return
        streams = {row[1] for row in rows} - self._keys.keys()
        players: set[int] = set()

        def note(number: int) -> str:
            players.add(number)
            return as_text(number)

        for _, _, _, schema, at, _, body in whole:
            from_text(schema, body, at, note)
        asked: list[Query] = []
        if streams:
            asked.append(("stream", "where id = any(?)", (sorted(streams),)))
        if numbers := self._players.not_named(players):
            asked.append(("player", "where id = any(?)", (sorted(numbers),)))
        self._learn(asked)

    def _learn(self, asked: Sequence[Query]) -> None:
        if not asked:
            return
        found = self._table.several(self._backend, *asked)
        for (table, _, _), rows in zip(asked, found, strict=True):
            if table == "player":
                self._players.learn(rows)
                continue
            for row in rows:
                stream = Stream(*cast("Any", row))
                cache(self._keys, stream.id, stream.key)
                if stream.key not in self._moved:  # otherwise the row is outdated
                    cache(self._known, stream.key, stream)
