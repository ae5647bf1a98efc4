"""Following a journal: what is stored, handed to everybody who follows, as it is stored.

Owns the followers of a journal, and how far each has come. Must never know where events are stored.

What was just appended is handed on as it is. A follower who has started late, or has fallen far
behind, reads what it lacks from the journal instead; so does everybody after another process has
appended.
"""

from __future__ import annotations

from asyncio import Event as Bell
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from weakref import WeakSet

from thudmud.journal.interface import Entry, JournalError

MOST_WAITING = 1_000
"""How many batches wait in memory for a follower; it reads from the journal what comes after."""

ReadAfter = Callable[[int], Awaitable[Sequence[Entry]]]
"""Reads the entries after a position, at least one; whole appends, not necessarily all."""


class Followers:
    """Everybody who follows a journal.

    Attributes:
        position: that of the last event that is known to be stored.
        closed: whether the journal is.
    """

    def __init__(self, read_after: ReadAfter) -> None:
        self.position = 0
        self.closed = False
        self._read_after = read_after
        self._all: WeakSet[Follower] = WeakSet()

    def follow(self, after: int) -> Follower:
        """Return a new follower, of all events after a position."""
        follower = Follower(self, max(after, 0), self._read_after)
        self._all.add(follower)
        return follower

    def deliver(self, after: int, entries: Sequence[Entry]) -> None:
        """Hand on the entries of an append, the first of which came next after a position."""
        for follower in self._all:
            follower.take(after, entries)
        self.advance(entries[-1].position)

    def advance(self, position: int) -> None:
        """Tell everybody that events up to a position can be read."""
        self.position = max(self.position, position)
        self._wake()

    def close(self) -> None:
        """End all following, once what waits for a follower has been taken."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        for follower in self._all:
            follower.wake()


class Follower:
    """One who follows: an iterator over batches of entries, for one task at a time.

    A step that is cancelled or fails loses nothing: the next one goes on where it was.
    """

    def __init__(self, everybody: Followers, after: int, read_after: ReadAfter) -> None:
        self._everybody = everybody
        self._position = after
        """Of the last entry that was taken from here, or waits to be."""
        self._read_after = read_after
        self._waiting: deque[Sequence[Entry]] = deque()
        self._news = Bell()

    def __aiter__(self) -> Follower:
        return self

    async def __anext__(self) -> Sequence[Entry]:
        while not self._waiting and not self._everybody.closed:
            if self._position < self._everybody.position:
                return await self._catch_up()
            self._news.clear()
            await self._news.wait()
        if not self._waiting:
            raise StopAsyncIteration
        return self._waiting.popleft()

    async def _catch_up(self) -> Sequence[Entry]:
        try:
            entries = await self._read_after(self._position)
        except JournalError:
            if self._everybody.closed:
                raise StopAsyncIteration from None
            raise
        self._position = entries[-1].position
        return entries

    def take(self, after: int, entries: Sequence[Entry]) -> None:
        """Keep entries to be taken from here, if they come next."""
        if after == self._position and len(self._waiting) < MOST_WAITING:
            self._waiting.append(entries)
            self._position = entries[-1].position

    def wake(self) -> None:
        """Look again whether there is something to be taken, or nothing ever more."""
        self._news.set()
