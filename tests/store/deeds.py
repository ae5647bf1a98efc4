"""Helpers shared by the store tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from thudmud.game.events import (
    BattleStarted,
    Cleared,
    Imported,
    Interrupted,
    Joined,
    Moved,
    StoredEvent,
)
from thudmud.rules import Move, Piece, Side, Square
from thudmud.store import Entry, Store, StoreError
from thudmud.store.checking import check_database, check_file
from thudmud.store.database import Database
from thudmud.values import replace

OAK, PINE = "oak board", "pine board"
PATIENCE = 20.0
"""Seconds that a test waits for an expected result before it fails."""

NOON = 1_795_262_400.0


class Clock:
    """A settable clock that advances by a second on each reading."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Taken:
    """A subscriber and the entries it has received."""

    def __init__(self) -> None:
        self.batches: list[Sequence[Entry]] = []
        self.errors: list[StoreError] = []
        self._news = asyncio.Event()

    def take(self, entries: Sequence[Entry]) -> None:
        self.batches.append(entries)
        self._news.set()

    def failed(self, error: StoreError) -> None:
        self.errors.append(error)
        self._news.set()

    @property
    def entries(self) -> list[Entry]:
        return [entry for batch in self.batches for entry in batch]

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until a condition on the received entries holds."""
        async with asyncio.timeout(PATIENCE):
            while not true():
                self._news.clear()
                await self._news.wait()


def joined(number: int, player: str = "Anna") -> Joined:
    """Return an event that affects no rows of the projections."""
    return Joined(float(number), player, Side.DWARF)


def started(number: int, dwarf: str = "Anna", troll: str = "Bert") -> BattleStarted:
    return BattleStarted(float(number), dwarf, 1, "discworld", dwarf, troll, rated=True)


def cleared(number: int) -> Cleared:
    return Cleared(float(number), "Anna")


def moved(ply: int) -> Moved:
    """Return a ply with which two pieces move back and forth."""
    word = ("dA6-B7", "TG7-F7", "dB7-A6", "TF7-G7")[ply % 4]
    piece, origin, target = Piece(word[0]), Square.parse(word[1:3]), Square.parse(word[4:])
    side = piece.side or Side.DWARF
    return Moved(float(ply), "Anna", side, Move(piece, origin, target), ply + 1)


def timeless(event: StoredEvent) -> StoredEvent:
    """Return an event without the time assigned by the store."""
    if isinstance(event, Interrupted):
        return replace(event, at=0.0, since=0.0)
    return event if isinstance(event, Imported) else replace(event, at=0.0)


def events_of(entries: Sequence[Entry]) -> list[StoredEvent]:
    return [timeless(entry.event) for entry in entries]


def same(*events: StoredEvent) -> list[StoredEvent]:
    return [timeless(event) for event in events]


async def everything(store: Store) -> list[Entry]:
    """Return all stored entries in order."""
    found = [
        entry
        for stream in await store.read(Database.stream_versions)
        for entry in await store.read_stream(stream)
    ]
    return sorted(found, key=lambda entry: entry.position)


async def players(store: Store, stream: str = OAK) -> list[str]:
    """Return the players who have joined a board, in order."""
    return [entry.event.player for entry in await store.read_stream(stream)]  # type: ignore[union-attr]  # Joined


async def is_in_order(store: Store) -> None:
    """Check a whole store in this process; `Store.check` spawns one and has its own test.

    Raises:
        StoreError: The store is damaged.
    """
    if store._path:
        await asyncio.to_thread(check_file, store._path)
    elif store._dsn:
        await asyncio.to_thread(check_database, store._dsn)
    else:
        assert (found := await store.check()) is None, found
