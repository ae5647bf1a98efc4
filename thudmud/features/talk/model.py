"""The notice that players don't receive observers' talk, and the player to reply to."""

from __future__ import annotations

from thudmud.game.asides import AtBoard, Told, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall, applies, apply_to_another
from thudmud.game.people import PersonPart


class LastTeller(PersonPart):
    """The last player who has told this one something; None for nobody yet."""

    name: str | None = None


@applies(Told)
def _apply_told(told: Told, hall: Hall) -> Delivery:
    if to := hall.people.get(told.to):
        to.keep(LastTeller(told.player))
    return apply_to_another(told, hall)


class DeafNoticeShown(PersonPart):
    """Marks a player who has received the notice `DeafNotice`."""


@aside
class DeafNotice(AtBoard):
    """An observer is informed, once, that players at the board don't receive their talk."""


@applies(DeafNotice)
def _apply_players_deaf(deaf: DeafNotice, hall: Hall) -> Delivery:
    hall.people[deaf.player].keep(DeafNoticeShown())
    return Delivery(deaf, (deaf.player,))
