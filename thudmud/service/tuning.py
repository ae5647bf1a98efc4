"""Turns tvs to another board when a battle ends, or begins while they show none."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from thudmud.play import events
from thudmud.play.table import Table
from thudmud.service.alarms import Alarms
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.driving import now
from thudmud.service.interface import Base
from thudmud.store import StoreError

TURNING = (
    events.BattleStarted,
    events.BattleEnded,
    events.Resumed,
    events.Adjourned,
    events.Cleared,
    events.Left,
    events.Joined,
)
"""What begins or ends a battle, or stops it, or lets it go on as somebody takes a free seat."""

RETRY = 5.0
"""Seconds before it is tried again to turn a tv, if it could not be read which battle is best."""

_log = logging.getLogger(__name__)


class Tuning:
    """Knows whose tvs have to be turned.

    Args:
        base: what the parts of a service share.
        broadcaster: has the visits of those on this node.
        turn: turns a player's tv to the best battle.

    Attributes:
        due: the names of players whose tvs are to be turned once no lock is held.
    """

    def __init__(
        self, base: Base, broadcaster: Broadcaster, turn: Callable[[str], Coroutine[Any, Any, None]]
    ) -> None:
        self._hall, self._broadcaster, self._turn = base.hall, broadcaster, turn
        self._clock, self._retries = base.clock, Alarms(base.clock, base.later)
        self.due: dict[str, None] = {}

    def watch(self, table: Table, event: events.TableEvent) -> None:
        """Take note of an event at a board, which is no mere ply."""
        if isinstance(event, TURNING):
            self._note(table.name if not table.running else "")

    def closed(self) -> None:
        """Take note that a board was closed, which a tv may have shown."""
        self._note("")

    def _note(self, shown: str) -> None:
        for name in self._broadcaster.visits:
            person = self._hall.people.get(name)
            if person and person.tv == shown:
                self.due[name] = None

    def turn_ended(self) -> None:
        """Turn the tvs, now that no lock is held."""
        due, self.due = self.due, {}
        for name in due:
            now(self._turned(name))

    def stop(self) -> None:
        """Try nothing again."""
        self._retries.close()

    async def _turned(self, name: str) -> None:
        """Turn a player's tv, in a while if it cannot be done now."""
        try:
            await self._turn(name)
        except StoreError as error:
            _log.error("a tv was not turned: %s", error, extra={"player": name})
            self._retries.set(name, self._clock() + RETRY, lambda: now(self._turned(name)))
