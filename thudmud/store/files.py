"""SQLite databases on disk and in memory: how they are opened, and whether they are whole.

Beside the database, ``FILE``, and the two files that SQLite keeps beside it, there is
``FILE-head``, the witness. It holds the store's number, and the count of commits that any caller
has been told of. It is needed because SQLite reads a damaged -wal up to the first bad frame and
silently ignores the rest; it does not notice a -wal that was cut or deleted, and it accepts that of
another database. The witness is written after each commit, without a sync: the commits that it
counts were synced before, so it is never ahead of the disk.

All files are first checked read-only: opening them for writing would checkpoint the good half of a
damaged -wal into the database and delete the rest, which is evidence.

A server locks the witness, not the database: closing any descriptor of the database would drop
SQLite's own locks.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote
from weakref import finalize
from zlib import crc32

from thudmud.features import load_storage
from thudmud.game.projections import PROJECTION
from thudmud.store.backend import Backend
from thudmud.store.interface import Damaged, InUse, NotWritten, StoreError, Unknown
from thudmud.store.rows import (
    APPLICATION,
    DURABLE,
    FORMAT,
    PROJECTIONS,
    SqlTable,
    definitions,
    has_rows,
)

Identity = tuple[int, int]

_MAGIC, _HEADER, _APPLICATION_ID = b"SQLite format 3\0", 100, slice(68, 72)
"""How an SQLite file begins: sqlite.org/fileformat2.html, section 1.3."""

_log = logging.getLogger(__name__)


def connect(path: Path, patience: float, *, reading: bool = False) -> sqlite3.Connection:
    """Return a connection to an existing file, which waits for others for ``patience`` seconds.

    One that only reads never changes the file nor its log, not even when the last connection is
    closed, which otherwise checkpoints the log.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    mode = "mode=ro" if reading else "mode=rw"
    return sqlite3.connect(
        f"file:{quote(os.fspath(path.absolute()))}?{mode}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a file that belongs to another, by its suffix."""
    return path.with_name(f"{path.name}{suffix}")


def followed(path: Path) -> Path:
    """Return the file itself where a path is a link to it.

    SQLite keeps its files beside that, and so do we: else two servers could use it by two names.
    """
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def has_log(path: Path) -> bool:
    """Return whether a file's write-ahead log has anything in it; OSError if it cannot be read."""
    log = beside(path, "-wal")
    return log.exists() and log.stat().st_size > 0


def identity(path: str) -> Identity | None:
    """Return what tells a file from one that replaces it; None if there is no file."""
    try:
        status = os.stat(path)  # noqa: PTH116  (before each commit: a Path takes twice as long)
    except OSError:
        return None
    return status.st_dev, status.st_ino


LITTLE = 1 << 20
"""Bytes. A disk with less free space counts as full when something on it fails."""

Trouble = OSError | sqlite3.Error | UnicodeDecodeError
TROUBLES = (OSError, sqlite3.Error, UnicodeDecodeError)
"""The exceptions of using a file. SQLite's message about a damaged file quotes from it, and so may
not be decodable."""

_FULL = "the disk is full"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_REASONS = {
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_IOERR: "the disk does not work as it should",
    sqlite3.SQLITE_READONLY: "it cannot be written to",
    sqlite3.SQLITE_BUSY: "another process does not let go of it",
    sqlite3.SQLITE_LOCKED: "another process does not let go of it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "access to it is denied",
    sqlite3.SQLITE_AUTH: "access to it is denied",
}
_IN_SHARED_MEMORY = {
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
}
_FOR_WANT_OF_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
"""SQLite's codes for a full disk, which also have other causes."""
_FOR_WANT_OF_RIGHTS = {*_FOR_WANT_OF_ROOM, sqlite3.SQLITE_READONLY}
"""The same for a folder that it cannot use."""


def is_damage(error: Trouble) -> bool:
    """Return whether the file itself is damaged, rather than the disk or the system."""
    return _code(error) & 0xFF not in {*_REASONS, sqlite3.SQLITE_FULL}


def reason(path: Path | None, error: Trouble) -> str:
    """Return why something could not be done with a file, or in memory, in plain words."""
    code = _code(error)
    if path and code & 0xFF in _FOR_WANT_OF_RIGHTS and (missing := _missing(path)):
        return missing
    if code == sqlite3.SQLITE_FULL or (
        path and code & 0xFF in _FOR_WANT_OF_ROOM and _is_full(path)
    ):
        return _FULL
    if isinstance(error, OSError):
        return error.strerror or str(error)
    words = _REASONS.get(code & 0xFF)
    if path and code in _IN_SHARED_MEMORY:
        words = f"{beside(path, '-shm').name}, which belongs to it, cannot be made"
    elif code == sqlite3.SQLITE_IOERR_GETTEMPPATH:
        words = "there is no folder for temporary files"
    return f"{words} ({error})" if words else str(error)


def _code(error: Trouble) -> int:
    """Return SQLite's extended code; that of damage for an error without one, as from decoding."""
    if isinstance(error, OSError):
        return sqlite3.SQLITE_FULL if error.errno in _NO_ROOM else sqlite3.SQLITE_CANTOPEN
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)


def _missing(path: Path) -> str | None:
    """Return what is missing for a file to be made in its folder, if anything is."""
    folder = path.absolute().parent  # SQLite makes files of its own there
    if not folder.exists():
        return f"there is no folder {folder}"
    if not os.access(folder, os.W_OK):
        return f"the folder {folder} cannot be written to"
    return "it is a folder" if path.is_dir() else None


def _is_full(path: Path) -> bool:
    """Return whether a file's disk has no room, or no free inodes."""
    try:
        disk = os.statvfs(path.absolute().parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < LITTLE or (disk.f_files > 0 and disk.f_favail == 0)


HEAD = "-head"
_WITNESS = 47
"""Bytes of the witness: few enough to be written whole or not at all."""

_PRIVATE = 0o600
"""Readable by the owner alone, since it holds hashes of passwords."""

_LONGEST_LOG = 64 << 20
"""Bytes to which the -wal is cut after it has grown, as it does during a check."""


class Sqlite(Backend):
    """An SQLite database: a file, or in memory if there is no path."""

    connection: sqlite3.Connection
    errors = (sqlite3.Error,)

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        self.connection = connection
        self._path = path

    def problem(self) -> str | None:
        """Return the first problem with its pages, indexes and references, if there is one."""
        for (line,) in self.connection.execute("pragma integrity_check(1)"):
            if line != "ok":
                return " ".join(line.split())
        for table, _, parent, _ in self.connection.execute("pragma foreign_key_check"):
            return f"a row of {table} belongs to a {parent} that is missing"
        return None

    def refuses_all(self, error: Exception) -> bool:
        """Return whether the disk or another process refuses the statement."""
        return isinstance(error, sqlite3.OperationalError)

    def translated(self, error: Exception, *, writing: bool = False) -> Exception:
        """Return an error of SQLite or the system as one of ours."""
        return translated(self._path, error, writing=writing)


class InMemory(Sqlite):
    """A database in memory, which is gone when it is closed, or when nobody has it any more."""

    is_new = True

    def __init__(self) -> None:
        load_storage()
        # Whichever thread collects garbage may have to close it.
        super().__init__(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
        with closing(sqlite3.connect(":memory:")) as empty:
            empty.deserialize(_empty())  # a deserialized database cannot grow beyond a gigabyte
            empty.backup(self.connection)
        finalize(self, self.connection.close)  # or it warns, from Python 3.13 on


class OnDisk(Sqlite):
    """A database on a disk, made if it does not exist; serving from it locks out other servers.

    What is raised is as by `Store.open`.
    """

    _path: Path

    def __init__(self, path: Path, *, serving: bool, patience: float) -> None:
        load_storage()
        path = self._path = followed(path)
        self._paths = [os.fspath(beside(path, suffix)) for suffix in ("", "-wal", "-shm", HEAD)]
        self._head = -1
        self._testimony = b"", -1
        """The bytes last read from the witness, and the count in them."""
        try:
            require_nothing_left(path)
            if path.exists():
                # Before anything is made beside it: it may be another program's file, or a device.
                require_ours(path)
                _require_writable(path)
            else:
                _create(path)
            self._head = os.open(beside(path, HEAD), os.O_RDWR | os.O_CREAT, _PRIVATE)
            if serving:
                self._lock()
            self._highest = max(check_head(path, patience), 0)
            self._make_private()
            self.connection = connect(path, patience)
            self._prepare()
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                raise translated(path, error) from error
            raise
        self._identities = self._on_disk()

    def require(self) -> None:
        """Raise NotWritten if one of the files was removed or replaced."""
        if self._on_disk() != self._identities:
            raise NotWritten(
                f"The store {self._path} could not be written: it, or a file that belongs to it,"
                " was removed or replaced while it was in use. Bring it back, or restore a backup,"
                " before you restart: without it an empty store would be begun."
            )

    def told(self, commits: int, store: int) -> None:
        """Raise the count of the witness, unless another process has raised it higher.

        If the disk refuses that, the witness is outdated until the next commit.
        """
        with suppress(OSError):
            if commits > max(self._highest, self.witnessed()):
                contents = _witness(commits, store)
                os.pwrite(self._head, contents, 0)
                self._testimony = contents, commits
            self._highest = max(commits, self._highest)

    def witnessed(self) -> int:
        """Return the count of the witness."""
        contents, count = os.pread(self._head, _WITNESS + 1, 0), self._testimony[1]
        if contents != self._testimony[0]:
            count = _testimony(contents)[0]
            self._testimony = contents, count
        return count

    def version(self) -> int:
        """Return SQLite's data version."""
        ((version,),) = self.connection.execute("pragma data_version")
        return int(version)

    def scrubbed(self) -> bool:
        """Checkpoint the -wal and truncate it."""
        ((busy, *_),) = self.connection.execute("pragma wal_checkpoint(truncate)")
        return not busy

    def compact(self) -> tuple[int, int]:
        """Rewrite the file without its free pages; return its size before and after.

        SQLite makes a copy beside it, and writes that back by way of the -wal: so the file stays as
        it was if the process is killed. Nobody else can write meanwhile.

        Raises:
            StoreError: the disk has no room for that.
        """
        execute, folder = self.connection.execute, os.fspath(self._path.absolute().parent)
        self.scrubbed()
        before = self._path.stat().st_size
        ((free,),) = execute("pragma freelist_count")
        ((page,),) = execute("pragma page_size")
        needed, disk = 2 * (before - free * page), os.statvfs(folder)
        if (room := disk.f_bavail * disk.f_frsize) < needed:
            raise StoreError(
                f"The store {self._path} could not be made smaller: that takes {megabytes(needed)}"
                f" beside it for a while, and there are {megabytes(room)}."
            )
        # SQLite's default folder may be in memory.
        execute("pragma temp_store_directory = '{}'".format(folder.replace("'", "''")))
        try:
            execute("vacuum")
        finally:
            execute("pragma temp_store_directory = ''")
        self.scrubbed()
        return before, self._path.stat().st_size

    def close(self) -> None:
        """Close the files."""
        with suppress(AttributeError):  # it was not opened
            self.connection.close()
        if self._head >= 0:
            os.close(self._head)
            self._head = -1

    def _lock(self) -> None:
        try:
            fcntl.flock(self._head, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUse(
                f"The store {self._path} is in use: another server keeps its boards there. Stop"
                " that first, or give this one a file of its own."
            ) from error

    def _make_private(self) -> None:
        """Make existing files private, such as a restored backup.

        SQLite gives the files beside the database the mode of the database.
        """
        try:
            for path in filter(os.path.exists, self._paths):
                mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116  (the paths are texts)
                if mode & ~_PRIVATE:
                    os.chmod(path, mode & _PRIVATE)  # noqa: PTH101
        except OSError as error:  # the file is another user's
            who = {"file": self._path, "why": error.strerror}
            _log.warning("other users may read the store", extra=who)

    def _prepare(self) -> None:
        execute = self.connection.execute
        execute("pragma journal_mode = wal")  # not set in a copy made by "vacuum into"
        execute("pragma synchronous = full")
        execute("pragma secure_delete = on")
        execute(f"pragma journal_size_limit = {_LONGEST_LOG}")
        execute("begin immediate")
        execute(f"pragma user_version = {FORMAT}")  # so that a read-only file is reported now
        self.is_new = not execute("select count(*) from head").fetchone()[0]
        if self.is_new and has_rows(self.connection):
            raise damaged(self._path, "the row that it begins with is missing")
        execute("commit")

    def _on_disk(self) -> Sequence[Identity | None]:
        return [identity(path) for path in self._paths]


def megabytes(count: int) -> str:
    """Return a number of bytes in megabytes: ``12.3 MB``."""
    return f"{count / 1e6:,.1f} MB"


@lru_cache
def _empty() -> bytes:
    """Return an empty database: making one takes five times as long as copying one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("pragma page_size = 1024")  # some thirty pages, mostly empty
        for statement in definitions([*DURABLE, *PROJECTIONS]):
            connection.execute(statement)
        return connection.serialize()


def require_ours(path: Path) -> None:
    """Refuse a file that is no database of ours, without making anything beside it.

    Raises:
        Damaged: it is empty, or no database any more.
        Unknown: another program wrote it.
        StoreError: it is not a file.
        OSError: it cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if path.is_dir() else "not a file, but a device or a pipe"
        raise StoreError(f"The store {path} could not be used: it is {what}.")
    if not status.st_size:
        raise damaged(path, "it is empty")
    # Its first bytes are read directly: SQLite would need the log, if a process was killed while it
    # was checkpointing.
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        if beside(path, HEAD).exists():
            raise damaged(path, "file is not a database")  # as SQLite says it
        raise Unknown(f"{path} is not a store of thudmud, nor any other database.")
    if int.from_bytes(header[_APPLICATION_ID], "big") != APPLICATION:
        raise Unknown(f"{path} is not a store of thudmud, but another program's database.")


def _require_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise StoreError(f"The store {path} could not be used: it cannot be written to.")


def check_head(path: Path, patience: float) -> int:
    """Check, read-only, that this version knows the database, and that no told commit is missing.

    Returns:
        The count of the witness; -1 if there is none.
    """
    # The witness is read first: a process that writes meanwhile raises the database first.
    witness, of_store = _read(path)
    with closing(connect(path, patience, reading=True)) as connection:
        ((found,),) = connection.execute("pragma user_version")
        if found > FORMAT:
            raise Unknown(
                f"The store {path} was written by a later version of thudmud: it has schema"
                f" {found}, and this version knows {FORMAT}."
            )
        there = connection.execute("select 1 from sqlite_schema where name = 'head'").fetchone()
        row = SqlTable(connection).row("head", "where id = 1") if there else None
        _, _, commits, projection, *_, store = row or (1, 0, 0, PROJECTION, of_store)
        _check_tables(path, connection, DURABLE)
        if projection == PROJECTION:
            _check_tables(path, connection, PROJECTIONS)
    if witness == -2:
        raise damaged(path, f"{beside(path, HEAD).name} has changed")
    if witness >= 0 and store != of_store:
        raise damaged(
            path,
            f"{beside(path, HEAD).name} is another store's; if you have put this one in its place,"
            f" delete {beside(path, HEAD).name}",
        )
    if isinstance(commits, int) and commits < witness:
        raise damaged(
            path,
            f"it has {commits} of at least {witness} transactions; if it was restored from a"
            f" backup, delete {beside(path, HEAD).name}",
        )
    return witness


def _check_tables(path: Path, connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Check that tables and indexes are as we make them."""
    with closing(InMemory()) as files:
        wanted = _tables(files.connection, names)
    found = _tables(connection, names)
    if any(found.get(name) != wanted[name] for name in wanted):
        raise damaged(path, "its tables are not those of a store")


def _tables(connection: sqlite3.Connection, names: Iterable[str]) -> dict[str, tuple[object, ...]]:
    rows = connection.execute("select name, tbl_name, type, sql from sqlite_schema")
    return {name: (table, *rest) for name, table, *rest in rows if table in names}


def require_nothing_left(path: Path) -> None:
    """Refuse if the file is gone, but files that belong to it are there.

    Those are looked for first: another process that makes a store makes them after the file.
    """
    left = {HEAD: _read(path)[0] != -1, "-wal": has_log(path)}
    if path.exists():
        return
    for suffix in ("-wal", HEAD):
        if left[suffix]:
            rest = beside(path, suffix).name
            raise Damaged(
                f"The store {path} is gone, but {rest} is still there: bring both back from a"
                f" backup, or delete {rest} to begin a new one."
            )


def _create(path: Path) -> None:
    """Make an empty database, unless another process is quicker.

    It is made elsewhere and then given its name, so that no half of one is ever seen. The files
    that SQLite keeps beside it are given the same mode.
    """
    with TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.") as folder:
        new = Path(folder, path.name)
        new.touch(_PRIVATE)
        with closing(connect(new, 0)) as connection:
            # A commit changes four pages, however little of each: half the default size halves the
            # writing.
            connection.execute("pragma page_size = 2048")
            connection.execute(f"pragma application_id = {APPLICATION}")
            connection.execute(f"pragma user_version = {FORMAT}")
            connection.execute("pragma journal_mode = wal")
            tables = "; ".join(definitions([*DURABLE, *PROJECTIONS]))
            connection.executescript(f"begin; {tables}; commit;")
        try:
            os.link(new, path)
        except FileExistsError:
            return
    parent = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def _witness(commits: int, store: int) -> bytes:
    said = b"%020d %016x" % (commits, store)
    return b"%s %08x\n" % (said, crc32(said))


def _testimony(contents: bytes) -> tuple[int, int]:
    """Return the count and the store in a witness; -1 if it is empty, -2 if it is invalid."""
    if not contents:
        return -1, 0
    with suppress(ValueError):
        commits, store = int(contents[:20]), int(contents[21:37], 16)
        if contents == _witness(commits, store):
            return commits, store
    return -2, 0


def _read(path: Path) -> tuple[int, int]:
    try:
        return _testimony(beside(path, HEAD).read_bytes())
    except FileNotFoundError:
        return -1, 0


def damaged(path: Path | None, what: str) -> Damaged:
    """Return the error of a damaged file."""
    log = ""
    with suppress(OSError):
        if path and has_log(path):
            log = f", without the {beside(path, '-wal').name} that is there now"
    return Damaged(f"The store {path or 'in memory'} is damaged: {what}. Restore a backup{log}.")


@contextmanager
def errors_translated(path: Path | None) -> Iterator[None]:
    """Turn the exceptions of using a file into errors of ours."""
    try:
        yield
    except Exception as error:
        told = translated(path, error)
        if told is error:
            raise
        raise told from error


def translated(path: Path | None, error: Exception, *, writing: bool = False) -> Exception:
    """Return an error of SQLite or the system as one of ours; other errors as they are."""
    if isinstance(error, Damaged):
        return error if str(error).startswith("The store") else damaged(path, str(error))
    if isinstance(error, StoreError):
        return error
    if isinstance(error, TROUBLES):
        if is_damage(error):
            return damaged(path, str(error))
        kind, what = (NotWritten, "written") if writing else (StoreError, "used")
        where = path or "in memory"
        return kind(f"The store {where} could not be {what}: {reason(path, error)}.")
    if writing:
        return NotWritten(f"This cannot be stored: {error!r}.")
    return error
