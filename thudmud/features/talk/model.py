"""What a player is told about talk, and whether they know it."""

from __future__ import annotations

from thudmud.game.asides import AtBoard, aside
from thudmud.game.hall import Hall, applies
from thudmud.game.people import PersonPart
from thudmud.game.telling import Telling


class KnowsDeaf(PersonPart):
    """Kept once a player has been told that the players at a board do not hear them."""


@aside
class PlayersDeaf(AtBoard):
    """An observer is told, once, that the players at the board do not hear them."""


@applies(PlayersDeaf)
def _apply_players_deaf(deaf: PlayersDeaf, hall: Hall) -> Telling:
    hall.people[deaf.player].keep(KnowsDeaf())
    return Telling(deaf, (deaf.player,))
