"""A store in a PostgreSQL database, from which several nodes may serve boards.

Each store has two connections: one on which its thread reads and writes, and one for a thread that
listens for notifications. Four things differ from a file:

- The writers' lock is an advisory lock. Its new holder first reads ``head``, and so learns whether
  others have written since.
- Appends that write only events take the lock, check what they rely on, and commit in one round
  trip (`APPEND`). These are statements rather than a function in the database: there is nothing to
  create, and nothing on which nodes of several versions would have to agree.
- A lost connection is restored. A fail-over to a standby takes some seconds.
- If the connection is lost before a commit is acknowledged, its outcome is unknown and has to be
  looked up, as follows.

Each store has a random token, and a row of its own in the table ``writer``. Each transaction writes
its number, counted by its store, into that row. After a lost commit the row is read back, from the
same server or from the standby that has replaced it (`Postgres._was_committed`). Until the result
is known, this store writes nothing else.

- PostgreSQL's own transaction ids would not do. A promoted standby reuses ids that it has not seen,
  and could report "committed" for another transaction.
- The row is read under the writers' lock. The lost transaction holds that lock until it has ended,
  so the row read then is final.
- The lost session is terminated first, unless it waits for a standby (``SyncRep``). Ending that
  wait would make its commit visible to others before the commit is safe.
- A row that is found may exist on one server alone. It counts once a later commit has been
  acknowledged, since that confirms all commits before it.

Each commit notifies the other nodes. The notification has the token of the store, and names the
streams if only plies were appended: a node that isn't concerned needn't read them at once.

A text in PostgreSQL cannot contain a NUL; players never write one.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import select
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from secrets import token_hex
from threading import Event, Thread, Timer
from threading import Lock as Mutex
from time import monotonic, sleep
from typing import Any, ClassVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from thudmud.features import load_storage
from thudmud.store.backend import (
    MISSED,
    POSTGRESQL,
    PREPARED_LIFETIME,
    Backend,
    Heard,
    Holder,
    Lock,
    PliesStored,
    PreparedAppend,
)
from thudmud.store.codec import is_ply
from thudmud.store.interface import (
    DamagedStoreError,
    NoteTooLongError,
    NotWrittenError,
    StoreError,
    UncertainError,
    UnknownFormatError,
)
from thudmud.store.rows import (
    DURABLE,
    FORMAT,
    PROJECTIONS,
    definitions,
    has_rows,
    require_known_format,
)

OURS = "a store of thudmud, format "
"""The beginning of the comment on the table ``head``, by which we recognise our database."""

PATIENCE = 5.0
"""Seconds for which work waits for a lost connection. After that, work is refused at once until the
connection is restored."""

REST = 2.0
"""Seconds until the next attempt after that; until then work is refused at once."""

PAUSE = 0.1
"""Seconds between two attempts to connect."""

TRY_AGAIN = 0.5
"""Seconds between two attempts to get a lock that another session holds."""

OPENING = 15.0
"""Seconds to wait, at the start, for a server that does not answer."""

SILENCE = 2.0
"""Seconds without an answer after which a second connection probes the server."""

BESIDE = 3
"""Seconds to wait for that connection: `PATIENCE` in all."""

ENDING = 1.0
"""Seconds to wait for a thread to end: it may be waiting for the server."""

AT_ONCE = 1000
"""Rows of a large result that are fetched at a time."""

_HOLDS_ALL = {"UTF8", "SQL_ASCII"}
"""Encodings of databases that can store every string; SQL_ASCII takes bytes as they are."""

LONGEST_NOTE = 7_900
"""The most characters of one part of a note, slightly less than PostgreSQL's limit for a
notification. Notes are ASCII, in which a character outside the Basic Multilingual Plane takes 12.
"""

MOST_PARTS = 8
"""The maximum number of parts that a note is split into."""

LINK = {
    "application_name": "thudmud",
    "connect_timeout": "3",
    "target_session_attrs": "read-write",
    # A host that has disappeared is noticed within about ten seconds.
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""Default connection parameters, used where the operator sets none."""

SETTINGS = (
    # A process that is suspended while it writes would block all others; see also `END_SUSPENDED`.
    "set idle_in_transaction_session_timeout = '5s'",
    "set lock_timeout = '5s'",
    # Acknowledged commits must be durable, whatever the server's default.
    "select set_config('synchronous_commit', 'on', false)"
    " where current_setting('synchronous_commit') = 'off'",
    "set client_min_messages = 'warning'",
    # Other defaults that a role or a database may have, and their effects: strings arrive as bytes
    # or with question marks; numbers are rounded, so that rows seem to have changed; a transaction
    # does not see commits made while it waited for the writers' lock; long statements, and sessions
    # that wait for notifications, are ended.
    "set client_encoding = 'UTF8'",
    "set extra_float_digits = 1",
    "set default_transaction_isolation = 'read committed'",
    "set statement_timeout = 0",
    "select set_config(name, '0', false) from pg_settings where name = 'idle_session_timeout'",
    # Let the server notice that our machine is gone, and release its locks.
    "set tcp_keepalives_idle = '5s'",
    "set tcp_keepalives_interval = '2s'",
    "set tcp_keepalives_count = 3",
    "set tcp_user_timeout = '10s'",
)

LOCK = f"select pg_advisory_xact_lock({Lock.WRITING:d})"

WRITERS = 'create table writer (token text collate "C" primary key, number bigint, commits bigint)'
"""One row for each store that has written here: the number of its last transaction, by its own
count, and the number of all commits by then. Other databases have no such table. It is neither
checked nor copied: a row means nothing once its store is closed."""

WRITE_NUMBER = (
    "insert into writer (token, number, commits) select ?, ?, commits from head where id = 1"
    " on conflict (token) do update set number = excluded.number, commits = excluded.commits"
)

NOW = "extract(epoch from clock_timestamp())::float8"

_IF_CLAIMED = "exists (select 1 from writer where token = ? and number = ?)"

_EACH_ROW = "json_array_elements(?::json) with ordinality each_row (value, place)"

APPEND = {
    # By default, PostgreSQL would plan statements with lists anew each time, under the lock.
    "settings": f"select set_config('lock_timeout', '{PREPARED_LIFETIME:g}s', true),"
    " set_config('plan_cache_mode', 'force_generic_plan', true)",
    "claim": "insert into writer (token, number, commits) select ?, ?, commits from head"  # noqa: S608  (ours)
    f" where id = 1 and projection = ? and {NOW} < ?"
    " and (select count(*) from stream where id = any(?) and id || ':' || version = any(?)) = ?"
    " and (select count(*) from player where id = any(?) and id || ':' || name = any(?)"
    " and key is not null) = ?"
    " on conflict (token) do update set number = excluded.number, commits = excluded.commits",
    "head": "update head set position = position + ?, commits = commits + 1,"  # noqa: S608  (ours)
    " at = case when at < ? then ? else at end,"
    " served = case when served < ? then ? else served end"
    f" where id = 1 and {_IF_CLAIMED} returning position, at",
    "events": "insert into event select head.position - ? + place, (value->>0)::bigint,"  # noqa: S608  (ours)
    " (value->>1)::bigint, (value->>2)::bigint, head.at, (value->>3)::bigint, value->>4"
    f" from head, {_EACH_ROW} where head.id = 1 and {_IF_CLAIMED}",
    "streams": "update stream set version = (value->>0)::bigint, beginning = (value->>1)::bigint"  # noqa: S608  (ours)
    f" from {_EACH_ROW} where id = any(?) and id = (value->>2)::bigint and {_IF_CLAIMED}",
}
"""The statements of a prepared append. "claim" writes our number like `WRITE_NUMBER`, but only if
everything fits; without it the later ones change nothing."""

FORGOTTEN = "from writer where commits < (select commits from head) - 1000000"
"""Rows of stores that are presumed closed, because they have not written during a million commits.
A store that is still open misses its row, and knows that it cannot tell."""

SEND_NOTE = "select pg_notify(?, ?)"
"""Sends a notification, within a transaction at its commit."""

LATER_COMMIT = "select pg_logical_emit_message(true, 'thudmud', '')"
"""A transaction without changes. Its commit is acknowledged like any other, after earlier ones."""

CHECKSUMS = "select current_setting('data_checksums')"

AMCHECK = (
    "select quote_ident(nspname) from pg_extension"
    " join pg_namespace on pg_namespace.oid = extnamespace where extname = 'amcheck'"
    " and (select bool_and(has_function_privilege(pg_proc.oid, 'execute')) from pg_proc"
    " where pronamespace = extnamespace and proname in ('bt_index_check', 'verify_heapam'))"
)
"""The schema of the extension amcheck, if it is installed and we may call its functions."""

TRIES = 3
"""Attempts to get the writers' lock, each for as long as ``lock_timeout`` allows."""

_HELD = (
    "pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and granted"
    f" and objid = {Lock.WRITING:d} and objsubid = 1 and datname = current_database()"
    " and database = datid and pid <> pg_backend_pid()"
)

HOLDER = "select pid, application_name, coalesce(host(client_addr), 'this machine'), state,"
HOLDER += f" coalesce(wait_event, 'nothing'), xact_start::text, query from {_HELD}"
"""The session that holds the writers' lock."""

END_SUSPENDED = "select pg_terminate_backend(pid)"
END_SUSPENDED += f" from {_HELD} and usename = current_user"
END_SUSPENDED += " and state = 'active' and wait_event_type = 'Client'"
END_SUSPENDED += " and state_change < clock_timestamp() - interval '5s'"
"""Terminates a writer that is suspended between two statements of a pipeline. To the server it
isn't idle, so ``idle_in_transaction_session_timeout`` doesn't apply, and the server would wait for
its next statement for as long as the process sleeps."""

_PLIES = "plies"
"""Marks the notification of a commit that appended nothing but plies. Its text names the streams.
"""

_log = logging.getLogger(__name__)


class NothingWrittenError(psycopg.OperationalError):
    """The connection was lost during a commit, and the transaction was not committed."""


class DatabaseLink:
    """A connection that is restored when it is lost; each use waits for that for some seconds.

    Args:
        dsn: the connection string.
        patience: seconds for which a use waits.

    Raises:
        psycopg.Error: the first connection cannot be made.
    """

    def __init__(self, dsn: str, patience: float) -> None:
        self._dsn, self._patience = dsn, patience
        self.connections_made = 0
        """The number of connections made so far."""
        self.server = ""
        """The server's start time: a server started at another time has other sessions."""
        self._given_up = 0.0
        """When the last attempt failed, if the connection has been lost for longer than we wait;
        else 0."""
        self._watch = LinkWatch()
        try:
            self._open()
        except BaseException:
            self._watch.close()
            raise

    @property
    def is_lost(self) -> bool:
        """Whether the connection is closed."""
        return self.session.closed

    def restore(self) -> None:
        """Restore the connection if it is lost, waiting for up to the patience.

        Raises:
            psycopg.OperationalError: it cannot be restored.
        """
        if not self.is_lost:
            return
        now = monotonic()
        if self._given_up and now < self._given_up + REST:
            raise psycopg.OperationalError("unreachable a moment ago")
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
        """Make no attempts for a while: the patience is used up."""
        self._given_up = monotonic()

    def execute(self, query: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Execute a statement; without values, several statements are allowed."""
        with self._watched():
            return self.session.execute(to_psycopg_query(query), values or None)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once for each row of values."""
        with self._watched():
            self.session.cursor().executemany(to_psycopg_query(query), rows)

    @contextmanager
    def pipelined(self) -> Iterator[None]:
        """Run statements in one round trip (pipeline mode); results come at the end."""
        with self._watched(), self.session.pipeline():
            yield

    def close(self) -> None:
        """Close the connection."""
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
        self.session = open_connection(self._dsn)
        self._watch.follow(self._dsn, self.session)
        self.connections_made += 1
        ((self.server,),) = self.execute("select pg_postmaster_start_time()::text").fetchall()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Use the session, and give up for a while if its silent server was cut off."""
        try:
            with self._watch.watch_statement():
                yield
        except psycopg.OperationalError:
            if self._watch.has_cut:
                self.give_up()
            raise


class LinkWatch:
    """A thread that shuts down a connection whose server has disappeared.

    Otherwise the store's thread would wait forever for a server that is suspended, or whose machine
    has lost its network. A server that still accepts connections may take as long as it likes.

    Attributes:
        has_cut: whether the connection was cut during the last statement.
    """

    def __init__(self) -> None:
        self.has_cut = False
        self._lock = Mutex()
        self._asked: float | None = None
        """When the pending statement was sent; None if there is none."""
        self._is_closing = Event()
        self._link: socket.socket | None = None
        self._thread = Thread(target=self._run, name="store watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._is_closing.set()
        self._thread.join()
        if self._link:
            self._link.close()

    def follow(self, dsn: str, session: psycopg.Connection[Any]) -> None:
        """Watch the socket of a new session in place of the previous one."""
        info = session.info
        beside: dict[str, Any] = {
            **parameters_of(dsn),
            "host": info.host,
            "hostaddr": info.hostaddr or None,
            "port": info.port,
            "connect_timeout": BESIDE,
            "target_session_attrs": "any",
        }
        with self._lock:
            if self._link:
                self._link.close()
            # Duplicate the descriptor: the session's number may be reused before we shut it down.
            self._link = socket.socket(fileno=os.dup(session.fileno()))
            self._beside = make_conninfo("", **beside)

    @contextmanager
    def watch_statement(self) -> Iterator[None]:
        """Watch the connection until the statement in the block has been answered."""
        if self._asked is not None:  # within a pipeline, which is watched as a whole
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
                # The probe took a while: cut only if the same statement is still pending.
                if self._asked == asked and self._link:
                    self.has_cut = True
                    self._link.shutdown(socket.SHUT_RDWR)

    def _is_there(self) -> bool:
        """Return whether the server answers; a refusal is an answer too."""
        try:
            psycopg.connect(self._beside).close()
        except psycopg.Error as error:
            # libpq has no error code for this. A server's own message begins with its severity, in
            # the server's language, and two spaces. All other errors come from the network, except
            # a refused connection.
            return ":  " in str(error) or os.strerror(errno.ECONNREFUSED) in str(error)
        return True


class Postgres(Backend):
    """A PostgreSQL database.

    Args:
        dsn: a libpq connection string, ``host=... dbname=...``, or a URL.
        patience: seconds for which work waits for a lost connection.
        serving: whether boards are served from it. Then opening it waits until everything that can
            be read is safe on a standby too.
        reading: whether it is only read. Then it has to have tables already.
    """

    connection: DatabaseLink
    dialect = POSTGRESQL
    errors: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error,)
    is_shared = True

    def __init__(
        self,
        dsn: str,
        patience: float = PATIENCE,
        *,
        serving: bool = False,
        reading: bool = False,
    ) -> None:
        load_storage()
        self._is_read_only = reading
        self._dsn, self._name = dsn, name_of(dsn)
        self._token = token_hex(8)
        """Distinguishes this store from all others, also from those in this process."""
        self._number = 0
        """The number of transactions that have been committed, or may have been."""
        self._acknowledged = 0
        """The number of the last acknowledged transaction."""
        self._settling: tuple[int, str] | None = None
        """The session that waits until everything seen over a new connection is safe."""
        self._version_calls = 0
        self._cursors = 0
        self._listener: Listener | None = None
        try:
            self.connection = DatabaseLink(dsn, patience)
            try:
                self._prepare()
                if serving:
                    self.has_settled()
            except BaseException:
                self.connection.close()
                raise
        except Exception as error:
            raise self.translate_error(error) from error

    def _prepare(self) -> None:
        """Create missing tables, and verify that the existing ones are ours.

        The writers' lock is taken only if there is something to create. The check of a store opens
        the database as well, at the lowest priority. On a busy machine it would hold the lock for
        long, and everybody would wait.
        """
        execute = self.connection.execute
        place = "select current_schema(), current_setting('server_encoding')"
        ((schema, encoding),) = execute(place).fetchall()
        if schema is None:
            raise StoreError(f"{self._name} has no schema to create tables in.")
        if encoding not in _HOLDS_ALL:
            raise StoreError(
                f"{self._name} has the encoding {encoding}, which lacks characters that players "
                "write. Create a database with UTF-8: createdb --encoding UTF8 --template "
                "template0."
            )
        self._channel = f"thudmud {schema}"
        if self._is_read_only:
            if self._is_empty(self._tables()) or self._has_no_head():
                raise StoreError(f"{self._name} could not be used: it has no data yet.")
            return
        if not self._is_whole():
            self._make()
        self.is_new = self._has_no_head()
        # Ask again: another process may have inserted the row between the two queries.
        if self.is_new and has_rows(self.connection) and self._has_no_head():
            raise DamagedStoreError("the row of head is missing")

    def _tables(self) -> set[str]:
        return {name for (name,) in self.connection.execute(self.dialect.tables)}

    def _is_whole(self) -> bool:
        """Return whether there are no tables to create and no writers' rows to delete."""
        there = self._tables()
        if self._is_empty(there) or "writer" not in there:
            return False
        return not self.connection.execute(f"select 1 {FORGOTTEN} limit 1").fetchall()

    def _make(self) -> None:
        """Create missing tables, unless another process has just done so."""
        execute = self.connection.execute
        self._begin()
        there = self._tables()
        if self._is_empty(there):
            for statement in definitions([*DURABLE, *PROJECTIONS], self.dialect):
                execute(statement)
            execute(f"comment on table head is '{OURS}{FORMAT}'")
        if "writer" in there:
            execute(f"delete {FORGOTTEN}")
        else:
            execute(WRITERS)
        execute("commit")  # without our number: all of this can safely be repeated

    def _has_no_head(self) -> bool:
        return not self.connection.execute("select count(*) from head").fetchall()[0][0]

    def _is_empty(self, there: set[str]) -> bool:
        """Return whether the tables have to be created.

        Args:
            there: the names of all existing tables.

        Raises:
            UnknownFormatError: the tables are another program's, or a later version's.
            DamagedStoreError: some tables are missing.
        """
        ours = DURABLE.keys() | PROJECTIONS.keys() | {"writer"}
        if not there & ours:
            return True
        query = "select obj_description(to_regclass('head'), 'pg_class')"
        ((comment,),) = self.connection.execute(query).fetchall()
        if not str(comment).startswith(OURS):
            raise UnknownFormatError(
                f"{self._name} contains tables of another program with the same names as ours: "
                f"{', '.join(sorted(there & ours))}. Give thudmud a database of its own."
            )
        require_known_format(self._name, int(str(comment).removeprefix(OURS)))
        if not there.issuperset(DURABLE):
            raise DamagedStoreError("its tables are not those of a store")
        return False

    def reconnect(self) -> int:
        """Restore the connection if it was lost; return the number made so far."""
        self.connection.restore()
        return self.connection.connections_made

    def has_settled(self) -> bool:
        """Wait until everything readable over a new connection is safe from a fail-over.

        A primary that comes back after a crash shows everything it had written, though its standby
        may lack some of it. So this waits, for some seconds at a time, until a later commit is
        acknowledged.

        Returns:
            Whether our last acknowledged commit is there.
        """
        # First end the session of an earlier attempt: while it waits for a standby, it doesn't
        # notice that its client is gone.
        if self._settling:
            self._end(*self._settling)
        self._settling = self._session
        try:
            with time_limit(PATIENCE, self.connection.session):
                self.connection.execute(LATER_COMMIT)
        except psycopg.errors.ConnectionTimeout:
            self.connection.give_up()
            raise
        self._settling = None
        return (self._written() or 0) >= self._acknowledged

    @property
    def _session(self) -> tuple[int, str]:
        """The identity of our session: its process id, and the start time of its server.

        After a restart of the server, the same process id may belong to another node's session.
        """
        return self.connection.session.info.backend_pid, self.connection.server

    def _end(self, pid: int, server: str, unless: str = "") -> None:
        """Terminate an old session of ours, if it still exists.

        Args:
            pid: its process id.
            server: the start time of its server.
            unless: a wait event in which the session is left alone.
        """
        end = "select pg_terminate_backend(pid) from pg_stat_activity"
        end += " where pid = ? and application_name = ? and usename = current_user"
        end += " and pg_postmaster_start_time()::text = ?"
        end += " and wait_event is distinct from ?"
        name = self.connection.session.info.get_parameters().get("application_name", "")
        self.connection.execute(end, (pid, name, server, unless))

    def begin(self) -> Any:
        """Begin a transaction, waiting for the writers' lock.

        Returns:
            The row of ``head``, read in the same round trip.
        """
        cursor = self._begin("select * from head where id = 1")
        cursor.nextset()
        return cursor.fetchone()

    def head_and_time(self) -> tuple[Any, float]:
        """Return the row of ``head``, and the database's time, in seconds since the epoch."""
        self.connection.restore()
        asked = f"select head.*, {NOW} from head where id = 1"  # noqa: S608  (ours)
        row = self.connection.execute(asked).fetchone()
        return (row[:-1], row[-1]) if row else (None, 0.0)

    def append(self, prepared: PreparedAppend) -> tuple[int, float] | None:
        """Take the writers' lock, append events, and commit, all in one round trip."""
        events, streams, versions, players, projection, at, served, until = prepared
        (_, stream, version, *_), connections = events[-1], self.connection.connections_made
        count, ours = len(events), (self._token, self._number + 1)
        # Unescaped: a database in SQL_ASCII can't decode escapes.
        rows = json.dumps([[*row[1:4], *row[5:]] for row in events], ensure_ascii=False)
        moved = json.dumps([[*row[3:], row[0]] for row in streams]), [row[0] for row in streams]
        fits = projection, until, *_conditions(versions), *_conditions(players)
        try:
            with self._committing(_note_of_plies(prepared)):
                execute = self.connection.execute
                execute("begin")
                execute(APPEND["settings"])
                execute(LOCK)
                execute(APPEND["claim"], (*ours, *fits))
                placed = execute(APPEND["head"], (count, at, at, served, served, *ours))
                execute(APPEND["events"], (count, rows, *ours))
                execute(APPEND["streams"], (*moved, *ours))
        except psycopg.errors.LockNotAvailable:
            self.rollback()
            return None
        if self.connection.connections_made != connections:  # committed, but the answer was lost
            placed = self._find_event(stream, version)
        place: tuple[int, float] | None = placed.fetchone()
        if place:
            self._acknowledged = self._number
        return place

    def _find_event(self, stream: int, version: int) -> psycopg.Cursor[Any]:
        """Look up the position and the time of an event that was committed."""
        asked = "select position, at from event where stream = ? and version = ?"
        try:
            return self.connection.execute(asked, (stream, version))
        except psycopg.Error as error:
            raise self._not_known() from error

    def _begin(self, query: str = "") -> psycopg.Cursor[Any]:
        self.connection.restore()
        begin = f"begin; {LOCK}; {query}"
        for left in reversed(range(TRIES)):
            try:
                cursor = self.connection.execute(begin)
            except psycopg.Error as error:
                with suppress(psycopg.Error):
                    self.rollback()  # otherwise the session stays in a failed transaction
                if not isinstance(error, psycopg.errors.LockNotAvailable):
                    raise
                if not left:
                    raise self._with_lock_holder(error) from error
                # Our lock_timeout has passed: terminate the holder if it is suspended, then try
                # again.
                self.connection.execute(END_SUSPENDED)
            else:
                break
        cursor.nextset()
        return cursor

    def _with_lock_holder(
        self, error: psycopg.errors.LockNotAvailable
    ) -> psycopg.errors.LockNotAvailable:
        """Return an error that names the holder of the writers' lock."""
        names = "process", "program", "host", "state", "waits for", "since", "statement"
        with suppress(psycopg.Error):
            for found in self.connection.execute(HOLDER):
                held = ", ".join(f"{name} {each}" for name, each in zip(names, found, strict=True))
                return type(error)(f"{as_one_line(error)}: another session is writing ({held})")
        return error

    def commit(self, last: Callable[[], object] = lambda: None) -> None:
        """Run a transaction's last statements and commit, all in one round trip."""
        with self._committing():
            last()
            # In the same transaction: our number is there if and only if the transaction is.
            self.connection.execute(WRITE_NUMBER, (self._token, self._number))
        self._acknowledged = self._number

    @contextmanager
    def _committing(self, plies: PliesStored | None = None) -> Iterator[None]:
        """Run the statements of the block and commit, all in one round trip.

        If the acknowledgement is lost, look up whether the transaction was committed.

        Args:
            plies: the note for other nodes, if only plies are written.

        Raises:
            NothingWrittenError: it was not committed.
            UncertainError: its outcome cannot be found out.
        """
        self._number += 1
        session = self._session
        try:
            with self.connection.pipelined():
                yield
                if plies:
                    payload = f"{self._token}:{_PLIES} {json.dumps(plies.streams)}"
                    self.connection.execute(SEND_NOTE, (self._channel, payload))
                else:
                    self.connection.execute(f"notify \"{self._channel}\", '{self._token}'")
                self.connection.session.execute(b"commit", prepare=False)
        except psycopg.Error as error:
            if not self.connection.is_lost:
                raise
            if not self._was_committed(*session):
                raise NothingWrittenError(str(error)) from error

    def pipelined(self) -> AbstractContextManager[object]:
        """Run statements whose results are not needed at once, in one round trip."""
        return self.connection.pipelined()

    def _was_committed(self, pid: int, server: str) -> bool:
        """Look up whether the last transaction, whose connection was lost, was committed.

        The module docstring says why this takes these steps.

        Args:
            pid: the process id of its session.
            server: the start time of its server.

        Raises:
            UncertainError: that cannot be found out for now.
        """
        try:
            self.connection.restore()
            self._end(pid, server, unless="SyncRep")
            with time_limit(PATIENCE, self.connection.session):
                self._begin()
                written = self._written()
                if written == self._number:
                    self.connection.execute(LATER_COMMIT)
                self.connection.execute("commit")
        except psycopg.Error as error:
            with suppress(psycopg.Error):
                self.rollback()
            raise self._not_known() from error
        if written is None and self._acknowledged:  # our row was deleted, see `FORGOTTEN`
            raise self._not_known()
        return written == self._number

    def _written(self) -> int | None:
        """Return the number of our last stored transaction; None if there is none."""
        asked = "select number from writer where token = ?"
        rows = self.connection.execute(asked, (self._token,)).fetchall()
        return int(rows[0][0]) if rows else None

    def _not_known(self) -> UncertainError:
        return UncertainError(
            f"{self._name} became unreachable during a write, which may or may not be stored."
        )

    def rollback(self) -> None:
        """Roll back the transaction; a lost connection has none."""
        if not self.connection.is_lost:
            self.connection.execute("rollback")

    def has_reconnected(self, error: Exception) -> bool:
        """Return whether a transaction that failed by a lost connection can be run again now.

        The connection is restored if it was lost.
        """
        if not self.connection.is_lost:
            return isinstance(error, NothingWrittenError)
        with suppress(psycopg.Error):
            self.connection.restore()
        return not self.connection.is_lost

    def read_all(self) -> None:
        """Begin a transaction that reads one snapshot, with no limit on its duration."""
        self.connection.execute("set idle_in_transaction_session_timeout = 0")
        self.connection.execute("begin isolation level repeatable read read only")

    def scan(self, query: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a query, fetched in batches; requires a transaction."""
        self._cursors += 1
        cursor: psycopg.ServerCursor[Any] = psycopg.ServerCursor(
            self.connection.session, f"scan {self._cursors}"
        )
        cursor.itersize = AT_ONCE
        with cursor:
            yield from cursor.execute(to_psycopg_query(query), values or None)

    def find_problem(self) -> str | None:
        """Run amcheck, where it is available; return the first problem, if any."""
        if not (schema := self._amcheck()):
            return None
        execute, ours = self.connection.execute, "relnamespace = current_schema()::regnamespace"
        trees = f"relam = (select oid from pg_am where amname = 'btree') and {ours}"  # noqa: S608  (ours)
        rows = f"pg_class, lateral {schema}.verify_heapam(oid) where relkind = 'r' and {ours}"
        try:
            execute(f"select {schema}.bt_index_check(oid, true) from pg_class where {trees}")  # noqa: S608  (ours)
            found = execute(f"select relname, blkno, msg from {rows} limit 1").fetchone()  # noqa: S608  (ours)
        except (psycopg.errors.IndexCorrupted, psycopg.errors.DataCorrupted) as error:
            return as_one_line(error)
        return f"page {found[1]} of {found[0]}: {found[2]}" if found else None

    def skipped_checks(self) -> tuple[str, ...]:
        """Return descriptions of the checks that this database's setup doesn't allow."""
        told = []
        if not self._amcheck():
            told.append("the consistency of tables and indexes (needs the extension amcheck).")
        if self.connection.execute("select current_setting('data_checksums')").fetchall() != [
            ("on",)
        ]:
            told.append("the checksums of its pages (need initdb --data-checksums).")
        return tuple(told)

    def _amcheck(self) -> str:
        """Return the schema of the extension amcheck; "" if it is missing or not allowed."""
        rows = self.connection.execute(AMCHECK).fetchall()
        return rows[0][0] if rows else ""

    def is_outage(self, error: Exception) -> bool:
        """Return whether the server itself refuses statements, or cannot be reached."""
        return isinstance(error, psycopg.OperationalError)

    def acknowledged_commits(self) -> int:
        """Return -1: there is no watermark, since reading ``head`` costs no more."""
        self.connection.restore()
        return -1

    def version(self) -> int:
        """Return a new number at each call, which makes `Database` read ``head``."""
        self._version_calls += 1
        return self._version_calls

    def translate_error(self, error: Exception, *, writing: bool = False) -> Exception:
        """Translate an exception of PostgreSQL into a StoreError."""
        if isinstance(error, DamagedStoreError) and not str(error).startswith(self._name):
            reason = str(error).removesuffix(".")
            return DamagedStoreError(f"{self._name} is damaged: {reason}. Restore a backup.")
        if isinstance(error, StoreError):
            return error
        if isinstance(error, psycopg.Error):
            why = as_one_line(error)
            # Class XX of SQLSTATE: internal errors, among them corrupted data and indexes.
            if (error.sqlstate or "").startswith("XX"):
                why = why.removesuffix(".")
                return DamagedStoreError(f"{self._name} is damaged: {why}. Restore a backup.")
            kind, what = (NotWrittenError, "written") if writing else (StoreError, "used")
            return kind(f"{self._name} could not be {what}: {why}.")
        return NotWrittenError(f"Could not store this: {error!r}.") if writing else error

    def now(self) -> float:
        """Return the database server's time, in seconds since the epoch."""
        asked = self.connection.execute(f"select {NOW}")
        return float(asked.fetchall()[0][0])

    def listen(self, heard: Heard) -> None:
        """Call a function with other nodes' messages, in a thread of its own."""
        self._listener = Listener(self._dsn, f'"{self._channel}"', self._token, heard)

    def send_note(self, note: str) -> None:
        """Send a note, in ASCII, to all other nodes that listen. It is not stored.

        Raises:
            NoteTooLongError: the note needs more than `MOST_PARTS` notifications.
        """
        parts = list(split_note(note))
        if len(parts) > MOST_PARTS:  # don't quote the note: it may contain players' chat
            most = LONGEST_NOTE * MOST_PARTS
            raise NoteTooLongError(
                f"expected a note of at most {most:,} characters, got {len(note):,}"
            )
        self.connection.restore()
        for place, part in parts:
            sender = f"{self._token}:{place}" if place else self._token
            self.connection.execute(SEND_NOTE, (self._channel, f"{sender} {part}"))

    def close(self) -> None:
        """Close both connections."""
        if self._listener:
            self._listener.close()
        self.connection.close()


class _Companion:
    """A thread with its own connection, which is restored when it is lost."""

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
        away_since = 0.0
        while not self._is_closing(0.0):
            try:
                with open_connection(self._dsn) as session:
                    if away_since:
                        seconds = round(monotonic() - away_since, 1)
                        extra = {"for": self._thread.name, "seconds": seconds}
                        _log.warning("connected to the database again", extra=extra)
                        away_since = 0.0
                    self._use(session)
            except psycopg.Error as error:
                away_since = away_since or monotonic()
                self._failed(error)
                self._is_closing(1.0)
        os.close(self._wake)

    def _use(self, session: psycopg.Connection[Any]) -> None:
        """Use the connection until it is lost, or `close` is called."""
        raise NotImplementedError

    def _failed(self, error: psycopg.Error) -> None:
        """Report that the connection could not be made, or was lost."""
        raise NotImplementedError

    def _is_closing(self, timeout: float | None, *files: int) -> bool:
        """Wait until `close` is called or one of some files is readable; return whether to end.

        Args:
            timeout: seconds to wait at most; None for no limit.
            files: file descriptors.
        """
        return self._wake in wait_readable([self._wake, *files], timeout)


def split_note(note: str) -> Iterator[tuple[str, str]]:
    """Split a note into parts that fit into a notification.

    Yields:
        The place of each part, such as ``2/3``, and its text. The place is "" if the whole note
        fits.
    """
    if len(note) <= LONGEST_NOTE:
        yield "", note
        return
    starts = range(0, len(note), LONGEST_NOTE)
    for number, start in enumerate(starts, 1):
        yield f"{number}/{len(starts)}", note[start : start + LONGEST_NOTE]


def _note_of_plies(prepared: PreparedAppend) -> PliesStored | None:
    """Return the note about an append, if it is one of plies and the note fits."""
    if not all(is_ply(str(row[-1])) for row in prepared.events):
        return None
    plies = PliesStored(tuple(stream[1] for stream in prepared.streams))
    return plies if len(json.dumps(plies.streams)) <= LONGEST_NOTE else None


class Parts:
    """Reassembles notes from their parts, which arrive in order from each node.

    A node may be cut off in the middle of a note. Its parts are dropped when another note begins.
    """

    def __init__(self) -> None:
        self._begun: dict[str, list[str]] = {}

    def add_part(self, sender: str, place: str, part: str) -> str | None:
        """Add a part; return the note that it completes, or None if more parts are needed."""
        before = self._begun.pop(sender, [])
        if not place:
            return part
        number, _, in_all = place.partition("/")
        parts = [*(before if number != "1" else []), part]
        if number != str(len(parts)):
            return None
        if number == in_all:
            return "".join(parts)
        self._begun[sender] = parts
        return None


class Listener(_Companion):
    """A thread that listens on its own connection for messages of other nodes.

    The constructor waits until the thread listens, for some seconds at most. Notifications with our
    own token are ignored.

    Args:
        dsn: the connection string.
        channel: the channel, quoted for use in a statement.
        token: the token of our store.
        heard: called in the thread: with None when another node may have written something, or
            with `PliesStored`; with each note, and with `MISSED` once the thread listens again
            after a lost connection.
    """

    def __init__(self, dsn: str, channel: str, token: str, heard: Heard) -> None:
        self._channel, self._token, self._heard = channel, token, heard
        self._listens = Event()
        super().__init__(dsn, "store listener")
        self._listens.wait(PATIENCE)

    def _failed(self, error: psycopg.Error) -> None:
        _log.warning("could not listen for notifications of other servers: %s", as_one_line(error))

    def _use(self, session: psycopg.Connection[Any]) -> None:
        session.execute(f"listen {self._channel}")
        is_late = self._listens.is_set() or monotonic() > self._begun + PATIENCE
        self._listens.set()
        # Writes from before LISTEN send us no notification, so report a possible one.
        self._heard(MISSED if is_late else None)
        is_over, parts = False, Parts()
        while not is_over:
            # Read before waiting: notifications may have come with the answer to LISTEN.
            for notify in session.notifies(timeout=0):
                sender, _, part = notify.payload.partition(" ")
                token, _, place = sender.partition(":")
                if token == self._token:
                    continue
                if place == _PLIES:
                    self._heard(PliesStored(tuple(json.loads(part))))
                elif (note := parts.add_part(token, place, part)) is not None:
                    self._heard(note or None)
            if session.closed:
                raise psycopg.OperationalError("connection lost")
            is_over = self._is_closing(None, session.fileno())


class AdvisoryLock(_Companion):
    """A lock between the servers on a database, held by a thread's session until it is closed.

    If the connection is lost, the thread waits for the lock again: another server may have it by
    then. So the lock protects nothing by itself. It only elects the server that does something.

    Args:
        dsn: the connection string.
        key: the lock.
        told: called in the thread, with the holder or with an error. The holder comes once the lock
            is ours, again after each lost connection, and if another server has it. An error comes
            if the database cannot be asked; the thread then keeps trying. A server that doesn't
            answer at first is given some seconds.
        shared: whether other sessions may share the lock.
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
        _log.warning("waiting for a lock: %s", as_one_line(error))
        is_silent = isinstance(error, psycopg.errors.ConnectionTimeout)
        if not is_silent or monotonic() >= self._begun + OPENING:
            self._told(StoreError(f"{name_of(self._dsn)} could not be used: {as_one_line(error)}."))

    def _use(self, session: psycopg.Connection[Any]) -> None:
        is_told = False
        # Poll: a session that waits for a lock inside the database could not be told to end.
        while session.execute(self._try).fetchall() != [(True,)]:
            if not is_told:
                is_told = True
                self._told(Holder.OTHERS)
            if self._is_closing(TRY_AGAIN):
                return
        self._told(Holder.OURS)
        self._is_closing(None, session.fileno())


def wait_readable(files: Iterable[int], timeout: float | None) -> set[int]:
    """Wait until some files are readable; return their descriptors.

    ``select.select`` does not support descriptors from 1024 on, and a server may have more.
    """
    poll = select.poll()
    for each in files:
        poll.register(each, select.POLLIN)
    return {each for each, _ in poll.poll(None if timeout is None else timeout * 1000)}


@contextmanager
def time_limit(seconds: float, session: psycopg.Connection[Any]) -> Iterator[None]:
    """Shut down a session's connection if the statements in the block take longer.

    Raises:
        psycopg.errors.ConnectionTimeout: they did.
    """
    has_cut = False
    # Duplicate the descriptor: its number may be reused before the shutdown.
    with socket.socket(fileno=os.dup(session.fileno())) as link:

        def cut() -> None:
            nonlocal has_cut
            has_cut = True
            with suppress(OSError):  # the connection is already lost
                link.shutdown(socket.SHUT_RDWR)

        timer = Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        except psycopg.OperationalError as error:
            if not has_cut:
                raise
            why = f"no answer for {seconds:g} seconds"
            raise psycopg.errors.ConnectionTimeout(why) from error
        finally:
            timer.cancel()
            timer.join()


def as_one_line(error: Exception) -> str:
    """Return a message of PostgreSQL as one line, without a full stop."""
    return " ".join(str(error).split()).rstrip(".")


def open_connection(dsn: str) -> psycopg.Connection[Any]:
    """Open a connection with our settings.

    Raises:
        psycopg.errors.ConnectionTimeout: the server does not answer.
        psycopg.Error: the connection cannot be made for another reason.
    """
    given = parameters_of(dsn)
    defaults = {name: value for name, value in LINK.items() if given.get(name) is None}
    session = psycopg.connect(make_conninfo(dsn, **defaults), autocommit=True)
    try:
        with time_limit(PATIENCE, session):
            session.execute("; ".join(SETTINGS).encode())
    except BaseException:
        session.close()
        raise
    return session


_MALFORMED = (
    'Could not parse the connection string of the database. Expected "host=... dbname=...", with '
    'values of several words in single quotes, or "postgresql://user@host/name", with %, @ and / '
    "in the password written as %25, %40 and %2F."
)


def parameters_of(dsn: str) -> dict[str, Any]:
    """Parse a connection string.

    Raises:
        StoreError: it is malformed. The message contains nothing of it, nor the parser's error:
            either could reveal a part of a password.
    """
    with suppress(psycopg.ProgrammingError):
        given = conninfo_to_dict(dsn)
        # A password with an unquoted "@" or "/" ends up in the host or the name of the database. In
        # a URL the host begins after the first "@", and the name of the database after a slash.
        if "://" not in dsn or "@" not in f"{given.get('host')}{given.get('dbname')}":
            return given
    raise StoreError(_MALFORMED)


def name_of(dsn: str) -> str:
    """Return a database's name for messages, without a password.

    Raises:
        StoreError: the connection string is malformed.
    """
    given = parameters_of(dsn)
    host = given.get("host") or given.get("hostaddr")
    name = given.get("dbname") or "of this user"
    return f"The database {name}{f' on {host}' if host else ''}"


def _conditions(known: Mapping[int, object]) -> tuple[list[int], list[str], int]:
    """Return the parameters of "claim" for some rows: ids, ids with another column, a count."""
    return [*known], [f"{number}:{value}" for number, value in known.items()], len(known)


@lru_cache(maxsize=512)
def to_psycopg_query(query: str) -> bytes:
    """Return a statement with psycopg's placeholders instead of question marks."""
    return query.replace("?", "%s").encode()
