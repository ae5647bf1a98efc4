"""The notice that a battle's players don't receive observers' talk."""

from __future__ import annotations

from thudmud.game.asides import AtBoard, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall, applies
from thudmud.game.people import PersonPart


class DeafNoticeShown(PersonPart):
    """Marks a player who has received the notice `DeafNotice`."""


@aside
class DeafNotice(AtBoard):
    """An observer is informed, once, that players at the board don't receive their talk."""


@applies(DeafNotice)
def _apply_players_deaf(deaf: DeafNotice, hall: Hall) -> Delivery:
    hall.people[deaf.player].keep(DeafNoticeShown())
    return Delivery(deaf, (deaf.player,))
