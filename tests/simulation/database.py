"""Simulated PostgreSQL: a primary and its synchronous standby, as a store sees them.

The statements of `thudmud.store.postgres` run unchanged, on SQLite. Simulated are the server's
sessions, the writers' lock, commits that wait for the standby, notifications, and faults.
A primary that dies takes all sessions with it. A commit in progress at that moment may or may not
have reached the standby, and its sender is not told. A promoted standby does not know the
transaction ids that it has not received, and reuses them.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache, partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from weakref import finalize

import psycopg

from tests.simulation.clockwork import World
from tests.simulation.versions import in_own_form
from thudmud.store.backend import MISSED, PREPARED_LIFETIME, Heard, Holder, PliesStored
from thudmud.store.interface import StoreError
from thudmud.store.nodes import LEASE
from thudmud.store.postgres import TRY_AGAIN

LINK = 0.003
"""Maximum seconds for a message to or from the database; sometimes a hundred times that."""

REPLICATION = 0.01
"""Maximum seconds for a commit to the standby or its reply; sometimes a hundred times that."""

STATEMENTS = 400
"""Number of statements that a session keeps prepared: all of them."""

LOCK_TIMEOUT = 5.0
IDLE_IN_TRANSACTION = 5.0


class Broken(psycopg.OperationalError):
    """The connection is lost."""


class Kind(Enum):
    """Kinds of statements that the server distinguishes."""

    OF_TABLES = auto()
    OF_SERVER = auto()
    LOCK = "begin; select pg_advisory_xact_lock"
    PROMPT_LOCK = "select pg_advisory_xact_lock"
    BEGIN = "begin isolation level"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    NOTIFY = "notify "
    TELL = "select pg_notify"
    MESSAGE = "select pg_logical_emit_message"
    TERMINATE = "select pg_terminate_backend"


ANSWERED = (
    "select current_schema(), current_setting('server_encoding')",
    "select pg_postmaster_start_time()::text",
    "select obj_description(to_regclass('head'), 'pg_class')",
    "select extract(epoch from clock_timestamp())::float8",
    "select quote_ident(nspname) from pg_extension",
    "select current_setting('data_checksums')",
    "select pg_current_xact_id()::text::bigint",
    "begin",
    "set ",
    "alter table",
    "select set_config",
    "comment on table head is ",
)
"""Prefixes of statements answered without access to our tables."""


@lru_cache(maxsize=1024)
def _kind_of(query: str) -> Kind:
    if " pg_locks " in query:  # sessions idle in transaction are ended by `_watch` instead
        return Kind.OF_SERVER
    for kind in Kind:
        if isinstance(kind.value, str) and query.startswith(kind.value):
            return kind
    return Kind.OF_SERVER if query.startswith(ANSWERED) else Kind.OF_TABLES


@lru_cache(maxsize=1024)
def _as_text(query: bytes | str) -> str:
    """Return a statement with question marks as placeholders."""
    return (query if isinstance(query, str) else query.decode()).replace("%s", "?")


@dataclass(slots=True)
class Statement:
    """A statement of a batch and its result."""

    query: str
    values: Sequence[Any] | None = None
    rows: list[Any] = field(default_factory=list)
    rowcount: int = -1
    description: Any = None


class Cursor:
    """The result of a statement, available once its batch has been answered."""

    def __init__(self, statement: Statement, flush: Callable[[], None]) -> None:
        self._statement, self._flush = statement, flush

    @property
    def rowcount(self) -> int:
        return self._statement.rowcount

    @property
    def description(self) -> Any:
        return self._statement.description

    def nextset(self) -> bool:
        return True

    def fetchone(self) -> Any:
        self._flush()
        return self._statement.rows.pop(0) if self._statement.rows else None

    def fetchall(self) -> list[Any]:
        self._flush()
        rows, self._statement.rows = self._statement.rows, []
        return rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


class Session:
    """A session on the server."""

    def __init__(self, primary: Database, process: object) -> None:
        self.pid, self.process = next(primary.pids), process
        self.primary = primary
        self._path = primary.path
        spare = primary.spare[self._path]
        self.files = spare.pop() if spare else primary.opened(self._path)
        self.is_open, self.in_transaction, self.has_failed = True, False, False
        self.waits_for_standby = self.is_replicated = self.has_events = False
        self.notes: list[str] = []
        self.asked: deque[tuple[list[Statement], Callable[[Exception | None], None]]] = deque()
        self.busy = self.is_left = False
        self.told: Callable[[], None] | None = None
        """Tells the client, if it waits for an answer, that the session has ended."""
        self._begun = 0.0
        """When the session took the writers' lock, or began to write without it."""
        self._idle_since = 0.0
        self._is_watched = False
        """Whether a check of its idle time in transaction is scheduled."""
        self.xid: int | None = None

    def end(self) -> None:
        """Release everything it holds; a commit that waits for the standby is completed first."""
        was_open, self.is_open = self.is_open, False
        if not self.waits_for_standby and self in self.primary.sessions:
            del self.primary.sessions[self]
            self._roll_back()
            self.primary.spare[self._path].append(self.files)
            del self.files
        if was_open and self.told:
            self.told()

    def _roll_back(self) -> None:
        """Roll back the transaction, if there is one."""
        if self.in_transaction and self.files.in_transaction:
            self.files.execute("rollback")
        self.in_transaction, self.has_failed, self.xid = False, False, None
        self.notes.clear()
        self.primary.unlock(self)

    def leave(self) -> None:
        """End the session after the client has gone, once all that it sent has been processed."""
        self.is_left = True
        if not self.busy and not self.asked:
            self.end()

    def go_on(self) -> None:
        """Start the next batch, if there is one and the session is idle."""
        if self.busy or not self.asked or not self.is_open:
            return
        self.busy = True
        statements, answer = self.asked.popleft()
        self._drive(self._work(statements, answer))

    def _drive(self, work: Generator[float | None, None, None]) -> None:
        """Advance a generator that yields a delay in seconds, or None to wait for the lock."""
        world = self.primary.world
        try:
            pause = next(work)
        except StopIteration:
            return
        if pause is None:
            self.primary.waiting.append(lambda: self._drive(work))
        else:
            world.later(pause, lambda: self._drive(work))

    def _work(
        self, statements: list[Statement], answer: Callable[[Exception | None], None]
    ) -> Generator[float | None, None, None]:
        error: Exception | None = None
        for each in statements:
            kind = _kind_of(each.query)
            try:
                if kind is Kind.OF_TABLES and not self.has_failed:
                    self._execute(each, each.query)
                else:
                    yield from self._do(each, kind)
            except psycopg.Error as raised:
                error, self.has_failed = raised, self.in_transaction
                break
            if not self.is_open:
                return
        self.busy = False
        answer(error)
        if self.is_left:
            self.end()
            return
        self._idle_since = self.primary.world.now
        if self.in_transaction and not self._is_watched:
            self._watch()
        self.go_on()

    def _watch(self) -> None:
        """End the session once it has been idle in transaction for too long."""
        world = self.primary.world
        left = self._idle_since + IDLE_IN_TRANSACTION - world.now
        self._is_watched = self.is_open and self.in_transaction
        if self._is_watched and not self.busy and left <= 0:
            self.end()
        elif self._is_watched:
            world.later(left if left > 0 else IDLE_IN_TRANSACTION, self._watch)

    def _do(self, statement: Statement, kind: Kind) -> Generator[float | None, None, None]:
        query, primary = statement.query, self.primary
        if self.has_failed and kind is not Kind.ROLLBACK:
            raise psycopg.errors.InFailedSqlTransaction("current transaction is aborted")
        match kind:
            case Kind.OF_SERVER:
                statement.rows = primary.answer(query, self)
            case Kind.LOCK | Kind.PROMPT_LOCK:
                self.in_transaction = True
                limit = LOCK_TIMEOUT if kind is Kind.LOCK else PREPARED_LIFETIME
                until = primary.world.now + limit
                while primary.locked_by not in (None, self):
                    if primary.world.now >= until:
                        raise psycopg.errors.LockNotAvailable("canceled due to lock timeout")
                    yield None
                if not self.is_open:
                    return
                primary.locked_by, self._begun = self, primary.world.now
                self.files.execute("begin immediate")
                if rest := "".join(query.split(";", 2)[2:]).strip():
                    self._execute(statement, rest)
            case Kind.BEGIN:
                self.in_transaction = True
                self.files.execute("begin")
            case Kind.COMMIT:
                yield from self._commit()
            case Kind.ROLLBACK:
                self._roll_back()
            case Kind.NOTIFY:
                self.notes.append(query.split("'")[1])
            case Kind.TELL:
                assert statement.values
                note = [statement.values[1]]
                if self.in_transaction:
                    self.notes += note
                else:
                    primary.tell(note)
            case Kind.MESSAGE:
                self.xid = self.xid or primary.number()
                if not self.in_transaction:
                    self._begun = primary.world.now
                    yield from self._commit()
            case Kind.TERMINATE:
                assert statement.values
                primary.terminate(*statement.values)

    def _execute(self, statement: Statement, query: str) -> None:
        text, values = _in_sqlite(query), statement.values or ()
        if list in map(type, values):
            values = [json.dumps(each) if isinstance(each, list) else each for each in values]
        try:
            cursor = self.files.execute(text, values)
            statement.rows, statement.rowcount = cursor.fetchall(), cursor.rowcount
            statement.description = cursor.description
        except sqlite3.IntegrityError as error:
            raise psycopg.errors.UniqueViolation(str(error)) from error
        except OverflowError as error:
            raise psycopg.errors.NumericValueOutOfRange(str(error)) from error
        self.has_events = self.has_events or query.startswith("insert into event ")
        if self.in_transaction and self.xid is None and not query.startswith("select"):
            self.xid = self.primary.number()

    def _commit(self) -> Generator[float | None, None, None]:
        """Commit: durable on this server at once, visible once the standby has it."""
        primary = self.primary
        if primary.is_full and self.xid is not None:
            self._roll_back()
            raise psycopg.errors.DiskFull("could not extend file: No space left on device")
        if self.xid is None:  # read-only
            self.made_visible()
            return
        self.waits_for_standby = True
        primary.commits(self)
        yield primary.slowly(REPLICATION)
        while self.waits_for_standby and primary.behind:  # the standby still lacks earlier commits
            yield 0.01
        if not self.waits_for_standby:
            return
        self.is_replicated = True
        primary.standby_xid = max(primary.standby_xid, self.xid or 0)
        primary.commits(self)
        yield primary.slowly(REPLICATION)
        if self.waits_for_standby:
            self.made_visible()
            primary.tell(self.notes)
            self.notes = []
            if not self.is_open:
                self.end()

    def made_visible(self) -> None:
        """Make the transaction visible to everybody."""
        primary = self.primary
        self.waits_for_standby = self.is_replicated = False
        if self.in_transaction:
            self.files.execute("commit")
        if self.xid is not None:
            primary.status[self.xid] = "committed"
            primary.note_stored(self._begun)
        self.in_transaction, self.xid, self.has_events = False, None, False
        primary.unlock(self)


class Database:
    """A primary and its standby.

    Args:
        world: the world.
        template: an SQLite file with the tables of a store.
        folder: the folder for its files.

    Attributes:
        is_up: whether a primary is serving.
        is_full: whether the disk is full.
        server: identifies the start of the current primary.
    """

    def __init__(self, world: World, template: Path, folder: Path) -> None:
        self.world, self._folder = world, folder
        self._copies = count(1)
        self.path = self._copy_of(template)
        self.is_up, self.is_full = True, False
        self._stored = [0.0]
        """Times of commits, and times since which a server had been working on them."""
        self.server = "server 1"
        self.servers = count(2)
        self.pids = count(100)
        self.spare: defaultdict[Path, list[sqlite3.Connection]] = defaultdict(list)
        """Connections of closed sessions by file, reused because opening is slow."""
        self._opened: list[sqlite3.Connection] = []
        finalize(self, _close, self._opened)
        self.sessions: dict[Session, None] = {}
        """Open sessions; unlike a set, a dict has a reproducible order."""
        self.locked_by: Session | None = None
        self.waiting: list[Callable[[], None]] = []
        """Continuations of sessions that wait for the writers' lock."""
        self.listeners: list[Listener] = []
        self.lockers: list[AdvisoryLock] = []
        self.locks: dict[int, dict[AdvisoryLock, bool]] = {}
        """Holders by advisory lock, and whether each holds it in shared mode."""
        self.next_xid = self.standby_xid = 700
        self.behind: Path | None = None
        """The standby's state, if it lags behind what is visible on the primary."""
        self.status: dict[int, str] = {}
        self.comment = ""
        self.cuts: dict[object, float] = {}
        """When each process can reach the database again."""
        self.on_commit: tuple[bool, Callable[[object], None]] | None = None
        """A callback for the process whose commit of events is next, and whether to call it only
        once the standby has the commit."""

    @property
    def is_deaf(self) -> bool:
        """Whether a listener has lost its connection."""
        return any(each.is_lost for each in self.listeners)

    @property
    def _beside(self) -> list[Listener | AdvisoryLock]:
        """Holders of a separate connection."""
        return [*self.listeners, *self.lockers]

    @property
    def committing(self) -> Session | None:
        """The session whose transaction waits for the standby; only one at a time can write."""
        return next((each for each in self.sessions if each.waits_for_standby and each.xid), None)

    def commits(self, session: Session) -> None:
        """Call `on_commit` when a commit of events is about to happen."""
        if self.on_commit and session.has_events:
            is_replicated, do = self.on_commit
            if session.is_replicated is is_replicated:
                self.on_commit = None
                self.world.later(0.0, partial(do, session.process))

    def note_stored(self, since: float) -> None:
        """Record a commit and the time since which a server had been working on it."""
        self._stored += [since, self.world.now]

    @property
    def outages(self) -> list[tuple[float, float]]:
        """Intervals without a commit that are longer than a lease.

        This is all that servers can know. A commit delayed by the standby may be recorded after a
        later one, although a server was working on it.
        """
        times = pairwise(sorted(self._stored))
        return [(begun, ended) for begun, ended in times if ended > begun + LEASE]

    def number(self) -> int:
        """Allocate the next transaction id."""
        self.next_xid += 1
        return self.next_xid

    def slowly(self, most: float) -> float:
        """Return a random delay in seconds, now and then very long."""
        chance = self.world.dice.random()
        return 100 * self.world.delay(most) if chance < 0.02 else most * chance**3

    def reaches(self, process: object) -> bool:
        """Whether a process can connect."""
        return self.is_up and self.cuts.get(process, 0.0) <= self.world.now

    def unlock(self, session: Session) -> None:
        """Release the writers' lock and wake those who wait for it."""
        if self.locked_by is session:
            self.locked_by = None
            waiting, self.waiting = self.waiting, []
            for go_on in waiting:
                go_on()

    def answer(self, query: str, session: Session) -> list[Any]:
        """Answer a statement that concerns only the server."""
        match query:
            case "select current_schema(), current_setting('server_encoding')":
                return [("public", "UTF8")]
            case "select pg_postmaster_start_time()::text":
                return [(self.server,)]
            case "select obj_description(to_regclass('head'), 'pg_class')":
                return [(self.comment,)]
            case "select extract(epoch from clock_timestamp())::float8":
                return [(self.world.wall(),)]
            case "select pg_current_xact_id()::text::bigint":
                session.xid = session.xid or self.number()
                return [(session.xid,)]
        if query.startswith("comment on table head is "):
            self.comment = query.split("'")[1]
        return []

    def status_of(self, xid: int) -> str:
        """Return the status of a transaction; unknown if this server never issued its id."""
        return self.status.get(xid, "aborted" if xid <= self.next_xid else "unknown")

    def tell(self, notes: Sequence[str]) -> None:
        """Notify all listeners."""
        for listener in self.listeners:
            listener.hear(notes)

    def terminate(self, pid: int, name: str, server: str, unless: str) -> None:
        """End a session, unless it waits for the standby and ``unless`` is "SyncRep"."""
        for each in list(self.sessions):
            spared = each.waits_for_standby and unless == "SyncRep"
            if each.pid == pid and server == self.server and not spared:
                each.end()

    # Faults.

    def fail_over(self, pause: float, late: object = None) -> None:
        """Kill the primary and promote the standby after some seconds.

        Args:
            pause: the number of seconds.
            late: the process that reaches the new primary last; by default chosen at random.
        """
        if (flushed := self.committing) and flushed.is_replicated:
            flushed.made_visible()
        self._die()
        if self.behind:
            self.path, self.behind = self.behind, None
        # Transaction ids that the standby has not seen are reused.
        self.next_xid = self.standby_xid
        self.status = {each: what for each, what in self.status.items() if each <= self.next_xid}
        self.world.later(pause, partial(self._serve, late))

    def crash(self, pause: float, lag: float) -> None:
        """Restart the primary after some seconds; its standby returns later.

        A commit in progress is then in effect, whether or not the standby has it.
        """
        if (flushed := self.committing) and not flushed.is_replicated:
            if not self.behind:
                self.behind = self._as_of_now()
            self.world.later(pause + lag, self._catch_up)
        if flushed:
            flushed.made_visible()
        self._die()
        self.world.later(pause, self._serve)

    def _as_of_now(self) -> Path:
        """Return a copy of the visible state."""
        copy = self._folder / f"{next(self._copies)}.db"
        with closing(_opened(self.path)) as here, closing(sqlite3.connect(copy)) as there:
            here.backup(there)
            there.execute("pragma journal_mode = wal")
        return copy

    def _catch_up(self) -> None:
        self.behind, self.standby_xid = None, self.next_xid

    def _die(self) -> None:
        self.is_up, self.locked_by = False, None
        self.waiting.clear()
        for each in list(self.sessions):
            each.waits_for_standby = False
            each.end()
        for listening in self._beside:
            listening.lose()

    def _serve(self, late: object = None) -> None:
        # Processes reach the new primary at different times.
        for process in self.world.processes:
            if process is late or (late is None and self.world.dice.random() < 0.5):
                self.cuts[process] = self.world.now + self.world.dice.uniform(0, 4)
        self.server = f"server {next(self.servers)}"
        self.is_up = True

    def cut_off(self, process: object, seconds: float) -> None:
        """Disconnect a process from the database for some seconds."""
        self.cuts[process] = self.world.now + seconds
        for each in list(self.sessions):
            if each.process is process:
                each.end()
        for listening in self._beside:
            if listening.process is process:
                listening.lose()

    def hang_up(self, process: object) -> None:
        """Close the connections of a dead process."""
        for each in list(self.sessions):
            if each.process is process:
                self.world.later(self.world.delay(LINK), each.leave)
        for listening in self._beside:
            if listening.process is process:
                listening.close()

    def opened(self, path: Path) -> sqlite3.Connection:
        """Return a connection to a file; it lasts as long as the database."""
        files = _opened(path)
        files.create_function("wall", 0, self.world.wall)
        self._opened.append(files)
        return files

    def _copy_of(self, path: Path) -> Path:
        copy = self._folder / f"{next(self._copies)}.db"
        shutil.copyfile(path, copy)
        with closing(sqlite3.connect(copy)) as files:
            files.execute("pragma journal_mode = wal")  # later connections inherit the mode
        return copy


class Connection:
    """Replaces `psycopg.Connection` in the store: the client's end of a session."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._world = database.world
        self.process = self._world.process
        if not database.reaches(self.process):
            self._world.sleep(self._world.delay(LINK))
            raise Broken("connection refused")
        self._session = Session(database, self.process)
        database.sessions[self._session] = None
        self._batch: list[Statement] | None = None
        self.closed = False
        self.info = self

    @property
    def backend_pid(self) -> int:
        return self._session.pid

    def get_parameters(self) -> dict[str, str]:
        return {"application_name": "thudmud"}

    def execute(
        self, query: bytes | str, values: Sequence[Any] | None = None, *, prepare: bool = True
    ) -> Cursor:
        if self.closed:
            raise Broken("the connection is closed")
        text = _as_text(query)
        statement = Statement(text, in_own_form(self.process, text, values or ()))
        if self._batch is not None:
            self._batch.append(statement)
            return Cursor(statement, self._flush)
        self._ask([statement])
        return Cursor(statement, lambda: None)

    def cursor(self) -> Connection:
        return self

    def executemany(self, query: bytes, rows: Sequence[Sequence[Any]]) -> None:
        for row in rows:
            self.execute(query, row)

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        self._batch = []
        try:
            yield
            self._flush()
        finally:
            self._batch = None

    def status_of(self, asked: Cursor) -> bool:
        """Return whether a transaction is committed according to its id; used by a mutant."""
        return self._database.status_of(asked.fetchone()[0]) == "committed"

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            session = self._session
            self._world.later(self._world.delay(LINK), session.leave)

    def _flush(self) -> None:
        if self._batch:
            batch, self._batch = self._batch, []
            self._ask(batch)

    def _ask(self, batch: list[Statement]) -> None:
        """Send statements and wait for their results."""
        world, thread, session = self._world, self._world.thread, self._session
        if self.process.is_dead:
            raise Broken("nobody asks any more")
        came: list[Exception | None] = []

        def back(error: Exception | None) -> None:
            world.later(self._database.slowly(LINK), lambda: arrived(error))

        def arrived(error: Exception | None) -> None:
            if session.is_open or error:  # otherwise the connection was lost on the way
                wake(error)

        def wake(error: Exception | None) -> None:
            if not came and not thread.process.is_dead:
                came.append(error)
                thread.wake()

        def sent() -> None:
            session.asked.append((batch, back))
            session.go_on()

        world.later(self._database.slowly(LINK), sent)
        session.told = lambda: world.later(world.delay(LINK), lambda: wake(Broken("it is lost")))
        if not session.is_open:
            session.told()
        while not came:
            world.wait()
        session.told = None
        if isinstance(came[0], Broken) or not session.is_open:
            self.closed = True
            if came[0] is None:
                raise Broken("the link is lost")
        if came[0]:
            raise came[0]


class ServerCursor:
    """Replaces `psycopg.ServerCursor`; all rows arrive at once."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.execute, self.itersize = connection.execute, 0

    def __enter__(self) -> ServerCursor:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Listener:
    """Replaces `thudmud.store.postgres.Listener`: receives notifications of others."""

    def __init__(
        self,
        database: Database,
        token: str,
        heard: Heard,
    ) -> None:
        self._database, self._token, self._heard = database, token, heard
        self.process = database.world.process
        self._last, self.is_lost, self._is_closed = 0.0, False, False
        database.listeners.append(self)
        heard(None)

    def close(self) -> None:
        self._is_closed = True
        with suppress(ValueError):
            self._database.listeners.remove(self)

    def hear(self, notes: Sequence[str]) -> None:
        """Schedule the delivery of notifications in the order in which they were sent."""
        world = self._database.world
        if self.is_lost:
            return
        for each in notes:
            sender, _, text = each.partition(" ")
            token, _, place = sender.partition(":")
            if token != self._token:
                note = PliesStored(tuple(json.loads(text))) if place == "plies" else text or None
                self._last = max(self._last, world.now + self._database.slowly(LINK))
                world.at(self._last, partial(self._hear, note))

    def lose(self, seconds: float = 1.0) -> None:
        """Lose the connection for some seconds, or until the database is reachable again."""
        if not self.is_lost and not self._is_closed:
            self.is_lost = True
            self._database.world.later(seconds, self._listen)

    def _hear(self, note: str | PliesStored | None) -> None:
        if not (self.is_lost or self._is_closed or self.process.is_dead):
            self._in_process(note)

    def _listen(self) -> None:
        if self._is_closed or self.process.is_dead:
            return
        if not self._database.reaches(self.process):
            self._database.world.later(1.0, self._listen)
            return
        self.is_lost = False
        self._in_process(MISSED)

    def _in_process(self, note: str | PliesStored | None) -> None:
        self._database.world.process = self.process
        self._heard(note)


class AdvisoryLock:
    """Replaces `thudmud.store.postgres.AdvisoryLock`: retries until it gets the lock."""

    def __init__(
        self,
        database: Database,
        key: int,
        told: Callable[[Holder | StoreError], object],
        *,
        shared: bool = False,
    ) -> None:
        self._database, self._key, self._told, self._is_shared = database, key, told, shared
        self.process = database.world.process
        self._is_told = self._is_closed = False
        database.lockers.append(self)
        self._try()

    def close(self) -> None:
        self._is_closed = True
        self._let_go()
        with suppress(ValueError):
            self._database.lockers.remove(self)

    def lose(self) -> None:
        """Lose the connection and with it the lock."""
        self._let_go()
        self._is_told = False

    def _let_go(self) -> None:
        holders = self._database.locks.get(self._key, {})
        if holders.pop(self, None) is not None:
            self._try_later()

    def _try_later(self) -> None:
        world = self._database.world
        world.later(TRY_AGAIN + world.delay(LINK), self._try)

    def _try(self) -> None:
        if self._is_closed or self.process.is_dead:
            return
        holders = self._database.locks.setdefault(self._key, {})
        if not self.process.is_awake or not self._database.reaches(self.process):
            self._try_later()
        elif not holders or (self._is_shared and all(holders.values())):
            holders[self] = self._is_shared
            self._told(Holder.OURS)
        else:
            if not self._is_told:
                self._is_told = True
                self._told(Holder.OTHERS)
            self._try_later()


class Watch:
    """Replaces `thudmud.store.postgres.LinkWatch`; simulated connections end on their own."""

    has_cut = False

    def close(self) -> None:
        pass

    def follow(self, dsn: str, session: object) -> None:
        pass

    def watch_statement(self, *, _nothing: AbstractContextManager[None] = nullcontext()) -> Any:  # noqa: B008
        return _nothing


@contextmanager
def time_limit(seconds: float, session: Connection) -> Iterator[None]:
    """Replaces `thudmud.store.postgres.time_limit`."""
    world = session._world
    is_over = has_cut = False

    def cut() -> None:
        nonlocal has_cut
        if not is_over:
            has_cut = True
            session._session.end()

    world.later(seconds, cut)
    try:
        yield
    except psycopg.OperationalError as error:
        if not has_cut:
            raise
        raise psycopg.errors.ConnectionTimeout("it has not answered") from error
    finally:
        is_over = True


_ANY = re.compile(r"= any\(\?\)")
_EACH_ROW = "json_array_elements(?::json) with ordinality each_row (value, place)"
_IN_SQLITE = {
    _EACH_ROW: "(select value, key + 1 as place from json_each(?)) each_row",
    "extract(epoch from clock_timestamp())::float8": "wall()",
    "::bigint": "",
    "bytea": "blob",
    ' collate "C"': "",  # SQLite's default
}
"""Parts of statements in PostgreSQL's dialect, and the same in SQLite's."""


@lru_cache(maxsize=512)
def _in_sqlite(query: str) -> str:
    """Translate a statement from PostgreSQL's dialect to SQLite's."""
    query = _ANY.sub("in (select value from json_each(?))", query)
    if query.startswith("select tablename from pg_tables"):
        return "select name from sqlite_schema where type = 'table'"
    for part, in_sqlite in _IN_SQLITE.items():
        query = query.replace(part, in_sqlite)
    return query


def _close(opened: list[sqlite3.Connection]) -> None:
    for each in opened:
        each.close()


def _opened(path: Path) -> sqlite3.Connection:
    files = sqlite3.connect(
        path,
        timeout=0.0,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS,
    )
    files.create_function("strpos", 2, lambda text, part: text.find(part) + 1, deterministic=True)
    files.execute("pragma synchronous = off")
    return files
