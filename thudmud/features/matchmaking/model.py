"""The answer to an invitation."""

from __future__ import annotations

from thudmud.game.asides import ToAnother, aside
from thudmud.game.hall import Hall, applies, apply_to_another
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


@applies(TurnedDown)
def _apply_turned_down(down: TurnedDown, hall: Hall) -> Telling:
    if asked := hall.people.get(down.player):
        asked.invitations.pop(down.to, None)
    return apply_to_another(down, hall)
