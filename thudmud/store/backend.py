"""What differs between the databases that a store can be kept in: SQLite files and PostgreSQL.

All data is rows, and most statements mean the same to both. What does not is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum, IntEnum
from time import time
from typing import Any, ClassVar, Protocol

MISSED = ""
"""What listeners are told in place of all notes that were sent while their link was lost."""


class Lock(IntEnum):
    """The keys of locks between processes that share a database: ``Thud``, and what follows."""

    WRITING = 0x54687564
    """Held during each write."""
    SERVING = WRITING + 1
    """Shared by all servers, or held by one that serves alone."""
    BOTS = WRITING + 2
    """Held by the server on which the bots of all servers run."""
    NOTIFYING = WRITING + 3
    """Held by the server that sends the notifications of all servers."""


class Holder(Enum):
    """Who holds a lock."""

    OURS = "ours"
    OTHERS = "others"


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of rows that it changed."""

    @property
    def description(self) -> Any:
        """Its columns."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows."""


class SqlConnection(Protocol):
    """A connection to a database; the placeholders in its statements are question marks."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Cursor:
        """Execute a statement."""

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> Any:
        """Execute a statement for each of some rows."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True)
class Dialect:
    """How a database spells statements that others spell differently.

    Attributes:
        types: its names for the column types ``integer``, ``real``, ``text`` and ``blob`` of
            SQLite.
        strict: the end of a table's definition that makes the database check the types of values.
        without_rowid: the same for a table of which the primary key is most of the row.
        index_of: the expression of an index on names that ignores case.
        same_name: the condition that a name equals a given one, ignoring case.
        passed_over: a prefix for a column that keeps an index on it from being used.
        find: the function that returns the place of one text in another.
        tables: the query for the names of all tables.
        checks_references: whether references between tables cost nothing until they are checked.
    """

    types: Mapping[str, str]
    strict: str
    without_rowid: str
    index_of: str
    same_name: str
    passed_over: str
    find: str
    tables: str
    checks_references: bool


SQLITE = Dialect(
    types={},
    strict=" strict",
    without_rowid=" strict, without rowid",
    index_of="name collate nocase",
    same_name="name = ? collate nocase",
    passed_over="+",
    find="instr",
    tables="select name from sqlite_schema",
    checks_references=True,
)
POSTGRESQL = Dialect(
    # Texts are ordered by their bytes, as SQLite orders them, wherever the server stands.
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
    checks_references=False,
)


class Backend:
    """A database that a store is kept in.

    Attributes:
        dialect: how it spells statements.
        errors: the exceptions that its statements raise.
        is_shared: whether several nodes may serve boards from it at once.
    """

    connection: SqlConnection
    is_new = False
    dialect = SQLITE
    errors: ClassVar[tuple[type[Exception], ...]] = ()
    is_shared = False

    def link(self) -> int:
        """Reconnect if the link was lost; return how many connections have been made.

        At the other end of a new one may be another server, or the same after a crash.
        """
        return 1

    def has_settled(self) -> bool:
        """Wait until nothing that is read over a new link can be lost any more.

        Returns:
            Whether all commits that were acknowledged on earlier links are there.
        """
        return True

    def begin(self) -> Any:
        """Begin a write transaction, which excludes those of all other connections.

        Returns:
            The row of ``head``, if it was read in the same step.
        """
        self.connection.execute("begin immediate")

    def commit(self, last: Callable[[], object] = lambda: None) -> None:
        """Commit, after the last statements: once this returns, what was written is durable."""
        last()
        self.connection.execute("commit")

    def together(self) -> AbstractContextManager[object]:
        """Send statements at once, without waiting for the result of each."""
        return nullcontext()

    def rollback(self) -> None:
        """Roll a transaction back."""
        self.connection.execute("rollback")

    def read_all(self) -> None:
        """Begin a transaction that reads a snapshot, however long that takes."""
        self.connection.execute("begin")

    def scan(self, query: str, values: Sequence[Any]) -> Iterable[Any]:
        """Return the rows of a query, which may be more than there is memory for."""
        return self.connection.execute(query, values)

    def compact(self) -> tuple[int, int]:
        """Give free pages back to the disk; return the size before and after, in bytes."""
        return 0, 0

    def problem(self) -> str | None:
        """Return what the database itself finds wrong with its pages, if it can check them."""
        return None

    def unchecked(self) -> tuple[str, ...]:
        """Return what the database cannot check of itself as it is set up, in words."""
        return ()

    def is_back(self, error: Exception) -> bool:  # noqa: ARG002  (other backends use it)
        """Return whether an error was the loss of a link that has been restored by now.

        The statement has to be run again then. Of a transaction nothing has been written.
        """
        return False

    def refuses_all(self, error: Exception) -> bool:
        """Return whether any other statement would fail like this one."""
        raise NotImplementedError

    def require(self) -> None:
        """Raise NotWritten if writes would be lost without the database noticing."""

    def told(self, commits: int, store: int) -> None:
        """Record how many commits of a store callers are about to be told of."""

    def witnessed(self) -> int:
        """Return how many commits any process has told of; -1 if that is not known."""
        return -1

    def version(self) -> int:
        """Return a number that changes when another connection has written something."""
        return 0

    def scrubbed(self) -> bool:
        """Remove all copies of what was erased; return whether that could be done."""
        return True

    def translated(self, error: Exception, *, writing: bool = False) -> Exception:
        """Return an error of the database or the system as one of ours."""
        raise NotImplementedError

    def now(self) -> float:
        """Return the time that all nodes share, in seconds since the epoch."""
        return time()

    def listen(self, heard: Callable[[str | None], None]) -> None:
        """Call a function with what other nodes say from now on, in any thread.

        That is each note, and None when another node may have written something.
        """

    def tell(self, note: str) -> None:
        """Send a note to all other nodes."""

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
