"""What time does at boards: flags fall, and idle players are warned.

Each node watches all boards. The events are stored at the version of the board, so they happen only
once, and not at all if a ply came first.
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
from thudmud.game.tables import due, overdue
from thudmud.rules import Side
from thudmud.service.driving import now
from thudmud.service.following import Following
from thudmud.service.interface import Base
from thudmud.store import Conflict, StoreError

RETRY = 5.0
"""Seconds before storing these events is tried again."""

_log = logging.getLogger(__name__)


class Timing:
    """Ends battles by time, warns idle players, and tells players that their time is short.

    Args:
        base: what the parts of a service share. Without timers, it happens with the next line.
        following: stores the events.
        tell: tells an aside to those who are here.
    """

    def __init__(self, base: Base, following: Following, tell: Callable[[TimeShort], None]) -> None:
        self._hall, self._following, self._clock = base.hall, following, base.clock
        self._scheduler, self._tell = base.scheduler, tell
        self._told: dict[str, tuple[BattleId, frozenset[Side]]] = {}
        """By the key of a board, the battle, and the sides told in it that their time is short."""
        base.bus.on(TABLE_EVENTS, self._board_changed)

    def begin(self) -> None:
        """Watch all boards, when a server starts."""
        for table in self._hall.tables.values():
            self.watch(table)

    def watch(self, table: Table, delay: float = 0.0) -> None:
        """Look at a board when something is due, but not before ``delay`` seconds.

        If an earlier look is planned already, nothing changes, so most plies cost nothing here.
        """
        if not self._scheduler.has_timers:
            return
        if not table.running:
            self._told.pop(table.key, None)
        moment = self._moment(table)
        if moment is not None:
            at = max(moment, self._clock() + delay)
            self._scheduler.at(("clock", table.key), at, partial(self._look, table.key))

    def _board_changed(self, applied: AppliedEvent) -> None:
        if applied.table:
            self.watch(applied.table)

    def _moment(self, table: Table) -> float | None:
        """Return when something is due at a board, or when a player's time gets short."""
        moment, clock = due(table), table.clock
        if moment is None or clock is None or self._was_told(table):
            return moment
        if table.seats.get(clock.turn) not in self._hall.people:
            return moment  # they are told once they are back, which is an event
        return max(clock.at, moment - clock.control.short)

    def _look(self, key: str) -> None:
        if table := self._hall.tables.with_key(key):
            now(self._see_to(table))
        else:
            self._told.pop(key, None)

    async def _see_to(self, table: Table) -> None:
        """Store what is due at a board, and watch it again."""
        try:
            if table.clock and overdue(table, self._clock()):
                await self._following.hold_clock(table)
                table = self._hall.tables.with_key(table.key) or table
            if events := overdue(table, self._clock()):
                await self._following.write(Decision("", table.name, table.version, events))
                return  # applying it watches the board again
        except Conflict as conflict:
            await self._following.until(conflict)
            if still := self._hall.tables.with_key(table.key):
                self.watch(still)  # it may have been the hall that something else happened in
            return
        except StoreError as error:
            _log.error("not stored: %s", error, extra={"board": table.name})
            self.watch(table, RETRY)
            return
        self._tell_if_short(table)
        if still := self._hall.tables.with_key(table.key):
            self.watch(still)

    def _tell_if_short(self, table: Table) -> None:
        match, clock = table.match, table.clock
        if match is None or clock is None or self._was_told(table):
            return
        if self._clock() < clock.deadline - clock.control.short:
            return
        side, player = clock.turn, table.seats.get(clock.turn)
        if player is None or player not in self._hall.people:
            return
        battle, sides = self._told.get(table.key, (match.began, frozenset()))
        known = sides if battle == match.began else frozenset()
        self._told[table.key] = match.began, known | {side}
        self._tell(TimeShort(player, table.name, clock.control.short))

    def _was_told(self, table: Table) -> bool:
        """Whether the side to move was told in this battle that its time is short."""
        battle, sides = self._told.get(table.key, (None, frozenset()))
        match, clock = table.match, table.clock
        return bool(match and clock and match.began == battle and clock.turn in sides)
