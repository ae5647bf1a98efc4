"""What the tests of journals do over and over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from thudmud.journal import Entry, Journal
from thudmud.play.events import BattleStarted, Cleared, Event, Joined, Moved
from thudmud.rules import Move, Piece, Side, Square

OAK, PINE = "oak board", "pine board"
PATIENCE = 10.0
"""How many seconds a test waits for what has to come, before it fails."""


def joined(number: int) -> Joined:
    """Return an event that is no landmark, unlike any with another number."""
    return Joined(float(number), "Anna", Side.DWARF)


def started(number: int) -> BattleStarted:
    """Return a landmark, unlike any with another number."""
    return BattleStarted(float(number), "Anna", 1, "discworld", "Anna", "Bert")


def second(number: int) -> BattleStarted:
    """Return the beginning of a second battle, which needs the first."""
    return BattleStarted(float(number), "Anna", 2, "discworld", "Bert", "Anna")


def cleared(number: int) -> Cleared:
    """Return another landmark."""
    return Cleared(float(number), "Anna")


def moved(ply: int) -> Moved:
    """Return a ply."""
    move = Move(Piece.DWARF, Square.parse("A6"), Square.parse("B6"))
    return Moved(1795225366.123456 + ply, "Anna", Side.DWARF, move, ply + 1)


async def everything(journal: Journal) -> list[Entry]:
    """Return all that is stored, in order."""
    found = [entry for stream in await journal.list() for entry in await journal.read(stream)]
    return sorted(found, key=lambda entry: entry.position)


async def soon(following: AsyncIterator[Sequence[Entry]]) -> Sequence[Entry]:
    """Return the next batch."""
    return await asyncio.wait_for(anext(following), PATIENCE)


async def taken(following: AsyncIterator[Sequence[Entry]], number: int) -> list[Entry]:
    """Return the next so many entries, or a few more that come with the last."""
    found: list[Entry] = []
    while len(found) < number:
        found += await soon(following)
    return found


async def ended(following: AsyncIterator[Sequence[Entry]]) -> bool:
    """Return whether nothing comes any more; fail if nobody says so."""
    try:
        await soon(following)
    except StopAsyncIteration:
        return True
    return False


def events_of(entries: Sequence[Entry]) -> list[Event]:
    """Return the events of some entries."""
    return [entry.event for entry in entries]
