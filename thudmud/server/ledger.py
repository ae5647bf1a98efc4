"""The journal's side of the house: what is stored there is made so here, in the journal's order.

Owns what waits to be stored, and the following of the journal. Must never decide anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

from thudmud.journal import Entry, Journal, JournalError, NotWritten
from thudmud.tables import Decision, Unread
from thudmud.tables.events import TableEvent
from thudmud.text import House, Message

NOTED_AT_ONCE = 500
"""Old events that are taken note of before something else may be done."""


class Ledger:
    """A house's copy of what is stored.

    Args:
        house: where it is made so.
        journal: where it is stored.
        deliver: takes what people are told.

    Attributes:
        archiving: the task that reads the old battles.
        following: the task that follows the journal; it only ends with it.
    """

    def __init__(
        self, house: House, journal: Journal, deliver: Callable[[Iterable[Message]], None]
    ) -> None:
        self._house = house
        self._journal = journal
        self._deliver = deliver
        self._written: dict[tuple[str, int], tuple[Decision, asyncio.Future[None]]] = {}
        self._news = asyncio.Event()

    async def open(self) -> None:
        """Fold the tables from the journal, and begin to follow it.

        The archive is folded meanwhile, since there may be many old battles.

        Raises:
            JournalError: it cannot be read.
        """
        position = await self._journal.position()
        for board in self._house.boards:
            first = await self._journal.beginning(board)
            entries = await self._journal.read(board, first)
            events = [entry.event for entry in entries if entry.position <= position]
            self._house.restore(board, first - 1, cast("list[TableEvent]", events))
        self.archiving = asyncio.create_task(self._archive(position))
        self.following = asyncio.create_task(self._follow(position))

    async def close(self) -> None:
        """Store what is waiting to be stored, and close the journal."""
        await self._journal.close()
        with suppress(JournalError):
            await self.following

    async def write(self, decision: Decision) -> None:
        """Store the events of a decision, and wait until they have come back and been told.

        Raises:
            Conflict: something else came first, so nothing has happened.
            JournalError: they cannot be stored, so nothing has happened.
        """
        board = str(decision.board)
        place = board, decision.version + 1
        told = asyncio.get_running_loop().create_future()
        self._written[place] = decision, told
        try:
            await self._journal.append(board, decision.version, decision.events)
            await asyncio.wait({told, self.following}, return_when=asyncio.FIRST_COMPLETED)
            if not told.done():
                raise NotWritten("The journal is followed no longer.")
        finally:
            del self._written[place]

    async def until(self, board: str, version: int) -> None:
        """Wait until what others have appended to a board has come in."""
        while self._house.version(board) < version and not self.following.done():
            await self._news.wait()

    async def recall(self, unread: Unread) -> None:
        """Read the moves of a battle.

        Raises:
            JournalError: they cannot be read.
        """
        battle = unread.battle
        source = battle.source
        entries = await self._journal.read(source.board, source.version, battle.length)
        self._house.recall(battle, [entry.event for entry in entries])

    async def _archive(self, position: int) -> None:
        """Take note of all battles up to a position, a few at a time."""
        for number, entry in enumerate(await self._journal.landmarks()):
            if entry.position <= position:
                self._house.note(entry.stream, entry.version, entry.event)
            if number % NOTED_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _follow(self, position: int) -> None:
        await self.archiving
        async for entries in self._journal.follow(position):
            self._take(entries)

    def _take(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.stream in self._house.boards:
                self._deliver(self._house.carry_out(self._decided(entry)))
            else:
                self._house.note(entry.stream, entry.version, entry.event)
        self._news.set()
        self._news = asyncio.Event()

    def _decided(self, entry: Entry) -> Decision:
        """Return what an entry brings about: with what goes before it, if it was decided here."""
        decision, told = self._written.get((entry.stream, entry.version), (None, None))
        if decision and told and decision.events[0] == entry.event:
            told.set_result(None)
            return replace(decision, events=decision.events[:1])
        event = cast("TableEvent", entry.event)
        return Decision(event.player, entry.stream, entry.version - 1, (event,))
