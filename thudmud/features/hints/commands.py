"""The ``hint`` command.

In a battle between two people, hints are an advantage that only one of them has. So there are none
where the time is short, and the opponent hears of each.
"""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.hints.model import AdviceLookup, HintGiven, HintRefusal
from thudmud.game.advice import build_advice
from thudmud.game.command import CommandContext, verb
from thudmud.game.events import NO_BOTS
from thudmud.game.hall import Decision
from thudmud.game.resolution import resolve_board
from thudmud.game.tables import (
    GameCommand,
    require_playing,
    require_running_game,
    require_seat,
    require_turn,
)
from thudmud.values import replace


@verb("hint")
class Hint(GameCommand):
    """Ask for a hint on one's turn. Refused in rated battles, and with a clock between people."""

    on: str | None = None
    asks_adviser = True

    def decide(self, context: CommandContext) -> Decision:
        require_playing(context, self.on)
        table = resolve_board(context.hall, context.person, self.on)
        side = require_seat(table, context.me)
        if rated := context.hall.board_of_rated_battle(context.me):
            raise RefusedError(HintRefusal.NO_HINTS_RATED, board=rated)
        game = require_running_game(table)
        has_opponent = table.levels == NO_BOTS and table.is_full and not table.is_practice
        if has_opponent and table.time:
            raise RefusedError(HintRefusal.NO_HINTS_CLOCK, board=table.name)
        require_turn(table, side)
        line = context.found[AdviceLookup(table.key, game)]
        if line is None:
            raise RefusedError(HintRefusal.HINT_FAILED, board=table.name)
        answer = context.decide_answer(self, table.name, build_advice(game, line))
        if not has_opponent:
            return answer
        asked = HintGiven(context.me, table.seats[side.other], table.name)
        return replace(answer, asides=(*answer.asides, asked))
