"""SQLite files: how one comes into being, and how it is opened.

What is in them is not known here.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

Identity = tuple[int, int]


def connect(path: Path, patience: float, *, reading: bool = False) -> sqlite3.Connection:
    """Return a connection to a file that is there.

    Args:
        path: of the file.
        patience: for how many seconds it waits for other connections.
        reading: whether it only reads. Then neither the file nor its log is ever changed, not even
            when the last connection is closed, which else takes the log into the file.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    return sqlite3.connect(
        f"file:{quote(os.fspath(path.absolute()))}?mode={'ro' if reading else 'rw'}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )


def make(path: Path, fill: Callable[[sqlite3.Connection], None], mode: int = 0o666) -> None:
    """Make a file, unless another process is quicker.

    It is made elsewhere and then given its name, so that no half of one is ever seen.

    Args:
        path: of the file.
        fill: makes of an empty database what it is to be.
        mode: who may read and write it, before the umask. Those that SQLite keeps beside it are
            given the same.

    Raises:
        OSError: it cannot be made.
        sqlite3.Error: it cannot be made.
    """
    with TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.") as folder:
        new = Path(folder, path.name)
        new.touch(mode)
        with closing(connect(new, 0)) as connection:
            fill(connection)
        try:
            os.link(new, path)
        except FileExistsError:
            return
    folder_of_path = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder_of_path)
    finally:
        os.close(folder_of_path)


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a file that SQLite keeps beside another."""
    return path.with_name(f"{path.name}{suffix}")


def has_log(path: Path) -> bool:
    """Return whether there is something in a file's write-ahead log.

    Raises:
        OSError: it cannot be told.
    """
    log = beside(path, "-wal")
    return log.exists() and log.stat().st_size > 0


def identity(path: str) -> Identity | None:
    """Return what tells a file from any other that may come to have its name; None if none has."""
    try:
        status = os.stat(path)  # noqa: PTH116  (before each commit: a Path takes twice as long)
    except OSError:
        return None
    return status.st_dev, status.st_ino
