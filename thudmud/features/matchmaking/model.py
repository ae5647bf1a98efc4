"""The answer to a declined invitation."""

from __future__ import annotations

from thudmud.game.asides import ToAnother, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall, applies, apply_to_another


@aside
class InvitationDeclined(ToAnother):
    """A player declined an invitation to a board.

    Attributes:
        board: the name of the board.
        battle: the number of the adjourned battle to be resumed there; None for an invitation to a
            seat.
    """

    board: str
    battle: int | None = None


@applies(InvitationDeclined)
def _apply_turned_down(down: InvitationDeclined, hall: Hall) -> Delivery:
    if asked := hall.people.get(down.player):
        asked.invitations.pop(down.to, None)
    return apply_to_another(down, hall)
