"""The disk of a gateway, or of a server that is alone: files of SQLite's.

They are stored to while time passes, so that a process can be killed meanwhile; and they can be
damaged while nobody has them open.
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
"""Seconds that the disk takes for a commit at most."""

PAGE = 2048
"""Bytes that a disk loses at once."""


class Files:
    """What a server that is alone keeps on its disk.

    Args:
        path: of the database; the other files are beside it.
        stored: called after each commit with the time when it began.

    Attributes:
        on_commit: called some milliseconds after the next commit has begun.
        copy: what was there before it was damaged; None if it was not, or all is there again.
    """

    def __init__(self, path: Path, stored: Callable[[float], object]) -> None:
        self.path, self.stored = path, stored
        self.on_commit: Callable[[], object] | None = None
        SlowDisk.watched = {path: self}
        self.copy: Mapping[Path, bytes] | None = None

    def damage(self, dice: Random) -> str:
        """Damage one of the files; return what was done to which. A copy of all is kept.

        A bit of the database itself is left alone: another value that makes sense is not found.
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
        """Put back what was there before it was damaged."""
        assert self.copy is not None
        put(self.path, self.copy)
        self.copy = None


def _with(data: bytes, place: int, other: bytes) -> bytes:
    return data[:place] + other + data[place + len(other) :]


def copied(path: Path, to: Path) -> None:
    """Copy a database that nobody has open, and what belongs to it."""
    for each, data in contents(path).items():
        to.with_name(each.name.replace(path.name, to.name)).write_bytes(data)


def contents(path: Path) -> Mapping[Path, bytes]:
    """Return what is in a database's files."""
    files = [beside(path, suffix) for suffix in ("", "-wal", HEAD)]
    return {each: each.read_bytes() for each in files if each.exists()}


def put(path: Path, files: Mapping[Path, bytes]) -> None:
    """Let there be what `contents` has returned, and nothing else."""
    for suffix in ("", "-wal", "-shm", HEAD):
        beside(path, suffix).unlink(missing_ok=True)
    for each, data in files.items():
        each.write_bytes(data)


class SlowDisk(OnDisk):
    """A file whose commits take time, so that its process can die before them, and after.

    Attributes:
        is_full: whether the disk is.
        watched: the files of servers that are alone, by their paths.
    """

    is_full: ClassVar[bool] = False
    watched: ClassVar[dict[Path, Files]] = {}

    def __init__(self, path: Path, **more: Any) -> None:
        self._process = World.here.process
        self._files = self.watched.get(path)
        super().__init__(path, **more)

    def commit(self, last: Callable[[], object] = lambda: None) -> None:
        """Commit, between two pauses."""
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
        """Close it; a process that was killed leaves all as it is."""
        before = contents(self._path) if self._process.is_dead else None
        super().close()
        if before is not None:
            put(self._path, before)
