"""Decisions about tables: seats, turns, offers and time.

Each function computes, from a table, the events that should happen next. It changes nothing:
the events happen when they are stored and applied.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import ClassVar

from thudmud.errors import InvalidValueError, RefusedError
from thudmud.game.asides import Aside, Invited
from thudmud.game.command import Command, CommandContext
from thudmud.game.events import (
    BATTLES,
    NO_BOTS,
    Absent,
    Adjourned,
    BattleEnded,
    Cleared,
    ClockHeld,
    IdleWarned,
    Left,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    Resumed,
    Returned,
    SavedMatch,
    TableEvent,
    TournamentRound,
)
from thudmud.game.hall import Decision
from thudmud.game.match import RATED_PLIES, Match
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_hall_board
from thudmud.game.table import Table
from thudmud.rules import (
    Ending,
    Game,
    IllegalMoveError,
    Outcome,
    Reason,
    Side,
)
from thudmud.values import Value, replace

Events = tuple[TableEvent, ...]


class Context(Value):
    """The inputs of a decision other than the table.

    Attributes:
        now: the time, in seconds since the epoch.
        members: the names of the people here who have accounts.
        askers: the names of the people who invited the player to the board.
        here: the names of the people in the board's room; None where presence doesn't matter.
        first_move: seconds for the first move of each side before its clock starts.
    """

    now: float
    members: Container[str] = frozenset()
    askers: Container[str] = frozenset()
    here: Container[str] | None = None
    first_move: float = 0.0


class GameCommand(Command):
    """Base class of commands about a board.

    The board is given in the player's words, such as ``"oak board"``, ``"2nd board"`` or ``"it"``;
    `thudmud.game.resolution` resolves them.
    """

    @property
    def on(self) -> str | None:
        """The words for the board, None if left out; a field of each subclass."""
        raise NotImplementedError


class TableCommand(GameCommand):
    """Base class of commands that change a table.

    Attributes:
        needs_seat: whether only seated players can give the command.
        in_battle: whether the command is about the running battle, and so comes too late once a
            flag has fallen.
        needs_confirmation: whether a player may have to confirm the command, see `confirmation`.
    """

    needs_seat: ClassVar[bool] = True
    in_battle: ClassVar[bool] = False
    needs_confirmation: ClassVar[bool] = False

    def confirmation(self, table: Table, player: str) -> RefusedError | None:
        """Return the question that a player must answer first; None to carry on at once."""
        return None

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        """Return the command's events at a table; raises like `decide`."""
        raise NotImplementedError

    def decide(self, context: CommandContext) -> Decision:
        if self.needs_seat:
            require_playing(context, self.on)
        table = self.resolve_table(context)
        hall = context.hall
        inputs = Context(context.now, hall.people.members, first_move=hall.first_move)
        return table_decision(context, table, decide(table, context.me, self, inputs))

    def resolve_table(self, context: CommandContext) -> Table:
        """Return the table that the command is about.

        Raises:
            RefusedError: no board or more than one fits.
        """
        return resolve_hall_board(context.hall, context.person, self.on)


class BattleCommand(TableCommand):
    """Base class of commands about the running battle at a board."""

    on: str | None = None
    in_battle = True


def table_decision(
    context: CommandContext, table: Table, events: Events, *asides: Aside
) -> Decision:
    """Return the decision for events at a table, preceded by asides."""
    return Decision(context.me, table.name, table.version, events, asides)


def require_playing(context: CommandContext, on: str | None) -> None:
    """Raise RefusedError if a player without a seat is in the hall and names no board."""
    hall = context.hall
    is_anywhere = on is not None or context.person.room is not None
    if not is_anywhere and hall.opens_boards and not hall.tables.seats_of(context.me):
        raise RefusedError(Refusal.NOT_PLAYING)


def decide(table: Table, player: str, command: TableCommand, context: Context) -> Events:
    """Return the events of a command at a table.

    A player whom the table has as absent comes back first, and a flag that should have fallen
    falls first.

    Args:
        table: the current table.
        player: the name of the player, who is here even if the table has them as absent.
        command: the command; its ``on`` is ignored.
        context: the time, and other inputs.

    Raises:
        RefusedError: the state of the table does not allow the command.
        IllegalMoveError: the rules of the game do not allow the move.
    """
    back = come_back(table, player, context.now) if table.away else ()
    standing = fold_events(table, back) if back else table
    if standing.clock and (fallen := end_on_time(standing, context.now)):
        back, standing = (*back, *fallen), fold_events(standing, fallen)
        if command.in_battle:
            return back  # the battle had ended before the command came
    events = command.decide_at_table(standing, player, context)
    return (*back, *events) if back else events


def resume(table: Table, player: str, saved: SavedMatch, context: Context) -> Events:
    """Return the events that resume an adjourned match at a table.

    Raises:
        RefusedError: another player holds a seat, or another match is under way.
    """
    freed = free_both_seats({saved.dwarf, saved.troll}, table, player, context)
    return (*freed, Resumed(context.now, player, saved))


def fold_events(table: Table, events: Events) -> Table:
    """Return the table after events, in order."""
    for event in events:
        table = table.apply(event)
    return table


def end_battle(table: Table, game: Game, player: str, outcome: Outcome, now: float) -> BattleEnded:
    """Return the event that ends the battle at a table.

    Args:
        table: the table.
        game: the battle's current game, which may be ahead of the table's.
        player: the player whose command ends the battle.
        outcome: the outcome.
        now: the time.
    """
    if table.match is None:
        raise InvalidValueError(f"there is no battle to end at the {table.name}")
    match: Match = table.match.with_game(replace(game, outcome=outcome), table.match.clock)
    plies = len(game.moves)
    points = (match.points(Side.DWARF), match.points(Side.TROLL)) if match.is_over else None
    # A second battle may be resigned before its first ply; the match counts nevertheless.
    is_second = match.battle == BATTLES and match.levels == NO_BOTS
    rated = match.rated and (plies >= RATED_PLIES or is_second)
    players = match.dwarf, match.troll
    return BattleEnded(now, player, outcome, plies, *players, rated, points, match.levels)


# Time: events that come without a command.


def next_due_time(table: Table) -> float | None:
    """Return when `overdue_events` will next return events; None for never."""
    if table.clock:
        return table.clock.deadline
    return idle_warning_time(table, table.idle_since) if table.warned_at is None else None


def idle_warning_time(table: Table, since: float) -> float | None:
    """Return when a player who is idle from ``since`` on will be warned; None for never."""
    if not is_waited_for(table):
        return None
    return since + table.idle_limit - table.idle_warning


def overdue_events(table: Table, now: float) -> Events:
    """Return the overdue events: the fall of a flag, or the warning of an idle player."""
    if table.clock:
        return end_on_time(table, now)
    moment = next_due_time(table)
    return () if moment is None or now < moment else warn_idle_player(table, now)


def end_on_time(table: Table, now: float) -> tuple[BattleEnded, ...]:
    """Return the end of the battle if the flag of the side to move has fallen; else ()."""
    clock, match = table.clock, table.match
    if match is None or clock is None or now < clock.deadline:
        return ()
    game = match.game
    outcome = game.ruleset.resigned_outcome(game.position, game.turn)
    loser = match.dwarf if game.turn is Side.DWARF else match.troll
    return (end_battle(table, game, loser, replace(outcome, ending=Ending.TIME), now),)


def stop_clock_for_outage(
    table: Table, interruptions: Iterable[tuple[float, float]], now: float
) -> Events:
    """Return the event that takes outages off the clock, if any overlap with its running time.

    Args:
        table: the current table.
        interruptions: the beginning and end of each outage, in seconds since the epoch.
        now: the time, in seconds since the epoch.
    """
    if table.clock is None:
        return ()
    at = table.clock.at
    seconds = sum(max(0.0, until - max(since, at)) for since, until in interruptions)
    return (ClockHeld(now, "", seconds),) if seconds else ()


def is_waited_for(table: Table) -> bool:
    """Whether a person waits for a ply of another, without a clock and with both present."""
    return not table.away and may_idle(table)


def may_idle(table: Table) -> bool:
    """Whether a person waits for a ply of another, without a clock; either may be absent."""
    if not (table.is_running and table.is_full and table.idle_limit) or table.clock:
        return False
    return not table.is_practice and table.levels == NO_BOTS


def is_chronically_absent(table: Table, side: Side, now: float) -> bool:
    """Whether a seat's holder is absent, and the table was idle for too long.

    A player who comes and goes restarts the grace period of the seat, but not this one.
    """
    if side not in table.away or table.is_by_correspondence or not table.idle_limit:
        return False
    return now - table.waiting_since >= (table.grace or 0.0) + table.idle_limit


def warn_idle_player(table: Table, now: float) -> Events:
    """Return the warning that the battle of the player to move can soon be claimed."""
    side = require_running_game(table).turn
    return (IdleWarned(now, table.seats[side], side),)


def offer(table: Table, player: str, what: Offer, now: float, moves: int = 1) -> Events:
    """Return the event of a player's offer; ``moves`` is the number of moves to take back.

    Raises:
        RefusedError: the player has no seat, or has made the same offer already.
    """
    side = require_seat(table, player)
    if table.offers.get(what) is side:
        other = table.seats[side.other]
        raise RefusedError(Refusal.ALREADY_OFFERED, board=table.name, player=other, offer=what)
    return (Offered(now, player, what, moves),)


# Seats: leaving, coming back, and freeing a seat for others.


def leave_seat(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return the events by which a player gives up all seats at a table.

    Raises:
        RefusedError: the player has no seat at the table.
    """
    require_seat(table, player)
    left = tuple(Left(now, player, side, parting) for side in table.sides_of(player))
    if len(left) < len(table.seats):
        # An offer is made to a person, so it lapses when either player leaves.
        return (*lapse_offers(table, player, now), *left)
    return left if table.is_new else (*left, Cleared(now, player))


def prepare_closing(table: Table, player: str, now: float) -> Events:
    """Return the events before a board is closed: its match is adjourned, or it is cleared.

    There is always at least one event, so that a concurrent decision at the same version runs into
    a conflict.
    """
    fallen = end_on_time(table, now)
    standing = fold_events(table, fallen)
    if standing.match and standing.has_match_under_way:
        return (*fallen, Adjourned(now, player, standing.match.saved(now)))
    return (*fallen, Cleared(now, player))


def leave_server(
    table: Table, player: str, parting: Parting, now: float, since: float | None = None
) -> Events:
    """Return the events at a table when a seated player leaves the server.

    The seat is kept, unless the player left on purpose and nobody waits: no match is under way, the
    battle is practice, or no ply was played yet against a bot.

    Args:
        table: the table.
        player: the player's name.
        parting: why they leave.
        now: the current time, in seconds since the epoch.
        since: since when the player has been away, if that is earlier.
    """
    if fallen := end_on_time(table, now):
        after = fold_events(table, fallen)
        return (*fallen, *leave_server(after, player, parting, now, since))
    if parting in {Parting.LEFT, Parting.QUIT}:
        match = table.match
        is_empty = match and match.battle == 1 and not (match.game.moves or match.tournament)
        if not table.has_match_under_way or (is_empty and table.levels != NO_BOTS):
            return leave_seat(table, player, parting, now)
        if table.is_practice:
            return free_deserted_practice(table, player, now)
    require_seat(table, player)
    here = [side for side in table.sides_of(player) if side not in table.away]
    waited = 0.0 if since is None else max(0.0, now - since)
    return tuple(Absent(now, player, side, parting, waited) for side in here)


def free_abandoned_seats(table: Table, now: float) -> Events:
    """Return the events that free the seats of players who have been away too long.

    A match is adjourned if all its players have been away too long.
    """
    events: Events = ()
    for side in table.seats:
        events += free_seat_for(fold_events(table, events), side, "", Context(now)) or ()
    return events


def free_deserted_practice(table: Table, player: str, now: float) -> Events:
    """Return the events that free the board of a practice whose player has gone elsewhere.

    The practice is adjourned if it is under way and a ply was played.
    """
    if table.match and table.has_match_under_way and table.match.game.moves:
        return (Adjourned(now, player, table.match.saved()),)
    return leave_seat(table, player, Parting.LEFT, now)


def come_back(table: Table, player: str, now: float) -> Events:
    """Return the events by which an absent player comes back to a table; () if not absent."""
    away = [side for side in table.sides_of(player) if side in table.away]
    return tuple(Returned(now, player, side) for side in away)


def free_seat_for(table: Table, side: Side, player: str, context: Context) -> Events | None:
    """Return the events that free a seat for a player; None if the holder keeps the seat.

    Seats in a match under way are not freed one by one: the match is adjourned once all its players
    have been away too long. A tournament match is never adjourned like that; its clock ends it.
    """
    holder = table.seats.get(side)
    if holder is None or holder == player:
        return ()
    if table.match and table.has_match_under_way:
        if not table.match.tournament and all(
            table.is_long_away(each, context.now) for each in table.seats
        ):
            return (Adjourned(context.now, player, table.match.saved(context.now)),)
        return None
    if table.is_long_away(side, context.now):
        return leave_seat(table, holder, Parting.LOST, context.now)
    return None


def free_both_seats(players: Container[str], table: Table, player: str, context: Context) -> Events:
    """Return the events that free both seats for a match.

    Args:
        players: the players of the match, who may hold the seats.
        table: the table.
        player: the one who gave the command.
        context: the time, and other inputs.

    Raises:
        RefusedError: another player keeps a seat, or a match is under way.
    """
    freed: Events = ()
    for side in Side:
        standing = fold_events(table, freed)
        if standing.seats.get(side) in players and not standing.has_match_under_way:
            continue
        gone = free_seat_for(standing, side, player, context)
        if gone is None:
            raise RefusedError(Refusal.BOARD_IN_USE, board=table.name)
        freed += gone
    if fold_events(table, freed).has_match_under_way:
        raise RefusedError(Refusal.BOARD_IN_USE, board=table.name)
    return freed


def require_long_absence(table: Table, side: Side, context: Context) -> None:
    """Raise RefusedError unless the holder of a seat has been away long enough to claim from."""
    holder, since = table.seats[side], table.away.get(side)
    if table.clock and (since is None or table.grace is None):
        raise RefusedError(Refusal.CLOCK_RUNS, player=holder)
    if since is None or table.grace is None:
        raise RefusedError(Refusal.NOT_AWAY, player=holder)
    wait = since + table.grace - context.now
    if wait > 0:
        raise RefusedError(Refusal.TOO_SOON, player=holder, seconds=wait)


def require_seat(table: Table, player: str) -> Side:
    """Return the side of a player; for both sides, the side to move.

    Raises:
        RefusedError: the player has no seat.
    """
    side = table.side_of(player)
    if side is None:
        raise RefusedError(Refusal.NOT_SEATED, board=table.name, seats=table.seating)
    return side


def require_running_game(table: Table) -> Game:
    """Return the game of the running battle.

    Raises:
        RefusedError: no battle is running.
    """
    match = table.match
    if match and match.is_running:
        return match.game
    code = Refusal.BATTLE_OVER if match else Refusal.NO_BATTLE
    raise RefusedError(code, board=table.name, seats=table.seating)


def require_turn(table: Table, side: Side) -> None:
    """Refuse an action of a side in the opponent's turn.

    Raises:
        RefusedError: the opponent is to move.
        IllegalMoveError: the same, and the opponent's seat is free.
    """
    other = side.other
    if table.game and table.game.turn is other:
        if player := table.seats.get(other):
            raise RefusedError(Refusal.OPPONENTS_TURN, player=player, side=other)
        raise IllegalMoveError(Reason.NOT_YOUR_TURN, side=other)


def tournament_match_refusal(table: Table, of: TournamentRound) -> RefusedError:
    """Return the refusal of a command that would disrupt a tournament match."""
    return RefusedError(Refusal.IN_TOURNAMENT, board=table.name, number=of.number)


def lapse_offers(table: Table, player: str, now: float) -> tuple[OfferLapsed, ...]:
    """Return the events by which a player's other action lapses all open offers."""
    return tuple([OfferLapsed(now, player, offer) for offer in table.offers])


def make_invitation(
    table: Table,
    player: str,
    to: str,
    side: Side | None,
    context: Context,
    *,
    level: int | None = None,
) -> Invited:
    """Return the invitation of a player to a seat.

    Args:
        table: the table with the seat.
        player: the player who invites.
        to: the player invited.
        side: the side of the seat; None for any free seat.
        context: the time, and other inputs.
        level: the level of an invited bot; None for the bot's default.

    Raises:
        RefusedError: there is no such seat for the invited player.
    """
    if to == player:
        raise RefusedError(Refusal.INVITE_SELF, board=table.name, side=side or Side.DWARF)
    theirs = table.side_of(to)
    if theirs:
        raise RefusedError(Refusal.PLAYS_THERE, board=table.name, player=to, side=theirs)
    seat = _free_seat(table, player, to, side, context)
    return Invited(player, to, table.name, seat, level)


def free_seats(table: Table, player: str, to: str, context: Context) -> list[Side]:
    """Return the seats to which a player can invite another.

    Args:
        table: the table.
        player: the player who invites, whose own seats are left out.
        to: the player invited.
        context: the time, and other inputs.

    Raises:
        RefusedError: there is no such seat.
    """
    free = [
        each
        for each in Side
        if table.seats.get(each) != player and free_seat_for(table, each, to, context) is not None
    ]
    if not free:
        raise RefusedError(Refusal.NO_SEAT_FREE, board=table.name, seats=table.seating)
    return free


def _free_seat(table: Table, player: str, to: str, side: Side | None, context: Context) -> Side:
    if side is None:
        return free_seats(table, player, to, context)[0]
    if side in table.sides_of(player):
        raise RefusedError(Refusal.SAME_SEAT, board=table.name, side=side)
    if free_seat_for(table, side, to, context) is None:
        raise RefusedError(
            Refusal.SEAT_NOT_FREE,
            board=table.name,
            player=table.seats[side],
            side=side,
            seats=table.seating,
        )
    return side
