"""Opening statistics for programs of onlookers, such as the web page before login."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.explorer.messages import explored
from thudmud.features.explorer.model import ExploredPosition, ExploreLookup, ExplorerRefusal
from thudmud.game.archive import GOES_ON, FoundBattle
from thudmud.game.feature import FeatureContext
from thudmud.game.refusals import Refusal
from thudmud.views.data import Fact


def setup(service: FeatureContext) -> None:
    """Register the onlookers' request ``explore``."""

    async def answer(found: FoundBattle, ply: int) -> Fact:
        """Return the statistics of a position of a finished battle.

        Running battles are refused: onlookers are anonymous, so one could be a program that helps a
        player of that battle.
        """
        number = found.battle.number
        if found.game is None:
            raise RefusedError(Refusal.NO_SUCH_BATTLE, number=number)
        if found.battle.state in GOES_ON:
            raise RefusedError(ExplorerRefusal.EXPLORE_LATER, number=number)
        game = found.game.after(min(ply, len(found.game.moves)))
        played = await service.look_up(ExploreLookup(game.ruleset.name, game.position))
        return explored(ExploredPosition.of(found.game, number, ply, played), None)

    service.register_onlooker_answer("explore", answer)
