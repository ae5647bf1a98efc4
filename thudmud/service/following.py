"""Stores events, and applies what comes back from the store.

Own events and those of other nodes are applied and told in one place, in the store's order. The
entries of own events carry a mark with what only the decision knows.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from thudmud.game import hooks
from thudmud.game.asides import Aside
from thudmud.game.events import (
    BattleEnded,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    HallEvent,
    Interrupted,
    Left,
    TableEvent,
)
from thudmud.game.feature import FindWork
from thudmud.game.hall import Decision
from thudmud.game.projections import HALL, realm_of
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import held, overdue
from thudmud.service.boards import close_at
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.driving import future, settle
from thudmud.service.interface import Base, Unfollowed
from thudmud.store import Conflict, Entry, Forgotten, NotWritten, StoreError
from thudmud.store import hall as hall_rows
from thudmud.store.database import Work
from thudmud.store.streams import Changes
from thudmud.values import replace

if TYPE_CHECKING:
    import asyncio

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    """The mark of our own appends, which tells our entries from those of other services."""

    by: Following
    decision: Decision
    cause: object


class Following:
    """Stores what is decided here, and applies everything that is stored.

    Args:
        base: what it stands on.
        broadcaster: tells what happened.
        is_alone: whether the hall never has other boards than its first ones.

    Attributes:
        tables: the locks of the boards, by name, and of the hall.
        trouble: the error because of which nothing more can be applied here; None if there is none.
        unheld: the keys of boards whose clocks may still have to be held.
        finding: the functions of features that find what is stored along with decisions.
    """

    def __init__(self, base: Base, broadcaster: Broadcaster, *, is_alone: bool) -> None:
        self._hall, self._store, self._clock = base.hall, base.store, base.clock
        self._node, self._realm = base.node, base.realm
        self._fence = self._require_life if base.node else None
        self._broadcaster, self._is_alone = broadcaster, is_alone
        self._bus, self.tables = base.bus, base.bus.tables
        self.trouble: Exception | None = None
        self.unheld: set[str] = set()
        self.finding: list[FindWork] = []
        self._ended: list[asyncio.Future[None]] = []
        """The futures of those who wait for trouble."""
        self._news: list[asyncio.Future[None]] = []
        """The futures of those who wait for entries from the store."""

    async def begin(self, position: int | None = None) -> None:
        """Follow the store from now on, or from a position at which the boards stand.

        Raises:
            StoreError: it cannot be read.
        """
        if position is None:
            position = await self._store.position()
            self._hall.advance(None if self._is_alone else await self._store.version(HALL))
        streams = [table.key for table in self._hall.tables.values()] if self._is_alone else None
        self._subscription = await self._store.subscribe(
            streams, position, self._take, self._unread
        )

    def close(self) -> None:
        """Stop following the store."""
        self._subscription.close()
        settle(self._ended)

    async def write(self, decision: Decision, cause: object = None, key: str | None = None) -> None:
        """Store the events of a decision. On return they have been applied and told.

        Events of the hall go with those of a board that they open, which needs no lock, since
        nobody knows it yet.

        Raises:
            Conflict: something else came first, so nothing was stored.
            StoreError: they cannot be stored, so nothing was.
            Unfollowed: they may have been stored.
        """
        board = str(decision.board)
        held = HALL if decision.hall else board
        if self._node and not self._node.is_alive and self._store.is_exclusive:
            await self._node.renew()  # else this would hide for how long no server lived
        # For each ply, so no `async with`.
        if not self.tables.begin(held):
            await self.tables.take(held)
        try:
            table = self._hall.tables.get(board) if self.unheld else None
            if table and table.key in self.unheld:
                await self._hold_clock(table.key)
            if BattleEnded in map(type, decision.events):
                decision = self._with_consequences(decision)
            await self._append(decision, cause, key)
        finally:
            self.tables.leave(held)
            self._bus.dispatch(decision.player)

    def _with_consequences(self, decision: Decision) -> Decision:
        """Return a decision about a table, with the events of the hall that follow from it."""
        table = self._hall.tables.get(str(decision.board))
        if table is None or table.version != decision.version or decision.hall:
            return decision
        at, version = self._clock(), self._hall.version or 0
        followed = [each(self._hall, table, decision.events, at) for each in hooks.consequences]
        of_hall = tuple(event for some in followed for event in some)
        return replace(decision, hall=of_hall, hall_version=version) if of_hall else decision

    async def _append(
        self, decision: Decision, cause: object = None, key: str | None = None
    ) -> None:
        """Store the events of a decision, as `write` does, with the lock held."""
        board, mark, hall = str(decision.board), _Pending(self, decision, cause), self._hall
        self.require_lease()
        of_hall: Changes | None = None
        opened: BoardOpened | None = None
        if decision.hall:
            version = decision.hall_version
            if hall.version != version:
                raise Conflict(HALL, version, hall.version or 0)
            of_hall = {HALL: (version, decision.hall)}
            for event in decision.hall:
                if isinstance(event, BoardOpened) and event.name == board:
                    opened = event
        if opened:
            place, at, events = opened.key, opened.version, decision.events
            work = self._work(_opened(opened), decision) if self.finding else None
            await self._store.append_to_board(
                place, at, events, first=of_hall, mark=mark, work=work, fence=self._fence
            )
        elif of_hall and not decision.events:
            work = self._work(None, decision) if self.finding else None
            await self._store.append(of_hall, mark=mark, work=work, fence=self._fence)
        else:
            version, table = decision.version, hall.tables.get(board)
            if table is None:
                raise Conflict(board, version, 0)  # it was closed or renamed
            if table.version != version:
                raise Conflict(table.key, version, table.version)
            work = self._work(table, decision) if self.finding else None
            await self._store.append_to_board(
                table.key,
                version,
                decision.events,
                besides=of_hall,
                key=key,
                mark=mark,
                work=work,
                fence=self._fence,
            )
        if self.trouble:
            raise Unfollowed from self.trouble

    def _work(self, table: Table | None, decision: Decision) -> Work | None:
        """Return what is stored in the transaction of a decision, see `FindWork`."""
        works = [work for find in self.finding if (work := find(table, decision))]
        return (lambda database: [work(database) for work in works]) if works else None

    async def until(self, conflict: Conflict) -> None:
        """Wait until the events behind a conflict have been applied here.

        Raises:
            StoreError: it cannot be read.
            Unfollowed: they never will be.
        """
        if conflict.expected > conflict.found > 0:
            # A database that lagged behind has replaced the one we had seen. The store notices that
            # itself, unless others have written as much again by now.
            self.fail(Forgotten("The store has forgotten what this server has seen of it."))
            raise Unfollowed from conflict
        while self._version(conflict.stream, conflict.found) < conflict.found:
            if self.trouble:
                raise Unfollowed from self.trouble
            news = future()
            self._news.append(news)
            await news

    def _version(self, stream: str, found: int) -> int:
        """Return the version of a stream here; ``found`` if it is not followed.

        Streams of matches are not followed, but looked up again.
        """
        if stream == HALL:
            return self._hall.version or 0
        table = self._hall.tables.with_key(stream)
        return table.version if table else found

    def require_lease(self) -> None:
        """Raise NotWritten if there are other nodes and our lease has run out."""
        if self._fence and not self._store.is_exclusive:
            self._fence()

    def _require_life(self) -> None:
        """Raise NotWritten if our lease has run out. It is called in the store's thread, too.

        What waited there for the database may come after another node has noted that there was
        none, and before this one holds the clocks for that time.
        """
        if self._node and not self._node.is_alive:
            raise NotWritten("The lease of this node has run out: others may play on by now.")

    # Applying what is stored.

    def _take(self, entries: Sequence[Entry]) -> None:
        """Apply and tell what was stored, by any node, in the order of the store."""
        if self.trouble:
            return
        try:
            for place, entry in enumerate(entries):
                if entry.stream == HALL:
                    self._take_hall_event(entry)
                    continue
                table = self._hall.tables.with_key(entry.stream)
                # It may have been folded already, when the board was opened.
                if table and entry.version > table.version:
                    more = entries[place + 1 : place + 2]  # mostly none
                    goes_on = bool(more) and _goes_on(entry, more[0])
                    self._take_board_event(entry, table.name, goes_on=goes_on)
        except Exception as error:  # noqa: BLE001  (`ended` raises it)
            self.fail(error)
        self._wake()
        if not self.tables.held:  # otherwise releasing the lock dispatches
            self._bus.dispatch()

    def _take_hall_event(self, entry: Entry) -> None:
        """Apply and tell an event of the hall."""
        if self._hall.version is None or entry.version <= self._hall.version:
            return
        self._hall.advance(entry.version)
        event = cast("HallEvent", entry.event)
        if isinstance(event, Interrupted):
            return
        # Events without a board belong to the server's own hall.
        key = event.key if isinstance(event, BoardOpened | BoardClosed | BoardRenamed) else ""
        if realm_of(key) != self._realm:
            return
        decision, cause = Decision(event.player, hall=(event,)), None
        is_ours = isinstance(entry.mark, _Pending) and entry.mark.by is self
        if isinstance(entry.mark, _Pending) and is_ours:
            decided, cause = entry.mark.decision, entry.mark.cause
            is_first = entry.version == decided.hall_version + 1 and not decided.events
            if is_first and decided.player in self._hall.people:
                decision = replace(decision, asides=decided.asides, board=decided.board)
        self._broadcaster.carry_out(decision, cause, is_ours=is_ours)
        if self._hall.tables.with_key(key) is None:
            self.unheld.discard(key)

    def _take_board_event(self, entry: Entry, board: str, *, goes_on: bool) -> None:
        is_ours = isinstance(entry.mark, _Pending) and entry.mark.by is self
        decision, cause = self._decided(entry, board)
        if goes_on:
            decision = replace(decision, goes_on=True)
        try:
            self._broadcaster.carry_out(decision, cause, is_ours=is_ours)
        except Exception:
            # A board that differs from what is stored must not be played on. But a failure to tell
            # is no reason to stop.
            if self._hall.tables[board].version != entry.version:
                raise
            _log.exception("what has happened at the %s was not told to all", board)

    def _decided(self, entry: Entry, board: str) -> tuple[Decision, object]:
        """Return the decision for an entry, and its cause if it was decided here."""
        event = cast("TableEvent", entry.event)
        cause: object = None
        if isinstance(entry.mark, _Pending) and entry.mark.by is self:
            decided, cause = entry.mark.decision, entry.mark.cause
            # The asides come with the first event. But if the line was cancelled, its player may
            # have left by now, or the board may have been renamed.
            is_first = entry.version == decided.version + 1 and decided.board == board
            if is_first and decided.player in self._hall.people:
                return self._decision(entry, decided.player, board, event, decided.asides), cause
        return self._decision(entry, event.player, board, event), cause

    @staticmethod
    def _decision(
        entry: Entry, player: str, board: str, event: TableEvent, asides: tuple[Aside, ...] = ()
    ) -> Decision:
        version, battle, changes = entry.version - 1, entry.battle, entry.changes
        return Decision(player, board, version, (event,), asides, battle, changes=changes)

    def _unread(self, error: StoreError) -> None:
        """Wake those who wait for entries that cannot be read now."""
        _log.error("what is new in the store cannot be read: %s", error)
        self._wake(error)

    def _wake(self, error: StoreError | None = None) -> None:
        waiting, self._news = self._news, []
        settle(waiting, error)

    def fail(self, error: Exception) -> None:
        """Give up: nothing more is applied here, and `ended` raises the error."""
        self.trouble = error
        settle(self._ended, error)

    async def ended(self) -> None:
        """Wait until nothing more can be applied here.

        Raises:
            Exception: always, the reason.
        """
        if self.trouble:
            raise self.trouble
        waiting = future()
        self._ended.append(waiting)
        await waiting

    # Holding clocks for the time in which no server ran.

    def expect_clocks_held(self) -> None:
        """From now on, hold the clock of each board before anything else is stored there.

        Otherwise the next event would advance the clock over the time in which it stood still.
        """
        self.unheld |= {table.key for table in self._hall.tables.values()}

    async def hold_all_clocks(self, *, must_store: bool = False) -> None:
        """Hold all clocks for the time in which no server could store anything.

        Raises:
            StoreError: ``must_store`` is set, and it cannot be stored.
        """
        self.expect_clocks_held()
        for table in list(self._hall.tables.values()):
            await self.hold_clock(table, must_store=must_store)

    async def hold_clock(
        self, table: Table, *, since: float | None = None, must_store: bool = False
    ) -> None:
        """Hold the clock of one board for the time in which no server ran, or since a time."""
        interruptions = None if since is None else [(since, self._clock())]
        try:
            async with self.tables.of(table.name):
                await self._hold_clock(table.key, interruptions)
        except StoreError as error:
            if must_store:
                raise
            _log.error("not stored: %s", error, extra={"board": table.name})
        finally:
            self._bus.dispatch()

    async def hold_clocks(self, since: float) -> None:
        """Hold all clocks for the time since then, which the store does not know of.

        Raises:
            StoreError: it cannot be stored.
        """
        for table in list(self._hall.tables.values()):
            async with self.tables.of(table.name):
                await self._hold_clock(table.key, [(since, self._clock())])
            self._bus.dispatch()

    async def _hold_clock(
        self, key: str, interruptions: Sequence[tuple[float, float]] | None = None
    ) -> None:
        """Store that the clock of a board stood still while no server ran, if it has one.

        The board's lock is held.
        """
        while (table := self._hall.tables.with_key(key)) and table.clock:
            missed = interruptions
            if missed is None:
                missed = await self._store.read(hall_rows.interruptions, table.clock.at)
            events = held(table, missed, self._clock())
            if not events:
                break
            try:
                await self._append(Decision("", table.name, table.version, events))
                break
            except Conflict as conflict:
                await self.until(conflict)  # another node has stored it
        self.unheld.discard(key)

    async def pass_time(self) -> None:
        """Store what is due by now at all boards, for a front end without timers."""
        for table in list(self._hall.tables.values()):
            if events := overdue(table, self._clock()):
                await self.write(Decision("", table.name, table.version, events))

    async def close_idle_board(self, key: str) -> None:
        """Close a player-opened board, unless somebody needs it."""
        async with self.tables.of(HALL):  # so no other event of ours comes first
            while (table := self._hall.tables.with_key(key)) and self._hall.is_idle(table):
                self.require_lease()
                try:
                    await close_at(self._store, table, self._hall.version or 0, self._clock())
                except Conflict as conflict:
                    await self.until(conflict)
        self._bus.dispatch()


def _opened(event: BoardOpened) -> Table:
    """Return the table of a board that is just being opened."""
    table = Table.set_up(BoardSpec(event.name, event.rules, key=event.key))
    return replace(table, version=event.version)


_BETWEEN = BattleStarted, BattleEnded
_THEN = BattleStarted, BattleEnded, Left


def _goes_on(entry: Entry, then: Entry) -> bool:
    """Whether a battle ends or begins by an event, and more comes of that at the same time."""
    if not isinstance(entry.event, _BETWEEN):
        return False
    event, is_next = then.event, (then.stream, then.version) == (entry.stream, entry.version + 1)
    return is_next and isinstance(event, _THEN) and event.at == entry.event.at
