"""The ``hint`` command."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.hints.model import AdviceLookup, HintRefusal
from thudmud.game.advice import advice
from thudmud.game.command import CommandContext, verb
from thudmud.game.hall import Decision
from thudmud.game.meaning import board_meant
from thudmud.game.tables import GameCommand, battle, require_playing, require_turn, seat


@verb("hint")
class Hint(GameCommand):
    """Ask for a hint on one's turn. Refused during a rated battle."""

    on: str | None = None
    asks_adviser = True

    def decide(self, scene: CommandContext) -> Decision:
        require_playing(scene, self.on)
        table = board_meant(scene.hall, scene.person, self.on)
        side = seat(table, scene.me)
        if rated := scene.hall.rated_board(scene.me):
            raise RefusedError(HintRefusal.NO_HINTS_RATED, board=rated)
        game = battle(table)
        require_turn(table, side)
        line = scene.found[AdviceLookup(table.key, game)]
        if line is None:
            raise RefusedError(HintRefusal.HINT_FAILED, board=table.name)
        return scene.answer(self, table.name, advice(game, line))
