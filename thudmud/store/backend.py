"""What a database is kept in, and how that differs: files of SQLite's, or a PostgreSQL server.

All that is stored is rows, and most statements mean the same to both. What does not is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum, IntEnum
from time import time
from typing import Any, ClassVar, Protocol

MISSED = ""
"""What those who listen are told in the place of all that was said while their link was lost."""


class Lock(IntEnum):
    """The keys of locks among those who share a database: ``Thud``, and what comes after it."""

    WRITING = 0x54687564
    """Whoever writes has it."""
    SERVING = WRITING + 1
    """All servers share it, or one has it that serves alone."""
    BOTS = WRITING + 2
    """The server has it on which the bots of all run."""


class Holder(Enum):
    """Who has a lock."""

    OURS = "ours"
    OTHERS = "others"


class Cursor(Protocol):
    """What a statement has come to."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""

    @property
    def description(self) -> Any:
        """What its columns are."""

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
        """Let go of it."""


@dataclass(frozen=True)
class Dialect:
    """How a database wants a statement where others want it differently.

    Attributes:
        types: what it calls the types of columns that SQLite calls ``integer``, ``real``, ``text``
            and ``blob``.
        strict: what follows the definition of a table, so that each value is of its column's type.
        without_rowid: the same of a table of which the primary key is most of the row.
        index_of: what an index on a name is of, so that it finds names whatever their case.
        same_name: the condition that a name is the given one in any case.
        passed_over: what is put before a column so that no index on it is used.
        find: the function that tells where a text has another.
        tables: the query for the names of all tables.
    """

    types: Mapping[str, str]
    strict: str
    without_rowid: str
    index_of: str
    same_name: str
    passed_over: str
    find: str
    tables: str


SQLITE = Dialect(
    types={},
    strict=" strict",
    without_rowid=" strict, without rowid",
    index_of="name collate nocase",
    same_name="name = ? collate nocase",
    passed_over="+",
    find="instr",
    tables="select name from sqlite_schema",
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
)


class Backend:
    """What a database is kept in.

    Attributes:
        connection: to it.
        is_new: whether it has nothing but its tables.
        dialect: how it wants its statements.
        errors: what its statements raise.
        is_shared: whether several nodes may serve boards from it at once.
    """

    connection: SqlConnection
    is_new = False
    dialect = SQLITE
    errors: ClassVar[tuple[type[Exception], ...]] = ()
    is_shared = False

    def link(self) -> int:
        """Make the link to it again if it was lost; return how often one has been made.

        Behind a new one may be another server, or the same after a crash.
        """
        return 1

    def has_settled(self) -> bool:
        """Wait until nothing that can be read over a new link can get lost any more.

        Returns:
            Whether all that was acknowledged over the links before is there.
        """
        return True

    def begin(self) -> Any:
        """Begin a transaction that writes; no other connection's does until it ends.

        Returns:
            The row of ``head``, if that is known by now.
        """
        self.connection.execute("begin immediate")

    def commit(self) -> None:
        """End a transaction: once this returns, what it has written is there to stay."""
        self.connection.execute("commit")

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Do the last of a transaction, which comes to nothing that is waited for, and end it."""
        yield
        self.commit()

    def together(self) -> AbstractContextManager[object]:
        """Do what does not wait for what comes of it: all of it may be sent at once."""
        return nullcontext()

    def rollback(self) -> None:
        """End a transaction as if there had been none."""
        self.connection.execute("rollback")

    def read_all(self) -> None:
        """Begin a transaction that reads all as of one moment, however long that takes."""
        self.connection.execute("begin")

    def scan(self, query: str, values: Sequence[Any]) -> Iterable[Any]:
        """Return the rows of a query, which may be more than there is memory for."""
        return self.connection.execute(query, values)

    def compact(self) -> tuple[int, int]:
        """Give back to the disk what is free in it; return its size before and after, in bytes."""
        return 0, 0

    def problem(self) -> str | None:
        """Return what the database itself finds wrong with how it is kept, if it looks for it."""
        return None

    def is_back(self, error: Exception) -> bool:  # noqa: ARG002  (of others' use)
        """Return whether what was raised was the loss of a link that is there again by now.

        What was asked has to be asked again then. Of a transaction nothing has been written.
        """
        return False

    def refuses_all(self, error: Exception) -> bool:
        """Whether what was raised by one statement would be by any other."""
        raise NotImplementedError

    def require(self) -> None:
        """Raise NotWritten if what is written would be lost, and the database does not notice."""

    def told(self, commits: int, store: int) -> None:
        """Remember that so many commits of a store are about to be told of."""

    def witnessed(self) -> int:
        """Return how many commits were told of by whichever process; -1 if that is not known."""
        return -1

    def version(self) -> int:
        """Return a number that is another one once another connection has written something."""
        return 0

    def scrubbed(self) -> bool:
        """Leave no copy of what was erased; return whether that could be done."""
        return True

    def translated(self, error: Exception, *, writing: bool = False) -> Exception:
        """Return an error of the database or the system as one of ours."""
        raise NotImplementedError

    def now(self) -> float:
        """Return the time that all nodes go by, in seconds since the epoch."""
        return time()

    def listen(self, heard: Callable[[str | None], None]) -> None:
        """Have what other nodes say called out from now on, in whichever thread.

        Args:
            heard: called with None when something may have been written, and with each note.
        """

    def tell(self, note: str) -> None:
        """Say something to all nodes but this."""

    def close(self) -> None:
        """Let go of it."""
        self.connection.close()
