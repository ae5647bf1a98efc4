"""One thread's connection to a store: opening, transactions, appending and reading.

Nothing here uses an event loop, or waits for anything except the database. The parts `Streams`,
`Players`, `Feed` and `ProjectedRows` own the tables of events. Modules of functions that take a
database, such as `thudmud.store.battles` and `thudmud.store.accounts`, use the others.

Theory of operation. `Database.write` runs several units of work as one transaction (group commit),
in one of two ways. The general one:

1. After a reconnect, verify that the database still has everything seen here
   (`_verify_after_reconnect`).
2. Take the writers' lock (`Backend.begin`). Only its holder may write anything, anywhere.
3. If another process has committed meanwhile, adopt its ``head`` and empty the caches. Read the
   entries that it appended: subscribers get them before ours.
4. Run each unit of work. One that is refused before it has written anything fails alone.
5. Write the queued events and stream versions, and ``head`` with one more commit; then commit. From
   here on the events are durable.
6. Raise the commit watermark (`Backend.record_acknowledged`).
7. Return the results. The caller wakes those who appended, then calls the subscribers.

Positions, versions, and the numbers of players and streams are assigned in step 4, under the lock.
A database sequence would assign them earlier, not in the order of the commits. A subscriber that
had read up to position 8 could then miss event 7, committed later.

On PostgreSQL each statement whose result is awaited is a round trip, and the lock keeps all other
nodes waiting. Therefore appends that write only events, such as plies, are prepared without it
(`_append_prepared`), by optimistic concurrency control:

1. Read ``head`` and the streams and players that aren't cached, and do step 4 without the lock.
2. In one round trip, take the lock, check everything that step 4 relied on, and write and commit if
   it still holds (`Backend.append`). Positions and times are adjusted to those of the others.
3. Read the entries that others appended meanwhile; then as in 6 and 7.

If it doesn't hold, or an append was refused, nothing is stored, and all run in the general way. So
only decisions made under the lock are reported.

What happens if the process dies, or a call is cancelled?

- Before the commit returns in step 5: the transaction is either rolled back, or complete at the
  next start. Either way, no caller has a result yet.
- If only the connection to PostgreSQL is lost in step 5, the outcome is looked up, see
  `thudmud.store.postgres`. If that fails, callers get UncertainError; stored entries come with the
  next look at the feed.
- Between 5 and 6: the events are stored, and the watermark is one commit behind. That is harmless:
  it is a lower bound. Only a database with fewer commits than the watermark has lost any.
- Between 6 and 7: the events are stored, and no caller knows. The next start, or another node,
  reads them like all others. A request with a key can be repeated: it returns the first result.
- A caller that is cancelled at any point stops nothing here. Its work still runs in its turn, and
  subscribers get the entries as usual.

Step 6 comes after the commit; otherwise a crash in between would look like lost data. It comes
before step 7; otherwise an acknowledged commit could vanish unnoticed.

Who may append, and when? Any process that has opened the store may append, under these conditions:

- Each stream has the expected version; otherwise ConflictError is raised, and nothing is stored.
- The caller's ``fence`` agrees, in step 4: the append may have queued until the node's lease ran
  out. For a prepared append it must agree for the next second, within which the lock must be got.
- ``head.served`` is at most as old as the longest lease of this process's nodes. Otherwise no node
  may have been alive for a while, and appending would move ``served`` and erase the evidence. Such
  appends are refused until the next heartbeat has stored the outage as an event (`record_outage`).
- No damage has been found here, and no events are missing that were seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import randbits
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from thudmud.errors import RefusedError, ThudmudError
from thudmud.game.archive import Battle
from thudmud.game.events import (
    Adjourned,
    BoardOpened,
    BoardRenamed,
    Event,
    Imported,
    Interrupted,
    Resumed,
    StoredEvent,
    is_complete,
)
from thudmud.game.projections import (
    HALL,
    PROJECTED,
    PROJECTION,
    EventPlace,
    match_stream,
    project,
    realm_of,
)
from thudmud.store.backend import PREPARED_LIFETIME, Backend, PreparedAppend
from thudmud.store.codec import from_array, stamped, to_array, to_text
from thudmud.store.feed import Feed
from thudmud.store.interface import (
    ConflictError,
    DamagedStoreError,
    Entry,
    FeedEntry,
    HistoryLostError,
    NotWrittenError,
    OutdatedStoreError,
    Schema,
    Stored,
    StoreError,
    UncertainError,
    UnknownFormatError,
    Upgrade,
)
from thudmud.store.players import Players
from thudmud.store.projected import ProjectedRows, as_text, project_all
from thudmud.store.rows import (
    PROJECTIONS,
    SqlTable,
    current_schema,
    definitions,
    require_no_servers,
)
from thudmud.store.steady import SteadyClock
from thudmud.store.streams import Changes, Streams

T = TypeVar("T")
Work = Callable[["Database"], Any]
Fence = Callable[[float], None]
"""Called in the store's thread before events are stored; raises NotWrittenError to refuse them. The
argument is the number of seconds until they are stored, at most."""


_MORE = (*PROJECTED, BoardRenamed)
"""The classes of events with which other rows are written."""

battle_ended: list[Callable[[Database, Battle], None]] = []
"""Called with a battle in the transaction that ends it, after its events have been written."""

rebuilt: list[Callable[[Database], None]] = []
"""Called in the transaction that rebuilds the projections, after the rebuild."""


@dataclass(frozen=True)
class Append:
    """The work of one append, see `thudmud.store.Store.append`."""

    changes: Changes
    key: str | None
    mark: object
    besides: Work | None = None
    fence: Fence | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it writes nothing except events and the versions of streams."""
        events = [event for _, some in self.changes.values() for event in some]
        is_more = self.key is not None or self.besides is not None
        return bool(events) and not is_more and not any(isinstance(each, _MORE) for each in events)

    def __call__(self, database: Database, ahead: float = 0.0) -> Mapping[str, Stored]:
        """Ask the fence, then append."""
        if self.fence:
            self.fence(ahead)
        return database.append(self.changes, self.key, self.mark, self.besides, ahead)


class Head(NamedTuple):
    """The single row of ``head``; `thudmud.store.rows.DURABLE` describes the columns."""

    id: int = 1
    position: int = 0
    commits: int = 0
    projection: int = PROJECTION
    at: float = 0.0
    served: float = 0.0
    store: int = 0


class _TransactionFailedError(ThudmudError):
    """A unit of work was refused after it had written, so the transaction must be rolled back."""


class Database:
    """An open database, for use by one thread.

    Args:
        backend: the connection.
        clock: returns the seconds since the epoch.
        alone: whether no other process can serve boards from the database.
        upgrade: permits the upgrade of an older database; None refuses it.

    Raises:
        OutdatedStoreError: it has to be upgraded.
        StoreError: it cannot be used, or a running server of another version needs its projections.
    """

    def __init__(
        self,
        backend: Backend,
        clock: Callable[[], float],
        *,
        alone: bool = False,
        upgrade: Upgrade | None = None,
    ) -> None:
        self.backend = backend
        self.damage: DamagedStoreError | None = None
        """The first damage found; once set, all writes are refused."""
        self.forgotten: HistoryLostError | UnknownFormatError | None = None
        """Set once events that were seen here are gone, or another version has taken over the
        database. The store's thread then ends."""
        self._clock = clock
        self._version: int | None = None
        """The backend's data version when other connections' writes were last read."""
        self.table = SqlTable(backend.connection)
        self.projected = ProjectedRows(self.table)
        self.players = Players(self.table, backend.dialect)
        self.streams = Streams(backend, self.table, self.players, self.projected)
        self.feed = Feed(self.table, self.streams)
        self._new: list[Entry] = []
        """The entries appended in this transaction, for subscribers."""
        self.lease: float | None = None
        """The longest lease of this process's nodes, in seconds; None without nodes, as during an
        import."""
        self.others_wrote = False
        """Whether another process has committed since this flag was last reset."""
        self.tells_watchers = False
        """Set by work that changes watched data, see `thudmud.store.Store.watch`: operators,
        sanctions, names, logins, and whatever features watch."""
        self.erased = False
        """Whether erased data may still be in the -wal file."""
        self._link = backend.reconnect()
        """The number of the connection on which our view was last verified."""
        with self._errors_translated():
            self._open(upgrade, alone=alone)
        self.feed.position = self.head.position
        backend.record_acknowledged(self.head.commits, self.head.store)

    def _open(self, upgrade: Upgrade | None, *, alone: bool) -> None:
        """Read ``head``, after inserting it into a new database, or upgrading an older one."""
        if self.backend.is_new:
            self._begin()
        self.head = self.read_head()
        if self.head.projection != PROJECTION:
            if upgrade is None:
                raise OutdatedStoreError("The store", *self._schemas())
            self.rebuild(upgrade, alone=alone)

    def _begin(self) -> None:
        """Insert the row of ``head``, unless another process has just done so."""
        self.backend.begin()
        if self.table.row("head", "where id = 1") is None:
            self.table.put("head", *Head(store=randbits(63)))
        self.backend.commit()
        self.backend.is_new = False

    # Transactions

    def write(self, works: Sequence[Work]) -> tuple[list[Any], list[FeedEntry]]:
        """Run several units of work in one transaction; each succeeds or fails as a whole.

        A unit may run more than once: the transaction is repeated after a lost connection, and each
        unit is retried by itself if one of them breaks the transaction. So it must change nothing
        but the database.

        Args:
            works: the units of work, called with this database in order.

        Returns:
            The result or exception of each unit, and the entries for subscribers in order. Those
            begin with entries of other processes that have not been delivered yet.
        """
        if self.damage:
            refused = NotWrittenError(f"Writing is disabled: {self.damage}")
            return [refused] * len(works), []
        try:
            try:
                return self._transaction(works)
            except self.backend.errors as error:
                if not self.backend.has_reconnected(error):
                    raise
                return self._transaction(works)
        except Exception as error:  # noqa: BLE001 - passed to each caller as its result
            # A bad unit must not fail those that happen to share its transaction, so each is
            # retried by itself. An error of the disk or of the server would fail every retry in the
            # same way, each after another timeout.
            refuses_all = isinstance(
                error, NotWrittenError | UncertainError | HistoryLostError | UnknownFormatError
            )
            is_its_own = not refuses_all and not self.backend.is_outage(error)
            if len(works) > 1 and is_its_own:
                done = [self.write([work]) for work in works]
                return [one for [one], _ in done], [each for _, new in done for each in new]
            return [self._translate_error(error, writing=True)] * len(works), []

    def read(self, work: Callable[[Database], T]) -> T:
        """Run work that only reads, and return its result.

        Raises:
            StoreError: the data cannot be read.
        """
        with self._errors_translated():
            try:
                return self._read(work)
            except self.backend.errors as error:
                if not self.backend.has_reconnected(error):
                    raise
                return self._read(work)

    def _read(self, work: Callable[[Database], T]) -> T:
        self._verify_after_reconnect()
        return work(self)

    def _transaction(self, works: Sequence[Work]) -> tuple[list[Any], list[FeedEntry]]:
        self._verify_after_reconnect()
        prepared = self._append_prepared(works) if self.backend.is_shared else None
        done = prepared or self._run_locked(works)
        # The transaction is durable now, so nothing below may raise: callers would take stored
        # events for refused ones.
        self.backend.record_acknowledged(self.head.commits, self.head.store)
        if self.erased:
            with suppress(*self.backend.errors):
                self.scrub()
        self.feed.advance_to(self.head.position)
        return done

    def _run_locked(self, works: Sequence[Work]) -> tuple[list[Any], list[FeedEntry]]:
        """Take the writers' lock, run the works, and commit."""
        row = self.backend.begin()
        try:
            self._new, self.feed.newest = [], None
            # Nothing read before the lock can be trusted. The data version says cheaply whether
            # another connection has committed since; a negative count marks a head of unknown
            # state, see `_reset_after_failure`.
            version = self.backend.version()
            if version != self._version or self.head.commits < 0:
                self._adopt(self._head_of(row) if row else self.read_head())
                self._version = version
            # Read before any work appends: subscribers get these entries first, in the common
            # order.
            unseen = self.feed.unread_entries(self.head.position)
            if self.backend.is_shared:
                self.streams.look_up(work.changes for work in works if isinstance(work, Append))
            before = self._changes
            outcomes = [self._outcome(work) for work in works]
            # Without changes, a commit would cost a disk sync and count one more commit for
            # nothing.
            if self._changes == before:
                self.backend.rollback()
            else:
                self.backend.commit(self._write)
        except BaseException as error:
            self._undo(error)
            raise
        return outcomes, [*unseen, *self._new]

    def _append_prepared(self, works: Sequence[Work]) -> tuple[list[Any], list[FeedEntry]] | None:
        """Prepare appends without the writers' lock, and store their events in one round trip.

        A file needs no round trips.

        Returns:
            As `write`; None if nothing was stored, and the works have to run under the lock.
        """
        appends = [work for work in works if isinstance(work, Append) and work.is_plain]
        if len(appends) != len(works):
            return None
        try:
            self._new, self.feed.newest = [], None
            row, now = self.backend.head_and_time()
            self._adopt(self._head_of(row))
            before = self.head
            if ready := self._prepare(appends, now + PREPARED_LIFETIME):
                outcomes, prepared = ready
                if place := self.backend.append(prepared):
                    return self._adjust(outcomes, prepared, *place)
            self._clear()
            self.head = before
        except BaseException as error:
            self._undo(error)
            raise
        return None

    def _prepare(
        self, appends: Sequence[Append], until: float
    ) -> tuple[list[Mapping[str, Stored]], PreparedAppend] | None:
        """Queue the events of appends; None if some are refused, or need the writers' lock."""
        changes = [work.changes for work in appends]
        self.streams.look_up(changes)
        known = self.streams.relied_on(changes)
        if known is None:
            return None
        try:
            outcomes = [work(self, PREPARED_LIFETIME) for work in appends]
        except (StoreError, RefusedError):
            return None
        head, events = self.head, tuple(self.streams.waiting)
        served = 0.0 if self.lease is None else head.at
        return outcomes, PreparedAppend(
            events, self.streams.moved, *known, head.projection, head.at, served, until
        )

    def _adjust(
        self,
        outcomes: Sequence[Mapping[str, Stored]],
        prepared: PreparedAppend,
        position: int,
        at: float,
    ) -> tuple[list[Any], list[FeedEntry]]:
        """Update our view after a prepared append, with the place and time of its last event."""
        try:
            unseen = self.feed.unread_entries(position - len(prepared.events))
        except Exception as error:
            # It is stored, but what others stored before it has to reach subscribers first.
            raise UncertainError("The write was stored, but can't be read for now.") from error
        self.table.count_events(prepared.events)
        self.table.changes += len(prepared.streams) + 1  # and the row of head
        last, shift = prepared.events[-1], position - self.head.position
        self.feed.newest = position, *last[1:4], at, *last[5:]
        self.streams.drop_queued()
        head = self.head._replace(position=position, at=at, commits=self.head.commits + 1)
        if not shift:
            self.head = head
        else:  # another process has appended meanwhile
            self._adopt(head)
            outcomes = [
                {name: Stored(one.position + shift, one.version) for name, one in some.items()}
                for some in outcomes
            ]
        ours = [
            entry._replace(position=entry.position + shift, event=stamped(entry.event, at))
            if shift or entry.event.at != at
            else entry
            for entry in self._new
        ]
        return list(outcomes), [*unseen, *ours]

    def _undo(self, error: BaseException) -> None:
        """Roll back and reset our view; raise the cause if a unit of work failed."""
        with suppress(*self.backend.errors):
            self.backend.rollback()
        self._reset_after_failure()
        if isinstance(error, _TransactionFailedError):
            raise cast("StoreError", error.__cause__) from None

    def _write(self) -> None:
        """Write the queued events, and ``head`` with one more commit."""
        self.streams.write()
        self.head = self.head._replace(commits=self.head.commits + 1)
        self.table.put("head", *self.head)
        self.backend.require_durable()  # last, to keep the window before the commit small

    @property
    def _changes(self) -> int:
        """The number of rows written so far, plus those queued for the transaction's end."""
        return self.table.changes + len(self.streams.waiting)

    def _outcome(self, work: Work) -> Any:
        before = self._changes
        try:
            return work(self)
        except DamagedStoreError:
            raise
        except (StoreError, RefusedError) as error:
            # A unit that has already written cannot be undone by itself. `write` rolls back the
            # whole transaction, and runs each unit in one of its own.
            if self._changes != before:
                raise _TransactionFailedError from error
            return error

    @property
    def is_caught_up(self) -> bool:
        """Whether all entries known at the last poll have been delivered."""
        return self.feed.position == self.head.position

    def read_news(self) -> list[FeedEntry] | None:
        """Read the next entries appended by other processes.

        Returns:
            A batch of entries, perhaps an empty one; None if nothing has been committed since the
            last look.

        Raises:
            StoreError: the entries cannot be read, now or by this version.
        """
        with self._errors_translated():
            self._verify_after_reconnect()
            # For a file, one pread of the watermark replaces a query. A process that dies between
            # its commit and the watermark is noticed at our next write, by the data version.
            witnessed = self.backend.acknowledged_commits()
            if witnessed == self.head.commits and self.is_caught_up:
                return None
            asked = [("head", "where id = 1", ()), *self.feed.next_rows()]
            heads, *events = self.table.several(self.backend, *asked)
            head = self._head_of(heads[0] if heads else None)
            if head == self.head and self.feed.position == head.position:
                return None
            self._adopt(head)
            entries: list[FeedEntry] = []
            if self.feed.is_followed:
                entries = self.feed.entries_after(self.feed.position, head.position, *events)
            self.feed.advance_to(entries[-1].position if entries else head.position)
            return entries

    def _adopt(self, head: Head) -> None:
        """Replace our copy of ``head`` by a newer row that another process has written.

        Raises:
            UnknownFormatError: another version has rebuilt the projections in its own form.
        """
        if head.projection != PROJECTION:  # our process was suspended past its lease
            self.forgotten = UnknownFormatError(
                "Servers of another version of thudmud have taken over this store, and keep a "
                "part of it in another format. Restart this server."
            )
            raise self.forgotten
        if head == self.head:
            return
        self._clear()
        self.head = head
        self.others_wrote = True
        if isinstance(self._clock, SteadyClock):  # all nodes follow the fastest clock
            self._clock.advance_to(head.at)

    def read_head(self) -> Head:
        """Read the current row of ``head``."""
        return self._head_of(self.table.row("head", "where id = 1"))

    def _head_of(self, row: Sequence[object] | None) -> Head:
        if row is None:
            raise DamagedStoreError("the row of head is missing")
        head, seen = Head(*cast("Any", row)), self.feed.position
        if head.position < seen:  # for example, an outdated standby has become the primary
            self._has_forgotten(f"it ends at event {head.position}, but {seen} was seen")
        return head

    def _verify_after_reconnect(self) -> None:
        """Verify after a reconnect that no events seen here are gone, and empty the caches.

        A standby that lagged behind may have been promoted. By now it may even have as many events
        as were seen here, but different ones.

        Raises:
            HistoryLostError: events that were seen here are gone.
        """
        if (link := self.backend.reconnect()) == self._link:
            return
        self._clear(keys=True)
        if not self.backend.has_settled():
            self._has_forgotten("the last write is missing")
        self._adopt(self.read_head())
        if (at := self.feed.find_overwritten()) is not None:
            self._has_forgotten(f"event {at} differs from the one seen")
        self._link = link

    def _has_forgotten(self, what: str) -> NoReturn:
        self.forgotten = HistoryLostError(
            f"The database has lost data that this server wrote or read there: {what}. Restart "
            "the server."
        )
        raise self.forgotten

    def _clear(self, *, keys: bool = False) -> None:
        """Empty the caches of streams and players."""
        self.streams.clear(keys=keys)
        self.players.clear()

    def _reset_after_failure(self) -> None:
        """Reset caches and ``head`` after a failed transaction."""
        self._clear(keys=True)
        self.head = self.head._replace(commits=-1)  # the next write reads it if we can't
        with suppress(
            *self.backend.errors, DamagedStoreError, HistoryLostError
        ):  # raised again by the next read
            self.head = self.read_head()

    def scrub(self) -> bool:
        """Remove erased data from the -wal file; return whether none is left there."""
        if self.erased:
            self.erased = not self.backend.scrub()
        return not self.erased

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Translate exceptions of the database into a StoreError."""
        try:
            yield
        except Exception as error:
            told = self._translate_error(error)
            if told is error:
                raise
            raise told from error

    def _translate_error(self, error: Exception, *, writing: bool = False) -> Exception:
        """Return the exception to raise to callers; remember the first damage."""
        told = self.backend.translate_error(error, writing=writing)
        if isinstance(told, DamagedStoreError) and self.damage is None:
            self.damage = told
        return told

    # Appending

    def append(
        self,
        changes: Changes,
        key: str | None = None,
        mark: object = None,
        besides: Work | None = None,
        ahead: float = 0.0,
    ) -> Mapping[str, Stored]:
        """Append events to several streams, all or none, see `thudmud.store.Store.append`.

        Args:
            changes: by stream, its expected version and the events.
            key: identifies the request, so that a repeated one returns the first result.
            mark: attached to the entries that this process delivers.
            besides: work run in the same transaction, unless the request has been stored before.
            ahead: seconds until the events are stored, at most.

        Returns:
            By stream, the place of its last event.

        Raises:
            ConflictError: a stream has another version.
            NotWrittenError: an outage must be recorded first, see `record_outage`.
        """
        # Before the versions are checked: a request that was stored but never acknowledged is
        # repeated with versions that its own events have made outdated.
        if key is not None and (known := self.streams.request_results(changes, key)):
            return known
        # All versions are checked before the first event is queued, so a conflict leaves nothing
        # behind.
        for name, (expected, _) in changes.items():
            found = self.streams.version(name)
            if found != expected:
                raise ConflictError(name, expected, found)
        stored = {}
        at = self.now()
        if self.lease is not None and self._has_lapsed(at + ahead):
            raise NotWrittenError(
                "No server was running for a while; that has to be recorded first."
            )
        # Only the append's very last event is marked, so that a feed never splits an append.
        left = sum([len(events) for _, events in changes.values()])
        for name, (_, events) in changes.items():
            for event in events:
                left -= 1
                stored[name] = self._store(name, event, at, last=not left, mark=mark)
        if key is not None:
            self.streams.store_request(key, stored, at, self.head.position)
        if besides is not None:
            besides(self)
        return stored

    def _has_lapsed(self, at: float) -> bool:
        """Return whether all nodes may have been dead for a while by now.

        The next heartbeat records that as an outage.
        """
        return self.lease is not None and 0 < self.head.served < at - self.lease

    def _store(
        self, name: str, event: StoredEvent, at: float, *, last: bool, mark: object
    ) -> Stored:
        if not isinstance(event, Imported):
            event = stamped(event, at)
        realm = realm_of(name)
        array = to_array(event, lambda player: self.players.number_of(player, realm))
        body = to_text(array)
        is_whole = is_complete(event)
        stream, position = self.streams.find_or_create(name), self.head.position + 1
        row = self.streams.add(stream, position, at, body, last=last, is_whole=is_whole)
        self.feed.newest, version = row, row[2]
        _, _, commits, projection, _, served, store = self.head
        # An append by a process with nodes proves that a server is running; an import doesn't.
        served = served if self.lease is None else at
        self.head = Head(1, position, commits, projection, at, served, store)
        if isinstance(event, BoardOpened | BoardRenamed):
            self.streams.rename(event.key, event.name)
        if isinstance(event, PROJECTED):
            by_number = from_array(array, at, as_text)
            ended = project(by_number, EventPlace(name, version, position), self.projected)
            if ended:
                self.streams.write()  # let hooks read the battle's last plies
                for hook in battle_ended:
                    hook(self, ended)
        if self.feed.is_followed:
            self._new.append(self.streams.entry(position, name, version, event, mark))
        return Stored(position, version)

    def import_events(
        self, events: Iterable[tuple[str, Event]], take: Callable[[Entry], None]
    ) -> None:
        """Store events with their own times, see `thudmud.store.Store.import_events`.

        The caller's iterator and ``take`` run inside the transaction.
        """
        away: dict[str, StoredEvent] = {}
        for board, event in events:
            streams = [board]
            if isinstance(event, Adjourned | Resumed):
                stream = match_stream(event.match.battle_id)
                self.match_version(stream, event, away.get(stream))
                away[stream] = event
                streams.append(stream)
            at = self.head.at
            if not isinstance(event, Imported):  # an import has the time at which it was played
                at = max(event.at, at)
                if at != event.at:
                    event = cast("Event", stamped(event, at))  # noqa: PLW2901
            for stream in streams:
                is_last = stream is streams[-1]
                stored = self._store(stream, event, at, last=is_last, mark=None)
                take(self.streams.entry(stored.position, stream, stored.version, event))

    def match_version(
        self, stream: str, event: Adjourned | Resumed, last: StoredEvent | None = None
    ) -> int:
        """Return the version of a match's stream at which an event can be appended.

        Args:
            stream: the key of the match's stream.
            event: an adjournment, or a resumption of exactly the state that was adjourned.
            last: the stream's last event, if it was added in this transaction.

        Raises:
            ConflictError: the match to resume is not adjourned, or was adjourned in another state.
        """
        version = self.streams.version(stream)
        if isinstance(event, Resumed):
            if last is None and version:
                last = self.read_stream(stream, version, 1)[0].event
            if not isinstance(last, Adjourned) or last.match != event.match:
                raise ConflictError(stream, max(version - 1, 0), version)
        return version

    def now(self) -> float:
        """Return the store's time, in seconds since the epoch; it never goes back."""
        return max(float(self._clock()), self.head.at)

    def record_heartbeat(self) -> None:
        """Record that a server is running now (``head.served``)."""
        now = self.now()
        self.head = self.head._replace(at=now, served=now)
        self.table.put("head", *self.head)

    def record_outage(self) -> None:
        """Append an outage to the hall's stream, from the last sign of a server until now.

        Clocks stand still for that time. Nothing is appended if no server has ever run.
        """
        now, since = self.now(), self.head.served
        if 0 < since < now:
            # First, otherwise `append` would refuse the event that ends the outage.
            self.head = self.head._replace(served=now)
            self.append({HALL: (self.streams.version(HALL), [Interrupted(now, since)])})

    # Reading and following

    def read_stream(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        """Return a stream's events from a version on, in order, at most ``most``."""
        return self.streams.read(stream, first, most, self.head.position)

    def position(self) -> int:
        """Return the position of the last event; 0 if there is none.

        Later reads are at least as new as this position. Without this call they may come from
        caches of an older state, unless the feed is followed.
        """
        self._adopt(self.read_head())
        return self.head.position

    def stream_versions(self) -> Mapping[str, int]:
        """Return the versions of all streams, by key; many, so for export and checks only."""
        return self.streams.versions()

    def request_result(self, stream: str, key: str) -> Stored | None:
        """Return the stored result of the request with the given key at a stream; else None."""
        return self.streams.request_result(stream, key)

    def entries_for_subscriber(
        self, after: int, *, takes_stored_plies: bool = False
    ) -> tuple[list[FeedEntry], bool]:
        """Return the first entries after a position, for a new subscriber that catches up.

        The first call starts the feed. From then on each transaction or poll delivers later
        entries.

        Args:
            after: the position.
            takes_stored_plies: whether the subscriber takes `StoredPly` values. What the feed has
                decoded so far is returned here once more.

        Returns:
            The entries, and whether the feed will deliver all later ones.
        """
        feed = self.feed
        feed.gives_stored_plies &= takes_stored_plies
        if not feed.is_followed:
            feed.start_after(self.position())
        if after >= feed.position:
            return [], True
        entries = [each for each in self.entries_after(after) if each.position <= feed.position]
        return entries, not entries or entries[-1].position >= feed.position

    def entries_after(self, position: int) -> list[FeedEntry]:
        """Return the first entries after a position, in whole appends."""
        return self.feed.entries_after(position, self.position())

    def _schemas(self) -> tuple[Schema, Schema]:
        """Return the database's schema, and that of this version."""
        wanted = current_schema()
        return wanted._replace(projection=self.head.projection), wanted

    def rebuild(self, upgrade: Upgrade, *, alone: bool = False) -> None:
        """Rebuild the projections from the events, unless another process has just done so.

        Args:
            upgrade: gets the progress.
            alone: whether no other process can serve boards from the database.

        Raises:
            StoreError: a running server of another version would go on writing them in its own
                form.
        """
        self.backend.begin()
        try:
            self.head = self.read_head()
            if self.head.projection != PROJECTION:
                if not alone:
                    require_no_servers(self.table, max(self.backend.now(), self.head.at))
                upgrade.begin(*self._schemas())
                for name in PROJECTIONS:
                    self.table.execute(f"drop table if exists {name}")
                for statement in definitions(PROJECTIONS, self.backend.dialect):
                    self.table.execute(statement)
                last = self.head.position
                project_all(self.backend, self.projected, lambda done: upgrade.advance(done, last))
                for hook in rebuilt:
                    hook(self)
                commits = self.head.commits + 1
                self.head = self.head._replace(projection=PROJECTION, commits=commits)
                self.table.put("head", *self.head)
            self.backend.commit()
        except BaseException:
            self.backend.rollback()
            raise
        upgrade.end()

    def compact(self) -> tuple[int, int]:
        """Return free pages to the file system; return the size before and after, in bytes.

        Nobody else can write meanwhile, for minutes: use this only while no server uses the file.

        Raises:
            StoreError: the disk has no room for the temporary copy.
        """
        return self.backend.compact()

    def mark_damaged(self, error: DamagedStoreError) -> None:
        """Refuse all writes from now on because of some damage."""
        self.damage = self.damage or error

    def close(self) -> None:
        """Close the connection."""
        self.backend.close()
