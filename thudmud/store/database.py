"""A store's database, for one thread: opening it, its transactions, and appending.

Nothing here waits for anything but the disk, or knows of an event loop. Everything rests on three
rules:

- Positions, versions and the numbers of players and streams are assigned under the writers' lock. A
  sequence would assign them earlier, and out of order: subscribers would miss events.
- Caches hold until another connection has written. SQLite's data version tells whether one has, and
  is the first thing that is read under the lock.
- The witness is raised, and the caller told, only after the commit.

The tables are used by its parts, `Streams`, `Players`, `Feed` and `ProjectedRows`; and by modules
of functions that take a database, such as `thudmud.store.battles` and `thudmud.store.accounts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import randbits
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from thudmud.errors import Refused, ThudmudError
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
from thudmud.store.backend import Backend
from thudmud.store.codec import from_array, stamped, to_array, to_text
from thudmud.store.feed import Feed
from thudmud.store.interface import (
    Conflict,
    Damaged,
    Entry,
    Forgotten,
    NotWritten,
    Stored,
    StoreError,
    Uncertain,
    Unknown,
)
from thudmud.store.players import Players
from thudmud.store.projected import ProjectedRows, as_text, project_all
from thudmud.store.rows import (
    PROJECTIONS,
    SqlTable,
    definitions,
    require_no_servers,
)
from thudmud.store.steady import SteadyClock
from thudmud.store.streams import Changes, Streams

T = TypeVar("T")
Work = Callable[["Database"], Any]
Fence = Callable[[], None]
"""Called in the store's thread before events are stored; raises NotWritten if they may not be."""


battle_ended: list[Callable[[Database, Battle], None]] = []
"""Called with a battle in the transaction that ends it; its events have been written."""

rebuilt: list[Callable[[Database], None]] = []
"""Called in the transaction that has made the projections anew."""


@dataclass(frozen=True)
class Append:
    """The work of an append, see `thudmud.store.Store.append`."""

    changes: Changes
    key: str | None
    mark: object
    besides: Work | None = None
    fence: Fence | None = None

    def __call__(self, database: Database) -> Mapping[str, Stored]:
        """Run it."""
        if self.fence:
            self.fence()
        return database.append(self.changes, self.key, self.mark, self.besides)


class Head(NamedTuple):
    """The one row of ``head``."""

    id: int = 1
    position: int = 0
    commits: int = 0
    projection: int = PROJECTION
    at: float = 0.0
    served: float = 0.0
    store: int = 0


class _Spoilt(ThudmudError):
    """Work was refused after it had written: its whole transaction has to be rolled back."""


class Database:
    """An open database.

    Args:
        backend: what it is kept in.
        clock: returns the seconds since the epoch.
        alone: whether no other process can serve boards from it.

    Raises:
        StoreError: it cannot be used; or its projections are another version's, which serves.
    """

    def __init__(
        self, backend: Backend, clock: Callable[[], float], *, alone: bool = False
    ) -> None:
        self.backend = backend
        self.damage: Damaged | None = None
        """The damage that was found; after that, all writes are refused."""
        self.forgotten: Forgotten | Unknown | None = None
        """Set once events are gone that were seen here, or another version has taken the database
        over; after that, nothing may be done any more.
        """
        self._clock = clock
        self._version: int | None = None
        """The backend's version when others' writes were last read."""
        self.table = SqlTable(backend.connection)
        self.projected = ProjectedRows(self.table)
        self.players = Players(self.table, backend.dialect)
        self.streams = Streams(backend, self.table, self.players, self.projected)
        self.feed = Feed(self.table, self.streams)
        self._new: list[Entry] = []
        """The entries of this transaction, for subscribers."""
        self.lease: float | None = None
        """The longest lease of our nodes, in seconds; None if there are none, as during an import.
        """
        self.others_wrote = False
        """Whether a commit of another process was seen, and its listeners not called yet."""
        self.tells_watchers = False
        """Whether a work has changed what is watched, see `thudmud.store.Store.watch`: operators,
        sanctions, names, logins and what features watch.
        """
        self.erased = False
        """Whether something was erased that the -wal may still have."""
        self._link = backend.link()
        """The number of the link on which our knowledge was last verified."""
        with self._told():
            if backend.is_new:
                self._begin()
            self.head = self.read_head()
            if self.head.projection != PROJECTION:
                self.rebuild(alone=alone)
        self.feed.position = self.head.position
        backend.told(self.head.commits, self.head.store)

    def _begin(self) -> None:
        """Insert the row of ``head``, unless another process is quicker."""
        self.backend.begin()
        if self.table.row("head", "where id = 1") is None:
            self.table.put("head", *Head(store=randbits(63)))
        self.backend.commit()
        self.backend.is_new = False

    # Transactions

    def write(self, works: Sequence[Work]) -> tuple[list[Any], list[Entry]]:
        """Run several works in one transaction, each of them all or nothing.

        Returns:
            What each returned or raised; and the entries for subscribers, in order, beginning with
            unseen ones of other processes.
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
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller is told
            # One bad work must not fail the others that share its transaction by chance: each is
            # tried by itself. But what the disk or another process refuses, it refuses to all, and
            # each time after a wait.
            refuses_all = isinstance(error, NotWritten | Uncertain | Forgotten | Unknown)
            is_its_own = not refuses_all and not self.backend.refuses_all(error)
            if len(works) > 1 and is_its_own:
                done = [self.write([work]) for work in works]
                return [one for [one], _ in done], [each for _, new in done for each in new]
            return [self._translated(error, writing=True)] * len(works), []

    def read(self, work: Callable[[Database], T]) -> T:
        """Return the result of work that only reads.

        Raises:
            StoreError: the data cannot be read.
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
            self._new, self.feed.newest = [], None
            version = self.backend.version()
            if version != self._version or self.head.commits < 0:
                self._adopt(self._head_of(row) if row else self.read_head())
                self._version = version
            unseen = self.feed.unseen(self.head.position)
            if self.backend.is_shared:
                self.streams.look_up(work.changes for work in works if isinstance(work, Append))
            before = self._changes
            outcomes = [self._outcome(work) for work in works]
            if self._changes == before:
                self.backend.rollback()
            else:
                self.backend.commit(self._write)
        except BaseException as error:
            with suppress(*self.backend.errors):
                self.backend.rollback()
            self._forget()
            if isinstance(error, _Spoilt):
                raise cast("StoreError", error.__cause__) from None
            raise
        # From here on it is stored, and nothing may report otherwise.
        self.backend.told(self.head.commits, self.head.store)
        if self.erased:
            with suppress(*self.backend.errors):
                self.scrub()
        self.feed.hand_on(self.head.position)
        return outcomes, unseen + self._new

    def _write(self) -> None:
        """Write the last rows of a transaction."""
        self.streams.write()
        self.head = self.head._replace(commits=self.head.commits + 1)
        self.table.put("head", *self.head)
        self.backend.require()

    @property
    def _changes(self) -> int:
        """How many rows have been written, or will be at the transaction's end."""
        return self.table.changes + len(self.streams.waiting)

    def _outcome(self, work: Work) -> Any:
        before = self._changes
        try:
            return work(self)
        except Damaged:
            raise
        except (StoreError, Refused) as error:
            if self._changes != before:
                raise _Spoilt from error
            return error

    @property
    def is_caught_up(self) -> bool:
        """Whether everything has been handed out that was there at the last look."""
        return self.feed.position == self.head.position

    def news(self) -> list[Entry] | None:
        """Return some entries that others have appended; None if there are none.

        StoreError is raised if they cannot be read, now or by this version.
        """
        with self._told():
            self._look_again()
            witnessed = self.backend.witnessed()
            if witnessed == self.head.commits and self.is_caught_up:
                return None
            asked = [("head", "where id = 1", ()), *self.feed.next_rows()]
            heads, *events = self.table.several(self.backend, *asked)
            head = self._head_of(heads[0] if heads else None)
            if head == self.head and self.feed.position == head.position:
                return None
            self._adopt(head)
            entries: list[Entry] = []
            if self.feed.is_followed:
                entries = self.feed.after(self.feed.position, head.position, *events)
            self.feed.hand_on(entries[-1].position if entries else head.position)
            return entries

    def _adopt(self, head: Head) -> None:
        """Take over a newer row of ``head``, which others have written.

        Raises:
            Unknown: another version has made the projections anew, in its own form.
        """
        if head.projection != PROJECTION:  # while our process slept, and so did not count as alive
            self.forgotten = Unknown(
                "Servers of another version of thudmud have taken over this store, and keep a part"
                " of it in another form. Restart the server."
            )
            raise self.forgotten
        if head == self.head:
            return
        self._clear()
        self.head = head
        self.others_wrote = True
        if isinstance(self._clock, SteadyClock):  # all nodes follow the clock that is ahead
            self._clock.not_before(head.at)

    def read_head(self) -> Head:
        """Return the current row of ``head``."""
        return self._head_of(self.table.row("head", "where id = 1"))

    def _head_of(self, row: Sequence[object] | None) -> Head:
        if row is None:
            raise Damaged("the row that it begins with is missing")
        head, seen = Head(*cast("Any", row)), self.feed.position
        if head.position < seen:  # for example, an outdated standby has become the primary
            self._has_forgotten(
                f"the last event that it has is {head.position}, and {seen} was seen"
            )
        return head

    def _look_again(self) -> None:
        """After a reconnect, verify what is known here; empty the caches.

        An outdated standby may by now have as many events as we have seen, but others.

        Raises:
            Forgotten: events are gone that were seen here.
        """
        if (link := self.backend.link()) == self._link:
            return
        self._clear(keys=True)
        if not self.backend.has_settled():
            self._has_forgotten("what it wrote last is missing")
        self._adopt(self.read_head())
        if (at := self.feed.overwritten()) is not None:
            self._has_forgotten(f"event {at} is another one than was seen")
        self._link = link

    def _has_forgotten(self, what: str) -> NoReturn:
        self.forgotten = Forgotten(
            "The database has forgotten what this server has written, or seen there:"
            f" {what}. Restart the server."
        )
        raise self.forgotten

    def _clear(self, *, keys: bool = False) -> None:
        """Empty the caches: the rows may have changed."""
        self.streams.clear(keys=keys)
        self.players.clear()

    def _forget(self) -> None:
        """Empty the caches, and read ``head`` again: a transaction has come to nothing."""
        self._clear(keys=True)
        self.head = self.head._replace(commits=-1)  # else the next write reads it
        with suppress(*self.backend.errors, Damaged, Forgotten):  # the next read raises it
            self.head = self.read_head()

    def scrub(self) -> bool:
        """Remove what was erased from the -wal, too; return whether it is gone."""
        if self.erased:
            self.erased = not self.backend.scrubbed()
        return not self.erased

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn the exceptions of reading into errors of ours."""
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
        self,
        changes: Changes,
        key: str | None = None,
        mark: object = None,
        besides: Work | None = None,
    ) -> Mapping[str, Stored]:
        """Append events to several streams, all or none, see `thudmud.store.Store.append`.

        ``besides`` is work of the same transaction, unless they were appended before.
        """
        if key is not None and (known := self.streams.all_came_to(changes, key)):
            return known
        for name, (expected, _) in changes.items():
            found = self.streams.version(name)
            if found != expected:
                raise Conflict(name, expected, found)
        stored = {}
        at = self.now()
        if self.lease is not None and self._has_lapsed(at):
            raise NotWritten("No server has lived for a while, which has to be noted first.")
        left = sum([len(events) for _, events in changes.values()])
        for name, (_, events) in changes.items():
            for event in events:
                left -= 1
                stored[name] = self._store(name, event, at, last=not left, mark=mark)
        if key is not None:
            self.streams.keep_request(key, stored, at, self.head.position)
        if besides is not None:
            besides(self)
        return stored

    def _has_lapsed(self, at: float) -> bool:
        """Return whether no server may have been alive for a while: the next beat stores that."""
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
        stream, position = self.streams.made(name), self.head.position + 1
        row = self.streams.add(stream, position, at, body, last=last, is_whole=is_whole)
        self.feed.newest, version = row, row[2]
        _, _, commits, projection, _, served, store = self.head
        served = served if self.lease is None else at
        self.head = Head(1, position, commits, projection, at, served, store)
        if isinstance(event, BoardOpened | BoardRenamed):
            self.streams.rename(event.key, event.name)
        if isinstance(event, PROJECTED):
            by_number = from_array(array, at, as_text)
            ended = project(by_number, EventPlace(name, version, position), self.projected)
            if ended:
                self.streams.write()  # its last plies may be new
                for hook in battle_ended:
                    hook(self, ended)
        if self.feed.is_followed:
            self._new.append(self.streams.entry(position, name, version, event, mark))
        return Stored(position, version)

    def bring_in(self, events: Iterable[tuple[str, Event]], take: Callable[[Entry], None]) -> None:
        """Store events that come from elsewhere, see `thudmud.store.Store.bring_in`."""
        away: dict[str, StoredEvent] = {}
        for board, event in events:
            streams = [board]
            if isinstance(event, Adjourned | Resumed):
                stream = match_stream(event.match.began)
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
        """Return the version of a match's stream that an event can be appended at.

        ``last`` is the last event of the stream, if it was added in this transaction.

        Raises:
            Conflict: the match is not adjourned, or not as the event has it.
        """
        version = self.streams.version(stream)
        if isinstance(event, Resumed):
            if last is None and version:
                last = self.read_stream(stream, version, 1)[0].event
            if not isinstance(last, Adjourned) or last.match != event.match:
                raise Conflict(stream, max(version - 1, 0), version)
        return version

    def now(self) -> float:
        """Return the store's time, in seconds since the epoch; it never goes back."""
        return max(float(self._clock()), self.head.at)

    def lived(self) -> None:
        """Record that a server is running now."""
        now = self.now()
        self.head = self.head._replace(at=now, served=now)
        self.table.put("head", *self.head)

    def interrupted(self) -> None:
        """Append to the hall's stream that no server ran since the last one did, if that is so."""
        now, since = self.now(), self.head.served
        if 0 < since < now:
            self.head = self.head._replace(served=now)
            self.append({HALL: (self.streams.version(HALL), [Interrupted(now, since)])})

    # Reading and following

    def read_stream(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        """Return the events of a stream from a version on, in order, ``most`` at most."""
        return self.streams.read(stream, first, most, self.head.position)

    def position(self) -> int:
        """Return the position of the last event; 0 if there is none.

        What is read after this is at least as new: caches may be older, until others are followed.
        """
        self._adopt(self.read_head())
        return self.head.position

    def stream_versions(self) -> Mapping[str, int]:
        """Return the versions of all streams, by key. For export and checks: there are many."""
        return self.streams.versions()

    def came_to(self, stream: str, key: str) -> Stored | None:
        """Return the result of a request with a key at a stream; None if it is not known."""
        return self.streams.came_to(stream, key)

    def follow(self, after: int) -> tuple[list[Entry], bool]:
        """Return entries after a position, and whether all later ones will be handed out."""
        feed = self.feed
        if not feed.is_followed:
            feed.begin(self.position())
        if after >= feed.position:
            return [], True
        entries = [each for each in self.after(after) if each.position <= feed.position]
        return entries, not entries or entries[-1].position >= feed.position

    def after(self, position: int) -> list[Entry]:
        """Return the first entries after a position: whole appends."""
        return self.feed.after(position, self.position())

    def rebuild(self, *, alone: bool = False) -> None:
        """Make the projections anew, unless another process just has.

        Args:
            alone: whether no other process can serve boards from the database.

        Raises:
            StoreError: a server of another version would go on to write them in its own form.
        """
        self.backend.begin()
        try:
            self.head = self.read_head()
            if self.head.projection != PROJECTION:
                if not alone:
                    require_no_servers(self.table, max(self.backend.now(), self.head.at))
                for name in PROJECTIONS:
                    self.table.execute(f"drop table if exists {name}")
                for statement in definitions(PROJECTIONS, self.backend.dialect):
                    self.table.execute(statement)
                project_all(self.backend, self.projected)
                for hook in rebuilt:
                    hook(self)
                commits = self.head.commits + 1
                self.head = self.head._replace(projection=PROJECTION, commits=commits)
                self.table.put("head", *self.head)
            self.backend.commit()
        except BaseException:
            self.backend.rollback()
            raise

    def compact(self) -> tuple[int, int]:
        """Give free pages back to the disk; return the size before and after, in bytes.

        Only where no other server can use the file: nobody can write meanwhile, for minutes.

        Raises:
            StoreError: there is no room for the copy that this takes.
        """
        return self.backend.compact()

    def is_damaged(self, error: Damaged) -> None:
        """Refuse all writes from now on, because of this damage."""
        self.damage = self.damage or error

    def close(self) -> None:
        """Close it."""
        self.backend.close()
