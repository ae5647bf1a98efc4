"""The ``explore`` command."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.archive.commands import ArchiveCommand
from thudmud.features.archive.model import replay_of
from thudmud.features.explorer.model import ExploredPosition, ExploreLookup, ExplorerRefusal
from thudmud.game.archive import GOES_ON
from thudmud.game.command import CommandContext, verb
from thudmud.game.hall import Decision
from thudmud.game.resolution import resolve_battle, resolve_query_board
from thudmud.rules import Game


@verb("explore", explore_board="at")
class Explore(ArchiveCommand):
    """Show the opening statistics of a position.

    It is the position of a board, or of a battle after some of its plies. By default it is the one
    in the replay, or else at the player's board. Players can't explore the battle that they are
    playing.

    Attributes:
        number: the number of a battle.
        ply: the number of plies played in it; 0 is its opening.
        on: the words typed for a board.
    """

    number: int | None = None
    ply: int = 0
    on: str | None = None
    is_question = True

    @classmethod
    def of(cls, number: int | None, ply: int | None) -> Explore:
        return cls(number, ply or 0)

    @classmethod
    def at(cls, on: str) -> Explore:
        return cls(on=on)

    def decide(self, context: CommandContext) -> Decision:
        if rated := context.hall.board_of_rated_battle(context.me):
            raise RefusedError(ExplorerRefusal.NO_EXPLORING_RATED, board=rated)
        number, ply, replay = self.number, self.ply, replay_of(context.person)
        if number is None and self.on is None and replay:
            number, ply = replay.battle.number, replay.ply
        if number is None:
            table = resolve_query_board(context.hall, context.person, self.on)
            if table.is_running and table.side_of(context.me) and not table.is_practice:
                raise RefusedError(ExplorerRefusal.NO_EXPLORING_PLAYING, board=table.name)
            game = table.game or Game.start(table.ruleset, table.opening)
            found = context.found[ExploreLookup(game.ruleset.name, game.position)]
            return context.decide_answer(self, table.name, ExploredPosition(game, None, found))
        known, whole = resolve_battle(number, context.found)
        battle = known.battle
        if battle.state in GOES_ON and context.me in battle.players and not battle.is_practice:
            raise RefusedError(ExplorerRefusal.EXPLORE_LATER, number=number)
        game = whole.after(min(ply, len(whole.moves)))
        found = context.found[ExploreLookup(game.ruleset.name, game.position)]
        return context.decide_answer(self, answer=ExploredPosition.of(whole, number, ply, found))
