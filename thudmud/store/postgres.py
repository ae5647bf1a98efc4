"""A store in a database of PostgreSQL, which several nodes may serve boards from.

Each store has one connection for all that it reads and writes, which its thread uses, and one more
on which it learns what others have written. Three things are not as they are with a file:

- The writers' lock is an advisory one. Whoever gets it reads ``head`` first, and so knows whether
  others have written since.
- A link that is lost is made again. Failing over to a standby takes some seconds.
- If the link is lost before a commit is answered, it may have been done or not. Each transaction
  writes which it is of its writer's, and that row is read back, from the same server or from the
  standby that has taken its place. Until it is known nothing else is written here. The number that
  the server gives to a transaction would not do: a promoted standby gives out again those that it
  has not seen, and says "committed" of somebody else's.
  The row is read under the writers' lock. The transaction has that until it has ended, so what is
  read then is final. Its session is ended first, unless it waits for a standby: its commit would be
  seen by others before it is safe. And what is there may be on one server alone. It is believed
  once a later commit has been acknowledged.

A text cannot hold a NUL in PostgreSQL; what players write never has one.
"""

from __future__ import annotations

import errno
import logging
import os
import select
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from secrets import token_hex
from threading import Event, Thread, Timer
from threading import Lock as Mutex
from time import monotonic, sleep
from typing import Any, ClassVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from thudmud.store.backend import MISSED, POSTGRESQL, Backend, Holder, Lock
from thudmud.store.interface import Damaged, NotWritten, StoreError, TooLong, Uncertain, Unknown
from thudmud.store.rows import ADDED, DURABLE, FORMAT, PROJECTIONS, definitions, has_rows

OURS = "a store of thudmud, format "
"""What the comment on the table ``head`` begins with."""

PATIENCE = 5.0
"""Seconds for which work waits for a link that was lost. After that it is refused at once, until
the link is there again."""

REST = 2.0
"""Seconds after that before it is tried again: who asks meanwhile is refused at once."""

PAUSE = 0.1
"""Seconds between two tries to connect."""

TRY_AGAIN = 0.5
"""Seconds between two looks at whether a lock is free that somebody else has."""

OPENING = 15.0
"""Seconds for which a server that does not answer is waited for at first."""

SILENCE = 2.0
"""Seconds without an answer after which it is asked from beside whether the server is there."""

BESIDE = 3
"""Seconds for which that is waited for: `PATIENCE` in all."""

ENDING = 1.0
"""Seconds for which a thread is waited for that is to end: the server may not answer it."""

AT_ONCE = 1000
"""How many rows of a large result are fetched at once."""

LONGEST_NOTE = 7_900
"""Bytes that PostgreSQL tells others at once, and a little less."""

LINK = {
    "application_name": "thudmud",
    "connect_timeout": "3",
    "target_session_attrs": "read-write",
    # A host that is gone is noticed within some ten seconds.
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""How the link is made where the operator does not say otherwise."""

SETTINGS = (
    # Who is stopped while they write would stop all others.
    "set idle_in_transaction_session_timeout = '5s'",
    "set lock_timeout = '15s'",
    # What is told is stored, whatever the server does by default.
    "select set_config('synchronous_commit', 'on', false)"
    " where current_setting('synchronous_commit') = 'off'",
    "set client_min_messages = 'warning'",
    # So does the server notice that our machine is gone, and lets go of its locks.
    "set tcp_keepalives_idle = '5s'",
    "set tcp_keepalives_interval = '2s'",
    "set tcp_keepalives_count = 3",
    "set tcp_user_timeout = '10s'",
)

WRITERS = 'create table writer (token text collate "C" primary key, number bigint, commits bigint)'
"""Of each store that has written here: the number of its last transaction, by its own count, and
how many commits of all there were by then. It is no table of other databases, nor is it checked or
copied: it says nothing once the writer has ended."""

COUNT_COMMITS = "alter table writer add column if not exists commits bigint"
"""At first there was a time instead: that of a server which is another one after a fail-over."""

WRITE_NUMBER = (
    "insert into writer (token, number, commits) select ?, ?, commits from head where id = 1"
    " on conflict (token) do update set number = excluded.number, commits = excluded.commits"
)

FORGET_WRITERS = "delete from writer where commits < (select commits from head) - 1000000"
"""Whoever has not written during a million commits has ended; if not, their row is missing to them,
and they know that they cannot tell."""

LATER_COMMIT = "select pg_logical_emit_message(true, 'thudmud', '')"
"""It changes nothing, but its commit is acknowledged as any other, after those before it."""

Heard = Callable[[str | None], None]

_log = logging.getLogger(__name__)


class NothingWritten(psycopg.OperationalError):
    """The link was lost while a transaction was committed, and it was not."""


class DatabaseLink:
    """A connection that is made again when it is lost.

    Args:
        dsn: how to connect, in libpq's words.
        patience: for how many seconds it is waited for.

    Raises:
        psycopg.Error: it cannot be made.
    """

    def __init__(self, dsn: str, patience: float) -> None:
        self._dsn, self._patience = dsn, patience
        self.made = 0
        """How often it has been made."""
        self.server = ""
        """When the server began: none that began at another time has the same sessions."""
        self._given_up = 0.0
        """When it was last tried in vain, if the link has been lost for longer than we wait."""
        self._watch = LinkWatch()
        try:
            self._open()
        except BaseException:
            self._watch.close()
            raise

    @property
    def is_lost(self) -> bool:
        """Whether nothing can be asked at present."""
        return self.session.closed

    def restore(self) -> None:
        """Make the link again if it is lost, and wait for that.

        Raises:
            psycopg.OperationalError: it cannot be made.
        """
        if not self.is_lost:
            return
        now = monotonic()
        if self._given_up and now < self._given_up + REST:
            raise psycopg.OperationalError("it could not be reached a moment ago")
        until = now + (0.0 if self._given_up else self._patience)
        while self.is_lost:
            try:
                self._connect()
                self._given_up = 0.0
            except psycopg.OperationalError:
                if monotonic() >= until:
                    self.give_up()
                    raise
                sleep(PAUSE)

    def give_up(self) -> None:
        """Do not try for a while: it has been waited for long enough."""
        self._given_up = monotonic()

    def execute(self, query: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Execute a statement; or several, where there are no values."""
        with self._watched():
            return self.session.execute(translated(query), values or None)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each of some rows."""
        with self._watched():
            self.session.cursor().executemany(translated(query), rows)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Do what waits for no result until the end, in one round trip."""
        with self._watched(), self.session.pipeline():
            yield

    def close(self) -> None:
        """Let go of it."""
        self._watch.close()
        self.session.close()

    def _open(self) -> None:
        until = monotonic() + OPENING
        while True:
            try:
                self._connect()
            except psycopg.errors.ConnectionTimeout:
                if monotonic() >= until:
                    raise
            else:
                return

    def _connect(self) -> None:
        self.session = connected(self._dsn)
        self._watch.follow(self._dsn, self.session)
        self.made += 1
        ((self.server,),) = self.execute("select pg_postmaster_start_time()::text").fetchall()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Do something on the session; its link is cut if the server is not there any more."""
        try:
            with self._watch.over():
                yield
        except psycopg.OperationalError:
            if self._watch.has_cut:
                self.give_up()
            raise


class LinkWatch:
    """A thread that cuts a link whose server does not answer any more, and is not there.

    A server that is stopped, or whose machine has lost its network, would be waited for without
    end, by a thread that can do nothing else. One that is there may take as long as it likes.

    Attributes:
        has_cut: whether the link over which something was last asked has been cut.
    """

    def __init__(self) -> None:
        self.has_cut = False
        self._lock = Mutex()
        self._asked: float | None = None
        """When something was asked that has not been answered."""
        self._is_closing = Event()
        self._link: socket.socket | None = None
        self._thread = Thread(target=self._run, name="store watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Watch no longer."""
        self._is_closing.set()
        self._thread.join()
        if self._link:
            self._link.close()

    def follow(self, dsn: str, session: psycopg.Connection[Any]) -> None:
        """Watch over the link of a session that has just been made, and over no other."""
        info = session.info
        beside: dict[str, Any] = {
            **conninfo_to_dict(dsn),
            "host": info.host,
            "hostaddr": info.hostaddr or None,
            "port": info.port,
            "connect_timeout": BESIDE,
            "target_session_attrs": "any",
        }
        with self._lock:
            if self._link:
                self._link.close()
            # A file of our own: by its number it could be another's by the time that it is cut.
            self._link = socket.socket(fileno=os.dup(session.fileno()))
            self._beside = make_conninfo("", **beside)

    @contextmanager
    def over(self) -> Iterator[None]:
        """Watch over the link until what is asked there meanwhile has been answered."""
        if self._asked is not None:  # of several that are asked together, the end is waited for
            yield
            return
        self.has_cut = False
        self._asked = monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._asked = None

    def _run(self) -> None:
        while not self._is_closing.wait(SILENCE / 4):
            asked = self._asked
            if asked is None or monotonic() < asked + SILENCE or self._is_there():
                continue
            with self._lock, suppress(OSError):
                if self._asked == asked and self._link:
                    self.has_cut = True
                    self._link.shutdown(socket.SHUT_RDWR)

    def _is_there(self) -> bool:
        """Return whether the server answers. It may refuse us: who is there will answer, too."""
        try:
            psycopg.connect(self._beside).close()
        except psycopg.Error as error:
            # What a server says begins with how grave it is, in its language, and two spaces. All
            # else is the network's, but for this.
            return ":  " in str(error) or os.strerror(errno.ECONNREFUSED) in str(error)
        return True


class Postgres(Backend):
    """A database of PostgreSQL.

    Args:
        dsn: how to connect to it, in libpq's words: "host=... dbname=...", or "postgresql://...".
        patience: for how many seconds it waits for a link that was lost.

    Raises:
        Damaged: what is there is not what was written.
        Unknown: a later version of this program wrote it, or it is another program's.
        StoreError: it cannot be used.
    """

    connection: DatabaseLink
    dialect = POSTGRESQL
    errors: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error,)
    is_shared = True

    def __init__(self, dsn: str, patience: float = PATIENCE) -> None:
        self._dsn, self._name = dsn, name_of(dsn)
        self._token = token_hex(8)
        """What tells this store from all others, those of this process as well."""
        self._number = 0
        """How many transactions of this store have been committed, or may have been."""
        self._acknowledged = 0
        """The number of the last of them that was."""
        self._settling: tuple[int, str] | None = None
        """The session that was to wait until what a new link shows is safe."""
        self._looks = 0
        self._cursors = 0
        self._listener: Listener | None = None
        try:
            self.connection = DatabaseLink(dsn, patience)
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise
        except Exception as error:
            raise self.translated(error) from error

    def _prepare(self) -> None:
        """Make the tables, unless they are there; see whether they are ours."""
        execute = self.connection.execute
        ((schema,),) = execute("select current_schema()").fetchall()
        if schema is None:
            raise StoreError(f"{self._name} has no schema that tables could be made in.")
        self._channel = f'"thudmud {schema}"'
        self._begin()
        there = {name for (name,) in execute(self.dialect.tables)}
        if missing := self._missing(there):
            for statement in definitions(missing, self.dialect):
                execute(statement)
            execute(f"comment on table head is '{OURS}{FORMAT}'")
        if "writer" in there:
            execute(COUNT_COMMITS)
            execute(FORGET_WRITERS)
        else:
            execute(WRITERS)
        self.is_new = not execute("select count(*) from head").fetchall()[0][0]
        if self.is_new and has_rows(self.connection):
            raise Damaged("the row that it begins with is missing")
        execute("commit")  # whoever only looks is no writer; what is made here can be made again

    def _missing(self, there: set[str]) -> list[str]:
        """Return the tables that are to be made.

        Raises:
            Unknown: what is there is not ours, or of a later version.
            Damaged: some are missing that no version would have left out.
        """
        ours = DURABLE.keys() | PROJECTIONS.keys() | {"writer"}
        if not there & ours:
            return [*DURABLE, *PROJECTIONS]
        query = "select obj_description(to_regclass('head'), 'pg_class')"
        ((comment,),) = self.connection.execute(query).fetchall()
        if not str(comment).startswith(OURS):
            raise Unknown(
                f"{self._name} has tables of another program that are called as ours:"
                f" {', '.join(sorted(there & ours))}. Give thudmud a database of its own."
            )
        found = int(str(comment).removeprefix(OURS))
        if found > FORMAT:
            raise Unknown(
                f"{self._name} was written by a later version of thudmud: it has schema {found},"
                f" and this version knows {FORMAT}."
            )
        missing = [name for name in DURABLE if name not in there]
        if not ADDED.issuperset(missing):
            raise Damaged("its tables are not those of a store")
        return missing

    def link(self) -> int:
        """Make the link again if it was lost; return how often one has been made."""
        self.connection.restore()
        return self.connection.made

    def has_settled(self) -> bool:
        """Wait until nothing that can be read over a new link can get lost any more.

        A primary that comes back after a crash shows what it had written itself, though its standby
        may not have it. So a later commit is waited for, for some seconds at a time.

        Returns:
            Whether our last commit that was acknowledged is there.
        """
        # What waits for a standby does not notice that nobody waits for it any more.
        if self._settling:
            self._end(*self._settling)
        self._settling = self._session
        try:
            with no_longer_than(PATIENCE, self.connection.session):
                self.connection.execute(LATER_COMMIT)
        except psycopg.errors.ConnectionTimeout:
            self.connection.give_up()
            raise
        self._settling = None
        return (self._written() or 0) >= self._acknowledged

    @property
    def _session(self) -> tuple[int, str]:
        """What tells our session from all others: its process, and when its server began.

        On a server that began at another time the same number may be that of another node's.
        """
        return self.connection.session.info.backend_pid, self.connection.server

    def _end(self, pid: int, server: str, unless: str = "") -> None:
        """End an old session of ours, if it is there still."""
        end = "select pg_terminate_backend(pid) from pg_stat_activity"
        end += " where pid = ? and application_name = ? and usename = current_user"
        end += " and pg_postmaster_start_time()::text = ?"
        end += " and wait_event is distinct from ?"
        name = self.connection.session.info.get_parameters().get("application_name", "")
        self.connection.execute(end, (pid, name, server, unless))

    def begin(self) -> Any:
        """Begin a transaction, and wait for the writers' lock.

        Returns:
            The row of ``head``, which is read in the same round trip.
        """
        cursor = self._begin("select * from head where id = 1")
        cursor.nextset()
        return cursor.fetchone()

    def _begin(self, query: str = "") -> psycopg.Cursor[Any]:
        self.connection.restore()
        try:
            cursor = self.connection.execute(
                f"begin; select pg_advisory_xact_lock({Lock.WRITING:d}); {query}"
            )
        except psycopg.Error:
            with suppress(psycopg.Error):
                self.rollback()  # else the session would stay in a transaction that has failed
            raise
        cursor.nextset()
        return cursor

    def commit(self) -> None:
        """End a transaction, see `committing`."""
        with self.committing():
            pass

    @contextmanager
    def committing(self) -> Iterator[None]:
        """End a transaction after its last statements, all of them in one round trip.

        If the answer is lost, it is found out what came of it.

        Raises:
            NothingWritten: it came to nothing.
            Uncertain: it is not known.
        """
        self._number += 1
        session = self._session
        try:
            with self.connection.together():
                yield
                self.connection.execute(WRITE_NUMBER, (self._token, self._number))
                self.connection.execute(f"notify {self._channel}, '{self._token}'")
                self.connection.session.execute(b"commit", prepare=False)
        except psycopg.Error as error:
            if not self.connection.is_lost:
                raise
            if not self._was_committed(*session):
                raise NothingWritten(str(error)) from error
        self._acknowledged = self._number

    def together(self) -> AbstractContextManager[object]:
        """Do what does not wait for what comes of it, in one round trip."""
        return self.connection.together()

    def _was_committed(self, pid: int, server: str) -> bool:
        """Look up whether the last transaction, whose link was lost, has been committed.

        Args:
            pid: the process of its session, see `_session`.
            server: when its server began.

        Raises:
            Uncertain: it cannot be found out for now.
        """
        try:
            self.connection.restore()
            self._end(pid, server, unless="SyncRep")
            with no_longer_than(PATIENCE, self.connection.session):
                self._begin()
                written = self._written()
                if written == self._number:
                    self.connection.execute(LATER_COMMIT)
                self.connection.execute("commit")
        except psycopg.Error as error:
            with suppress(psycopg.Error):
                self.rollback()
            raise self._not_known() from error
        if written is None and self._acknowledged:  # somebody has forgotten us, see `WRITERS`
            raise self._not_known()
        return written == self._number

    def _written(self) -> int | None:
        """Return the number of our last transaction that is there; None if there is none."""
        asked = "select number from writer where token = ?"
        rows = self.connection.execute(asked, (self._token,)).fetchall()
        return int(rows[0][0]) if rows else None

    def _not_known(self) -> Uncertain:
        return Uncertain(
            f"{self._name} went away while this was stored, and it is not known whether it was."
        )

    def rollback(self) -> None:
        """End a transaction as if there had been none."""
        if not self.connection.is_lost:
            self.connection.execute("rollback")

    def is_back(self, error: Exception) -> bool:
        """Make the link again if it was lost; return whether it was, and is there now."""
        if not self.connection.is_lost:
            return isinstance(error, NothingWritten)
        with suppress(psycopg.Error):
            self.connection.restore()
        return not self.connection.is_lost

    def read_all(self) -> None:
        """Begin a transaction that reads all as of this moment, however long that takes."""
        self.connection.execute("set idle_in_transaction_session_timeout = 0")
        self.connection.execute("begin isolation level repeatable read read only")

    def scan(self, query: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a query, some at a time. A transaction has to be under way."""
        self._cursors += 1
        cursor: psycopg.ServerCursor[Any] = psycopg.ServerCursor(
            self.connection.session, f"scan {self._cursors}"
        )
        cursor.itersize = AT_ONCE
        with cursor:
            yield from cursor.execute(translated(query), values or None)

    def refuses_all(self, error: Exception) -> bool:
        """Whether the server itself refuses something, or cannot be reached."""
        return isinstance(error, psycopg.OperationalError)

    def witnessed(self) -> int:
        """Return -1: what ``head`` says is as soon asked for."""
        self.connection.restore()
        return -1

    def version(self) -> int:
        """Return another number each time: whether others have written is seen by ``head``."""
        self._looks += 1
        return self._looks

    def translated(self, error: Exception, *, writing: bool = False) -> Exception:
        """Return an error of PostgreSQL's as one of ours; others as they are."""
        if isinstance(error, Damaged) and not str(error).startswith(self._name):
            return Damaged(f"{self._name} is damaged: {error}. Restore a backup.")
        if isinstance(error, StoreError):
            return error
        if isinstance(error, psycopg.Error):
            why = in_line(error)
            if (error.sqlstate or "").startswith("XX"):
                return Damaged(f"{self._name} is damaged: {why}. Restore a backup.")
            kind, what = (NotWritten, "written") if writing else (StoreError, "used")
            return kind(f"{self._name} could not be {what}: {why}.")
        return NotWritten(f"This cannot be stored: {error!r}.") if writing else error

    def now(self) -> float:
        """Return the server's time, in seconds since the epoch."""
        asked = self.connection.execute("select extract(epoch from clock_timestamp())::float8")
        return float(asked.fetchall()[0][0])

    def listen(self, heard: Heard) -> None:
        """Have what others say called out, in a thread of its own.

        Args:
            heard: see `Listener`.
        """
        self._listener = Listener(self._dsn, self._channel, self._token, heard)

    def tell(self, note: str) -> None:
        """Say something to all who listen elsewhere, if it is short enough. It is stored nowhere.

        Raises:
            TooLong: it is.
        """
        if len(note.encode()) > LONGEST_NOTE:
            raise TooLong(f"This is too long to be told at once: {note:.100}")
        channel = self._channel.strip('"')
        self.connection.restore()
        self.connection.execute("select pg_notify(?, ?)", (channel, f"{self._token} {note}"))

    def close(self) -> None:
        """Let go of it."""
        if self._listener:
            self._listener.close()
        self.connection.close()


class _Companion:
    """A thread with a connection of its own, which is made again when it is lost."""

    def __init__(self, dsn: str, name: str) -> None:
        self._dsn, self._begun = dsn, monotonic()
        self._wake, self._waker = os.pipe()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and close its connection."""
        os.close(self._waker)
        self._thread.join(ENDING)

    def _run(self) -> None:
        while not self._is_closing(0.0):
            try:
                with connected(self._dsn) as session:
                    self._use(session)
            except psycopg.Error as error:
                self._failed(error)
                self._is_closing(1.0)
        os.close(self._wake)

    def _use(self, session: psycopg.Connection[Any]) -> None:
        """Use a connection until it is lost, or `close` is called."""
        raise NotImplementedError

    def _failed(self, error: psycopg.Error) -> None:
        """Tell that a connection could not be made, or was lost."""
        raise NotImplementedError

    def _is_closing(self, timeout: float | None, *files: int) -> bool:
        """Wait until something can be read from a file, or for some seconds; return if to end."""
        return self._wake in readable([self._wake, *files], timeout)


class Listener(_Companion):
    """A thread with a connection of its own, on which it hears what others say.

    It is made once it hears them, if that takes no longer than some seconds.

    Args:
        dsn: how to connect.
        channel: on which they say it, quoted.
        token: what our own words begin with, which are passed over.
        heard: called with None when something may have been written, with what was said to all, and
            with `MISSED` once it listens again after it could not.
    """

    def __init__(self, dsn: str, channel: str, token: str, heard: Heard) -> None:
        self._channel, self._token, self._heard = channel, token, heard
        self._listens = Event()
        super().__init__(dsn, "store listener")
        self._listens.wait(PATIENCE)

    def _failed(self, error: psycopg.Error) -> None:
        _log.warning("nothing is heard of others: %s", in_line(error))

    def _use(self, session: psycopg.Connection[Any]) -> None:
        session.execute(f"listen {self._channel}")
        is_late = self._listens.is_set() or monotonic() > self._begun + PATIENCE
        self._listens.set()
        # What was written before is told of to nobody.
        self._heard(MISSED if is_late else None)
        is_over = False
        while not is_over:
            # Before it waits: some may have come with the answer to "listen".
            for notify in session.notifies(timeout=0):
                token, _, note = notify.payload.partition(" ")
                if token != self._token:
                    self._heard(note or None)
            if session.closed:
                raise psycopg.OperationalError("the link is lost")
            is_over = self._is_closing(None, session.fileno())


class AdvisoryLock(_Companion):
    """A lock among the servers on a database.

    A thread waits for it, and holds it until it is closed. If the link is lost, it waits for the
    lock again: another server may have it by then. So it keeps nothing right by itself, and says
    only who is to do something.

    Args:
        dsn: how to connect.
        key: which lock.
        told: called, in the thread, with who has it: once it is ours, and again after each lost
            link; or if another server has it. With an error, if it cannot be asked for: then it is
            waited for all the same. A server that does not answer at first is given some seconds.
        shared: whether others may have it as well who want no more than to share it.
    """

    def __init__(
        self,
        dsn: str,
        key: Lock,
        told: Callable[[Holder | StoreError], object],
        *,
        shared: bool = False,
    ) -> None:
        self._told = told
        self._try = f"select pg_try_advisory_lock{'_shared' if shared else ''}({key:d})".encode()
        super().__init__(dsn, "lock")

    def _failed(self, error: psycopg.Error) -> None:
        _log.warning("a lock is waited for: %s", in_line(error))
        is_silent = isinstance(error, psycopg.errors.ConnectionTimeout)
        if not is_silent or monotonic() >= self._begun + OPENING:
            self._told(StoreError(f"{name_of(self._dsn)} could not be used: {in_line(error)}."))

    def _use(self, session: psycopg.Connection[Any]) -> None:
        is_told = False
        # Asked for again and again: who waits in the database for it could not be told to end.
        while session.execute(self._try).fetchall() != [(True,)]:
            if not is_told:
                is_told = True
                self._told(Holder.OTHERS)
            if self._is_closing(TRY_AGAIN):
                return
        self._told(Holder.OURS)
        self._is_closing(None, session.fileno())


def readable(files: Iterable[int], timeout: float | None) -> set[int]:
    """Wait until something can be read from one of some files; return from which.

    ``select.select`` knows no file from 1024 on, and a server may have more.
    """
    poll = select.poll()
    for each in files:
        poll.register(each, select.POLLIN)
    return {each for each, _ in poll.poll(None if timeout is None else timeout * 1000)}


@contextmanager
def no_longer_than(seconds: float, session: psycopg.Connection[Any]) -> Iterator[None]:
    """Cut the link of a session if what is asked there meanwhile takes longer.

    Raises:
        psycopg.errors.ConnectionTimeout: it has taken longer.
    """
    has_cut = False
    # A file of our own: by its number it could be another's by the time that it is cut.
    with socket.socket(fileno=os.dup(session.fileno())) as link:

        def cut() -> None:
            nonlocal has_cut
            has_cut = True
            with suppress(OSError):  # it is lost by now
                link.shutdown(socket.SHUT_RDWR)

        timer = Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        except psycopg.OperationalError as error:
            if not has_cut:
                raise
            why = f"it has not answered for {seconds:g} seconds"
            raise psycopg.errors.ConnectionTimeout(why) from error
        finally:
            timer.cancel()
            timer.join()


def in_line(error: Exception) -> str:
    """Return what PostgreSQL says in several lines as one, without a full stop."""
    return " ".join(str(error).split()).rstrip(".")


def connected(dsn: str) -> psycopg.Connection[Any]:
    """Return a new connection.

    Raises:
        psycopg.errors.ConnectionTimeout: the server does not answer.
        psycopg.Error: it cannot be made for another reason.
    """
    given = conninfo_to_dict(dsn)
    defaults = {name: value for name, value in LINK.items() if given.get(name) is None}
    session = psycopg.connect(make_conninfo(dsn, **defaults), autocommit=True)
    try:
        with no_longer_than(PATIENCE, session):
            session.execute("; ".join(SETTINGS).encode())
    except BaseException:
        session.close()
        raise
    return session


def name_of(dsn: str) -> str:
    """Return what a database is called in messages, without a password."""
    given = conninfo_to_dict(dsn)
    host = given.get("host") or given.get("hostaddr")
    name = given.get("dbname") or "of this user"
    return f"The database {name}{f' on {host}' if host else ''}"


@lru_cache(maxsize=512)
def translated(query: str) -> bytes:
    """Return a statement with PostgreSQL's placeholders instead of question marks."""
    return query.replace("?", "%s").encode()
