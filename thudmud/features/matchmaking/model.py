"""The answer to an invitation."""

from __future__ import annotations

from thudmud.game.asides import ToAnother, aside
from thudmud.game.hall import Hall
from thudmud.game.telling import Telling


@aside
class TurnedDown(ToAnother):
    """A player declined an invitation to a seat at a board.

    Attributes:
        board: its name.
        battle: the number of the battle that was to go on there; None if it was about a seat.
    """

    board: str
    battle: int | None = None

    def happen(self, hall: Hall) -> Telling:
        if asked := hall.people.get(self.player):
            asked.invitations.pop(self.to, None)
        return ToAnother.happen(self, hall)  # super() fails: with slots, @aside makes a new class
