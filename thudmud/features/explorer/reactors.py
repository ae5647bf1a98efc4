"""Answers onlookers' programs, such as the page before one has come in."""

from __future__ import annotations

from thudmud.errors import Refused
from thudmud.features.explorer.messages import explored
from thudmud.features.explorer.model import ExploredPosition, ExploreLookup, ExplorerRefusal
from thudmud.game.archive import GOES_ON, FoundBattle
from thudmud.game.feature import FeatureContext
from thudmud.game.refusals import Refusal
from thudmud.views.data import Fact


def setup(service: FeatureContext) -> None:
    """Answer the request ``explore`` of onlookers' programs."""

    async def answer(found: FoundBattle, ply: int) -> Fact:
        """Tell what was played from a position of a battle that is over.

        Others could have the program of a player ask for them while they play it.
        """
        number = found.battle.number
        if found.game is None:
            raise Refused(Refusal.NO_SUCH_BATTLE, number=number)
        if found.battle.state in GOES_ON:
            raise Refused(ExplorerRefusal.EXPLORE_LATER, number=number)
        game = found.game.after(min(ply, len(found.game.moves)))
        played = await service.look_up(ExploreLookup(game.ruleset.name, game.position))
        return explored(ExploredPosition.of(found.game, number, ply, played), None)

    service.answer_onlookers("explore", answer)
