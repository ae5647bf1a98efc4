"""A primary of PostgreSQL and its synchronous standby, as a store meets them.

The statements of `thudmud.store.postgres` run as they are, on SQLite. What is here instead is the
server: sessions, the writers' lock, commits that wait for the standby, notes, and what goes wrong.
A primary that dies takes all sessions with it. Of the commit that was under way then, either the
standby has it or not; who sent it is not told. The standby that takes over knows nothing of the
numbers of transactions that it has not got, and gives them out again.
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
from thudmud.store.backend import MISSED, Holder
from thudmud.store.interface import StoreError
from thudmud.store.nodes import LEASE
from thudmud.store.postgres import TRY_AGAIN

LINK = 0.003
"""Seconds that a message takes to the database or back, at most; sometimes a hundred times that."""

REPLICATION = 0.01
"""Seconds that a commit takes to the standby, or its answer back, at most; the same holds."""

STATEMENTS = 400
"""How many statements a session has prepared: all that there are."""

LOCK_TIMEOUT = 5.0
IDLE_IN_TRANSACTION = 5.0


class Broken(psycopg.OperationalError):
    """The link is lost."""


class Kind(Enum):
    """The kinds of statements that a server distinguishes."""

    OF_TABLES = auto()
    OF_SERVER = auto()
    LOCK = "begin; select pg_advisory_xact_lock"
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
    "set ",
    "alter table",
    "select set_config",
    "comment on table head is ",
)
"""The beginnings of the statements that a server answers without any table of ours."""


@lru_cache(maxsize=1024)
def _kind_of(query: str) -> Kind:
    if " pg_locks " in query:  # whoever sleeps in a transaction is ended here by `_watch`
        return Kind.OF_SERVER
    for kind in Kind:
        if isinstance(kind.value, str) and query.startswith(kind.value):
            return kind
    return Kind.OF_SERVER if query.startswith(ANSWERED) else Kind.OF_TABLES


@lru_cache(maxsize=1024)
def _as_text(query: bytes | str) -> str:
    """Return a statement with question marks for its values."""
    return (query if isinstance(query, str) else query.decode()).replace("%s", "?")


@dataclass(slots=True)
class Statement:
    """One of a batch, and what it has come to."""

    query: str
    values: Sequence[Any] | None = None
    rows: list[Any] = field(default_factory=list)
    rowcount: int = -1
    description: Any = None


class Cursor:
    """What a statement has come to, once its batch is back."""

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
    """A session of the server's."""

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
        """Tells its client, who waits for an answer, that it has ended."""
        self._begun = 0.0
        """When it got the writers' lock, or began to write without."""
        self._idle_since = 0.0
        self._is_watched = False
        """Whether it will be looked for how long it has been idle in a transaction."""
        self.xid: int | None = None

    def end(self) -> None:
        """Let go of all that it holds; of a commit that waits for the standby once that is done."""
        was_open, self.is_open = self.is_open, False
        if not self.waits_for_standby and self in self.primary.sessions:
            del self.primary.sessions[self]
            self._roll_back()
            self.primary.spare[self._path].append(self.files)
            del self.files
        if was_open and self.told:
            self.told()

    def _roll_back(self) -> None:
        """End the transaction, if there is one, as if there had been none."""
        if self.in_transaction and self.files.in_transaction:
            self.files.execute("rollback")
        self.in_transaction, self.has_failed, self.xid = False, False, None
        self.notes.clear()
        self.primary.unlock(self)

    def leave(self) -> None:
        """End it, as its client is gone: but not before what was sent has been done."""
        self.is_left = True
        if not self.busy and not self.asked:
            self.end()

    def go_on(self) -> None:
        """Take the next batch, if there is one and it is free."""
        if self.busy or not self.asked or not self.is_open:
            return
        self.busy = True
        statements, answer = self.asked.popleft()
        self._drive(self._work(statements, answer))

    def _drive(self, work: Generator[float | None, None, None]) -> None:
        """Do work, which waits for some seconds, or until it is called again."""
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
        """End it once it has been idle in a transaction for too long."""
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
            case Kind.LOCK:
                self.in_transaction = True
                until = primary.world.now + LOCK_TIMEOUT
                while primary.locked_by not in (None, self):
                    if primary.world.now >= until:
                        raise psycopg.errors.LockNotAvailable("canceled due to lock timeout")
                    yield None
                if not self.is_open:
                    return
                primary.locked_by, self._begun = self, primary.world.now
                self.files.execute("begin immediate")
                if rest := query.split(";", 2)[2].strip():
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
                primary.tell([statement.values[1]])
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
        """End the transaction: it is on this server at once, and seen once the standby has it."""
        primary = self.primary
        if primary.is_full and self.xid is not None:
            self._roll_back()
            raise psycopg.errors.DiskFull("could not extend file: No space left on device")
        if self.xid is None:  # it has changed nothing
            self.made_visible()
            return
        self.waits_for_standby = True
        primary.commits(self)
        yield primary.slowly(REPLICATION)
        while self.waits_for_standby and primary.behind:  # it has not even got what came before
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
        """Let all see what this transaction has written."""
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
        world: what they are in.
        template: a file of SQLite's with the tables of a store.
        folder: where its own may be.

    Attributes:
        is_up: whether a primary serves.
        is_full: whether the disk is.
        server: when it began.
    """

    def __init__(self, world: World, template: Path, folder: Path) -> None:
        self.world, self._folder = world, folder
        self._copies = count(1)
        self.path = self._copy_of(template)
        self.is_up, self.is_full = True, False
        self._stored = [0.0]
        """When something was stored, and since when a server was at work on it."""
        self.server = "server 1"
        self.servers = count(2)
        self.pids = count(100)
        self.spare: defaultdict[Path, list[sqlite3.Connection]] = defaultdict(list)
        """By the file, what sessions have used that are over: opening it anew takes long."""
        self._opened: list[sqlite3.Connection] = []
        finalize(self, _close, self._opened)
        self.sessions: dict[Session, None] = {}
        """In an order that a seed decides, which that of a set would not be."""
        self.locked_by: Session | None = None
        self.waiting: list[Callable[[], None]] = []
        """Those who wait for the writers' lock."""
        self.listeners: list[Listener] = []
        self.lockers: list[AdvisoryLock] = []
        self.locks: dict[int, dict[AdvisoryLock, bool]] = {}
        """Who holds each advisory lock, and whether others may as well."""
        self.next_xid = self.standby_xid = 700
        self.behind: Path | None = None
        """What the standby has, if that is less than anybody can see on the primary."""
        self.status: dict[int, str] = {}
        self.comment = ""
        self.cuts: dict[object, float] = {}
        """Until when a process cannot reach it."""
        self.on_commit: tuple[bool, Callable[[object], None]] | None = None
        """What is called with the process whose commit is the next of events, and whether only once
        the standby has it."""

    @property
    def is_deaf(self) -> bool:
        """Whether somebody who listens has lost the link for that."""
        return any(each.is_lost for each in self.listeners)

    @property
    def _beside(self) -> list[Listener | AdvisoryLock]:
        """What has a link of its own."""
        return [*self.listeners, *self.lockers]

    @property
    def committing(self) -> Session | None:
        """The session whose transaction waits for the standby; one at a time can write."""
        return next((each for each in self.sessions if each.waits_for_standby and each.xid), None)

    def commits(self, session: Session) -> None:
        """Do what is to be done once something of a board is about to be committed."""
        if self.on_commit and session.has_events:
            is_replicated, do = self.on_commit
            if session.is_replicated is is_replicated:
                self.on_commit = None
                self.world.later(0.0, partial(do, session.process))

    def note_stored(self, since: float) -> None:
        """Note that something is stored, on which a server was at work since some time."""
        self._stored += [since, self.world.now]

    @property
    def outages(self) -> list[tuple[float, float]]:
        """From when to when nothing was stored for longer than a server lives.

        Servers know of nothing else. What waited for the standby may be stored behind what began
        later, and still one was at work on it.
        """
        times = pairwise(sorted(self._stored))
        return [(begun, ended) for begun, ended in times if ended > begun + LEASE]

    def number(self) -> int:
        """Give out the next number of a transaction."""
        self.next_xid += 1
        return self.next_xid

    def slowly(self, most: float) -> float:
        """Return how many seconds something takes: now and then very long."""
        chance = self.world.dice.random()
        return 100 * self.world.delay(most) if chance < 0.02 else most * chance**3

    def reaches(self, process: object) -> bool:
        """Whether a process can connect."""
        return self.is_up and self.cuts.get(process, 0.0) <= self.world.now

    def unlock(self, session: Session) -> None:
        """Let another session have the writers' lock."""
        if self.locked_by is session:
            self.locked_by = None
            waiting, self.waiting = self.waiting, []
            for go_on in waiting:
                go_on()

    def answer(self, query: str, session: Session) -> list[Any]:
        """Return what the server itself answers."""
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
        """Return what came of a transaction, as far as this server knows its number."""
        return self.status.get(xid, "aborted" if xid <= self.next_xid else "unknown")

    def tell(self, notes: Sequence[str]) -> None:
        """Tell all who listen."""
        for listener in self.listeners:
            listener.hear(notes)

    def terminate(self, pid: int, name: str, server: str, unless: str) -> None:
        """End a session, unless it waits for the standby and that is to be let be."""
        for each in list(self.sessions):
            spared = each.waits_for_standby and unless == "SyncRep"
            if each.pid == pid and server == self.server and not spared:
                each.end()

    # What goes wrong.

    def fail_over(self, pause: float, late: object = None) -> None:
        """Kill the primary; the standby takes its place after some seconds.

        Args:
            pause: that many.
            late: the process that finds it later than all others; else any may.
        """
        if (flushed := self.committing) and flushed.is_replicated:
            flushed.made_visible()
        self._die()
        if self.behind:
            self.path, self.behind = self.behind, None
        # Numbers of transactions that the standby has not seen are given out again.
        self.next_xid = self.standby_xid
        self.status = {each: what for each, what in self.status.items() if each <= self.next_xid}
        self.world.later(pause, partial(self._serve, late))

    def crash(self, pause: float, lag: float) -> None:
        """Kill the primary, which comes back after some seconds; its standby later than that.

        What was about to be committed is there then, whether the standby has it or not.
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
        """Return a copy of all that can be seen."""
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
        # Not all find it at the same time.
        for process in self.world.processes:
            if process is late or (late is None and self.world.dice.random() < 0.5):
                self.cuts[process] = self.world.now + self.world.dice.uniform(0, 4)
        self.server = f"server {next(self.servers)}"
        self.is_up = True

    def cut_off(self, process: object, seconds: float) -> None:
        """Let a process not reach it for some seconds; its links are lost."""
        self.cuts[process] = self.world.now + seconds
        for each in list(self.sessions):
            if each.process is process:
                each.end()
        for listening in self._beside:
            if listening.process is process:
                listening.lose()

    def hang_up(self, process: object) -> None:
        """Take note that a process is gone, and so its ends of all links."""
        for each in list(self.sessions):
            if each.process is process:
                self.world.later(self.world.delay(LINK), each.leave)
        for listening in self._beside:
            if listening.process is process:
                listening.close()

    def opened(self, path: Path) -> sqlite3.Connection:
        """Return a connection to a file, which lasts as long as the database."""
        self._opened.append(_opened(path))
        return self._opened[-1]

    def _copy_of(self, path: Path) -> Path:
        copy = self._folder / f"{next(self._copies)}.db"
        shutil.copyfile(path, copy)
        with closing(sqlite3.connect(copy)) as files:
            files.execute("pragma journal_mode = wal")  # so are those who open it later
        return copy


class Connection:
    """What stands for `psycopg.Connection` in the store: the client's end of a session."""

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
        """Return whether a transaction counts as committed by its number: for a mistake."""
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
        """Send some statements, and wait for what they come to."""
        world, thread, session = self._world, self._world.thread, self._session
        if self.process.is_dead:
            raise Broken("nobody asks any more")
        came: list[Exception | None] = []

        def back(error: Exception | None) -> None:
            world.later(self._database.slowly(LINK), lambda: arrived(error))

        def arrived(error: Exception | None) -> None:
            if session.is_open or error:  # else the link was lost on the way
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
    """What stands for `psycopg.ServerCursor`: here all rows come at once."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.execute, self.itersize = connection.execute, 0

    def __enter__(self) -> ServerCursor:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Listener:
    """What stands for `thudmud.store.postgres.Listener`: it hears what others say."""

    def __init__(
        self,
        database: Database,
        token: str,
        heard: Callable[[str | None], None],
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
        """Hear something after a while, in the order in which it was said."""
        world = self._database.world
        if self.is_lost:
            return
        for each in notes:
            token, _, note = each.partition(" ")
            if token != self._token:
                self._last = max(self._last, world.now + self._database.slowly(LINK))
                world.at(self._last, partial(self._hear, note or None))

    def lose(self, seconds: float = 1.0) -> None:
        """Hear nothing any more for some seconds, and until the link is there again."""
        if not self.is_lost and not self._is_closed:
            self.is_lost = True
            self._database.world.later(seconds, self._listen)

    def _hear(self, note: str | None) -> None:
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

    def _in_process(self, note: str | None) -> None:
        self._database.world.process = self.process
        self._heard(note)


class AdvisoryLock:
    """What stands for `thudmud.store.postgres.AdvisoryLock`: it is tried again and again."""

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
        """Lose the link, and the lock with it."""
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
    """What stands for `thudmud.store.postgres.LinkWatch`: here every link ends by itself."""

    has_cut = False

    def close(self) -> None:
        pass

    def follow(self, dsn: str, session: object) -> None:
        pass

    def over(self, *, _nothing: AbstractContextManager[None] = nullcontext()) -> Any:  # noqa: B008
        return _nothing


@contextmanager
def no_longer_than(seconds: float, session: Connection) -> Iterator[None]:
    """What stands for `thudmud.store.postgres.no_longer_than`."""
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


@lru_cache(maxsize=512)
def _in_sqlite(query: str) -> str:
    """Return a statement of the store's for PostgreSQL as SQLite wants it."""
    query = _ANY.sub("in (select value from json_each(?))", query)
    if query.startswith("select tablename from pg_tables"):
        return "select name from sqlite_schema where type = 'table'"
    return query.replace("bytea", "blob").replace(' collate "C"', "")  # SQLite's own is that one


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
