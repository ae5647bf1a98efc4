"""A journal in memory, for tests and for embedding: it lasts as long as the process.

Owns the events themselves. Must never touch a disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from thudmud.journal.following import Follower, Followers
from thudmud.journal.interface import Conflict, Entry, NotWritten
from thudmud.play.events import LANDMARKS, Event, is_complete


class MemoryJournal:
    """A `thudmud.journal.Journal` that is gone with the process."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        """All of them; that at position 1 comes first."""
        self._streams: dict[str, list[Entry]] = {}
        self._followers = Followers(self._read_after)

    async def append(self, stream: str, expected: int, events: Sequence[Event]) -> None:
        """Store events, see `thudmud.journal.Journal.append`."""
        if self._followers.closed:
            raise NotWritten("The journal is closed.")
        found = len(self._streams.get(stream, ()))
        if found != expected:
            raise Conflict(stream, expected, found)
        after = len(self._entries)
        entries = [
            Entry(after + number, stream, expected + number, event)
            for number, event in enumerate(events, 1)
        ]
        if entries:
            self._entries += entries
            self._streams.setdefault(stream, []).extend(entries)
            self._followers.deliver(after, entries)

    async def read(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        """Return events of a stream, see `thudmud.journal.Journal.read`."""
        start = max(first, 1) - 1
        end = None if most is None else start + most
        return tuple(islice(self._streams.get(stream, ()), start, end))

    async def list(self) -> Mapping[str, int]:
        """Return the streams and their versions."""
        return {stream: len(entries) for stream, entries in self._streams.items()}

    async def beginning(self, stream: str) -> int:
        """Return from where on a stream has to be read, see `thudmud.journal.Journal.beginning`."""
        entries = reversed(self._streams.get(stream, ()))
        return next((entry.version for entry in entries if is_complete(entry.event)), 1)

    async def landmarks(self) -> Sequence[Entry]:
        """Return all events that battles are told apart by, in their order."""
        return tuple(entry for entry in self._entries if isinstance(entry.event, LANDMARKS))

    def follow(self, after: int = 0) -> Follower:
        """Yield all events after a position, see `thudmud.journal.Journal.follow`."""
        return self._followers.follow(after)

    async def position(self) -> int:
        """Return the position of the last event; 0 if there is none."""
        return len(self._entries)

    async def close(self) -> None:
        """End all following. What is stored can still be read."""
        self._followers.close()

    async def _read_after(self, position: int) -> Sequence[Entry]:
        return tuple(self._entries[position:])
