"""The store: streams of events and the rows derived from them; accounts, nodes and claims.

There is one stream for the hall, one for each board and one for each adjourned match. A stream's
events are numbered from 1, and the number of the last one is the stream's version. An append names
the version at which its events were decided (optimistic concurrency control). So two decisions can
never rest on the same state. All events of all streams also have one common order, their positions.

Battles, tallies and ratings are rows that change in the same transaction as the event that changes
them. Accounts, nodes and claims are further rows.

`thudmud.store.database` describes how an append becomes durable, and what a crash or a cancellation
can leave behind. `thudmud.store.nodes` describes leases and claims.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from thudmud.game.archive import BattleLookup, Lookup
from thudmud.game.events import Adjourned, Event, Resumed
from thudmud.game.projections import match_stream
from thudmud.store import nodes
from thudmud.store.backend import MISSED, Backend
from thudmud.store.checking import check_backend, check_beside
from thudmud.store.codec import Form, MalformedTextError
from thudmud.store.database import Append, Database, Fence, Work
from thudmud.store.files import InMemory, OnDisk, ReadOnlyFile
from thudmud.store.interface import (
    DamagedStoreError,
    Entry,
    NotesMissed,
    NotWrittenError,
    Stored,
    StoreError,
    Upgrade,
)
from thudmud.store.lookups import FoldedGames, answer
from thudmud.store.rows import SqlTable
from thudmud.store.running import (
    AtOnce,
    Failed,
    MayWait,
    Subscription,
    Subscriptions,
    Take,
    TakeWithPlies,
    ThreadRunner,
)
from thudmud.store.steady import SteadyClock
from thudmud.store.streams import Changes

if TYPE_CHECKING:
    import asyncio

P = ParamSpec("P")
T = TypeVar("T")
DatabaseWork = Callable[Concatenate[Database, P], T]
StoreMethod = Callable[Concatenate["Store", P], Coroutine[Any, Any, T]]
Heard = Callable[[object], None]

POLL = 0.1
"""Seconds between polls for other processes' writes."""

SLOW_POLL = 1.0
"""The same where other processes also send a notification when they have written."""

REREAD_INTERVAL = 1.0
"""Minimum seconds between rereads of sanctions and the like, however often others write."""

_log = logging.getLogger(__name__)


class StoreWrites(NamedTuple):
    """The amount of data written.

    Attributes:
        rows: the number of rows inserted, updated or deleted, in all tables.
        event_bytes: the length of all events.
    """

    rows: int = 0
    event_bytes: int = 0


class Store:
    """A store; made by `in_memory`, `open` or `connect`.

    All methods are for one event loop, and none blocks it. In memory they need no loop: their
    coroutines never wait. Each raises StoreError if the data cannot be read or changed. If a call
    is cancelled, its change may be stored nevertheless.

    Data outside of streams is read and changed by functions that take a database, in modules such
    as `thudmud.store.accounts` and in features: ``await store.read(accounts.find, "Anna")``. The
    parameter ``realm`` is the realm of the players, see `thudmud.game.projections.realm_of`.

    Attributes:
        clock: returns the time of new events, in seconds since the epoch.
        is_exclusive: whether no other node can serve boards from the store while it is open.
        timed: called with the seconds that each append took; None to measure nothing.
    """

    def __init__(self) -> None:
        self.clock: Callable[[], float] = SteadyClock()
        self._runner: AtOnce | ThreadRunner
        self.is_exclusive = False
        self.timed: Callable[[float], None] | None = None
        self._path: Path | None = None
        self._dsn = ""
        self._table: SqlTable | None = None
        """The row writer, which belongs to the store's thread; here only its counters are read."""
        self._followers = Subscriptions()
        self._games = FoldedGames()
        self._note_listeners: list[tuple[Heard, Callable[[], Form]]] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._trouble: StoreError | None = None
        """Why the store can no longer be used."""
        self._retold: list[tuple[Callable[[Database], Any], Callable[[Any], None]]] = []
        """Watched reads, such as that of the sanctions, and the callbacks for their new results."""
        self._reread: asyncio.TimerHandle | None = None
        """The timer of the next watched read, if other processes may have changed something."""
        self._reread_at = -REREAD_INTERVAL
        """When the watched reads were last run, by a monotonic clock."""
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def in_memory(cls, *, serving: bool = False, clock: Callable[[], float] | None = None) -> Store:
        """Create a store in memory, which is lost when it is closed.

        Args:
            serving: whether boards are served from it.
            clock: returns the seconds since the epoch; a `SteadyClock` by default.
        """
        store = cls()
        store.clock = clock or store.clock
        store.is_exclusive = serving
        database = Database(InMemory(), store.clock)
        store._table = database.table
        store._runner = AtOnce(database, store._followers)
        return store

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        serving: bool = False,
        reading: bool = False,
        upgrade: Upgrade | None = None,
        poll: float = POLL,
        lock_timeout: float = 5.0,
        clock: Callable[[], float] | None = None,
    ) -> Store:
        """Open the store in a file, creating it if it does not exist.

        Args:
            path: the file. Three more are kept beside it.
            serving: whether boards are served from it; only one process at a time may do that.
            reading: whether it is only read. Then the file has to exist, and nothing changes it.
            upgrade: permits its upgrade, if another version has written it.
            poll: seconds within which writes of other processes are noticed.
            lock_timeout: seconds to wait for another process that is writing.
            clock: returns the seconds since the epoch; a `SteadyClock` by default.

        Raises:
            StoreInUseError: another server serves boards from it.
            DamagedStoreError: stored data is missing or has changed.
            UnknownFormatError: a later version of this program wrote it, or another program.
            OutdatedStoreError: another version wrote it, and there is no ``upgrade``.
            StoreError: it cannot be used.
        """
        store = cls()
        clock = store.clock = clock or store.clock
        store._path = Path(path)
        store.is_exclusive = serving

        def open_it() -> Database:
            if reading:
                return _open_database(ReadOnlyFile(Path(path), lock_timeout=lock_timeout), clock)
            files = OnDisk(Path(path), serving=serving, lock_timeout=lock_timeout, upgrade=upgrade)
            return _open_database(files, clock, alone=serving, upgrade=upgrade)

        await store._run(open_it, poll)
        return store

    @classmethod
    async def connect(
        cls,
        dsn: str,
        *,
        serving: bool = False,
        reading: bool = False,
        upgrade: Upgrade | None = None,
        poll: float = SLOW_POLL,
        clock: Callable[[], float] | None = None,
    ) -> Store:
        """Open the store in a PostgreSQL database, creating the tables if there are none.

        Several nodes may serve boards from it at once.

        Args:
            dsn: a libpq connection string, "host=... dbname=...", or a URL.
            serving: whether boards are served from it. Then opening it waits, for some seconds,
                until everything that can be read is safe on the standby too: after a crash it may
                not be.
            reading: whether it is only read. Then it has to have tables, and nothing changes it.
            upgrade: permits its upgrade, if another version has written it.
            poll: seconds within which writes of other nodes are noticed, at most. Usually a
                notification comes sooner.
            clock: returns the seconds since the epoch; a `SteadyClock` by default.

        Raises:
            DamagedStoreError: stored data is missing or has changed.
            UnknownFormatError: a later version of this program wrote it, or another program.
            OutdatedStoreError: another version wrote it, and there is no ``upgrade``.
            StoreError: it cannot be used.
        """
        # psycopg is needed only here.
        from thudmud.store.postgres import Postgres  # noqa: PLC0415

        store = cls()
        clock = store.clock = clock or store.clock
        store._dsn = dsn

        def open_it() -> Database:
            database = Postgres(dsn, serving=serving, reading=reading)
            return _open_database(database, clock, upgrade=upgrade)

        await store._run(open_it, poll)
        return store

    async def _run(self, open_it: Callable[[], Database], poll: float) -> None:
        def open_and_keep() -> Database:
            database = open_it()
            self._table = database.table
            return database

        runner = ThreadRunner(
            open_and_keep,
            poll,
            self._followers,
            self._others_changed,
            self._runner_stopped,
            heard=self._dispatch_note,
        )
        self._runner = runner
        try:
            await runner.start()
        except BaseException:
            await runner.stop()
            raise

    @property
    def written(self) -> StoreWrites:
        """The amount of data that this store has written since it was opened."""
        table = self._table
        return StoreWrites(table.changes, table.event_bytes) if table else StoreWrites()

    @property
    def path(self) -> Path | None:
        """The store's file; None in memory and in PostgreSQL."""
        return self._path

    async def wait_stopped(self) -> None:
        """Wait until the store can no longer be used.

        That is due to a bug in the store, or to events that are gone from the database.

        Raises:
            StoreError: always, with the cause.
        """
        import asyncio  # noqa: PLC0415  (a house needs no asyncio)

        if self._trouble:
            raise self._trouble
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    async def close(self) -> None:
        """Finish the waiting writes, and close the database."""
        if self._reread:
            self._reread.cancel()
        await self._runner.stop()
        if self._tasks:
            import asyncio  # noqa: PLC0415  (a house needs no asyncio)

            await asyncio.wait(list(self._tasks))

    # Transactions

    async def read(
        self, work: Callable[Concatenate[Database, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run work that only reads, in the store's thread, and return its result.

        Other processes may write between the statements of the work.
        """
        return await self._runner.read(lambda database: work(database, *args, **kwargs))

    async def write(
        self, work: Callable[Concatenate[Database, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run work as one transaction in the store's thread, and return its result.

        The work may run more than once, see `Database.write`: it must change nothing but the
        database.
        """

        def run(database: Database) -> tuple[T, bool]:
            database.tells_watchers = False
            result = work(database, *args, **kwargs)
            return result, database.tells_watchers

        result, tells_watchers = await self._runner.write(run)
        if tells_watchers:
            await self._tell_again()
        return result

    async def write_gently(
        self, work: Callable[Concatenate[Database, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do the same as `write`, then sleep for as long as it took, to let others write."""
        begun = monotonic()
        result = await self.write(work, *args, **kwargs)
        await self.pause(monotonic() - begun)
        return result

    async def pause(self, seconds: float) -> None:
        """Sleep, unless the store is in memory, where nobody else can write meanwhile."""
        if self._path or self._dsn:
            import asyncio  # noqa: PLC0415  (a house needs no asyncio)

            await asyncio.sleep(seconds)

    async def watch(
        self, work: Callable[[Database], T], told: Callable[[T], None] | None = None
    ) -> T:
        """Run work that reads, return its result, and report later results.

        Args:
            work: the read to run, and to repeat after each write that sets
                `Database.tells_watchers`, or when another process may have done such a write.
            told: called with each later result; None to read only once.
        """
        if told:
            self._retold.append((work, told))
        return await self._runner.read(work)

    # Streams

    async def append(
        self,
        changes: Changes,
        key: str | None = None,
        *,
        mark: object = None,
        work: Work | None = None,
        fence: Fence | None = None,
    ) -> Mapping[str, Stored]:
        """Append events durably, all or none, stamped with the store's time.

        On return they are stored, and subscribers have been given them. If the call is cancelled,
        they may be stored all the same, and subscribers get them then.

        Args:
            changes: by stream, its expected version and the events to append. Without events, only
                the version is required.
            key: identifies this request among all to these streams. If it was stored before,
                nothing is stored again, and the first result is returned. Keys are remembered for
                some days. A refused request may be repeated.
            mark: the mark of the entries that this store delivers.
            work: run in the same transaction, unless the request was stored before.
            fence: called right before the events are stored, since the append may have queued for
                long. It raises NotWrittenError if they may no longer be stored.

        Returns:
            By stream, the place of its last event.

        Raises:
            ConflictError: a stream has another version; nothing was stored.
            NotWrittenError: nothing could be stored.
            UncertainError: the events may or may not have been stored.
        """
        kept = {name: (expected, tuple(events)) for name, (expected, events) in changes.items()}
        timed = self.timed
        begun = monotonic() if timed else 0.0
        stored = await self._runner.write(Append(kept, key, mark, work, fence))
        if timed:
            timed(monotonic() - begun)
        return stored

    async def append_to_board(
        self,
        board: str,
        expected: int,
        events: Sequence[Event],
        *,
        first: Changes | None = None,
        besides: Changes | None = None,
        key: str | None = None,
        mark: object = None,
        work: Work | None = None,
        fence: Fence | None = None,
    ) -> Mapping[str, Stored]:
        """Append the events of a decision at a board, with changes of other streams.

        Adjourning and resuming a match are also stored in the match's own stream. So two boards can
        never resume the same match, and none can resume an outdated state of it.

        Args:
            board: the key of the board.
            expected: the version that the board must have.
            events: the events to append at the board.
            first: changes that are stored before the board's events.
            besides: changes that are stored after them.
            key: identifies the request, as for `append`.
            mark: the mark of the entries, as for `append`.
            work: run in the same transaction, as for `append`.
            fence: called right before the events are stored, as for `append`.

        Raises:
            ConflictError: the board has another version, or the match is not in the expected state.
            NotWrittenError: nothing could be stored.
        """
        changes = {**(first or {}), board: (expected, events)}
        for event in events:
            if isinstance(event, Adjourned | Resumed):
                stream = match_stream(event.match.battle_id)
                look = partial(Database.match_version, stream=stream, event=event)
                changes[stream] = await self._runner.read(look), [event]
        changes |= besides or {}
        return await self.append(changes, key=key, mark=mark, work=work, fence=fence)

    async def import_events(
        self, events: Iterable[tuple[str, Event]], take: Callable[[Entry], None]
    ) -> None:
        """Import events from elsewhere in one transaction, each with its own time.

        An event older than the one before it gets that one's time. Apart from that, each is stored
        as `append_to_board` does.

        Args:
            events: the boards' keys and the events, in order. An exception of the iterator is
                raised here, and nothing is stored.
            take: called with the stored entry of each event before the next is requested, and with
                that of a match's own stream. It must not raise. For a file, both run in the store's
                thread.

        Raises:
            ConflictError: a resumed match is not in the expected state.
            NotWrittenError: nothing could be stored.
        """
        raised: list[Exception] = []

        begun = False

        def asked_for() -> Iterator[tuple[str, Event]]:
            nonlocal begun
            if begun:  # retried after a lost link, but the iterator is used up
                raise NotWrittenError(
                    "The write was interrupted, and nothing was stored. Try again."
                )
            begun = True
            try:
                yield from events
            except Exception as error:
                raised.append(error)
                raise

        try:
            await self._runner.write(lambda database: database.import_events(asked_for(), take))
        except StoreError as error:
            if raised and error is not raised[0]:
                raise raised[0] from None
            raise

    async def subscribe(
        self,
        streams: Collection[str] | None,
        after: int,
        take: Take | TakeWithPlies,
        failed: Failed,
        *,
        may_wait: MayWait | None = None,
    ) -> Subscription:
        """Subscribe to the events of some streams after a position, in order and without gaps.

        On return, ``take`` has been called with everything stored before the call.

        Args:
            streams: the keys of the streams; None for all streams.
            after: the position after which the first event comes.
            take: called in the loop with the entries of these streams, in whole appends, by any
                process. A caller that appended has been woken before, and continues after the call.
                It must not raise.
            failed: called with the error that keeps entries from being read for now.
            may_wait: returns whether there is no hurry for other nodes' plies at a stream: then
                they may come `POLL_DELAY` seconds later. With it, ``take`` gets all their plies as
                `StoredPly`. None for entries alone, all at once.

        Raises:
            StoreError: the events cannot be read.
        """
        subscription = Subscription(
            self._followers, streams, after, take, failed, may_wait=may_wait
        )
        # Added before the first read, so that entries appended during the reads queue up instead of
        # being missed.
        self._followers.add(subscription)
        try:
            whole = False
            while not whole:
                takes_plies = may_wait is not None
                look = partial(
                    Database.entries_for_subscriber, after=after, takes_stored_plies=takes_plies
                )
                entries, whole = await self._runner.read(look)
                subscription.catch_up(entries)
                after = entries[-1].position if entries else after
        except BaseException:
            subscription.close()
            raise
        subscription.resume()
        return subscription

    async def catch_up(self) -> None:
        """Deliver to subscribers everything stored by now, by other processes as well.

        Raises:
            StoreError: the events cannot be read.
        """
        await self._runner.catch_up()

    async def version(self, stream: str) -> int:
        """Return the version of a stream; 0 if it has no events."""
        return await self._runner.read(lambda database: database.streams.version(stream))

    async def read_stream(
        self, stream: str, first: int = 1, most: int | None = None
    ) -> Sequence[Entry]:
        """Return a stream's events from a version on, in order, at most ``most``."""
        return await self.read(Database.read_stream, stream, first, most)

    async def position(self) -> int:
        """Return the position of the last event; 0 if there is none."""
        return await self.read(Database.position)

    async def look_up(self, lookup: Lookup[Any], *, realm: str = "") -> Any:
        """Answer a lookup of `thudmud.game.archive`, with a value of the type that it declares.

        Raises:
            StoreError: the data cannot be read.
        """
        if isinstance(lookup, BattleLookup):
            return await self._games.find(self._runner.read, lookup.number, realm)
        return await self._runner.read(lambda database: answer(database, lookup, realm))

    async def use_nodes_clock(self) -> None:
        """Set the clock to the time of the live nodes, see `nodes.time_of_nodes`."""
        if self._dsn and isinstance(self.clock, SteadyClock):
            self.clock.set_to(await self._runner.read(nodes.time_of_nodes))

    # Notes

    async def publish_note(self, note: object, form: Callable[[], Form]) -> None:
        """Send a note, which is never stored, to all listeners here and on other nodes.

        Args:
            note: the note.
            form: returns the form in which it is sent to other processes.

        Raises:
            NoteTooLongError: the note exceeds the longest message.
            StoreError: other nodes cannot be reached.
        """
        if self._dsn:
            text = form().to_text(note)
            await self._runner.read(lambda database: database.backend.send_note(text))
        for heard, _ in list(self._note_listeners):
            heard(note)

    def _dispatch_note(self, text: str) -> None:
        """Pass another process's note to all listeners; `NotesMissed` for missed ones."""
        for heard, form in list(self._note_listeners):
            try:
                heard(NotesMissed() if text == MISSED else form().from_text(text))
            except MalformedTextError as error:  # for example, sent by another version
                # Log neither the text nor the error, which quotes it: it may contain players' chat.
                why = type(error.__cause__).__name__
                _log.warning("could not read a note from another node: %s", why)

    def subscribe_notes(self, callback: Heard, form: Callable[[], Form]) -> Callable[[], None]:
        """Subscribe a callback to notes.

        Args:
            callback: called in the loop with each note.
            form: returns the form in which notes come from other processes.

        Returns:
            A function that ends the subscription.
        """
        hearing = callback, form
        self._note_listeners.append(hearing)
        return lambda: self._note_listeners.remove(hearing)

    # The whole store

    async def check(self) -> str | None:
        """Check the whole store, while it is used, in a low-priority process of its own.

        Returns:
            A description of the damage, after which all writes are refused; None if there is none.
        """
        if self._path is None and not self._dsn:
            return await self._runner.read(lambda db: check_backend(db.backend))
        path = str(self._path.absolute()) if self._path else ""
        found = await check_beside(path, self._dsn)
        if found:
            await self._runner.read(
                lambda database: database.mark_damaged(DamagedStoreError(found))
            )
        return found

    async def _tell_again(self) -> None:
        for work, told in list(self._retold):
            told(await self._runner.read(work))

    def _others_changed(self) -> None:
        """Schedule the watched reads, at most once a second.

        Most writes of other processes are moves, which change nothing that is watched.
        """
        if self._retold and not self._reread:
            import asyncio  # noqa: PLC0415  (a house needs no asyncio)

            delay = self._reread_at + REREAD_INTERVAL - monotonic()
            self._reread = asyncio.get_running_loop().call_later(delay, self._reread_watched)

    def _reread_watched(self) -> None:
        import asyncio  # noqa: PLC0415  (a house needs no asyncio)

        async def tell() -> None:
            try:
                await self._tell_again()
            except StoreError as error:
                _log.error("could not read bans and notifications: %s", error)

        self._reread, self._reread_at = None, monotonic()  # first: later writes need another one
        task = asyncio.get_running_loop().create_task(tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _runner_stopped(self, error: StoreError) -> None:
        """Make all pending calls of `wait_stopped` raise the error."""
        self._trouble = error
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(error)


def _open_database(
    backend: Backend,
    clock: Callable[[], float],
    *,
    alone: bool = False,
    upgrade: Upgrade | None = None,
) -> Database:
    """Open the database on a backend.

    Args:
        backend: the backend, which is closed if this fails.
        clock: set to the nodes' shared time, or at least past the last event.
        alone: whether no other node can serve boards from it; then all nodes' leases are ended.
        upgrade: permits its upgrade, if another version has written it.
    """
    try:
        database = Database(backend, clock, alone=alone, upgrade=upgrade)
        if isinstance(clock, SteadyClock):
            if backend.is_shared:
                clock.set_to(database.read(lambda opened: opened.backend.now()))
            clock.advance_to(database.head.at)
        if alone:
            nodes.end_all_leases(database)
    except BaseException:
        backend.close()
        raise
    return database


def run_synchronously(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine of a store in memory, which never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        answer: T = done.value
        return answer
    coroutine.close()
    raise RuntimeError("a store in memory should not wait")
