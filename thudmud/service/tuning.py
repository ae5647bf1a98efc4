"""Turns tvs to another board when a battle ends, or begins while they show none."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from thudmud.play import events
from thudmud.play.table import Table
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.driving import now
from thudmud.service.interface import Base

TURNING = (
    events.BattleStarted,
    events.BattleEnded,
    events.Resumed,
    events.Adjourned,
    events.Cleared,
    events.Left,
)
"""What begins or ends a battle, or stops it."""


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
            now(self._turn(name))
