"""A journal in one SQLite file: the default.

Owns the thread that reads and writes the file, and what passes between it and the event loop. Must
never wait for the disk in the loop.

All appends that are waiting when the thread is free become one transaction, so that many tables
share the wait for the disk (group commit). Several processes may use one file; what another has
appended is noticed within a fraction of a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from thudmud.journal.following import Follower, Followers
from thudmud.journal.interface import Entry
from thudmud.journal.store import Append, Store
from thudmud.journal.worker import Worker
from thudmud.play.events import Event


class SqliteJournal:
    """A `thudmud.journal.Journal` in a file. `open` makes one."""

    def __init__(self, path: Path, poll: float, patience: float) -> None:
        self._followers = Followers(self._read_after)
        self._worker = Worker(lambda: Store(path, patience), poll, self._followers)

    @classmethod
    async def open(
        cls, path: str | Path, *, poll: float = 0.25, patience: float = 5.0
    ) -> SqliteJournal:
        """Return the journal in a file, which is made if it is not there.

        Args:
            path: of the file. SQLite keeps two more beside it.
            poll: how many seconds it takes at most to notice what other processes append.
            patience: for how many seconds it waits while another process writes.

        Raises:
            Damaged: what is there is not what was written.
            Unknown: a later version of this program wrote it, or another program.
            JournalError: it cannot be opened.
        """
        journal = cls(Path(path), poll, patience)
        try:
            await journal._worker.start()
        except BaseException:
            await journal.close()
            raise
        return journal

    async def append(self, stream: str, expected: int, events: Sequence[Event]) -> None:
        """Store events, see `thudmud.journal.Journal.append`.

        If this is cancelled, they may be stored nevertheless.
        """
        await self._worker.append(Append(stream, expected, tuple(events)))

    async def read(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        """Return events of a stream, see `thudmud.journal.Journal.read`."""
        return await self._worker.call(lambda store: store.read(stream, first, most))

    async def list(self) -> Mapping[str, int]:
        """Return the streams and their versions."""
        return await self._worker.call(Store.list)

    async def beginning(self, stream: str) -> int:
        """Return from where on a stream has to be read, see `thudmud.journal.Journal.beginning`."""
        return await self._worker.call(lambda store: store.beginning(stream))

    async def landmarks(self) -> Sequence[Entry]:
        """Return all events that battles are told apart by, in their order."""
        return await self._worker.call(Store.landmarks)

    def follow(self, after: int = 0) -> Follower:
        """Yield all events after a position, see `thudmud.journal.Journal.follow`."""
        return self._followers.follow(after)

    async def position(self) -> int:
        """Return the position of the last event; 0 if there is none."""
        return await self._worker.call(Store.position)

    async def close(self) -> None:
        """Store what is waiting to be stored, let go of the file, and end all following."""
        await asyncio.shield(self._worker.stop())

    async def _read_after(self, position: int) -> Sequence[Entry]:
        return await self._worker.call(lambda store: store.after(position))
