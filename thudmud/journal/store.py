"""A journal's SQLite file, read and written by one thread.

Owns the connection, and how events become rows. Must never be used by two threads, nor by the one
that an event loop runs in: it waits for the disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from thudmud.codec import SCHEMA, Misread, TooNew, decode, encode
from thudmud.journal import layout
from thudmud.journal.checking import check
from thudmud.journal.interface import Conflict, Damaged, Entry, NotWritten, Unknown
from thudmud.journal.seal import set_seal
from thudmud.journal.troubles import damaged, not_read, not_written
from thudmud.play.events import LANDMARKS, Event, is_complete
from thudmud.storage.files import Identity, beside, connect, identity
from thudmud.storage.wal import has_lost_something

_BATCH = 1_000
"""About how many entries are read at once for a follower."""

_ENTRIES = "select position, stream, version, schema, body from event"


@dataclass(frozen=True, slots=True)
class Append:
    """Events to be stored, all or none, after version ``expected`` of a stream."""

    stream: str
    expected: int
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored; ``after`` is the position that came before."""

    after: int
    entries: Sequence[Entry]


class Store:
    """An open journal file.

    Raises:
        Damaged: what is there is not what was written.
        Unknown: another version of this program, or another program, wrote it.
        JournalError: it cannot be opened.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self._path = path
        try:
            if not path.exists():
                layout.create(path, SCHEMA)
            log = beside(path, "-wal")
            if has_lost_something(log):
                raise damaged(path, f"{log.name} has changed")
            check(path, patience, SCHEMA)
            self._db = connect(path, patience)
        except (OSError, sqlite3.Error) as error:
            raise not_read(path, error) from error
        try:
            self._begin()
        except BaseException:
            self._db.close()
            raise

    def _begin(self) -> None:
        with self._reading():
            self._db.execute("pragma synchronous = full")
            self._db.execute("begin immediate")  # so that a file that is read-only is told of now
            self._db.execute(f"pragma user_version = {SCHEMA}")
            self._db.execute("commit")
        self._streams: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._files = self._on_disk()
        self._data_version: int | None = None

    def append(self, appends: Sequence[Append]) -> Sequence[Stored | Exception]:
        """Store appends in one transaction; return what has become of each, in their order."""
        try:
            with self._writing():
                return [self._append(each) for each in appends]
        except sqlite3.Error as error:
            return [not_written(self._path, error)] * len(appends)
        except NotWritten as error:
            return [error] * len(appends)

    def read(self, stream: str, first: int, most: int | None) -> Sequence[Entry]:
        """Return events of a stream from a version on, not more than ``most``.

        Raises:
            JournalError: they cannot be read, as from the other methods that read.
        """
        with self._reading():
            return self._entries(
                f"{_ENTRIES} where stream = ? and version >= ? order by version limit ?",
                (self._number(stream), first, -1 if most is None else most),
            )

    def list(self) -> dict[str, int]:
        """Return the streams and their versions."""
        with self._reading():
            return dict(
                self._db.execute(
                    "select name, (select max(version) from event where stream = id) from stream"
                )
            )

    def beginning(self, stream: str) -> int:
        """Return the version of the last event of a stream that a fold may begin with; else 1."""
        with self._reading():
            rows = self._db.execute(
                "select version, schema, body from event"
                " where stream = ? and landmark order by version desc",
                (self._number(stream),),
            )
            complete = (version for version, *text in rows if is_complete(decode(*text)))
            return next(complete, 1)

    def landmarks(self) -> Sequence[Entry]:
        """Return all events that battles are told apart by, in their order."""
        with self._reading():
            return self._entries(
                f"{_ENTRIES} indexed by landmark where landmark order by position", ()
            )

    def after(self, position: int) -> Sequence[Entry]:
        """Return the first events after a position: whole appends."""
        with self._reading():
            end = self._db.execute(
                "select position from event where position >= ? and last order by position limit 1",
                (position + _BATCH,),
            ).fetchone()
            high = end[0] if end else self._last()[0]
            return self._entries(
                f"{_ENTRIES} where position > ? and position <= ? order by position",
                (position, high),
            )

    def position(self) -> int:
        """Return the position of the last event; 0 if there is none."""
        with self._reading():
            return self._last()[0]

    def has_news(self) -> bool:
        """Return whether another connection has written since this was last asked.

        At first there are news in any case.
        """
        with self._reading():
            before = self._data_version
            (self._data_version,) = self._db.execute("pragma data_version").fetchone()
            return before != self._data_version

    def close(self) -> None:
        """Let go of the file, and seal it if nobody else has it open."""
        self._db.close()
        set_seal(self._path)

    def _append(self, append: Append) -> Stored | Exception:
        try:
            texts = [encode(event) for event in append.events]
        except Exception as error:  # noqa: BLE001 - it is the caller's, the others' are stored
            return error
        found = self._version(append.stream)
        if found != append.expected:
            return Conflict(append.stream, append.expected, found)
        return self._insert(append, texts)

    def _insert(self, append: Append, texts: Sequence[str]) -> Stored:
        after, chain = self._last()
        if not texts:
            return Stored(after, ())
        stream = self._number(append.stream) or self._new_stream(append.stream)
        rows, entries = [], []
        for number, (event, text) in enumerate(zip(append.events, texts, strict=True), 1):
            position, version = after + number, append.expected + number
            landmark, last = isinstance(event, LANDMARKS), number == len(texts)
            numbers = layout.numbers(stream, version, SCHEMA, landmark=landmark, last=last)
            chain = layout.link(chain, numbers, text.encode("ascii"))
            rows.append((position, stream, version, SCHEMA, landmark, last, text, chain))
            entries.append(Entry(position, append.stream, version, event))
        self._db.executemany("insert into event values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return Stored(after, entries)

    def _version(self, stream: str) -> int:
        (version,) = self._db.execute(
            "select ifnull(max(version), 0) from event where stream = ?", (self._number(stream),)
        ).fetchone()
        return int(version)

    def _last(self) -> tuple[int, int]:
        """Return the position and the chain of the last event."""
        row = self._db.execute(
            "select position, chain from event order by position desc limit 1"
        ).fetchone()
        return row or (0, 0)

    def _entries(self, query: str, parameters: tuple[int | None, ...]) -> Sequence[Entry]:
        rows = self._db.execute(query, parameters).fetchall()
        return [
            Entry(position, self._name(stream), version, decode(schema, body))
            for position, stream, version, schema, body in rows
        ]

    def _number(self, name: str) -> int | None:
        """Return a stream's number; None if it has no events yet."""
        if name not in self._streams:
            self._learn_streams()
        return self._streams.get(name)

    def _name(self, stream: int) -> str:
        if stream not in self._names:
            self._learn_streams()
        return self._names[stream]

    def _learn_streams(self) -> None:
        self._names = dict(self._db.execute("select id, name from stream"))
        self._streams = {name: number for number, name in self._names.items()}

    def _new_stream(self, name: str) -> int:
        number = len(self._streams) + 1
        chain = layout.stream_chain(number, name)
        self._db.execute("insert into stream values (?, ?, ?)", (number, name, chain))
        self._streams[name], self._names[number] = number, name
        return number

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Make a transaction of what is written inside, or nothing of it."""
        self._db.execute("begin immediate")
        try:
            yield
            self._require_files()
            self._db.execute("commit")
        except BaseException:
            self._streams, self._names = {}, {}
            with suppress(sqlite3.Error):
                self._db.execute("rollback")
            raise

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise not_read(self._path, error) from error
        except Misread as error:
            raise Damaged(str(error)) from error
        except TooNew as error:
            raise Unknown(str(error)) from error

    def _require_files(self) -> None:
        """Refuse to write to files that nobody would ever find: SQLite itself would not notice."""
        if self._on_disk() != self._files:
            raise NotWritten(
                f"The journal {self._path} could not be written: it, or a file that belongs to it,"
                " was removed or replaced while it was in use. Bring it back, or restore a backup,"
                " before you restart: without it an empty journal would be begun."
            )

    def _on_disk(self) -> Sequence[Identity | None]:
        """Return which files are there under the names of the journal's."""
        return [identity(beside(self._path, suffix)) for suffix in ("", "-wal", "-shm")]
