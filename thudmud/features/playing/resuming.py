"""The command that resumes an adjourned match."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.playing.opening import decide_at_new_board
from thudmud.features.talk.commands import require_not_ignored
from thudmud.game.archive import AdjournedLookup
from thudmud.game.asides import Invited
from thudmud.game.command import CommandContext, verb
from thudmud.game.events import Resumed, SavedMatch
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_hall_board
from thudmud.game.seeks import end_seeks_of_players
from thudmud.game.table import Table
from thudmud.game.tables import Context, GameCommand, resume, table_decision
from thudmud.rules import Side


@verb("resume")
class Resume(GameCommand):
    """Resume an adjourned match by the number of its battle; the only one if it is None."""

    number: int | None = None
    on: str | None = None
    words = "resume game"

    def decide(self, context: CommandContext) -> Decision:
        """Decide to resume a match at the given or current board, or at a new one.

        Practice and matches against bots resume at once, on a new board if no suitable one is
        given. A human opponent is invited first.
        """
        adjourned, room = self._adjourned(context), context.person.room
        hall, me = context.hall, context.me
        is_placed = self.on is not None or (
            room is not None and not hall.tables[room].has_match_under_way
        )
        if not is_placed and hall.opens_boards and hall.version is not None:
            alone = {
                number: saved
                for number, saved in adjourned.items()
                if all(each == me or _is_bot_here(hall, each) for each in _players(saved))
            }
            if len(alone) > 1:
                raise RefusedError(Refusal.WHICH_ADJOURNED, words=None, numbers=tuple(alone))
            for saved in alone.values():
                return decide_at_new_board(context, (), Resumed(context.now, me, saved))
        table = resolve_hall_board(hall, context.person, self.on)
        number, saved = self._ready_at(table, adjourned, context)
        # Raises RefusedError if the match can't be resumed, before the opponent is invited.
        inputs = Context(context.now, hall.people.members)
        resumed = table_decision(context, table, resume(table, me, saved, inputs))
        for side, player in zip(Side, _players(saved), strict=True):
            asked = context.person.invitations.get(player)
            has_agreed = asked and (asked.board, asked.battle) == (table.name, number)
            if player not in {me, *hall.bots} and not has_agreed:
                require_not_ignored(hall, player, me)
                return context.decide_asides(Invited(me, player, table.name, side, battle=number))
        return end_seeks_of_players(hall, resumed, context.now)

    def _adjourned(self, context: CommandContext) -> dict[int, SavedMatch]:
        """Return the player's adjourned matches by number, or only the one that was asked for.

        Raises:
            RefusedError: there is no such match, or none at all.
            LookupNeededError: the adjourned matches have to be looked up first.
        """
        adjourned = {
            away.battle.number: away.match for away in context.found[AdjournedLookup(context.me)]
        }
        if not adjourned:
            going_on = tuple(
                each.name
                for each in context.hall.tables.seats_of(context.me)
                if each.has_match_under_way
            )
            if going_on:
                raise RefusedError(Refusal.GOES_ON_ALREADY, boards=going_on)
            raise RefusedError(Refusal.NOTHING_ADJOURNED)
        if self.number is not None:
            if self.number not in adjourned:
                raise RefusedError(Refusal.NOT_YOURS_TO_RESUME, number=self.number)
            return {self.number: adjourned[self.number]}
        return adjourned

    def _ready_at(
        self, table: Table, adjourned: dict[int, SavedMatch], context: CommandContext
    ) -> tuple[int, SavedMatch]:
        """Return the number and match of the only candidate whose players are all at the table.

        Bots don't have to be at the table; it is enough that they are on the server.

        Raises:
            RefusedError: the player isn't at the table, or not exactly one match qualifies.
        """
        hall, here = context.hall, context.hall.people_in(table.name)
        if context.me not in here:
            raise RefusedError(Refusal.RESUME_THERE, board=table.name)
        ready = {
            number: saved
            for number, saved in adjourned.items()
            if all(each in here or _is_bot_here(hall, each) for each in _players(saved))
        }
        match list(ready.items()):
            case [only]:
                return only
            case []:
                players = {name for saved in adjourned.values() for name in _players(saved)}
                others = tuple(sorted(players - {context.me}))
                raise RefusedError(Refusal.OPPONENT_NOT_THERE, board=table.name, players=others)
        raise RefusedError(Refusal.WHICH_ADJOURNED, words=self.on, numbers=tuple(ready))


def _players(saved: SavedMatch) -> tuple[str, str]:
    return saved.dwarf, saved.troll


def _is_bot_here(hall: Hall, player: str) -> bool:
    return player in hall.bots and player in hall.people
