"""Event application: appends decisions to the store, and applies the store's entries to the hall.

Appending and applying are separate. `EventApplier.write` appends the events of a decision at the
version that it was decided at (optimistic concurrency), and applies nothing. The store hands every
new entry, whichever node appended it, to `EventApplier._apply_entries`. So the hall changes in one
place and in one order, the store's, and a node treats its own events like another node's.

What isn't stored. An entry holds an event, but not its asides ("walks to the oak board") nor its
cause, which only the deciding service knows. They travel as the mark of the append, `_Pending`: the
store returns it with the entry, to subscribers in this process. ``by`` tells apart the services
that share a store object.

Why `write` returns after the events are applied. The store resolves the appender's future and then
delivers the entries, in the same callback of the event loop. A resolved future only schedules the
coroutine that awaits it, so `_apply_entries` has run when `write` resumes. A store in memory
delivers the entries before its ``append`` returns.

Versions and locks. The store rejects an append at any other version than the stream's, so versions
alone keep the boards right, across nodes as well. The locks save this node from conflicts with
itself, and hold back the event bus until an append is done.

Cancellation of `write`:

- Before the append is sent, such as while waiting for the lock: the decision isn't stored.
- During the append: the store's thread may be at work on it, and finishes. The lock is released at
  once. If the events are stored, `_apply_entries` applies and delivers them later, with their mark.
  The next writer at the board decides on top of them, or gets a conflict and waits in
  `wait_past_conflict`. By then the player may have left or the board may have been renamed, so
  `_rebuild_decision` checks both before it uses the asides.
- After the append nothing awaits, so `write` can't be cancelled there.

Plies of other services. Most concern nobody here: no player or onlooker of the board is on this
node. Such a ply is deferred (`Hall.defer_ply`): it has no delivery and no handlers, except that the
clock's timer may have to be set. Its table is brought up to date when it is read, or when another
event is applied there. The store is told of the same boards (`_may_wait`), so that it reads their
plies rarely, and many at once.

Why `_apply_entries` may skip an entry:

- `failure` is set: an earlier entry couldn't be applied, so the hall no longer matches the store.
- Its version isn't newer than the board's or the hall's. A board that is opened is folded from
  its stream, and the subscription then delivers some of the same entries again.
- No board here has that key: it was closed, or belongs to another realm.
- It is an `Interrupted` event of the hall, which `_hold_clock` reads from the store when needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
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
    Moved,
    TableEvent,
)
from thudmud.game.feature import FindWork
from thudmud.game.hall import Decision
from thudmud.game.projections import HALL, realm_of
from thudmud.game.table import BoardSpec, Table, TimedMove
from thudmud.game.tables import overdue_events, stop_clock_for_outage
from thudmud.immutable import immutable
from thudmud.service.boards import close_board_at_version
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.coroutines import future, resolve_all
from thudmud.service.interface import Base, OutcomeUnknownError
from thudmud.store import (
    ConflictError,
    Entry,
    FeedEntry,
    HistoryLostError,
    NotWrittenError,
    StoredPly,
    StoreError,
)
from thudmud.store import hall as hall_rows
from thudmud.store.database import Work
from thudmud.store.streams import Changes
from thudmud.values import replace

if TYPE_CHECKING:
    import asyncio

_log = logging.getLogger(__name__)


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    """The mark of an append: the service that made it, and what the stored events leave out."""

    by: EventApplier
    decision: Decision
    cause: object


class EventApplier:
    """Appends the decisions of one service, and applies all entries of the store to its hall.

    Args:
        base: the parts of the service that all others share.
        broadcaster: applies decisions to the hall, and delivers them.
        is_alone: whether the hall never has other boards than its first ones.

    Attributes:
        locks: the locks of the boards, by name, and of the hall.
        failure: the error that ended the application of entries; None while it works.
        boards_to_hold: the keys of boards whose clocks haven't been held for the latest outage yet.
        transaction_work_finders: functions of features that add work to the transaction of a
            decision.
        deferral_handlers: called when a ply is deferred at a board whose table was up to date, with
            that table and the ply's time.
    """

    def __init__(self, base: Base, broadcaster: Broadcaster, *, is_alone: bool) -> None:
        self._hall, self._store, self._clock = base.hall, base.store, base.clock
        self._node, self._realm = base.node, base.realm
        self._fence = self._require_live_lease if base.node else None
        self._broadcaster, self._is_alone = broadcaster, is_alone
        self._bus, self.locks = base.bus, base.bus.locks
        self.failure: Exception | None = None
        self.boards_to_hold: set[str] = set()
        self.transaction_work_finders: list[FindWork] = []
        self.deferral_handlers: list[Callable[[Table, float], None]] = []
        self._hall.tables.failed = self.fail
        self._end_waiters: list[asyncio.Future[None]] = []
        """Futures of callers of `wait_ended`."""
        self._batch_waiters: list[asyncio.Future[None]] = []
        """Futures that the next batch of entries resolves."""

    async def subscribe(self, position: int | None = None) -> None:
        """Subscribe to the store.

        Args:
            position: the position up to which the boards reflect the store; None for the last one.

        Raises:
            StoreError: the store cannot be read.
        """
        if position is None:
            position = await self._store.position()
            self._hall.advance(None if self._is_alone else await self._store.version(HALL))
        streams = [table.key for table in self._hall.tables.values()] if self._is_alone else None
        self._subscription = await self._store.subscribe(
            streams,
            position,
            self._apply_entries,
            self._entries_unreadable,
            may_wait=self._may_wait,
        )

    def _may_wait(self, stream: str) -> bool:
        """Return whether another node's plies at a stream concern nobody here."""
        tables = self._hall.tables
        is_open = tables.version_of(stream) is not None
        return not is_open or self._broadcaster.may_defer_plies(tables.name_for_key(stream))

    def close(self) -> None:
        """End the subscription, and let `wait_ended` return."""
        self._subscription.close()
        resolve_all(self._end_waiters)

    async def write(self, decision: Decision, cause: object = None, key: str | None = None) -> None:
        """Append the events of a decision; on return they are stored, applied and delivered.

        Args:
            decision: the decision, with at least one event.
            cause: the cause to deliver with the events.
            key: identifies the line, so that the store appends its events only once.

        Raises:
            ConflictError: another append came first, so nothing was stored.
            StoreError: the events cannot be stored, and nothing was.
            OutcomeUnknownError: the events may have been stored, but can't be applied here.
        """
        board = str(decision.board)
        # A board that an event of the hall opens needs no lock: nobody knows it yet.
        held = HALL if decision.hall else board
        if self._node and not self._node.is_alive and self._store.is_exclusive:
            # Otherwise this write would erase the evidence of the outage.
            await self._node.renew()
        # Not `async with`, which costs more calls: this runs for each ply.
        if not self.locks.try_acquire(held):
            await self.locks.acquire(held)
        try:
            table = self._hall.tables.get(board) if self.boards_to_hold else None
            if table and table.key in self.boards_to_hold:
                # The event would otherwise advance the clock over the outage.
                await self._hold_clock(table.key)
            if BattleEnded in map(type, decision.events):
                decision = self._with_consequences(decision)
            await self._append(decision, cause, key)
        finally:
            self.locks.release(held)
            self._bus.dispatch(decision.player)

    def _with_consequences(self, decision: Decision) -> Decision:
        """Add the events of the hall that follow from a battle's end."""
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
        """Append the events of a decision, with the lock held; raises as `write` does."""
        # Long: on the path of every ply, where tests limit the number of calls.
        board, mark, hall = str(decision.board), _Pending(self, decision, cause), self._hall
        if self._fence:
            self.require_lease()
        of_hall: Changes | None = None
        opened: BoardOpened | None = None
        if decision.hall:
            version = decision.hall_version
            if hall.version != version:
                raise ConflictError(HALL, version, hall.version or 0)
            of_hall = {HALL: (version, decision.hall)}
            for event in decision.hall:
                if isinstance(event, BoardOpened) and event.name == board:
                    opened = event
        if opened:  # the board doesn't exist yet: the event that opens it comes first
            place, at, events = opened.key, opened.version, decision.events
            work = (
                self._combine_work(_initial_table(opened), decision)
                if self.transaction_work_finders
                else None
            )
            await self._store.append_to_board(
                place, at, events, first=of_hall, mark=mark, work=work, fence=self._fence
            )
        elif of_hall and not decision.events:
            work = self._combine_work(None, decision) if self.transaction_work_finders else None
            await self._store.append(of_hall, mark=mark, work=work, fence=self._fence)
        else:
            version, table = decision.version, hall.tables.get(board)
            if table is None:
                # Closed or renamed: `wait_past_conflict` won't wait for it.
                raise ConflictError(board, version, 0)
            if table.version != version:
                raise ConflictError(table.key, version, table.version)
            work = self._combine_work(table, decision) if self.transaction_work_finders else None
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
        if self.failure:
            raise OutcomeUnknownError from self.failure

    def _combine_work(self, table: Table | None, decision: Decision) -> Work | None:
        """Combine the work that features add to the transaction of a decision, see `FindWork`."""
        works = [work for find in self.transaction_work_finders if (work := find(table, decision))]
        return (lambda database: [work(database) for work in works]) if works else None

    async def wait_past_conflict(self, conflict: ConflictError) -> None:
        """Wait until the events that caused a conflict have been applied here.

        Returns at once if they have been already, or if the board is closed or was renamed.

        Raises:
            StoreError: the events cannot be read.
            OutcomeUnknownError: they will never be applied here.
        """
        if conflict.expected > conflict.found > 0:
            # The stream is shorter than we have seen it: after a fail-over, a standby that lagged
            # behind serves the database. The store itself notices, unless others have written as
            # many events since.
            self.fail(
                HistoryLostError("The store has lost events that this server has already applied.")
            )
            raise OutcomeUnknownError from conflict
        while self._applied_version(conflict.stream, conflict.found) < conflict.found:
            if self.failure:
                raise OutcomeUnknownError from self.failure
            news = future()
            self._batch_waiters.append(news)
            await news

    def _applied_version(self, stream: str, found: int) -> int:
        """Return the version to which a stream is applied here; ``found`` if it isn't applied.

        Streams of matches aren't: a command looks adjourned matches up again.
        """
        if stream == HALL:
            return self._hall.version or 0
        version = self._hall.tables.version_of(stream)
        return found if version is None else version

    def require_lease(self) -> None:
        """Raise NotWrittenError if the lease has run out and other nodes may have noticed."""
        if self._fence and not self._store.is_exclusive:
            self._fence(0.0)

    def _require_live_lease(self, ahead: float) -> None:
        """Raise NotWrittenError if the lease has run out. The store's thread calls this as a fence.

        An append may wait there for the database. By its turn another node may have recorded an
        outage, for which this node hasn't held the clocks yet.

        Args:
            ahead: seconds for which the lease must still last.
        """
        if self._node and self._node.lease_left <= ahead:
            raise NotWrittenError(
                "The lease of this node has expired: other nodes may have taken over."
            )

    # Applying entries.

    def _apply_entries(self, entries: Sequence[FeedEntry]) -> None:
        """Apply and deliver a batch of entries; called by the store. Errors go to `fail`."""
        if self.failure:
            return
        try:
            for place, entry in enumerate(entries):
                if isinstance(entry, StoredPly) or (
                    isinstance(entry.event, Moved) and not self._own_mark(entry)
                ):
                    self._apply_others_ply(entry)
                    continue
                if entry.stream == HALL:
                    self._apply_hall_event(entry)
                    continue
                table = self._hall.tables.with_key(entry.stream)
                if table and entry.version > table.version:  # else it was folded or is unknown
                    more = entries[place + 1 : place + 2]  # the next entry; mostly there's none
                    goes_on = bool(more) and _is_followed_at_once(entry, more[0])
                    self._apply_board_event(entry, table.name, goes_on=goes_on)
        except Exception as error:  # noqa: BLE001  (`wait_ended` raises it)
            self.fail(error)
        if self._batch_waiters:
            self._wake()  # also after an error: waiters then find `failure`
        if not self.locks.held:  # otherwise the holder of the lock dispatches
            self._bus.dispatch()

    def _apply_hall_event(self, entry: Entry) -> None:
        """Apply and deliver an event of the hall."""
        if self._hall.version is None or entry.version <= self._hall.version:
            return
        # Also for events that are skipped below: conflicts are about the stream's version.
        self._hall.advance(entry.version)
        event = cast("HallEvent", entry.event)
        if isinstance(event, Interrupted):
            return
        # Events without a board belong to the server's own hall.
        key = event.key if isinstance(event, BoardOpened | BoardClosed | BoardRenamed) else ""
        if realm_of(key) != self._realm:
            return
        decision, cause = Decision(event.player, hall=(event,)), None
        pending = self._own_mark(entry)
        if pending:
            decided, cause = pending.decision, pending.cause
            # With events at a board, the asides come with the first of those instead.
            is_first = entry.version == decided.hall_version + 1 and not decided.events
            if is_first and decided.player in self._hall.people:
                decision = replace(decision, asides=decided.asides, board=decided.board)
        self._broadcaster.carry_out(decision, cause, is_ours=pending is not None)
        if self._hall.tables.with_key(key) is None:
            self.boards_to_hold.discard(key)

    def _own_mark(self, entry: Entry) -> _Pending | None:
        """Return the mark of an event that this service decided; None for any other."""
        mark = entry.mark
        return mark if isinstance(mark, _Pending) and mark.by is self else None

    def _apply_others_ply(self, entry: FeedEntry) -> None:
        """Apply and deliver another service's ply, or defer it if it concerns nobody here."""
        tables = self._hall.tables
        version = tables.version_of(entry.stream)
        if version is None or entry.version <= version:
            return
        board = tables.name_for_key(entry.stream)
        ply = entry if isinstance(entry, StoredPly) else cast("Moved", entry.event)
        if self._broadcaster.may_defer_plies(board):
            if self._hall.defer_ply(board, ply.side, TimedMove(ply.at, ply.move)):
                table = tables.without_deferred(board)
                for handler in self.deferral_handlers:
                    handler(table, ply.at)
            return
        if isinstance(entry, StoredPly):
            # Whoever has the seat made the ply: a decision holds only at its table's version.
            player = tables.without_deferred(board).seats[entry.side]
            moved = Moved(entry.at, player, entry.side, entry.move, entry.number)
            entry = Entry(entry.position, entry.stream, entry.version, moved)
        self._apply_board_event(entry, board, goes_on=False)

    def _apply_board_event(self, entry: Entry, board: str, *, goes_on: bool) -> None:
        pending = self._own_mark(entry)
        decision, cause = self._rebuild_decision(entry, board, pending)
        if goes_on:
            decision = replace(decision, is_intermediate=True)
        try:
            self._broadcaster.carry_out(decision, cause, is_ours=pending is not None)
        except Exception:
            # If the board wasn't updated, it differs from the store and must not be played on. If
            # only the delivery failed, play goes on.
            if self._hall.tables[board].version != entry.version:
                raise
            _log.exception("could not deliver an event of the %s to all", board)

    def _rebuild_decision(
        self, entry: Entry, board: str, pending: _Pending | None
    ) -> tuple[Decision, object]:
        """Rebuild the decision behind an entry, with its asides and cause if it was decided here.

        The asides come with the decision's first event.

        Args:
            entry: the entry.
            board: the name of its board.
            pending: the entry's mark if this service decided it; else None.
        """
        event: TableEvent = entry.event  # type: ignore[assignment]  # the stream is a board's
        player, asides, cause = event.player, tuple[Aside, ...](), None
        if pending:
            decided, cause = pending.decision, pending.cause
            # If the line was cancelled, its player may have left since, or the board may have been
            # renamed. Then the asides are dropped: they name the player and the board.
            is_first = entry.version == decided.version + 1 and decided.board == board
            if is_first and decided.player in self._hall.people:
                player, asides = decided.player, decided.asides
        version, battle, changes = entry.version - 1, entry.battle, entry.changes
        decision = Decision(player, board, version, (event,), asides, battle, changes=changes)
        return decision, cause

    def _entries_unreadable(self, error: StoreError) -> None:
        """Fail all `wait_past_conflict` calls: the store can't read new entries now."""
        _log.error("could not read new events: %s", error)
        self._wake(error)

    def _wake(self, error: StoreError | None = None) -> None:
        waiting, self._batch_waiters = self._batch_waiters, []
        resolve_all(waiting, error)

    def fail(self, error: Exception) -> None:
        """Apply nothing more, and have `wait_ended` raise the error."""
        self.failure = error
        resolve_all(self._end_waiters, error)

    async def wait_ended(self) -> None:
        """Wait until entries can't be applied any longer, or `close` is called.

        Raises:
            Exception: the error passed to `fail`.
        """
        if self.failure:
            raise self.failure
        waiting = future()
        self._end_waiters.append(waiting)
        await waiting

    # Holding clocks: an event excludes an outage, in which no server ran, from a clock's time.

    def expect_clocks_held(self) -> None:
        """From now on, hold the clock of each board before any other event is stored there.

        Otherwise that event would advance the clock over the outage.
        """
        self.boards_to_hold |= {table.key for table in self._hall.tables.values()}

    async def hold_all_clocks(self, *, must_store: bool = False) -> None:
        """Hold all clocks for the outages that the store has recorded.

        Raises:
            StoreError: ``must_store`` is set, and the events cannot be stored.
        """
        self.expect_clocks_held()
        for table in list(self._hall.tables.values()):
            await self.hold_clock(table, must_store=must_store)

    async def hold_clock(
        self, table: Table, *, since: float | None = None, must_store: bool = False
    ) -> None:
        """Hold one board's clock for the recorded outages, or for the time from ``since`` to now.

        Raises:
            StoreError: ``must_store`` is set, and the event cannot be stored.
        """
        interruptions = None if since is None else [(since, self._clock())]
        try:
            async with self.locks.holding(table.name):
                await self._hold_clock(table.key, interruptions)
        except StoreError as error:
            if must_store:
                raise
            _log.error("could not store an outage: %s", error, extra={"board": table.name})
        finally:
            self._bus.dispatch()

    async def hold_clocks(self, since: float) -> None:
        """Hold all clocks for the time from ``since`` to now, which the store hasn't recorded.

        Raises:
            StoreError: the events cannot be stored.
        """
        for table in list(self._hall.tables.values()):
            async with self.locks.holding(table.name):
                await self._hold_clock(table.key, [(since, self._clock())])
            self._bus.dispatch()

    async def _hold_clock(
        self, key: str, interruptions: Sequence[tuple[float, float]] | None = None
    ) -> None:
        """Store that a board's clock stood still during outages, if the board has a clock.

        Args:
            key: the board's, whose lock the caller holds.
            interruptions: the beginning and end of each outage; None for those in the store.
        """
        while (table := self._hall.tables.with_key(key)) and table.clock:
            missed = interruptions
            if missed is None:
                missed = await self._store.read(hall_rows.interruptions, table.clock.at)
            events = stop_clock_for_outage(table, missed, self._clock())
            if not events:
                break
            try:
                await self._append(Decision("", table.name, table.version, events))
                break
            except ConflictError as conflict:
                await self.wait_past_conflict(conflict)  # another node may have stored the event
        self.boards_to_hold.discard(key)

    async def pass_time(self) -> None:
        """Store the timed events that are due at all boards, for a front end without timers."""
        for table in list(self._hall.tables.values()):
            if events := overdue_events(table, self._clock()):
                await self.write(Decision("", table.name, table.version, events))

    async def close_idle_board(self, key: str) -> None:
        """Close a player-opened board if it is idle."""
        async with self.locks.holding(HALL):  # so that no other event of ours comes first
            while (table := self._hall.tables.with_key(key)) and self._hall.is_idle(table):
                self.require_lease()
                try:
                    await close_board_at_version(
                        self._store, table, self._hall.version or 0, self._clock()
                    )
                except ConflictError as conflict:
                    await self.wait_past_conflict(conflict)
        self._bus.dispatch()


def _initial_table(event: BoardOpened) -> Table:
    """Return the initial table of a board that an event opens."""
    table = Table.set_up(BoardSpec(event.name, event.rules, key=event.key))
    return replace(table, version=event.version)


_BETWEEN = BattleStarted, BattleEnded
_THEN = BattleStarted, BattleEnded, Left


def _is_followed_at_once(entry: Entry, then: FeedEntry) -> bool:
    """Whether a battle's end or beginning is followed at once by another such event."""
    if not isinstance(entry.event, _BETWEEN) or isinstance(then, StoredPly):
        return False
    event, is_next = then.event, (then.stream, then.version) == (entry.stream, entry.version + 1)
    return is_next and isinstance(event, _THEN) and event.at == entry.event.at
