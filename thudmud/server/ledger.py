"""The journal's side of the house: what is stored there is made so here, in the journal's order.

Owns what waits to be stored, and the following of the journal. Must never decide anything.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import cast

from thudmud.journal import Conflict, Damaged, Entry, Journal, JournalError
from thudmud.play.events import TableEvent
from thudmud.play.hall import Decision, Unread
from thudmud.text import House, Message

NOTED_AT_ONCE = 500
"""Old events that are taken note of before something else may be done."""

RETRIES = 5
"""How often it is tried again to read what others have appended."""

RETRY = 1.0
"""Seconds between two tries."""

_log = logging.getLogger(__name__)


class Unfollowed(JournalError):
    """The journal is followed no longer: what comes of what was to be stored cannot be seen."""

    def __str__(self) -> str:
        return "The journal is followed no longer."


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
        self._boards: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._written: dict[tuple[str, int], tuple[Decision, asyncio.Future[bool]]] = {}

    @property
    def busy(self) -> list[str]:
        """The boards at which something is being stored."""
        return [board for board, lock in self._boards.items() if lock.locked()]

    async def idle(self, board: str) -> None:
        """Wait until what is being stored at a board is stored and told, or is not."""
        async with self._boards[board]:
            pass

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
            events = [entry.event for entry in entries]
            self._house.restore(board, first - 1, cast("list[TableEvent]", events))
        self._news = asyncio.get_running_loop().create_future()
        self.archiving = asyncio.create_task(self._archive(position))
        self.following = asyncio.create_task(self._follow(position))
        self.following.add_done_callback(self._unfollowed)

    async def close(self) -> None:
        """Store what is waiting to be stored, and close the journal."""
        await self._journal.close()
        await asyncio.wait([self.following])

    async def write(self, decision: Decision) -> None:
        """Store the events of a decision, and wait until they have come back and been told.

        At one board, one decision after the other.

        Raises:
            Conflict: something else came first, so nothing has happened.
            JournalError: they cannot be stored, so nothing has happened.
            Unfollowed: they may have been stored.
        """
        board = str(decision.board)
        async with self._boards[board]:
            if self._house.version(board) != decision.version:
                raise Conflict(board, decision.version, self._house.version(board))
            place = board, decision.version + 1
            told = asyncio.get_running_loop().create_future()
            self._written[place] = decision, told
            try:
                await self._journal.append(board, decision.version, decision.events)
                await self._followed(told)
            finally:
                del self._written[place]

    async def until(self, board: str, version: int) -> None:
        """Wait until what others have appended to a board has come in.

        Raises:
            Unfollowed: that will never be.
        """
        while self._house.version(board) < version:
            await self._followed(asyncio.shield(self._news))  # others wait for them, too

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
        """Follow the journal until it is closed.

        Raises:
            JournalError: it cannot be followed.
        """
        await self.archiving
        follower = self._journal.follow(position)
        failures = 0
        while True:
            try:
                async for entries in follower:
                    failures = 0
                    self._take(entries)
            except JournalError as error:
                failures += 1
                if isinstance(error, Damaged) or failures > RETRIES:
                    raise
                _log.error("what is new in the journal cannot be read: %s", error)
                await asyncio.sleep(RETRY)
            else:
                return

    async def _followed(self, news: asyncio.Future[bool]) -> None:
        """Wait for news from the journal, whose result is False if there will be none."""
        if (self.following.done() and not news.done()) or not await news:
            raise Unfollowed

    def _unfollowed(self, following: asyncio.Task[None]) -> None:
        """Let nobody wait any more; who asks for the end is told the reason, and nobody else is."""
        if not following.cancelled():
            following.exception()  # else asyncio would log it, whenever the task is collected
        for news in (self._news, *(told for _, told in self._written.values())):
            if not news.done():
                news.set_result(False)

    def _take(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.stream in self._house.boards and not self._is_restored(entry):
                self._happen(entry)
            else:
                self._house.note(entry.stream, entry.version, entry.event)
        self._news.set_result(True)
        self._news = asyncio.get_running_loop().create_future()

    def _is_restored(self, entry: Entry) -> bool:
        """Whether a table was folded with an entry that came meanwhile."""
        return entry.version <= self._house.version(entry.stream)

    def _happen(self, entry: Entry) -> None:
        try:
            self._deliver(self._house.carry_out(self._decided(entry)))
        except Exception:
            # Nobody may play on a board that is not as it is stored; but what is only told badly
            # is no reason to stop.
            if self._house.version(entry.stream) != entry.version:
                raise
            _log.exception("what has happened at the %s was not told to all", entry.stream)

    def _decided(self, entry: Entry) -> Decision:
        """Return what an entry brings about: with what goes before it, if it was decided here."""
        decision, told = self._written.get((entry.stream, entry.version), (None, None))
        if decision and told and decision.events[0] == entry.event:
            if not told.done():  # whoever waited for it may have been cancelled
                told.set_result(True)
            alone = len(decision.events) == 1
            return decision if alone else replace(decision, events=decision.events[:1])
        event = cast("TableEvent", entry.event)
        return Decision(event.player, entry.stream, entry.version - 1, (event,))
