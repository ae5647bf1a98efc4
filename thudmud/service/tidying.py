"""What is left of those who are gone: seats, seeks, and boards that nobody needs.

Who loses the connection has some minutes to come back. After that a seat is free where no match is
under way, a match that both have left is put away, and what they sought stands no more. A board
that players have opened is closed when nobody needs it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from thudmud.play.asides import Gone, WentOut
from thudmud.play.events import Adjourned, BattleEnded, Cleared, Left, Parting
from thudmud.play.hall import Decision, Hall, Telling
from thudmud.play.matchmaking import gone
from thudmud.play.table import Table
from thudmud.play.table_decisions import tidied
from thudmud.service.driving import now
from thudmud.service.interface import Handle, Later
from thudmud.store import Conflict, StoreError

LEAST_GRACE = 60.0
"""Seconds for which seats and seeks of those who are gone are kept at least."""

SLACK = 1.0
"""Seconds more, so that nobody is late by a rounding error."""

_log = logging.getLogger(__name__)


class Stores(Protocol):
    """What stores what is decided here."""

    async def write(self, decision: Decision) -> None:
        """Store a decision; when this returns it has been applied and told.

        Raises:
            Conflict: something else came first, and nothing has happened.
            StoreError: it cannot be stored.
        """

    async def until(self, conflict: Conflict) -> None:
        """Wait until what came first has been applied here; StoreError if it will never be."""

    async def close_idle_board(self, key: str) -> None:
        """Close a board unless somebody needs it; StoreError if that cannot be stored."""


class Tidying:
    """Sees to it, some time after somebody has gone, or at the end of a turn.

    Args:
        hall: the boards and the people.
        stores: what stores what is decided.
        clock: returns the seconds since the epoch.
        later: has something done later; None where nothing waits, and nothing is kept for a time.
    """

    def __init__(
        self, hall: Hall, stores: Stores, clock: Callable[[], float], later: Later | None
    ) -> None:
        self._hall, self._stores, self._clock, self._later = hall, stores, clock, later
        self._boards: dict[str, Handle] = {}
        """By the key of a board, when it is looked at again."""
        self._seekers: dict[str, Handle] = {}
        """By name, when what somebody sought stands no more."""
        self._left: set[str] = set()
        """The keys of boards that somebody has left in this turn."""
        self._departed: list[str] = []
        """Those who have left on purpose in this turn."""
        self._stopped = False

    def stop(self) -> None:
        """Do nothing any more."""
        self._stopped = True
        for handle in (*self._boards.values(), *self._seekers.values()):
            handle.cancel()

    def begin(self) -> None:
        """Look at all that is kept for somebody who is not here, as a server starts."""
        for table in self._hall.tables.values():
            self.wait_for(table)
            self._left.add(table.key)
        for name in {seek.player for seek in self._hall.seeks.values()} - self._hall.people.keys():
            self._wait_for_seeker(name)
        self.turn_ended()

    def note(self, telling: Telling, *, is_ours: Callable[[str], bool]) -> None:
        """Take note of what somebody leaves behind.

        Args:
            telling: what has happened.
            is_ours: whether a player is, or was, here and not on another node.
        """
        room = telling.table.name if telling.table else None
        match telling.event:
            case Gone(player=name, room=left, parting=parting):
                room = left
                if any(name in {seek.player, seek.to} for seek in self._hall.seeks.values()):
                    if parting in {Parting.LOST, Parting.RESTART}:
                        self._wait_for_seeker(name)
                    elif is_ours(name):
                        self._departed.append(name)
            case WentOut(room=left):
                room = left
            case Left() | BattleEnded() | Adjourned() | Cleared():
                pass
            case _:
                return
        if room in self._hall.tables:
            self._left.add(self._hall.tables[room].key)

    def turn_ended(self) -> None:
        """Do what had to wait until nobody held a lock."""
        keys, self._left = self._left, set()
        for key in keys:
            table = self._hall.board_with(key)
            if table and self._hall.is_idle(table) and not self._stopped:
                now(self._close(key))
        departed, self._departed = self._departed, []
        for name in departed:
            now(self._end_seeks(name))

    def wait_for(self, table: Table) -> None:
        """See to a board again once those who are away from it need not be waited for."""
        if self._later is None or self._stopped or not table.away or table.key in self._boards:
            return

        def tidy() -> None:
            del self._boards[table.key]
            now(self._tidy(table.key))

        seconds = max(0.0, self._due(table) - self._clock()) + SLACK
        self._boards[table.key] = self._later(seconds, tidy)

    def _due(self, table: Table) -> float:
        """Return when nobody who is away from a table now need be waited for any longer."""
        return max(table.away.values()) + max(table.seat_grace, LEAST_GRACE)

    async def _tidy(self, key: str) -> None:
        """Free the seats at a board that were kept for long, and close it if nobody needs it."""
        table = self._hall.board_with(key)
        if table is None or self._stopped:
            return
        if table.away and self._due(table) > self._clock():
            self.wait_for(table)  # somebody has gone meanwhile
            return
        try:
            if events := tidied(table, self._clock()):
                await self._stores.write(Decision("", table.name, table.version, events))
        except StoreError as error:
            if not isinstance(error, Conflict):
                _log.error("not stored: %s", error, extra={"board": table.name})
            self.wait_for(table)
            return
        self._left.add(key)
        self.turn_ended()

    async def _close(self, key: str) -> None:
        try:
            await self._stores.close_idle_board(key)
        except StoreError as error:
            _log.error("not closed: %s", error, extra={"board": self._hall.called(key)})
            self._left.add(key)  # the end of another turn tries again

    def _wait_for_seeker(self, name: str) -> None:
        """End the seeks of a player who is gone, unless they are back within some minutes."""
        if self._later is None or self._stopped:
            return
        if waiting := self._seekers.pop(name, None):
            waiting.cancel()

        def forget() -> None:
            del self._seekers[name]
            if name not in self._hall.people:
                now(self._end_seeks(name))

        grace = max(self._hall.seat_grace, LEAST_GRACE)
        self._seekers[name] = self._later(grace, forget)

    async def _end_seeks(self, name: str) -> None:
        """Store that what a player sought, or was asked to, stands no more."""
        try:
            while name not in self._hall.people:
                decision = gone(self._hall, name, self._clock())
                if not decision.hall:
                    return
                try:
                    await self._stores.write(decision)
                except Conflict as conflict:
                    await self._stores.until(conflict)
        except StoreError as error:
            _log.error("not stored: %s", error, extra={"player": name})
            self._wait_for_seeker(name)
