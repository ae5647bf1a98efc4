"""Tells newcomers, who have never finished a battle, how to move.

They are told below the first board at which it is their turn, and reminded if they do not move for
a minute. After their first ply they are not told any more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from thudmud.play.archive import PlayerScore
from thudmud.play.asides import MoveTaught
from thudmud.play.events import Moved
from thudmud.play.feature import AppliedEvent
from thudmud.play.table import Table
from thudmud.service.interface import Base
from thudmud.views.sentences import TURNED

AGAIN = 60.0
"""After how many seconds without a ply they are reminded."""


class Teaching:
    """Knows who is new here, and tells them how to move.

    Args:
        base: what the parts of a service share. Without timers, they are told once.
        tell: tells an aside to a player who is here.
        has_hints: whether there is an adviser for hints.

    Attributes:
        new: by newcomer who is here and has not moved, whether they were told.
    """

    def __init__(self, base: Base, tell: Callable[[MoveTaught], None], *, has_hints: bool) -> None:
        self._hall, self._clock = base.hall, base.clock
        self._tell, self._has_hints = tell, has_hints
        self._scheduler = base.scheduler
        self.new: dict[str, bool] = {}
        base.bus.on(Moved, self._moved)
        base.bus.on(TURNED, self._turned)

    def learn(self, name: str, score: PlayerScore | None) -> None:
        """Note that a player came in, and their results."""
        if score is None or score == PlayerScore(score.name, puzzles=score.puzzles):
            if any(_has_moved(table, name) for table in self._hall.tables.seats_of(name)):
                return
            self.new[name] = False
            for table in self._hall.tables.seats_of(name):
                self._watch(table)

    def forget(self, name: str) -> None:
        """Forget a player who has moved, or left."""
        if self.new.pop(name, None) is not None:
            self._scheduler.cancel(("newcomer", name))

    def _moved(self, applied: AppliedEvent) -> None:
        if self.new:
            self.forget(cast("Moved", applied.event).player)

    def _turned(self, applied: AppliedEvent) -> None:
        key = applied.table.key if self.new and applied.table else ""
        if table := self._hall.tables.with_key(key):
            self._watch(table)

    def _watch(self, table: Table) -> None:
        """Tell a newcomer whose turn it is at a table, unless they were told."""
        name = self._waited_for(table)
        if name is not None and not self.new[name]:
            self.new[name] = True
            self._teach(name, table, again=False)
            again = partial(self._again, name, table.key)
            self._scheduler.at(("newcomer", name), self._clock() + AGAIN, again)

    def _again(self, name: str, key: str) -> None:
        table = self._hall.tables.with_key(key)
        if table and self._waited_for(table) == name:
            self._teach(name, table, again=True)

    def _waited_for(self, table: Table) -> str | None:
        """Return the newcomer whose turn it is, if one has the turn and sees the board."""
        name = table.seats.get(table.game.turn) if table.game and table.running else None
        person = self._hall.people.get(name) if name in self.new else None
        return None if person is None or person.exercise else name

    def _teach(self, name: str, table: Table, *, again: bool) -> None:
        hints = self._has_hints and self._hall.rated_board(name) is None
        self._tell(MoveTaught(name, table.name, hints, again))


def _has_moved(table: Table, name: str) -> bool:
    """Whether a seated player has played a ply of the battle on a board."""
    if table.game is None:
        return False
    first, plies = table.game.opening.turn, len(table.game.moves)
    return any(plies > (side is not first) for side in table.sides_of(name))
