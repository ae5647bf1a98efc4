"""What differs between the databases that can hold a store: SQLite files and PostgreSQL.

All data is rows, and most statements mean the same to both. The differences are in `Dialect`, for
the spelling of statements, and in `Backend`, for connections, transactions and locks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum, IntEnum
from time import time
from typing import Any, ClassVar, NamedTuple, Protocol

MISSED = ""
"""The note given to listeners in place of all notes sent while their link was down."""


class PliesStored(NamedTuple):
    """A note of a node about its commit: it has appended plies to some streams, nothing else."""

    streams: tuple[str, ...]


Heard = Callable[[str | PliesStored | None], None]
"""Called with each note, and with None when another node may have written something."""


PREPARED_LIFETIME = 1.0
"""Seconds after which an append that was prepared without the writers' lock is too old to store."""


class Lock(IntEnum):
    """The keys of locks between processes on one database: ``Thud`` in ASCII, then counting up."""

    WRITING = 0x54687564
    """The writers' lock, held during each write transaction."""
    SERVING = WRITING + 1
    """Shared by all servers, or held by the only one."""
    BOTS = WRITING + 2
    """Held by the server that runs the bots of all servers."""
    NOTIFYING = WRITING + 3
    """Held by the server that sends the notifications of all servers."""


class Holder(Enum):
    """The holder of a lock: this process, or another one."""

    OURS = "ours"
    OTHERS = "others"


class Cursor(Protocol):
    """The result of a statement, as DB-API 2.0 (PEP 249) has it."""

    @property
    def rowcount(self) -> int:
        """The number of changed rows."""

    @property
    def description(self) -> Any:
        """The columns of the result."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows."""


class SqlConnection(Protocol):
    """A connection to a database, with question marks as placeholders in statements."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Cursor:
        """Execute a statement."""

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> Any:
        """Execute a statement once for each row of values."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True)
class Dialect:
    """How a database spells statements on which SQLite and PostgreSQL differ.

    Attributes:
        types: the names of SQLite's column types ``integer``, ``real``, ``text`` and ``blob``.
        strict: the end of a table definition that makes the database check the types of values.
        without_rowid: the same for a table whose primary key is most of the row.
        index_of: the expression of a case-insensitive index on names.
        same_name: the condition that a name equals a given one, ignoring case.
        passed_over: a prefix for a column that keeps the query planner from using an index on it.
        find: the function that returns the place of one text in another.
        tables: the query for the names of all tables.
        has_reference_checks: whether tables are defined with references, which are verified only by
            the store's check. PostgreSQL would verify them at each write.
    """

    types: Mapping[str, str]
    strict: str
    without_rowid: str
    index_of: str
    same_name: str
    passed_over: str
    find: str
    tables: str
    has_reference_checks: bool


SQLITE = Dialect(
    types={},
    strict=" strict",
    without_rowid=" strict, without rowid",
    index_of="name collate nocase",
    same_name="name = ? collate nocase",
    passed_over="+",
    find="instr",
    tables="select name from sqlite_schema",
    has_reference_checks=True,
)
POSTGRESQL = Dialect(
    # Texts are ordered by their bytes, as in SQLite, whatever the server's locale.
    types={
        "integer": "bigint",
        "real": "double precision",
        "text": 'text collate "C"',
        "blob": "bytea",
    },
    strict="",
    without_rowid="",
    index_of="lower(name)",
    same_name="lower(name) = lower(?)",
    passed_over="",
    find="strpos",
    tables="select tablename from pg_tables where schemaname = current_schema()",
    has_reference_checks=False,
)


class PreparedAppend(NamedTuple):
    """Events prepared without the writers' lock, and what has to hold once it is held.

    Attributes:
        events: the rows of ``event``, with positions as if nobody else had appended meanwhile.
        streams: the rows of ``stream``, as they will be.
        versions: the versions that streams must have, by number.
        players: the names that players must have, by number.
        projection: the form that the projections must have.
        at: the time of the events, unless that of the last stored one is later.
        served: the time at which a server is known to run; 0.0 if none appends these.
        until: the database's time until which the lock must be got.
    """

    events: Sequence[tuple[Any, ...]]
    streams: Sequence[tuple[Any, ...]]
    versions: Mapping[int, int]
    players: Mapping[int, str]
    projection: int
    at: float
    served: float
    until: float


class Backend:
    """A connection to a database that holds a store; the defaults suit SQLite.

    Attributes:
        connection: the connection that executes statements.
        is_new: whether the database has no row in ``head`` yet.
        dialect: the spelling of statements.
        errors: the exceptions that statements raise.
        is_shared: whether several nodes may serve boards from it at once.
    """

    connection: SqlConnection
    is_new = False
    dialect = SQLITE
    errors: ClassVar[tuple[type[Exception], ...]] = ()
    is_shared = False

    def reconnect(self) -> int:
        """Reconnect if the connection was lost; return the number of connections made so far.

        A new connection may lead to another server, or to the same one after a crash.
        """
        return 1

    def has_settled(self) -> bool:
        """Wait until everything readable over a new connection is safe from a fail-over.

        Returns:
            Whether all commits acknowledged on earlier connections are still there.
        """
        return True

    def begin(self) -> Any:
        """Begin a write transaction, which excludes those of all other connections.

        Returns:
            The row of ``head``, if it was read in the same step; else None.
        """
        self.connection.execute("begin immediate")

    def head_and_time(self) -> tuple[Any, float]:
        """Return the row of ``head``, and the database's time, in seconds since the epoch.

        Only where `is_shared` is set.
        """
        raise NotImplementedError

    def append(self, prepared: PreparedAppend) -> tuple[int, float] | None:
        """Take the writers' lock, append events, and commit, all in one round trip.

        Only where `is_shared` is set.

        Returns:
            The position and the time of the last event. None if the events don't fit, for example
            because a stream has another version by now; then nothing was stored.
        """
        raise NotImplementedError

    def commit(self, last: Callable[[], object] = lambda: None) -> None:
        """Commit durably: on return, the transaction survives a crash.

        Args:
            last: executes the transaction's last statements.
        """
        last()
        self.connection.execute("commit")

    def pipelined(self) -> AbstractContextManager[object]:
        """Return a context in which statements are sent without waiting for results."""
        return nullcontext()

    def rollback(self) -> None:
        """Roll back the transaction."""
        self.connection.execute("rollback")

    def read_all(self) -> None:
        """Begin a transaction that reads one snapshot, with no limit on its duration."""
        self.connection.execute("begin")

    def scan(self, query: str, values: Sequence[Any]) -> Iterable[Any]:
        """Return the rows of a query whose result may not fit in memory."""
        return self.connection.execute(query, values)

    def compact(self) -> tuple[int, int]:
        """Return free pages to the file system; return the size before and after, in bytes."""
        return 0, 0

    def find_problem(self) -> str | None:
        """Run the database's own integrity check; return the first problem, if any."""
        return None

    def skipped_checks(self) -> tuple[str, ...]:
        """Return descriptions of the checks that this database's setup doesn't allow."""
        return ()

    def has_reconnected(self, error: Exception) -> bool:  # noqa: ARG002  (other backends use it)
        """Return whether an error was a lost connection that has been restored by now.

        If so, nothing of the transaction was stored, and its statements have to be run again.
        """
        return False

    def is_outage(self, error: Exception) -> bool:
        """Return whether an error would make every other statement fail as well."""
        raise NotImplementedError

    def require_durable(self) -> None:
        """Raise NotWrittenError if a write would be lost without the database noticing."""

    def record_acknowledged(self, commits: int, store: int) -> None:
        """Raise the commit watermark: called after a commit, before its callers are woken.

        Args:
            commits: the number of all commits so far, see ``head.commits``.
            store: the random number that identifies the store.
        """

    def acknowledged_commits(self) -> int:
        """Return the commit watermark: the highest number of commits acknowledged by any process.

        It is -1 if the database has no watermark.
        """
        return -1

    def version(self) -> int:
        """Return a number that changes whenever another connection has committed."""
        return 0

    def scrub(self) -> bool:
        """Remove all copies of erased data; return whether that was possible."""
        return True

    def translate_error(self, error: Exception, *, writing: bool = False) -> Exception:
        """Translate an exception of the database or the system into a StoreError.

        Args:
            error: the exception; those of a kind not known here are returned unchanged.
            writing: whether it was raised by a write. Then every exception becomes a StoreError.
        """
        raise NotImplementedError

    def now(self) -> float:
        """Return the time that all nodes share, in seconds since the epoch."""
        return time()

    def listen(self, heard: Heard) -> None:
        """Subscribe to other nodes' messages.

        Args:
            heard: called in any thread with each note, and with None when another node may have
                written.
        """

    def send_note(self, note: str) -> None:
        """Send a note to all other nodes."""

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
