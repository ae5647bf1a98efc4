"""The disk of a gateway or a standalone server: SQLite files.

Commits take time, so a process can be killed during one; and files can be damaged while nobody has
them open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from tests.simulation.clockwork import World
from thudmud.store.files import HEAD, OnDisk, beside

FSYNC = 0.02
"""Maximum duration of a commit, in seconds."""

PAGE = 2048
"""Size of the block that a disk loses at once, in bytes."""


class Files:
    """The database files of a standalone server.

    Args:
        path: the path of the database; the other files are beside it.
        stored: called after each commit with the time at which it began.

    Attributes:
        on_commit: called some milliseconds after the next commit has begun.
        copy: the files as they were before the damage; None if there is none, or it was repaired.
    """

    def __init__(self, path: Path, stored: Callable[[float], object]) -> None:
        self.path, self.stored = path, stored
        self.on_commit: Callable[[], object] | None = None
        SlowDisk.watched = {path: self}
        self.copy: Mapping[Path, bytes] | None = None

    def damage(self, dice: Random) -> str:
        """Damage one of the files, keeping a copy of all; return a description.

        Single bits of the main database stay intact, as another valid value goes undetected.
        """
        self.copy = contents(self.path)
        path = dice.choice(sorted(self.copy))
        data = self.copy[path]
        kinds = ["blank", "short", "gone"]
        what = dice.choice(kinds if path == self.path else ["changed", "changed", *kinds])
        place = dice.randrange(max(1, len(data)))
        match what:
            case "changed" if data:
                path.write_bytes(_with(data, place, bytes([data[place] ^ 1 << dice.randrange(8)])))
            case "blank":
                place -= place % PAGE
                path.write_bytes(_with(data, place, bytes(len(data[place : place + PAGE]))))
            case "short":
                path.write_bytes(data[:place])
            case "gone":
                path.unlink()
        return f"{path.name} is {what} from byte {place} of {len(data)}"

    def restore(self) -> None:
        """Restore the files as they were before the damage."""
        assert self.copy is not None
        put(self.path, self.copy)
        self.copy = None


def _with(data: bytes, place: int, other: bytes) -> bytes:
    return data[:place] + other + data[place + len(other) :]


def copied(path: Path, to: Path) -> None:
    """Copy a closed database with its side files."""
    for each, data in contents(path).items():
        to.with_name(each.name.replace(path.name, to.name)).write_bytes(data)


def contents(path: Path) -> Mapping[Path, bytes]:
    """Return the content of a database's files."""
    files = [beside(path, suffix) for suffix in ("", "-wal", HEAD)]
    return {each: each.read_bytes() for each in files if each.exists()}


def put(path: Path, files: Mapping[Path, bytes]) -> None:
    """Replace a database's files with those that `contents` has returned."""
    for suffix in ("", "-wal", "-shm", HEAD):
        beside(path, suffix).unlink(missing_ok=True)
    for each, data in files.items():
        each.write_bytes(data)


class SlowDisk(OnDisk):
    """A database file whose commits take time, so that its process may die before or after them.

    Attributes:
        is_full: whether the disk is full.
        watched: the files of standalone servers, by path.
    """

    is_full: ClassVar[bool] = False
    watched: ClassVar[dict[Path, Files]] = {}

    def __init__(self, path: Path, **more: Any) -> None:
        self._process = World.here.process
        self._files = self.watched.get(path)
        super().__init__(path, **more)

    def commit(self, last: Callable[[], object] = lambda: None) -> None:
        """Commit, with a pause before and after."""
        last()
        world, files = World.here, self._files
        begun = world.now
        if files and files.on_commit:
            world.later(world.dice.uniform(0, FSYNC), files.on_commit)
            files.on_commit = None
        world.sleep(world.delay(FSYNC))
        if SlowDisk.is_full:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        super().commit()
        if files:
            files.stored(begun)
        world.sleep(world.delay(FSYNC))

    def close(self) -> None:
        """Close the file; that of a killed process keeps its content."""
        before = contents(self._path) if self._process.is_dead else None
        super().close()
        if before is not None:
            put(self._path, before)
