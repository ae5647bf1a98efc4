"""Commands on variations: ``variation``, ``evaluate`` and ``retry``."""

from __future__ import annotations

from typing import Any, Self

from thudmud.errors import RefusedError
from thudmud.features.archive.commands import ArchiveCommand
from thudmud.features.matchmaking.commands import nearest_bot, seat_players
from thudmud.features.playing.opening import decide_at_new_board
from thudmud.features.variations.model import (
    MOST_PLIES,
    EvaluationLookup,
    VariationPosition,
    VariationRefusal,
    running_game_after,
)
from thudmud.game.archive import GOES_ON
from thudmud.game.command import PARTS, CommandContext, verb
from thudmud.game.events import BattleStarted
from thudmud.game.hall import Decision
from thudmud.game.resolution import resolve_battle, resolve_level
from thudmud.game.seeks import require_no_live_clock
from thudmud.rules import Game, IllegalMoveError, Side

PARTS.update(variation_plies=lambda *plies: plies)


class VariationCommand(ArchiveCommand):
    """Base class of commands on a variation of a finished battle.

    Attributes:
        number: the number of the battle.
        ply: the number of the battle's own plies before the variation.
        plies: the plies of the variation, in record notation.
    """

    number: int
    ply: int = 0
    plies: tuple[str, ...] = ()

    def __str__(self) -> str:
        line = f" {', '.join(self.plies)}" if self.plies else ""
        return f"{self.words}{self._typed('number', 'ply')}{line}"

    def position(self, context: CommandContext) -> VariationPosition:
        """Return the position after the variation.

        Raises:
            RefusedError: the battle isn't over, a ply is illegal, or the player is in a rated
                battle.
            LookupNeededError: the battle has to be looked up first.
        """
        number, ply = self.number, self.ply
        if rated := context.hall.board_of_rated_battle(context.me):
            raise RefusedError(VariationRefusal.NO_VARIATIONS_RATED, board=rated)
        known, whole = resolve_battle(number, context.found)
        if known.battle.state in GOES_ON:
            raise RefusedError(VariationRefusal.VARIATION_LATER, number=number)
        if ply > (last := len(whole.moves)):
            raise RefusedError(
                VariationRefusal.VARIATION_NO_PLY, number=number, ply=ply, plies=last
            )
        if len(self.plies) > MOST_PLIES:
            raise RefusedError(VariationRefusal.VARIATION_TOO_LONG, most=MOST_PLIES)
        game = running_game_after(whole, ply)
        for each in self.plies:
            game = _play(game, each)
        return VariationPosition(known.battle, ply, game)


def _play(game: Game, ply: str) -> Game:
    try:
        return game.push(ply)
    except IllegalMoveError:
        raise
    except ValueError:
        raise RefusedError(VariationRefusal.VARIATION_PIECE, ply=ply) from None


@verb("variation")
class ViewVariation(VariationCommand):
    """Show a position after a variation."""

    is_question = True

    def decide(self, context: CommandContext) -> Decision:
        return context.decide_answer(self, answer=self.position(context))


@verb("evaluate")
class Evaluate(VariationCommand):
    """Evaluate a position after a variation, and find the best line."""

    is_question = True
    asks_adviser = True

    def decide(self, context: CommandContext) -> Decision:
        position = self.position(context)
        _require_running(position)
        found = context.found[EvaluationLookup(position)]
        if found is None:
            raise RefusedError(VariationRefusal.EVALUATION_FAILED)
        return context.decide_answer(self, answer=(position, found))


def _require_running(position: VariationPosition) -> None:
    if position.game.outcome:
        raise RefusedError(VariationRefusal.VARIATION_OVER)


@verb(retry="of")
class Retry(VariationCommand):
    """Begin a match with a bot, at a new board, from a position after a variation.

    Attributes:
        side: the player's side; None for the side to move.
        level: the bot's level, as typed; None for its default.
    """

    side: Side | None = None
    level: str | None = None

    @classmethod
    def of(cls, number: int, ply: int | None, plies: tuple[str, ...] | None, terms: Any) -> Self:
        return cls(number, ply or 0, plies or (), **(terms or {}))

    def __str__(self) -> str:
        return f"{super().__str__()}{self._typed('side', 'level')}"

    def decide(self, context: CommandContext) -> Decision:
        hall, me = context.hall, context.me
        position = self.position(context)
        _require_running(position)
        require_no_live_clock(hall, me)
        game, rules = position.game, position.game.ruleset
        bot = nearest_bot(context, rules.name)
        if bot is None:
            raise RefusedError(VariationRefusal.VARIATION_NO_BOTS)
        level = None if self.level is None else resolve_level(hall, bot, self.level).number
        opening = None if game.position == rules.initial_position else game.position
        dwarf, troll = seat_players(me, bot, self.side or game.turn)
        begun = BattleStarted(context.now, me, 1, rules.name, dwarf, troll, opening=opening)
        return decide_at_new_board(context, (), begun, level=level)
