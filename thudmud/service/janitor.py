"""The janitor: cleans up seats, matches and boards that absent players left behind.

A player who lost the connection has some minutes to come back. After that their seat is freed if no
match is under way, and a match that both have left is adjourned. A practice is adjourned at once
when its player leaves the board. A player-opened board is closed when it is idle.
"""

from __future__ import annotations

import logging

from thudmud.features.matchmaking.reactors import LEAST_GRACE
from thudmud.game.asides import Gone, WentOut
from thudmud.game.events import Absent, Adjourned, BattleEnded, Cleared, Left
from thudmud.game.feature import AppliedEvent
from thudmud.game.hall import Decision
from thudmud.game.table import Table
from thudmud.game.tables import free_abandoned_seats, free_deserted_practice
from thudmud.service.coroutines import run_eagerly
from thudmud.service.event_applier import EventApplier
from thudmud.service.interface import Base
from thudmud.store import ConflictError, StoreError

RETRY = 5.0
"""Seconds before another attempt to store something."""

SLACK = 1.0
"""Seconds added to a timer, so that it doesn't fire early by a rounding error."""

_log = logging.getLogger(__name__)


class Janitor:
    """Cleans up boards: at once when a player leaves them, and after a grace period.

    Args:
        base: the parts of the service that all others share. Without timers, seats aren't freed
            after the grace period.
        following: stores events.
    """

    def __init__(self, base: Base, following: EventApplier) -> None:
        self._hall, self._applier, self._clock = base.hall, following, base.clock
        self._scheduler = base.scheduler
        self._stopped = False
        base.bus.subscribe((Gone, WentOut), self._room_left)
        base.bus.subscribe((Left, BattleEnded, Adjourned, Cleared), self._board_left)
        base.bus.subscribe((Absent, BattleEnded), self._absence_changed)

    def stop(self) -> None:
        """Stop cleaning up."""
        self._stopped = True

    def check_all_boards(self) -> None:
        """Check all boards, when a server starts."""
        for table in list(self._hall.tables.values()):
            self._schedule_tidy(table)
            self._clean_up(table.key)

    def _room_left(self, applied: AppliedEvent) -> None:
        left = applied.event
        room = left.room if isinstance(left, Gone | WentOut) else None
        if room and room in self._hall.tables:
            self._clean_up(self._hall.tables[room].key)

    def _board_left(self, applied: AppliedEvent) -> None:
        if applied.table:
            self._clean_up(applied.table.key)

    def _absence_changed(self, applied: AppliedEvent) -> None:
        if applied.table and (table := self._hall.tables.with_key(applied.table.key)):
            self._schedule_tidy(table)

    def _clean_up(self, key: str) -> None:
        """Adjourn a deserted practice, or close an idle board."""
        table = self._hall.tables.with_key(key)
        if table is None or self._stopped:
            return
        if self._hall.is_deserted(table):
            run_eagerly(self._adjourn_practice(key))
        elif self._hall.is_idle(table):
            run_eagerly(self._close(key))

    def _schedule_tidy(self, table: Table) -> None:
        """Schedule `_tidy` for the end of the grace period of a board's absent players."""
        grace = table.grace
        if table.away and grace is not None:
            at = max(_grace_period_end(table, grace), self._clock()) + SLACK
            self._scheduler.schedule(
                ("absence", table.key), at, lambda: run_eagerly(self._tidy(table.key))
            )

    def _schedule_retry(self, key: str) -> None:
        """Schedule another attempt, after the store has failed."""
        at = self._clock() + RETRY
        self._scheduler.schedule(("clean up", key), at, lambda: self._clean_up(key))

    async def _tidy(self, key: str) -> None:
        """Free the seats at a board whose grace period is over, and close the board if idle."""
        table = self._hall.tables.with_key(key)
        if table is None:
            return
        grace = table.grace
        if grace is None:
            return  # a battle with a clock ends by time
        if table.away and _grace_period_end(table, grace) > self._clock():
            self._schedule_tidy(table)  # another player has left since
            return
        try:
            if events := free_abandoned_seats(table, self._clock()):
                await self._applier.write(Decision("", table.name, table.version, events))
        except StoreError as error:
            if not isinstance(error, ConflictError):
                _log.error("could not tidy a board: %s", error, extra={"board": table.name})
            self._schedule_tidy(table)
            return
        self._clean_up(key)

    async def _adjourn_practice(self, key: str) -> None:
        """Adjourn a practice whose player left the board."""
        try:
            while (table := self._hall.tables.with_key(key)) and self._hall.is_deserted(table):
                events = free_deserted_practice(
                    table, next(iter(table.seats.values())), self._clock()
                )
                try:
                    await self._applier.write(Decision("", table.name, table.version, events))
                except ConflictError as conflict:
                    await self._applier.wait_past_conflict(conflict)
        except StoreError as error:
            _log.error(
                "could not adjourn a match: %s",
                error,
                extra={"board": self._hall.tables.name_for_key(key)},
            )
            self._schedule_retry(key)
            return
        self._clean_up(key)

    async def _close(self, key: str) -> None:
        try:
            await self._applier.close_idle_board(key)
        except StoreError as error:
            _log.error(
                "could not close a board: %s",
                error,
                extra={"board": self._hall.tables.name_for_key(key)},
            )
            self._schedule_retry(key)


def _grace_period_end(table: Table, grace: float) -> float:
    """Return the time at which the grace period of a table's absent players ends."""
    return max(table.away.values()) + max(grace, LEAST_GRACE)
