"""Clock timers: flags fall, idle players are warned, and players in time trouble are notified.

Each node watches all boards. The events are stored at the board's version, so they happen only
once, and not at all if a ply comes first.

Plies that concern nobody here are deferred, see `thudmud.game.boards`, and the timer of their board
must not depend on each. So the first one sets it to a time before which nothing can be due, however
many plies follow: a side's time runs at most as fast as time itself. When it fires, the table is
read, and the timer is set as usual.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from thudmud.game.asides import TimeShort
from thudmud.game.events import TABLE_EVENTS, BattleId
from thudmud.game.feature import AppliedEvent
from thudmud.game.hall import Decision
from thudmud.game.table import Table
from thudmud.game.tables import idle_warning_time, next_due_time, overdue_events
from thudmud.rules import Side
from thudmud.service.coroutines import run_eagerly
from thudmud.service.event_applier import EventApplier
from thudmud.service.interface import Base
from thudmud.store import ConflictError, StoreError

RETRY = 5.0
"""Seconds before another attempt to store an event."""

_log = logging.getLogger(__name__)


class ClockTimers:
    """Ends battles by time, warns idle players, and notifies players whose time is short.

    Args:
        base: the parts of the service that all others share. Without timers, battles end by time
            with the next line about them.
        following: stores events.
        tell: delivers an aside on this node.
    """

    def __init__(
        self, base: Base, following: EventApplier, tell: Callable[[TimeShort], None]
    ) -> None:
        self._hall, self._applier, self._clock = base.hall, following, base.clock
        self._scheduler, self._tell = base.scheduler, tell
        self._notified: dict[str, tuple[BattleId, frozenset[Side]]] = {}
        """By a board's key: its battle, and the sides already notified that their time is short."""
        base.bus.subscribe(TABLE_EVENTS, self._board_changed)
        following.deferral_handlers.append(self._ply_deferred)

    def watch_all_boards(self) -> None:
        """Watch all boards, when a server starts."""
        for table in self._hall.tables.values():
            self.watch(table)

    def watch(self, table: Table, delay: float = 0.0) -> None:
        """Set a timer for the next due event at a board, at least ``delay`` seconds from now.

        An earlier timer stays, and sets a new one when it fires: so most plies set none.
        """
        if not self._scheduler.has_timers:
            return
        if not table.is_running:
            self._notified.pop(table.key, None)
        moment = self._next_due_time(table)
        if moment is not None:
            self._schedule(table, max(moment, self._clock() + delay))

    def _schedule(self, table: Table, at: float) -> None:
        check = partial(self._check_board, table.key)
        self._scheduler.schedule(("clock", table.key), at, check)

    def _ply_deferred(self, table: Table, at: float) -> None:
        """Set a timer for the earliest event that can be due after plies from ``at`` on."""
        moment = idle_warning_time(table, at)
        if clock := table.clock:
            moment = clock.at + min(
                clock.seconds_left(side) - self._warning(table, side) for side in Side
            )
        if moment is not None:
            self._schedule(table, moment)

    def _warning(self, table: Table, side: Side) -> float:
        """Return the seconds left at which a player still has to be told that time is short."""
        is_here = table.seats.get(side) in self._hall.people
        if table.clock is None or not is_here or self._was_notified(table, side):
            return 0.0
        return table.clock.control.short

    def _board_changed(self, applied: AppliedEvent) -> None:
        if applied.table:
            self.watch(applied.table)

    def _next_due_time(self, table: Table) -> float | None:
        """Return the time of the next due event, or of an earlier low-time warning."""
        moment, clock = next_due_time(table), table.clock
        if moment is None or clock is None or self._was_notified(table, clock.turn):
            return moment
        if table.seats.get(clock.turn) not in self._hall.people:
            return moment  # their return is an event, which calls `watch` again
        return max(clock.at, moment - clock.control.short)

    def _check_board(self, key: str) -> None:
        if table := self._hall.tables.with_key(key):
            run_eagerly(self._store_due_events(table))
        else:
            self._notified.pop(key, None)

    async def _store_due_events(self, table: Table) -> None:
        """Store the events that are due at a board, and watch the board again."""
        try:
            if table.clock and overdue_events(table, self._clock()):
                # First exclude outages from the clock: perhaps the flag hasn't fallen.
                await self._applier.hold_clock(table)
                table = self._hall.tables.with_key(table.key) or table
            if events := overdue_events(table, self._clock()):
                await self._applier.write(Decision("", table.name, table.version, events))
                return  # applying it watches the board again
        except ConflictError as conflict:
            await self._applier.wait_past_conflict(conflict)
            if still := self._hall.tables.with_key(table.key):
                self.watch(still)  # the conflict may have been in the hall's stream instead
            return
        except StoreError as error:
            _log.error(
                "could not store the end of a player's time: %s", error, extra={"board": table.name}
            )
            self.watch(table, RETRY)
            return
        self._notify_if_short(table)
        if still := self._hall.tables.with_key(table.key):
            self.watch(still)

    def _notify_if_short(self, table: Table) -> None:
        match, clock = table.match, table.clock
        if match is None or clock is None or self._was_notified(table, clock.turn):
            return
        if self._clock() < clock.deadline - clock.control.short:
            return
        side, player = clock.turn, table.seats.get(clock.turn)
        if player is None or player not in self._hall.people:
            return
        battle, sides = self._notified.get(table.key, (match.battle_id, frozenset()))
        known = sides if battle == match.battle_id else frozenset()
        self._notified[table.key] = match.battle_id, known | {side}
        self._tell(TimeShort(player, table.name, clock.control.short))

    def _was_notified(self, table: Table, side: Side) -> bool:
        """Return whether a side has been notified in this battle."""
        battle, sides = self._notified.get(table.key, (None, frozenset()))
        return bool(table.match and table.match.battle_id == battle and side in sides)
