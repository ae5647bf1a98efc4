"""The ``hint`` command."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.hints.model import AdviceLookup, HintRefusal
from thudmud.game.advice import build_advice
from thudmud.game.command import CommandContext, verb
from thudmud.game.hall import Decision
from thudmud.game.resolution import resolve_board
from thudmud.game.tables import (
    GameCommand,
    require_playing,
    require_running_game,
    require_seat,
    require_turn,
)


@verb("hint")
class Hint(GameCommand):
    """Ask for a hint on one's turn. Refused during a rated battle."""

    on: str | None = None
    asks_adviser = True

    def decide(self, context: CommandContext) -> Decision:
        require_playing(context, self.on)
        table = resolve_board(context.hall, context.person, self.on)
        side = require_seat(table, context.me)
        if rated := context.hall.board_of_rated_battle(context.me):
            raise RefusedError(HintRefusal.NO_HINTS_RATED, board=rated)
        game = require_running_game(table)
        require_turn(table, side)
        line = context.found[AdviceLookup(table.key, game)]
        if line is None:
            raise RefusedError(HintRefusal.HINT_FAILED, board=table.name)
        return context.decide_answer(self, table.name, build_advice(game, line))
