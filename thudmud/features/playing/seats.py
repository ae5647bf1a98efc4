"""Commands for taking and leaving seats, including practice (both seats for one player)."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.playing.moves import forfeit_match, score_if_dropped
from thudmud.game import tables
from thudmud.game.command import CommandContext, close_private_board, verb, walk_asides
from thudmud.game.events import MADE, NO_BOTS, BattleStarted, Joined, Parting
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_hall_board
from thudmud.game.table import Table
from thudmud.game.tables import Context, Events, TableCommand
from thudmud.rules import Side
from thudmud.values import replace


class SitDown(TableCommand):
    """Base class of commands that take one seat or both, walking the player to the board first."""

    def decide(self, context: CommandContext) -> Decision:
        # From the hall, a player with seats at several boards has to name the board.
        hall, person = context.hall, context.person
        if self.on is None and person.room is None and len(hall.tables.seats_of(context.me)) > 1:
            raise RefusedError(Refusal.SAY_WHICH, boards=tuple(hall.tables))
        table = resolve_hall_board(hall, person, self.on)
        if table.key.startswith(MADE) and context.me not in {*hall.bots, *table.seats.values()}:
            require_boards(hall, context.me)
        asked = person.invitations.items()
        askers = frozenset(by for by, each in asked if each.board == table.name)
        inputs = Context(context.now, hall.people.members, askers)
        events = tables.decide(table, context.me, self.fill_in(context), inputs)
        walks = walk_asides(person, table.name, sits=True) if person.room != table.name else ()
        return tables.table_decision(context, table, events, *close_private_board(person), *walks)

    def fill_in(self, context: CommandContext) -> TableCommand:
        """Return the command with missing fields filled in from the hall."""
        return self


@verb("join", join_at="at_board")
class Join(SitDown):
    """Take a seat at a board; the only free one if ``side`` is None.

    ``level`` is for bots; it can't be typed.
    """

    side: Side | None = None
    on: str | None = None
    level: int | None = None
    words = "join game"
    typed = "side", "on"

    @classmethod
    def at_board(cls, on: str | None, side: Side | None) -> Join:
        return cls(side, on)

    def fill_in(self, context: CommandContext) -> Join:
        return replace(self, level=context.hall.level(context.me, self.level))

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        mine, side = table.side_of(player), self.side
        if mine and side in {None, *table.sides_of(player)}:
            raise RefusedError(Refusal.SAME_SEAT, board=table.name, side=side or mine)
        if mine:
            may_practise = not table.has_match_under_way and len(table.seats) == 1
            raise RefusedError(
                Refusal.ONE_SEAT_EACH, board=table.name, side=mine, may_practise=may_practise
            )
        if side is None:
            side, *others = tables.free_seats(table, player, player, context)
            if others:
                raise RefusedError(Refusal.WHICH_SEAT, board=table.name)
        freed = tables.free_seat_for(table, side, player, context)
        if freed is None:
            raise RefusedError(
                Refusal.SEAT_TAKEN,
                board=table.name,
                player=table.seats.get(side),
                side=side,
                seats=table.seating,
            )
        left = tables.fold_events(table, freed)
        other = left.seats.get(side.other)
        is_theirs = left.reserved_for(side) in {None, player}
        if other and not is_theirs and other not in context.askers:
            raise RefusedError(Refusal.SEAT_IN_MATCH, board=table.name, player=other, side=side)
        return (*freed, Joined(context.now, player, side, self.level))


@verb("practice")
class Practice(SitDown):
    """Take both seats and begin a battle, under the board's ruleset or a named one."""

    rules: str | None = None
    on: str | None = None

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        if table.has_match_under_way and table.side_of(player):
            raise RefusedError(Refusal.MATCH_UNDER_WAY, board=table.name, seats=table.seating)
        freed = tables.free_both_seats({player}, table, player, context)
        standing = tables.fold_events(table, freed)
        rules = self.rules or standing.ruleset.name
        opening = standing.opening if rules == standing.ruleset.name else None
        began = BattleStarted(context.now, player, 1, rules, player, player, opening=opening)
        return (*freed, began)


@verb("leave")
class Leave(TableCommand):
    """Give up a seat. This forfeits a rated match that already counts."""

    on: str | None = None
    words = "leave game"
    needs_confirmation = True

    def confirmation(self, table: Table, player: str) -> RefusedError | None:
        match, side = table.match, tables.require_seat(table, player)
        if match is None or match.is_over or not table.is_full or table.is_practice:
            return None
        if not match.needs_confirmation_to_drop(side):
            return None
        return RefusedError(
            Refusal.SURE_LEAVES,
            board=table.name,
            player=table.seats[side.other],
            score=score_if_dropped(table, side),
            loses=match.is_binding,
        )

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        match, side = table.match, tables.require_seat(table, player)
        lost: Events = ()
        if match and table.has_match_under_way and table.is_full:
            if match.tournament:
                raise tables.tournament_match_refusal(table, match.tournament)
            if match.is_binding:
                lost = forfeit_match(table, side, context)
        standing = tables.fold_events(table, lost)
        if standing.clock and table.levels == NO_BOTS:  # it would stop until their return
            raise RefusedError(Refusal.LEAVES_CLOCK, board=table.name)
        return (*lost, *tables.leave_seat(standing, player, Parting.LEFT, context.now))


def require_boards(hall: Hall, player: str, asks: str = "") -> None:
    """Require that a player may occupy another of the boards that players open.

    Args:
        hall: the hall, whose `caps.boards` is the limit.
        player: the player who would get a seat.
        asks: the player who gave the command, if known; it decides the wording of the refusal.

    Raises:
        RefusedError: the player already has seats at the maximum number of such boards in use.
    """
    theirs = hall.tables.player_boards_in_use_by(player)
    if len(theirs) >= hall.caps.boards:
        code = Refusal.BOARDS_TOO_MANY if asks in {"", player} else Refusal.THEIR_BOARDS_TOO_MANY
        most, free = hall.caps.boards, hall.tables.first_empty_standing_board()
        raise RefusedError(code, most=most, boards=tuple(theirs), player=player, free=free)
