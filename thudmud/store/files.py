"""SQLite databases on disk and in memory: opening them, and verifying that no commit is missing.

Besides the database ``FILE``, and SQLite's own ``FILE-wal`` and ``FILE-shm``, there is
``FILE-head``: the commit watermark. It holds the number that identifies the store, the count of
commits acknowledged to callers, and a checksum of both. (The code calls it the witness.)

It is needed because SQLite can lose commits silently. It reads a damaged -wal up to the first bad
frame and ignores the rest, it doesn't notice that a -wal was truncated or deleted, and it accepts
the -wal of another database.

Theory of operation:

- The watermark is written after each commit, and before the commit's callers are told. So a
  database with fewer commits than the watermark has lost acknowledged data.
- It is written without a sync. The commits that it counts were synced before, so it is never ahead
  of the disk. A crash between commit and watermark, or the loss of the unsynced write, leaves it
  too low, which is harmless: the next commit raises it.
- Several processes may write it, such as a server and ``thudmud user``. Each reads it again before
  it writes, and never lowers it knowingly. If two write at the same moment, it may stay one commit
  too low until the next one. It fits in one small write at offset 0, so no reader sees half of one.
- A backup that was restored is older than its watermark. Only the operator can know that this is
  meant, so the error message says to delete ``FILE-head``.

At an open, all files are first checked read-only (`verify_watermark`). Opening them for writing
would checkpoint the good half of a damaged -wal into the database and delete the rest, which is
evidence.

A server locks the watermark's file, not the database: closing any descriptor of the database would
drop SQLite's own POSIX locks (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast
from urllib.parse import quote
from weakref import finalize
from zlib import crc32

from thudmud.features import load_storage
from thudmud.game.projections import PROJECTION
from thudmud.store.backend import Backend
from thudmud.store.interface import (
    DamagedStoreError,
    NotWrittenError,
    OutdatedStoreError,
    Schema,
    StoreError,
    StoreInUseError,
    UnknownFormatError,
    Upgrade,
)
from thudmud.store.rows import (
    APPLICATION,
    DURABLE,
    FORMAT,
    PROJECTIONS,
    SqlTable,
    current_schema,
    definitions,
    has_rows,
    require_known_format,
)

Identity = tuple[int, int]

_MAGIC, _HEADER, _APPLICATION_ID = b"SQLite format 3\0", 100, slice(68, 72)
"""The start of an SQLite file: sqlite.org/fileformat2.html, section 1.3."""

_log = logging.getLogger(__name__)


def connect(path: Path, lock_timeout: float, *, reading: bool = False) -> sqlite3.Connection:
    """Open a connection to an existing file.

    Args:
        path: the file.
        lock_timeout: seconds to wait for other processes that hold a lock.
        reading: whether to open it read-only. Then neither the file nor its -wal ever changes. A
            writable connection would checkpoint the -wal when it is closed last.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    mode = "mode=ro" if reading else "mode=rw"
    return sqlite3.connect(
        f"file:{quote(os.fspath(path.absolute()))}?{mode}",
        uri=True,
        timeout=lock_timeout,
        isolation_level=None,
        check_same_thread=False,
    )


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a companion file, by its suffix."""
    return path.with_name(f"{path.name}{suffix}")


def companions(path: Path) -> tuple[Path, ...]:
    """Return the paths of a database's companion files, which need not exist."""
    return tuple(beside(path, suffix) for suffix in COMPANIONS)


def resolve_symlink(path: Path) -> Path:
    """Resolve a symbolic link to the database.

    SQLite keeps its companion files beside the link's target, so we do as well. Otherwise two
    servers could use one store by two names.
    """
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def has_log(path: Path) -> bool:
    """Return whether a file's write-ahead log is non-empty; OSError if it cannot be read."""
    log = beside(path, "-wal")
    return log.exists() and log.stat().st_size > 0


HEAD = "-head"

COMPANIONS = ("-wal", "-shm", HEAD)
"""The suffixes of the files beside a database that belong to it."""

BACKUP_NOTE = "-backup"
"""The suffix of the file that holds the time of the last backup."""


def last_backup(store_path: str | Path) -> float | None:
    """Return the time of the last backup of a store, in seconds since the epoch.

    It is None if ``thudmud store backup`` has never made one. The file is read at each call.

    Args:
        store_path: the store's file.
    """
    with suppress(OSError, ValueError):
        return float(beside(resolve_symlink(Path(store_path)), BACKUP_NOTE).read_text("ascii"))
    return None


def identity(path: str) -> Identity | None:
    """Return the device and inode of a file; None if there is no file."""
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
    sqlite3.SQLITE_NOMEM: "out of memory",
    sqlite3.SQLITE_IOERR: "input/output error on the disk",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_BUSY: "locked by another process",
    sqlite3.SQLITE_LOCKED: "locked by another process",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_PERM: "access denied",
    sqlite3.SQLITE_AUTH: "access denied",
}
_IN_SHARED_MEMORY = {
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
}
_FOR_WANT_OF_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
"""SQLite's codes for a full disk; they have other causes as well."""
_FOR_WANT_OF_RIGHTS = {*_FOR_WANT_OF_ROOM, sqlite3.SQLITE_READONLY}
"""The same for a folder without the necessary permissions."""


def is_damage(error: Trouble) -> bool:
    """Return whether the file itself is damaged, rather than the disk or the system at fault."""
    return _code(error) & 0xFF not in {*_REASONS, sqlite3.SQLITE_FULL}


def reason(path: Path | None, error: Trouble) -> str:
    """Explain in plain words why an operation on a file failed.

    Args:
        path: the file; None for a database in memory.
        error: the exception.
    """
    code = _code(error)
    if path and code & 0xFF in _FOR_WANT_OF_RIGHTS and (missing := _missing(path)):
        return missing
    if code == sqlite3.SQLITE_FULL or (
        path and code & 0xFF in _FOR_WANT_OF_ROOM and _is_full(path)
    ):
        return _FULL
    if isinstance(error, PermissionError) and isinstance(error.filename, str | Path):
        return f"{error.strerror} for the user {_user()}: {error.filename}"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    words = _REASONS.get(code & 0xFF)
    if path and code in _IN_SHARED_MEMORY:
        words = f"cannot create its companion file {beside(path, '-shm').name}"
    elif code == sqlite3.SQLITE_IOERR_GETTEMPPATH:
        words = "no folder for temporary files"
    return f"{words} ({error})" if words else str(error)


def _user() -> str:
    """Return the name of the user who runs this process, or the number if there is no name."""
    import pwd  # noqa: PLC0415  (Windows has none)

    with suppress(KeyError):  # such as in a container
        return pwd.getpwuid(os.geteuid()).pw_name
    return str(os.geteuid())


def _code(error: Trouble) -> int:
    """Return SQLite's extended error code; SQLITE_CORRUPT if there is none, as in decoding."""
    if isinstance(error, OSError):
        return sqlite3.SQLITE_FULL if error.errno in _NO_ROOM else sqlite3.SQLITE_CANTOPEN
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)


def _missing(path: Path) -> str | None:
    """Return why no file can be created in its folder; None if the folder is in order."""
    folder = path.absolute().parent  # SQLite makes files of its own there
    if not folder.exists():
        return f"no folder {folder}"
    if not os.access(folder, os.W_OK):
        return f"the folder {folder} is not writable"
    return "it is a folder" if path.is_dir() else None


def _is_full(path: Path) -> bool:
    """Return whether a file's disk has no free space or no free inodes."""
    try:
        return free_bytes(path) < LITTLE or not has_free_inodes(path)
    except OSError:
        return False


def free_bytes(path: Path) -> int:
    """Return the free space on a file's disk in bytes; OSError if its folder is missing."""
    disk = os.statvfs(path.absolute().parent)
    return disk.f_bavail * disk.f_frsize


def has_free_inodes(path: Path) -> bool:
    """Return whether a file's disk has room for more files; OSError if its folder is missing."""
    disk = os.statvfs(path.absolute().parent)
    return disk.f_files == 0 or disk.f_favail > 0  # some file systems have no fixed number


def is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def open_locked(path: Path, *, wait: bool, flags: int = 0) -> int:
    """Open a private file, created if it is missing, and lock it; return its descriptor.

    Args:
        path: the file.
        wait: whether to wait for another process that holds the lock.
        flags: further flags for opening it.

    Raises:
        BlockingIOError: another process holds the lock.
        OSError: the file cannot be opened.
    """
    import fcntl  # noqa: PLC0415  (Windows has none, and stores in memory need none)

    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | flags, _PRIVATE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if is_at(descriptor, path):  # else the last holder has renamed or deleted it
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


_WATERMARK_SIZE = 47
"""The size of the watermark in bytes: small enough to be written in one piece."""

_PRIVATE = 0o600
"""Readable by the owner alone, because the database holds password hashes."""

_LONGEST_LOG = 64 << 20
"""Bytes to which the -wal is truncated after it has grown, for example during a check."""


class Sqlite(Backend):
    """An SQLite database.

    Args:
        connection: an open connection.
        path: its file; None in memory.
    """

    connection: sqlite3.Connection
    errors = (sqlite3.Error,)

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        self.connection = connection
        self._path = path

    def find_problem(self) -> str | None:
        """Return the first problem with pages, indexes or references, if there is one."""
        for (line,) in self.connection.execute("pragma integrity_check(1)"):
            if line != "ok":
                return " ".join(line.split())
        for table, _, parent, _ in self.connection.execute("pragma foreign_key_check"):
            return f"a row of {table} belongs to a {parent} that is missing"
        return None

    def is_outage(self, error: Exception) -> bool:
        """Return whether the disk or another process made the statement fail."""
        return isinstance(error, sqlite3.OperationalError)

    def translate_error(self, error: Exception, *, writing: bool = False) -> Exception:
        """Translate an exception of SQLite or the system into a StoreError."""
        return translate_error(self._path, error, writing=writing)


class ReadOnlyFile(Sqlite):
    """A database on disk, opened for reading only: none of its files is changed.

    Args:
        path: the file.
        lock_timeout: seconds to wait for another process that is writing.

    Raises:
        OutdatedStoreError: a server has to upgrade it first.
        StoreError: as `Store.open`; or the file does not exist.
    """

    def __init__(self, path: Path, *, lock_timeout: float) -> None:
        load_storage()
        path = resolve_symlink(path)
        with errors_translated(path):
            require_nothing_left(path)
            if not path.exists():
                raise StoreError(f"The store {path} could not be used: no such file.")
            require_ours(path)
            _, found = verify_watermark(path, lock_timeout)
            if found != current_schema():
                raise OutdatedStoreError(f"The store {path}", found, current_schema())
            super().__init__(connect(path, lock_timeout, reading=True), path)
            if not self.connection.execute("select 1 from head").fetchone():
                self.close()
                raise StoreError(f"The store {path} could not be used: it has no data yet.")

    def version(self) -> int:
        """Return SQLite's data version, which changes with other connections' commits."""
        ((version,),) = self.connection.execute("pragma data_version")
        return int(version)


class InMemory(Sqlite):
    """A database in memory, deleted when it is closed or garbage-collected."""

    is_new = True

    def __init__(self) -> None:
        load_storage()
        # check_same_thread is off: any thread's garbage collection may close it.
        super().__init__(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
        with closing(sqlite3.connect(":memory:")) as empty:
            empty.deserialize(_empty())  # copied, because a deserialized one can't exceed 1 GB
            empty.backup(self.connection)
        finalize(self, self.connection.close)  # Python 3.13 warns if it's left open


def _require_posix(path: Path) -> None:
    """Raise StoreError on Windows, before anything is created there."""
    if not hasattr(os, "pwrite"):
        raise StoreError(f"The store {path} can't be opened: that takes POSIX, so not Windows.")


class OnDisk(Sqlite):
    """A database on disk, created if it does not exist.

    Args:
        path: the file.
        serving: whether boards are served from it; this locks out other servers.
        lock_timeout: seconds to wait for another process that is writing.
        upgrade: permits the upgrade of an older file; None refuses it.

    Raises:
        StoreError: as `Store.open`.
    """

    _path: Path

    def __init__(
        self, path: Path, *, serving: bool, lock_timeout: float, upgrade: Upgrade | None = None
    ) -> None:
        _require_posix(path)
        load_storage()
        path = self._path = resolve_symlink(path)
        self._paths = [os.fspath(each) for each in (path, *companions(path))]
        self._head = -1
        self._cached_watermark = b"", -1
        """The bytes last read from the watermark, and the count in them."""
        try:
            require_nothing_left(path)
            if path.exists():
                # First, before creating anything beside it: it may be another program's file, or a
                # device.
                require_ours(path)
                _require_writable(path)
            else:
                _create(path)
            # Kept open: the server's lock belongs to this descriptor, and each commit writes
            # through it.
            self._head = self._open_head(serving=serving)
            # Last chance to look without changing anything: connecting below may checkpoint the
            # -wal.
            acknowledged, found = verify_watermark(path, lock_timeout)
            self._highest_acknowledged = max(acknowledged, 0)
            if found != current_schema():
                _begin_upgrade(path, found, upgrade)
            self._make_private()
            self.connection = connect(path, lock_timeout)
            self._prepare()
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                raise translate_error(path, error) from error
            raise
        self._identities = self._on_disk()

    def require_durable(self) -> None:
        """Raise NotWrittenError if one of the files was removed or replaced."""
        if self._on_disk() != self._identities:
            raise NotWrittenError(
                f"The store {self._path} could not be written: it or one of its companion files "
                "was removed or replaced while in use. Put it back, or restore a backup, before "
                "you restart: otherwise the server begins with an empty store."
            )

    def record_acknowledged(self, commits: int, store: int) -> None:
        """Raise the watermark, unless another process has raised it further.

        If the disk refuses that, the watermark stays too low until the next commit, which is
        harmless.
        """
        with suppress(OSError):
            if commits > max(self._highest_acknowledged, self.acknowledged_commits()):
                contents = _format_watermark(commits, store)
                os.pwrite(self._head, contents, 0)
                self._cached_watermark = contents, commits
            self._highest_acknowledged = max(commits, self._highest_acknowledged)

    def acknowledged_commits(self) -> int:
        """Return the count of commits in the watermark."""
        # One byte more than its size: a longer file is not a watermark.
        contents, count = os.pread(self._head, _WATERMARK_SIZE + 1, 0), self._cached_watermark[1]
        if contents != self._cached_watermark[0]:
            count = _cached_watermark(contents)[0]
            self._cached_watermark = contents, count
        return count

    def version(self) -> int:
        """Return SQLite's data version, which changes with other connections' commits."""
        ((version,),) = self.connection.execute("pragma data_version")
        return int(version)

    def scrub(self) -> bool:
        """Checkpoint and truncate the -wal; return False if another process was in the way."""
        ((busy, *_),) = self.connection.execute("pragma wal_checkpoint(truncate)")
        return not busy

    def compact(self) -> tuple[int, int]:
        """Rewrite the file without its free pages; return its size before and after, in bytes.

        SQLite builds a copy beside the file, and writes that back by way of the -wal. So the file
        stays intact if the process is killed. Nobody else can write meanwhile.

        Raises:
            StoreError: the disk has no room for that.
        """
        execute, folder = self.connection.execute, os.fspath(self._path.absolute().parent)
        self.scrub()
        before = self._path.stat().st_size
        ((free,),) = execute("pragma freelist_count")
        ((page,),) = execute("pragma page_size")
        needed = 2 * (before - free * page)
        if (room := free_bytes(self._path)) < needed:
            raise StoreError(
                f"The store {self._path} could not be compacted: that temporarily needs "
                f"{megabytes(needed)} of free disk space, and only {megabytes(room)} are free."
            )
        # SQLite's default folder for temporary files may be in memory.
        execute("pragma temp_store_directory = '{}'".format(folder.replace("'", "''")))
        try:
            execute("vacuum")
        finally:
            execute("pragma temp_store_directory = ''")
        self.scrub()
        return before, self._path.stat().st_size

    def close(self) -> None:
        """Close the files."""
        with suppress(AttributeError):  # never opened
            self.connection.close()
        if self._head >= 0:
            os.close(self._head)
            self._head = -1

    def _open_head(self, *, serving: bool) -> int:
        """Open the watermark's file, and lock it for a server; return its descriptor."""
        head = beside(self._path, HEAD)
        if not serving:
            return os.open(head, os.O_RDWR | os.O_CREAT, _PRIVATE)
        try:
            return open_locked(head, wait=False)
        except BlockingIOError as error:
            raise StoreInUseError(
                f"The store {self._path} is in use by another server. Stop that one first, or "
                "give this one a file of its own."
            ) from error

    def _make_private(self) -> None:
        """Make existing files private, such as those of a restored backup.

        SQLite gives its companion files the mode of the database.
        """
        try:
            for path in filter(os.path.exists, self._paths):
                mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116  (the paths are strings)
                if mode & ~_PRIVATE:
                    os.chmod(path, mode & _PRIVATE)  # noqa: PTH101
        except OSError as error:  # another user owns the file
            who = {"file": self._path, "why": error.strerror}
            _log.warning("other users can read the store", extra=who)

    def _prepare(self) -> None:
        execute = self.connection.execute
        execute("pragma journal_mode = wal")  # a copy made by "vacuum into" lacks it
        execute("pragma synchronous = full")
        execute("pragma secure_delete = on")
        execute(f"pragma journal_size_limit = {_LONGEST_LOG}")
        execute("begin immediate")
        execute(f"pragma user_version = {FORMAT}")  # fails now if it's read-only
        self.is_new = not execute("select count(*) from head").fetchone()[0]
        if self.is_new and has_rows(self.connection):
            raise damaged(self._path, "the row of head is missing")
        execute("commit")

    def _on_disk(self) -> Sequence[Identity | None]:
        return [identity(path) for path in self._paths]


def store_size(path: Path) -> int:
    """Return the size of a store in bytes, with its companion files.

    Raises:
        OSError: there is no such file, or its folder can't be read.
    """
    path = resolve_symlink(path)
    size = path.stat().st_size
    for companion in companions(path):
        with suppress(FileNotFoundError):
            size += companion.stat().st_size
    return size


def megabytes(count: int) -> str:
    """Format a number of bytes in megabytes: ``12.3 MB``."""
    return f"{count / 1e6:,.1f} MB"


@lru_cache
def _empty() -> bytes:
    """Return an empty database, serialized: creating one takes five times as long as copying."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("pragma page_size = 1024")  # about thirty pages, mostly empty
        for statement in definitions([*DURABLE, *PROJECTIONS]):
            connection.execute(statement)
        return connection.serialize()


def require_ours(path: Path) -> None:
    """Refuse a file that is not a store, without creating any other file.

    Raises:
        DamagedStoreError: it is empty, or no longer a database.
        UnknownFormatError: another program wrote it.
        StoreError: it is not a regular file.
        OSError: it cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if path.is_dir() else "not a file, but a device or a pipe"
        raise StoreError(f"The store {path} could not be used: it is {what}.")
    if not status.st_size:
        raise damaged(path, "it is empty")
    # Read the header directly. SQLite would need the -wal, if a process was killed during a
    # checkpoint.
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        if beside(path, HEAD).exists():
            raise damaged(path, "file is not a database")  # as SQLite says it
        raise UnknownFormatError(f"{path} is not a store of thudmud, nor any other database.")
    if int.from_bytes(header[_APPLICATION_ID], "big") != APPLICATION:
        raise UnknownFormatError(
            f"{path} is not a store of thudmud, but another program's database."
        )


def _begin_upgrade(path: Path, found: Schema, upgrade: Upgrade | None) -> None:
    """Keep a copy of a file that is about to be upgraded; refuse it without a permission."""
    if upgrade is None:
        raise OutdatedStoreError(f"The store {path}", found, current_schema())
    upgrade.begin(found, current_schema())
    upgrade.keep_file(path, found)


def _require_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise StoreError(f"The store {path} could not be used: it is not writable.")


def verify_watermark(path: Path, lock_timeout: float) -> tuple[int, Schema]:
    """Check read-only that the format is known and no acknowledged commit is missing.

    Args:
        path: the database.
        lock_timeout: seconds to wait for a process that is writing.

    Returns:
        The count in the watermark, or -1 if there is none; and the database's schema.

    Raises:
        UnknownFormatError: a later version of this program wrote the database, or one that is too
            old.
        DamagedStoreError: commits or tables are missing, or the watermark is invalid or of another
            store.
    """
    # Read the watermark first: a process writing meanwhile commits before it raises the watermark.
    witness, of_store = _read(path)
    with closing(connect(path, lock_timeout, reading=True)) as connection:
        ((found,),) = connection.execute("pragma user_version")
        require_known_format(f"The store {path}", found)
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
            f"{beside(path, HEAD).name} belongs to another store; if you replaced the store on "
            f"purpose, delete {beside(path, HEAD).name}",
        )
    if isinstance(commits, int) and commits < witness:
        raise damaged(
            path,
            f"it has {commits} of at least {witness} transactions; if you restored it from a "
            f"backup, delete {beside(path, HEAD).name}",
        )
    return witness, Schema(found, cast("int", projection))


def _check_tables(path: Path, connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Compare the definitions of tables and indexes with this program's."""
    with closing(InMemory()) as files:
        wanted = _tables(files.connection, names)
    found = _tables(connection, names)
    if any(found.get(name) != wanted[name] for name in wanted):
        raise damaged(path, "its tables are not those of a store")


def _tables(connection: sqlite3.Connection, names: Iterable[str]) -> dict[str, tuple[object, ...]]:
    rows = connection.execute("select name, tbl_name, type, sql from sqlite_schema")
    return {name: (table, *rest) for name, table, *rest in rows if table in names}


def require_nothing_left(path: Path) -> None:
    """Refuse to start anew if the file is gone but its companion files are not.

    The companions are looked for first, because another process that creates a store creates them
    last.
    """
    left = {HEAD: _read(path)[0] != -1, "-wal": has_log(path)}
    if path.exists():
        return
    for suffix in ("-wal", HEAD):
        if left[suffix]:
            rest = beside(path, suffix).name
            raise DamagedStoreError(
                f"The store {path} is gone, but {rest} is still there. Restore both from a "
                f"backup, or delete {rest} to begin a new store."
            )


def _create(path: Path) -> None:
    """Create an empty database, unless another process has just done so.

    It is built in a temporary folder and then linked to its name, so that no half-built database is
    ever visible. SQLite gives its companion files the same mode.
    """
    with TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.") as folder:
        new = Path(folder, path.name)
        new.touch(_PRIVATE)
        with closing(connect(new, 0)) as connection:
            # A commit changes a little of each of four pages: half the default size halves the
            # bytes written.
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


def _format_watermark(commits: int, store: int) -> bytes:
    said = b"%020d %016x" % (commits, store)
    return b"%s %08x\n" % (said, crc32(said))


def _cached_watermark(contents: bytes) -> tuple[int, int]:
    """Parse a watermark: its count and its store; -1 if it is empty, -2 if it is invalid."""
    if not contents:
        return -1, 0
    with suppress(ValueError):
        commits, store = int(contents[:20]), int(contents[21:37], 16)
        if contents == _format_watermark(commits, store):
            return commits, store
    return -2, 0


def _read(path: Path) -> tuple[int, int]:
    try:
        return _cached_watermark(beside(path, HEAD).read_bytes())
    except FileNotFoundError:
        return -1, 0


def damaged(path: Path | None, what: str) -> DamagedStoreError:
    """Return the error for a damaged file, with advice to the operator."""
    log = ""
    with suppress(OSError):
        if path and has_log(path):
            log = f", without the present {beside(path, '-wal').name}"
    return DamagedStoreError(
        f"The store {path or 'in memory'} is damaged: {what}. Restore a backup{log}."
    )


@contextmanager
def errors_translated(path: Path | None) -> Iterator[None]:
    """Translate exceptions of using a file into StoreErrors."""
    try:
        yield
    except Exception as error:
        told = translate_error(path, error)
        if told is error:
            raise
        raise told from error


def translate_error(path: Path | None, error: Exception, *, writing: bool = False) -> Exception:
    """Translate an exception of SQLite or the system, see `Backend.translate_error`."""
    if isinstance(error, DamagedStoreError):
        return error if str(error).startswith("The store") else damaged(path, str(error))
    if isinstance(error, StoreError):
        return error
    if isinstance(error, TROUBLES):
        if is_damage(error):
            return damaged(path, str(error))
        kind, what = (NotWrittenError, "written") if writing else (StoreError, "used")
        where = path or "in memory"
        return kind(f"The store {where} could not be {what}: {reason(path, error)}.")
    if writing:
        return NotWrittenError(f"Could not store this: {error!r}.")
    return error
