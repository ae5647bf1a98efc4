"""Cleans up after players who left: seats, and boards that nobody needs.

A player who lost the connection has some minutes to come back. After that their seat is freed if no
match is under way, and a match that both have left is put away. A practice is put away at once when
its player leaves the board. A player-opened board is closed when nobody needs it.
"""

from __future__ import annotations

import logging

from thudmud.play.asides import Gone, WentOut
from thudmud.play.events import Adjourned, BattleEnded, Cleared, Left
from thudmud.play.hall import Decision
from thudmud.play.table import Table
from thudmud.play.telling import Telling
from thudmud.service.alarms import Alarms
from thudmud.service.driving import now
from thudmud.service.following import Following
from thudmud.service.interface import Base
from thudmud.service.seeking import LEAST_GRACE
from thudmud.store import Conflict, StoreError
from thudmud.verbs.tables import deserted, tidied

SLACK = 1.0
"""Seconds added against rounding errors."""

_log = logging.getLogger(__name__)


class Tidying:
    """Cleans up some time after a player left, or at the end of a turn.

    Args:
        base: what the parts of a service share. Without timers, seats are not freed after a time.
        following: stores the events.

    Attributes:
        left: the keys of boards that somebody left in this turn.
    """

    def __init__(self, base: Base, following: Following) -> None:
        self._hall, self._following, self._clock = base.hall, following, base.clock
        self._boards = Alarms(base.clock, base.later)
        """By the key of a board, alarms for looking at it again."""
        self.left: set[str] = set()
        self._stopped = False

    def stop(self) -> None:
        """Stop, and cancel everything planned."""
        self._stopped = True
        self._boards.close()

    def begin(self) -> None:
        """Look at everything kept for absent players, when a server starts."""
        for table in self._hall.tables.values():
            self.wait_for(table)
            self.left.add(table.key)
        self.turn_ended()

    def note(self, telling: Telling) -> None:
        """Take note of what a player leaves behind."""
        room = telling.table.name if telling.table else None
        match telling.event:
            case Gone(room=left) | WentOut(room=left):
                room = left
            case Left() | BattleEnded() | Adjourned() | Cleared():
                pass
            case _:
                return
        if room is not None and room in self._hall.tables:
            self.left.add(self._hall.tables[room].key)

    def turn_ended(self) -> None:
        """Do what had to wait until no lock was held."""
        keys, self.left = self.left, set()
        for key in keys:
            table = self._hall.tables.with_key(key)
            if table is None or self._stopped:
                continue
            if self._hall.is_deserted(table):
                now(self._put_away(key))
            elif self._hall.is_idle(table):
                now(self._close(key))

    def wait_for(self, table: Table) -> None:
        """Look at a board again once nobody has to wait for its absent players."""
        grace = table.grace
        if table.away and grace is not None:
            at = max(_due(table, grace), self._clock()) + SLACK
            self._boards.set(table.key, at, lambda: now(self._tidy(table.key)))

    async def _tidy(self, key: str) -> None:
        """Free the seats at a board that were kept long enough, and close it if nobody needs it."""
        table = self._hall.tables.with_key(key)
        if table is None:
            return
        grace = table.grace
        if grace is None:
            return  # a clock sees to it
        if table.away and _due(table, grace) > self._clock():
            self.wait_for(table)  # somebody else left meanwhile
            return
        try:
            if events := tidied(table, self._clock()):
                await self._following.write(Decision("", table.name, table.version, events))
        except StoreError as error:
            if not isinstance(error, Conflict):
                _log.error("not stored: %s", error, extra={"board": table.name})
            self.wait_for(table)
            return
        self.left.add(key)
        self.turn_ended()

    async def _put_away(self, key: str) -> None:
        """Put away a practice whose player left the board."""
        try:
            while (table := self._hall.tables.with_key(key)) and self._hall.is_deserted(table):
                events = deserted(table, next(iter(table.seats.values())), self._clock())
                try:
                    await self._following.write(Decision("", table.name, table.version, events))
                except Conflict as conflict:
                    await self._following.until(conflict)
        except StoreError as error:
            _log.error("not put away: %s", error, extra={"board": self._hall.tables.called(key)})
            self.left.add(key)  # the end of another turn tries again
            return
        self.left.add(key)
        self.turn_ended()

    async def _close(self, key: str) -> None:
        try:
            await self._following.close_idle_board(key)
        except StoreError as error:
            _log.error("not closed: %s", error, extra={"board": self._hall.tables.called(key)})
            self.left.add(key)  # the end of another turn tries again


def _due(table: Table, grace: float) -> float:
    """Return when nobody has to wait any longer for the absent players of a table."""
    return max(table.away.values()) + max(grace, LEAST_GRACE)
