"""A store's database, used by one thread: transactions, events, players, battles, nodes.

Nothing here waits for anything but the disk, and nothing knows of an event loop. Everything rests
on three rules:

- Positions, versions and the numbers of players and streams are given out under the writer's lock.
  A sequence would give them out before that, and out of order: subscribers would miss events.
- What is cached of the rows holds until another connection has written. SQLite's data version tells
  whether one has, and is the first thing that is read under the lock.
- The witness is raised, and the caller told, only after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from itertools import pairwise
from operator import attrgetter
from secrets import randbits
from time import monotonic
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from thudmud.errors import ThudmudError
from thudmud.play.archive import (
    RatingChange,
)
from thudmud.play.events import (
    Adjourned,
    BattleEnded,
    BattleId,
    BattleStarted,
    BoardOpened,
    BoardRenamed,
    Event,
    Imported,
    Interrupted,
    Resumed,
    StoredEvent,
    is_complete,
)
from thudmud.play.projections import (
    HALL,
    PROJECTED,
    PROJECTION,
    EventPlace,
    match_stream,
    project,
    realm_of,
)
from thudmud.store.backend import Backend
from thudmud.store.codec import (
    KINDS,
    SCHEMA,
    from_array,
    from_text,
    players_of,
    to_array,
    to_text,
)
from thudmud.store.interface import (
    Conflict,
    Damaged,
    Entry,
    Forgotten,
    NotWritten,
    Stored,
    StoreError,
    Uncertain,
)
from thudmud.store.players import Players, cache
from thudmud.store.projected import ProjectedRows, as_text, project_all
from thudmud.store.rows import PROJECTIONS, SqlTable, definitions, unchanged
from thudmud.store.steady import SteadyClock

BATCH = 1_000
"""About how many entries are read at once for subscribers."""

KEPT_REQUESTS = 3 * 86_400.0
"""Seconds for which it is known what a request with a key came to."""

T = TypeVar("T")
Work = Callable[["Database"], Any]
Changes = Mapping[str, tuple[int, Sequence[StoredEvent]]]
EventRow = tuple[int, int, int, int, float, int, str]
Query = tuple[str, str, Sequence[object]]


@dataclass(frozen=True)
class Append:
    """The work of storing events, see `thudmud.store.Store.append`."""

    changes: Changes
    key: str | None
    mark: object

    def __call__(self, database: Database) -> Mapping[str, Stored]:
        """Do it."""
        return database.append(self.changes, self.key, self.mark)


class Head(NamedTuple):
    """The one row of ``head``."""

    id: int = 1
    position: int = 0
    commits: int = 0
    projection: int = PROJECTION
    at: float = 0.0
    served: float = 0.0
    sum: int = 0
    store: int = 0


class Stream(NamedTuple):
    """A row of ``stream``."""

    id: int
    key: str
    name: str
    version: int
    beginning: int


class _Spoilt(ThudmudError):
    """Work was refused after it had written something: its whole transaction is rolled back."""


class Database:
    """An open database.

    Args:
        backend: what it is kept in.
        clock: returns the seconds since the epoch.
    """

    def __init__(self, backend: Backend, clock: Callable[[], float]) -> None:
        self.backend = backend
        self.damage: Damaged | None = None
        """The damage that was found; from then on nothing is written."""
        self.forgotten: Forgotten | None = None
        """That events are gone which we have seen; from then on nothing may be done with it."""
        self._clock = clock
        self._version: int | None = None
        """The backend's version when it was last seen what others have written."""
        self.table = SqlTable(backend.connection)
        self.projected = ProjectedRows(self.table)
        self.players = Players(self.table, backend.dialect)
        self._streams: dict[str, Stream] = {}
        self._events: list[tuple[object, ...]] = []
        """The rows of this transaction's events, which are written at its end."""
        self._moved: dict[str, tuple[Stream, Stream]] = {}
        """The streams that have new events in it: as their rows are, and as they will be then."""
        self._keys: dict[int, str] = {}
        self._new: list[Entry] = []
        self._followed = False
        self.lease: float | None = None
        """For how long the nodes of ours live; None if there are none, but somebody who imports."""
        self._pruned_at: float | None = None
        self.others_wrote = False
        """Whether a commit of another process was seen that nobody has been told of yet."""
        self.erased = False
        """Whether something was erased that the -wal may still hold."""
        self._handed = 0
        """The position up to which entries have been handed out, or seen."""
        self._last: Sequence[object] | None = None
        """The row of the event that stands there, if it was handed out."""
        self._newest: Sequence[object] | None = None
        """The row of the last event that is to be handed out next."""
        self._link = backend.link()
        """Over which link it was last seen that what we know is there."""
        with self._told():
            if backend.is_new:
                self._begin()
            self.head = self.read_head()
            if self.head.projection != PROJECTION:
                self.rebuild()
        self._handed = self.head.position
        backend.told(self.head.commits, self.head.store)

    def _begin(self) -> None:
        """Write the row that everything begins with, unless another process is quicker."""
        self.backend.begin()
        if self.table.row("head", "where id = 1") is None:
            self.table.put("head", *Head(store=randbits(63)))
        self.backend.commit()

    # Transactions

    def write(self, works: Sequence[Work]) -> tuple[list[Any], list[Entry]]:
        """Do works in one transaction, each all or not at all.

        Returns:
            What each returned or raised; and the entries for subscribers, in order, which begin
            with those of other processes that had not been seen.
        """
        if self.damage:
            refused = NotWritten(f"Nothing is written any more: {self.damage}")
            return [refused] * len(works), []
        try:
            try:
                return self._transaction(works)
            except self.backend.errors as error:
                if not self.backend.is_back(error):
                    raise
                return self._transaction(works)
        except Exception as error:  # noqa: BLE001 - whatever it is, who waits is told
            # One bad work must not fail the others that happen to share its transaction: each is
            # tried by itself. But what the disk or another process refuses, it refuses to all of
            # them, and each time after a wait.
            refuses_all = isinstance(error, NotWritten | Uncertain | Forgotten)
            is_its_own = not refuses_all and not self.backend.refuses_all(error)
            if len(works) > 1 and is_its_own:
                done = [self.write([work]) for work in works]
                return [one for [one], _ in done], [each for _, new in done for each in new]
            return [self._translated(error, writing=True)] * len(works), []

    def read(self, work: Callable[[Database], T]) -> T:
        """Return what a work that only reads comes to.

        Raises:
            StoreError: it cannot be read.
        """
        with self._told():
            try:
                return self._read(work)
            except self.backend.errors as error:
                if not self.backend.is_back(error):
                    raise
                return self._read(work)

    def _read(self, work: Callable[[Database], T]) -> T:
        self._look_again()
        return work(self)

    def _transaction(self, works: Sequence[Work]) -> tuple[list[Any], list[Entry]]:
        self._look_again()
        row = self.backend.begin()
        try:
            self._new, self._newest = [], None
            unseen = self._unseen(row)
            self._look_up(works)
            before = self._changes
            outcomes = [self._outcome(work) for work in works]
            if self._changes == before:
                self.backend.rollback()
            else:
                with self.backend.committing():
                    self.write_events()
                    commits = self.head.commits + 1
                    self.head = self.head._replace(commits=commits, sum=self.table.sum)
                    self.table.put("head", *self.head)
                    self.backend.require()
        except BaseException as error:
            with suppress(*self.backend.errors):
                self.backend.rollback()
            self._forget()
            if isinstance(error, _Spoilt):
                raise cast("StoreError", error.__cause__) from None
            raise
        # From here on it is stored, and nothing may say that it is not.
        with suppress(OSError):  # the witness is behind, until the next commit
            self.backend.told(self.head.commits, self.head.store)
        with suppress(*self.backend.errors):
            self.scrub()
        self._hand_on(self.head.position)
        return outcomes, unseen + self._new

    @property
    def _changes(self) -> int:
        """How many rows have been written, or are to be at the transaction's end."""
        return self.table.changes + len(self._events)

    def _outcome(self, work: Work) -> Any:
        before = self._changes
        try:
            return work(self)
        except Damaged:
            raise
        except StoreError as error:
            if self._changes != before:
                raise _Spoilt from error
            return error

    def _unseen(self, row: Any = None) -> list[Entry]:
        """Note what other processes have written; return those of its entries for subscribers.

        Args:
            row: that of ``head``, if it is known.
        """
        version = self.backend.version()
        if version != self._version or self.head.commits < 0:
            self._adopt(self._head_of(unchanged("head", row)) if row else self.read_head())
            self._version = version
        head = self.head
        if not self._followed or head.position == self._handed:
            return []
        rows = list(self.table.rows("event", "where position > ? order by position", self._handed))
        self._newest = rows[-1] if rows else None
        return self._entries_of(rows)

    @property
    def is_caught_up(self) -> bool:
        """Whether all has been handed out that was there when it was last looked."""
        return self._handed == self.head.position

    def news(self) -> list[Entry] | None:
        """Return some entries that others have appended; None if nobody has written anything.

        Raises:
            StoreError: they cannot be read, now or by this version.
        """
        with self._told():
            self._look_again()
            witnessed = self.backend.witnessed()
            if witnessed == self.head.commits and self.is_caught_up:
                return None
            asked: list[Query] = [("head", "where id = 1", ())]
            if self._followed:
                asked.append(
                    ("event", "where position > ? order by position limit ?", (self._handed, BATCH))
                )
            heads, *events = self.table.several(self.backend, *asked)
            head = self._head_of(heads[0] if heads else None)
            if head == self.head and self._handed == head.position:
                return None
            self._adopt(head)
            entries: list[Entry] = []
            if self._followed:
                entries = self._after(self._handed, head.position, *events)
            self._hand_on(entries[-1].position if entries else head.position)
            return entries

    def _adopt(self, head: Head) -> None:
        """Go on from how far others have come."""
        if head == self.head:
            return
        self._clear()
        self.head = head
        self.others_wrote = True
        if isinstance(self._clock, SteadyClock):  # all nodes go by the one that is ahead
            self._clock.not_before(head.at)

    def _hand_on(self, position: int) -> None:
        """Note up to where entries are handed out."""
        self._handed = position
        self._last = self._newest or self._last

    def read_head(self) -> Head:
        """Return the row of ``head`` as it is now, whoever has written it."""
        return self._head_of(self.table.row("head", "where id = 1"))

    def _head_of(self, row: Sequence[object] | None) -> Head:
        if row is None:
            raise Damaged("the row that it begins with is missing")
        head = Head(*cast("tuple[int, int, int, int, float, float, int, int]", row))
        if head.position < self._handed:  # a standby that was behind is the primary by now, say
            self._has_forgotten(
                f"the last event that it has is {head.position}, and {self._handed} was seen"
            )
        self.table.sum = head.sum
        return head

    def _look_again(self) -> None:
        """See over a new link whether all that is known here holds there; forget what is cached.

        A standby that was behind may have as many events by now as we have seen, but others.

        Raises:
            Forgotten: it does not hold.
        """
        if (link := self.backend.link()) == self._link:
            return
        self._clear()
        self._keys.clear()
        if not self.backend.has_settled():
            self._has_forgotten("what it wrote last is missing")
        self._adopt(self.read_head())
        if (last := self._last) and self._is_another(last):
            self._has_forgotten(f"event {last[0]} is another one than was seen")
        self._link = link

    def _is_another(self, seen: Sequence[object]) -> bool:
        """Return whether the row of an event is not what it was. It may have been pruned.

        Its time tells: no two stores append at the same. What is in it may have been erased.
        """
        position = cast("int", seen[0])
        row = self.table.row("event", "where position = ?", position)
        if row is None:
            return not self.pruned(position - 1, position)
        return row[:5] != seen[:5]

    def _has_forgotten(self, what: str) -> NoReturn:
        self.forgotten = Forgotten(
            "The database has forgotten what this server has written, or seen there:"
            f" {what}. Restart the server."
        )
        raise self.forgotten

    def _clear(self) -> None:
        """Forget what is cached: the rows may have changed. A stream keeps its key for ever."""
        self._streams.clear()
        self._moved.clear()
        self._events.clear()
        self.players.clear()

    def _forget(self) -> None:
        """Forget what is cached, and how far we are: a transaction has come to nothing."""
        self._clear()
        self._keys.clear()
        self.head = self.head._replace(commits=-1)  # if it cannot be read now, the next write does
        with suppress(*self.backend.errors, Damaged, Forgotten):  # the next read raises it
            self.head = self.read_head()

    def scrub(self) -> bool:
        """Leave nothing in the -wal of what was erased; return whether nothing is left by now."""
        if self.erased:
            self.erased = not self.backend.scrubbed()
        return not self.erased

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what comes of reading into errors of ours."""
        try:
            yield
        except Exception as error:
            told = self._translated(error)
            if told is error:
                raise
            raise told from error

    def _translated(self, error: Exception, *, writing: bool = False) -> Exception:
        """Return an error as the caller is to see it; remember damage."""
        told = self.backend.translated(error, writing=writing)
        if isinstance(told, Damaged) and self.damage is None:
            self.damage = told
        return told

    # Appending

    def append(
        self, changes: Changes, key: str | None = None, mark: object = None
    ) -> Mapping[str, Stored]:
        """Store events of several streams, all or none, see `thudmud.store.Store.append`."""
        if key is not None and (known := self._came_to(changes, key)):
            return known
        for name, (expected, _) in changes.items():
            found = self.version(name)
            if found != expected:
                raise Conflict(name, expected, found)
        stored = {}
        at = self.now()
        if self.backend.is_shared and self._has_lapsed(at):
            raise NotWritten("No server has lived for a while, which has to be noted first.")
        left = sum(len(events) for _, events in changes.values())
        for name, (_, events) in changes.items():
            for event in events:
                left -= 1
                stored[name] = self._store(name, event, at, last=not left, mark=mark)
        if key is not None:
            self._prune_requests(at)
            for name, place in stored.items():
                self.table.put("request", self.made(name).id, key, *place)
        return stored

    def _has_lapsed(self, at: float) -> bool:
        """Whether no server may have lived for a while: the next beat notes since when."""
        return self.lease is not None and 0 < self.head.served < at - self.lease

    def _store(
        self, name: str, event: StoredEvent, at: float, *, last: bool, mark: object
    ) -> Stored:
        if not isinstance(event, Imported):
            event = _stamped(event, at)
        realm = realm_of(name)
        array = to_array(event, lambda player: self.players.number_of(player, realm))
        body = to_text(array)
        stream = self.made(name)
        position, version = self.head.position + 1, stream.version + 1
        beginning = version if is_complete(cast("Event", event)) else stream.beginning
        gone_on = Stream(stream.id, name, stream.name, version, beginning)
        before, _ = self._moved.get(name, (stream, stream))
        self._moved[name] = before, gone_on
        self._streams[name] = gone_on
        self._newest = position, stream.id, version, SCHEMA, at, int(last), body
        self._events.append(self._newest)
        _, _, commits, projection, _, served, total, store = self.head
        served = served if self.lease is None or self._has_lapsed(at) else at
        self.head = Head(1, position, commits, projection, at, served, total, store)
        if isinstance(event, BoardOpened | BoardRenamed):
            self._put_stream(self.made(event.key)._replace(name=event.name))
        if isinstance(event, PROJECTED):
            by_number = from_array(array, at, as_text)
            project(by_number, EventPlace(name, version, position), self.projected)
        if self._followed:
            self._new.append(self._entry(position, name, version, event, mark))
        return Stored(position, version)

    def bring_in(self, events: Iterable[tuple[str, Event]], take: Callable[[Entry], None]) -> None:
        """Store events that were kept elsewhere, see `thudmud.store.Store.bring_in`."""
        away: dict[str, StoredEvent] = {}
        for board, event in events:
            streams = [board]
            if isinstance(event, Adjourned | Resumed):
                stream = match_stream(event.match.began)
                self.match_version(stream, event, away.get(stream))
                away[stream] = event
                streams.append(stream)
            at = self.head.at
            if not isinstance(event, Imported):  # that has the time at which it was played
                at = max(event.at, at)
                if at != event.at:
                    event = cast("Event", _stamped(event, at))  # noqa: PLW2901
            for stream in streams:
                is_last = stream is streams[-1]
                stored = self._store(stream, event, at, last=is_last, mark=None)
                take(self._entry(stored.position, stream, stored.version, event))

    def match_version(
        self, stream: str, event: Adjourned | Resumed, last: StoredEvent | None = None
    ) -> int:
        """Return the version of a match's stream at which an event can be the next.

        Args:
            stream: the stream.
            event: what puts the match away, or takes it up as it was put away.
            last: the last event of the stream, if that was added in this transaction.

        Raises:
            Conflict: the match is not put away, or not as the event has it.
        """
        version = self.version(stream)
        if isinstance(event, Resumed):
            if last is None and version:
                last = self.read_stream(stream, version, 1)[0].event
            if not isinstance(last, Adjourned) or last.match != event.match:
                raise Conflict(stream, max(version - 1, 0), version)
        return version

    def _came_to(self, changes: Changes, key: str) -> Mapping[str, Stored]:
        """Return what a request with a key came to; nothing if it came to nothing yet."""
        found = {}
        for name, (_, events) in changes.items():
            if events:
                place = self.came_to(name, key)
                if place is None:  # the stream of a match has keys of several boards
                    return {}
                found[name] = place
        return found

    def came_to(self, stream: str, key: str) -> Stored | None:
        """Return what a request with a key came to at a stream, see `Store.came_to`."""
        known = self.known(stream)
        row = known and self.table.row("request", "where stream = ? and key = ?", known.id, key)
        return Stored(cast("int", row[2]), cast("int", row[3])) if row else None

    def _prune_requests(self, at: float) -> None:
        """Forget what old requests came to, once an hour."""
        if self._pruned_at is not None and monotonic() < self._pruned_at + 3600.0:
            return
        self._pruned_at = monotonic()
        self.table.delete("request", "where position <= ?", self.last_before(at - KEPT_REQUESTS))

    def last_before(self, at: float) -> int:
        """Return the position up to which everything happened before a time.

        Times go up with positions, so it is found by halving, without an index.
        """
        low, high = 0, self.head.position
        while low < high:
            middle = (low + high + 1) // 2
            row = self.table.row("event", "where position >= ? order by position limit 1", middle)
            if row and cast("float", row[4]) < at:
                low = middle
            else:
                high = middle - 1
        return low

    def now(self) -> float:
        """Return the store's time, in seconds since the epoch; it never goes back."""
        return max(float(self._clock()), self.head.at)  # a row of a whole number is another one

    def lived(self) -> None:
        """Note that a server runs now."""
        now = self.now()
        self.head = self.head._replace(at=now, served=now)
        self.table.put("head", *self.head)

    def interrupted(self) -> None:
        """Note in the hall's stream that no server ran since the last one did."""
        now, since = self.now(), self.head.served
        if 0 < since < now:
            self.head = self.head._replace(served=now)
            self.append({HALL: (self.version(HALL), [Interrupted(now, since)])})

    # Streams

    def known(self, name: str) -> Stream | None:
        """Return a stream, if there is one of that key."""
        stream = self._streams.get(name)
        if stream is None and name in self._moved:
            return self._moved[name][1]
        if stream is None and (row := self.table.row("stream", "where key = ?", name)):
            stream = Stream(*cast("tuple[int, str, str, int, int]", row))
            cache(self._streams, name, stream)
        return stream

    def made(self, name: str) -> Stream:
        """Return a stream, which is made if there is none."""
        stream = self.known(name)
        if stream is None:
            number = self.table.number("select coalesce(max(id), 0) + 1 from stream")
            stream = Stream(number, name, name, 0, 1)
            self._put_stream(stream)
        return stream

    def _put_stream(self, stream: Stream) -> None:
        self.table.put("stream", *stream)
        self._moved.pop(stream.key, None)
        cache(self._streams, stream.key, stream)

    def write_events(self) -> None:
        """Write the events of a transaction, and how far that has brought each stream."""
        self.table.insert_events(self._events)
        self.table.advance(self._moved.values())
        self._events.clear()
        self._moved.clear()

    def version(self, stream: str) -> int:
        """Return the version of a stream; 0 if it has no events."""
        found = self.known(stream)
        return found.version if found else 0

    def _key(self, number: int) -> str:
        if number not in self._keys:
            cache(self._keys, number, self.stream(number).key)
        return self._keys[number]

    def stream(self, number: int) -> Stream:
        """Return the stream with a number."""
        row = self.table.row("stream", "where id = ?", number)
        if row is None:
            raise Damaged(f"there is no stream {number}")
        return Stream(*cast("tuple[int, str, str, int, int]", row))

    def read_stream(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        """Return the events of a stream from a version on, in order, ``most`` at most."""
        found = self.known(stream)
        if found is None:
            return []
        first = max(first, 1)
        entries = self.entries(
            "where stream = ? and version between ? and ? order by version",
            found.id,
            first,
            found.version if most is None else min(found.version, first + most - 1),
        )
        self._require_whole(found, entries, first, most)
        return entries

    def _require_whole(
        self, stream: Stream, entries: Sequence[Entry], first: int, most: int | None
    ) -> None:
        """Raise Damaged if events are missing: an index may have lost rows that are there."""
        last = stream.version if most is None else min(stream.version, first + most - 1)
        versions = [each.version for each in entries]
        is_whole = versions == list(range(first, max(first, last + 1)))
        if is_whole and all(each.stream == stream.key for each in entries):
            return
        at = [0, *(each.position for each in entries), self.head.position + 1]
        for place, (one, other) in enumerate(pairwise([first - 1, *versions, last + 1])):
            missing = other - one - 1
            if not 0 <= missing <= self.pruned(at[place], at[place + 1] - 1):
                raise Damaged(f"events of {stream.key!r} are missing")
        if any(each.stream != stream.key for each in entries):
            raise Damaged(f"events of {stream.key!r} are missing")

    def pruned(self, after: int, last: int) -> int:
        """Return how many events after a position, and not after the last, were pruned."""
        before = self.table.row("gap", "where first <= ? order by first desc limit 1", after + 1)
        gaps = self.table.rows(
            "gap", "where first between ? and ?", before[0] if before else 0, last
        )
        return sum(
            max(0, min(end, last) - max(first, after + 1) + 1)
            for first, end in cast("Iterable[tuple[int, int]]", gaps)
        )

    def streams(self) -> Mapping[str, int]:
        """Return all streams by key, and their versions. For export and checks: there are many."""
        rows = cast("list[tuple[int, str, str, int, int]]", list(self.table.rows("stream")))
        return {key: version for _, key, _, version, _ in rows if version}

    def position(self) -> int:
        """Return the position of the last event; 0 if there is none."""
        return self.read_head().position

    # Following

    def follow(self, after: int) -> tuple[list[Entry], bool]:
        """Return entries after a position, and whether all that come later will be handed on."""
        if not self._followed:
            self._followed = True
            self._handed = max(self._handed, self.read_head().position)
            self._last = self.table.row("event", "where position = ?", self._handed)
        if after >= self._handed:
            return [], True
        entries = [each for each in self.after(after) if each.position <= self._handed]
        return entries, not entries or entries[-1].position >= self._handed

    def after(self, position: int) -> list[Entry]:
        """Return the first entries after a position: whole appends."""
        return self._after(position, self.read_head().position)

    def _after(
        self, position: int, last: int, found: Sequence[Sequence[object]] | None = None
    ) -> list[Entry]:
        """Return the same.

        Args:
            position: the same.
            last: the last position that there is.
            found: the first rows after the position, if they are known, as many as a batch has.
        """
        if last > position + BATCH:
            rest = "where position >= ? and last = 1 order by position limit 1"
            end = self.table.row("event", rest, position + BATCH)
            last, found = (cast("int", end[0]) if end else last), None
        if found is None:
            where = "where position > ? and position <= ? order by position"
            found = list(self.table.rows("event", where, position, last))
        rows = [row for row in found if cast("int", row[0]) <= last]
        self._newest = rows[-1] if rows else None
        entries = self._entries_of(rows)
        missing = max(0, last - position) - len(entries)
        if missing and missing != self.pruned(position, last):
            raise Damaged(f"events after {position} are missing")
        return entries

    def entries(self, rest: str, *values: object) -> list[Entry]:
        """Return the events that a query finds."""
        return self._entries_of(list(self.table.rows("event", rest, *values)))

    def _entries_of(self, rows: Sequence[Sequence[object]]) -> list[Entry]:
        events = cast("Sequence[EventRow]", rows)
        self._look_up_numbers(events)
        entries = []
        for position, stream, version, schema, at, _, body in events:
            key, event = self._key(stream), from_text(schema, body, at, self.players.name_of)
            entries.append(self._entry(position, key, version, event))
        return entries

    def _entry(
        self, position: int, stream: str, version: int, event: StoredEvent, mark: object = None
    ) -> Entry:
        """Return an event where it is stored, with what the projections know of it."""
        battle: int | None = None
        changes: tuple[RatingChange, ...] = ()
        match event:
            case BattleStarted():
                battle = self.projected.number_of(BattleId(stream, version))
            case Resumed(match=saved):
                battle = self.projected.number_of(saved.began)
            case BattleEnded(rated=True, points=points) if points:
                changes = tuple(
                    change._replace(player=self.players.name_of(int(change.player)))
                    for change in self.projected.changes(position)
                )
        return Entry(position, stream, version, event, battle, mark, changes)

    def _look_up(self, works: Sequence[Work]) -> None:
        """Ask at once for what some works will ask for, where to ask takes a round trip."""
        if not self.backend.is_shared:
            return
        streams: set[str] = set()
        players: dict[str, set[str]] = {}
        for work in works:
            if not isinstance(work, Append):
                continue
            for stream, (_, events) in work.changes.items():
                if stream not in self._streams:
                    streams.add(stream)
                realm = realm_of(stream)
                names = (name for event in events for name in players_of(event))
                if keys := self.players.not_cached(realm, names):
                    players.setdefault(realm, set()).update(keys)
        asked: list[Query] = [
            ("player", "where realm = ? and key = any(?)", (realm, sorted(names)))
            for realm, names in players.items()
        ]
        if streams:
            asked.append(("stream", "where key = any(?)", (sorted(streams),)))
        self._learn(asked)

    def _look_up_numbers(self, rows: Sequence[EventRow]) -> None:
        """Ask at once for the streams and players of rows of events, likewise."""
        if not self.backend.is_shared:
            return
        streams = {row[1] for row in rows} - self._keys.keys()
        players: set[int] = set()

        def note(number: int) -> str:
            players.add(number)
            return as_text(number)

        for _, _, _, schema, at, _, body in rows:
            from_text(schema, body, at, note)
        asked: list[Query] = []
        if streams:
            asked.append(("stream", "where id = any(?)", (sorted(streams),)))
        if players := self.players.not_named(players):
            asked.append(("player", "where id = any(?)", (sorted(players),)))
        self._learn(asked)

    def _learn(self, asked: Sequence[Query]) -> None:
        """Cache the rows of streams and players that some queries find."""
        if not asked:
            return
        for (table, _, _), rows in zip(
            asked, self.table.several(self.backend, *asked), strict=True
        ):
            if table == "player":
                self.players.learn(rows)
                continue
            for row in rows:
                stream = Stream(*cast("tuple[int, str, str, int, int]", row))
                cache(self._keys, stream.id, stream.key)
                if stream.key not in self._moved:  # its row is behind
                    cache(self._streams, stream.key, stream)

    def rebuild(self) -> None:
        """Make the rows of the projections anew, unless another process just has."""
        self.backend.begin()
        try:
            self.head = self.read_head()
            if self.head.projection != PROJECTION:
                for name in PROJECTIONS:
                    self.table.execute(f"drop table if exists {name}")
                for statement in definitions(PROJECTIONS, self.backend.dialect):
                    self.table.execute(statement)
                project_all(self.backend, self.projected)
                commits = self.head.commits + 1
                self.head = self.head._replace(projection=PROJECTION, commits=commits)
                self.table.put("head", *self.head)
            self.backend.commit()
        except BaseException:
            self.backend.rollback()
            raise

    def is_damaged(self, error: Damaged) -> None:
        """Write nothing any more, since this was found."""
        self.damage = self.damage or error

    def close(self) -> None:
        """Let go of it."""
        self.backend.close()


def _slots(kind: type[StoredEvent]) -> tuple[Callable[..., Any], list[Callable[..., None]]]:
    """Return what reads the fields of events of a kind but their time, and what sets all."""
    names = [field.name for field in fields(kind) if field.name != "at"]
    setters = [getattr(kind, name).__set__ for name in ("at", *names)]
    return attrgetter(*names), setters


_SLOTS = {kind: _slots(kind) for kind in KINDS.values()}


def _stamped(event: StoredEvent, at: float) -> StoredEvent:
    """Return an event with another time.

    `dataclasses.replace` would check it once more, which takes as long as to write it.
    """
    kind = type(event)
    read, setters = _SLOTS[kind]
    stamped = object.__new__(kind)
    rest = read(event) if len(setters) > 2 else (read(event),)
    for put, value in zip(setters, (at, *rest), strict=True):
        put(stamped, value)
    return stamped
