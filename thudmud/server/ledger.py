"""The store's side of the premises: what is stored there is made so here, in the store's order.

Owns what waits to be stored, and the following of the store. Must never decide anything.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from thudmud.play.events import BoardOpened, TableEvent
from thudmud.play.hall import Decision
from thudmud.play.lookups import Lookup
from thudmud.play.projections import HALL
from thudmud.store import Conflict, Entry, Store, StoreError, as_stored, decided_elsewhere
from thudmud.text import Message
from thudmud.text.premises import Premises

_log = logging.getLogger(__name__)


class Unfollowed(StoreError):
    """The store is followed no longer: what comes of what was to be stored cannot be seen."""

    def __str__(self) -> str:
        return "The store is followed no longer."


class Ledger:
    """A hall's copy of what is stored.

    Args:
        house: where it is made so.
        store: where it is stored.
        clock: returns the seconds since the epoch.
        deliver: takes what people are told.

    Attributes:
        ended: has the error that the following of the store has ended with, once it has.
    """

    def __init__(
        self,
        house: Premises,
        store: Store,
        clock: Callable[[], float],
        deliver: Callable[[Iterable[Message]], None],
    ) -> None:
        self._house, self._store = house, store
        self._clock, self._deliver = clock, deliver
        self._keys = {spec.key: spec.name for spec in house.hall.boards}
        self._boards: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def busy(self) -> list[str]:
        """The boards at which something is being stored."""
        return [board for board, lock in self._boards.items() if lock.locked()]

    async def idle(self, board: str) -> None:
        """Wait until what is being stored at a board is stored and told, or is not."""
        async with self._boards[board]:
            pass

    async def open(self) -> None:
        """Fold the tables from the store, and begin to follow it.

        Raises:
            StoreError: it cannot be read.
        """
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()
        self._news: asyncio.Future[None] = loop.create_future()
        await self._put_up()
        position = await self._store.position()
        for board in await self._store.open_boards():
            if board.key in self._keys:
                await self._restore(board.key, board.beginning)
        self._following = await self._store.subscribe(
            self._keys, position, self._take, self._unread
        )

    def close(self) -> None:
        """Follow the store no longer."""
        self._following.close()
        if not self.ended.done():
            self.ended.set_result(None)

    async def write(self, decision: Decision) -> None:
        """Store the events of a decision, and wait until they have come back and been told.

        At one board, one decision after the other.

        Raises:
            Conflict: something else came first, so nothing has happened.
            StoreError: they cannot be stored, so nothing has happened.
            Unfollowed: they may have been stored.
        """
        board = str(decision.board)
        async with self._boards[board]:
            key, version = self._house.hall.tables[board].key, self._house.version(board)
            if version != decision.version:
                raise Conflict(key, decision.version, version)
            # Whoever follows has been handed the events when this is over.
            await self._store.append_to_board(key, version, decision.events, mark=(self, decision))
            if self.ended.done():
                raise Unfollowed

    async def until(self, stream: str, version: int) -> None:
        """Wait until what others have appended to a board has come in.

        Raises:
            StoreError: it cannot be read.
            Unfollowed: it will never be.
        """
        if stream not in self._keys:
            return  # it is that of a match, and is looked up anew
        while self._house.version(self._keys[stream]) < version:
            if self.ended.done():
                raise Unfollowed
            await asyncio.shield(self._news)  # others wait for it, too

    async def look_up(self, lookup: Lookup[Any]) -> Any:
        """Return what a decision needs to know; StoreError if it cannot be read."""
        return await self._store.look_up(lookup)

    async def _put_up(self) -> None:
        """Note in the hall's stream that our boards are up, if that is not known."""
        while True:
            known = {board.key for board in await self._store.open_boards()}
            version = await self._store.version(HALL)
            now = self._clock()
            opened = [
                BoardOpened(now, "", spec.key, spec.name, spec.rules)
                for spec in self._house.hall.boards
                if spec.key not in known
            ]
            if not opened:
                return
            try:
                await self._store.append({HALL: (version, opened)})
            except Conflict:
                continue

    async def _restore(self, key: str, first: int) -> None:
        entries = await self._store.read(key, first)
        events = [(cast("TableEvent", entry.event), entry.battle) for entry in entries]
        self._house.restore(self._keys[key], first - 1, events)

    def _take(self, entries: Sequence[Entry]) -> None:
        if self.ended.done():
            return
        try:
            for entry in entries:
                # A table may have been folded with what came meanwhile.
                if entry.version > self._house.version(self._keys[entry.stream]):
                    self._happen(entry)
        except Exception as error:  # noqa: BLE001  (whoever waits for the end is told)
            self.ended.set_exception(error)
            self.ended.exception()  # else asyncio would log it, whenever that is collected
        self._news.set_result(None)
        self._news = asyncio.get_running_loop().create_future()

    def _unread(self, error: StoreError) -> None:
        """Let nobody wait for what cannot be read for now."""
        _log.error("what is new in the store cannot be read: %s", error)
        self._news.set_exception(error)
        self._news.exception()  # else asyncio would log it, if nobody waits
        self._news = asyncio.get_running_loop().create_future()

    def _happen(self, entry: Entry) -> None:
        board = self._keys[entry.stream]
        try:
            self._deliver(self._house.carry_out(self._decided(entry, board)))
        except Exception:
            # Nobody may play on a board that is not as it is stored; but what is only told badly
            # is no reason to stop.
            if self._house.version(board) != entry.version:
                raise
            _log.exception("what has happened at the %s was not told to all", board)

    def _decided(self, entry: Entry, board: str) -> Decision:
        """Return what an entry brings about: with what goes before it, if it was decided here."""
        match entry.mark:
            case ledger, Decision(version=version) as ours if ledger is self:
                if entry.version == version + 1:
                    return as_stored(ours, [entry])
        return decided_elsewhere(entry, board)
