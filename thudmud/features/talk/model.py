"""The notice that a battle's players don't receive observers' talk."""

from __future__ import annotations

from thudmud.game.asides import AtBoard, aside
from thudmud.game.hall import Hall, applies
from thudmud.game.people import PersonPart
from thudmud.game.telling import Telling


class KnowsDeaf(PersonPart):
    """Marks a player who has received the notice `PlayersDeaf`."""


@aside
class PlayersDeaf(AtBoard):
    """An observer is informed, once, that players at the board don't receive their talk."""


@applies(PlayersDeaf)
def _apply_players_deaf(deaf: PlayersDeaf, hall: Hall) -> Telling:
    hall.people[deaf.player].keep(KnowsDeaf())
    return Telling(deaf, (deaf.player,))
