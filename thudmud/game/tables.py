"""Decides what happens at a table: seats, turns, offers and time.

A decision is events that have not happened yet.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import ClassVar

from thudmud.errors import RefusedError
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
from thudmud.game.meaning import resolve_hall_board
from thudmud.game.refusals import Refusal
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
    """What a decision needs to know beyond the table.

    Attributes:
        now: the time, in seconds since the epoch.
        members: the names of those here who have accounts.
        askers: the names of those who invited the player to the board.
        here: the names of those in the room of the board; None where that does not matter.
    """

    now: float
    members: Container[str] = frozenset()
    askers: Container[str] = frozenset()
    here: Container[str] | None = None


class GameCommand(Command):
    """A command about a board. ``on`` has the player's words for it.

    The words may be ``"oak board"``, ``"2nd board"`` or ``"it"``, or None if they were left out.
    Only the hall knows which board they mean.
    """

    @property
    def on(self) -> str | None:
        """The words; a field of each of these commands."""
        raise NotImplementedError


class TableCommand(GameCommand):
    """A command that changes a table.

    Attributes:
        needs_seat: whether only seated players can give it.
        in_battle: whether it is about the running battle, so that it comes too late once a flag has
            fallen.
        needs_confirmation: whether a player who types it may be asked first whether they mean it,
            see `confirmation`.
    """

    needs_seat: ClassVar[bool] = True
    in_battle: ClassVar[bool] = False
    needs_confirmation: ClassVar[bool] = False

    def confirmation(self, table: Table, player: str) -> RefusedError | None:
        """Return what a player is asked before it is carried out at a table; None for nothing."""
        return None

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        """Return its events at a table; raises as `decide` does."""
        raise NotImplementedError

    def decide(self, scene: CommandContext) -> Decision:
        if self.needs_seat:
            require_playing(scene, self.on)
        table = self.resolve_table(scene)
        context = Context(scene.now, scene.hall.people.members)
        return table_decision(scene, table, decide(table, scene.me, self, context))

    def resolve_table(self, scene: CommandContext) -> Table:
        """Return the table that the command is about; raises RefusedError if none is meant."""
        return resolve_hall_board(scene.hall, scene.person, self.on)


class BattleCommand(TableCommand):
    """A command about the running battle at a board."""

    on: str | None = None
    in_battle = True


def table_decision(scene: CommandContext, table: Table, events: Events, *asides: Aside) -> Decision:
    """Return the decision for events at a table, after some asides."""
    return Decision(scene.me, table.name, table.version, events, asides)


def require_playing(scene: CommandContext, on: str | None) -> None:
    """Raise RefusedError if a player has no seat, is at no board and names none."""
    hall = scene.hall
    is_anywhere = on is not None or scene.person.room is not None
    if not is_anywhere and hall.opens_boards and not hall.tables.seats_of(scene.me):
        raise RefusedError(Refusal.NOT_PLAYING)


def decide(table: Table, player: str, command: TableCommand, context: Context) -> Events:
    """Return the events of ``command`` at ``table``.

    Args:
        table: the table as it stands.
        player: the name of the player, who is here even if the table still says they are away.
        command: the command; its ``on`` is ignored.
        context: when, and what else matters.

    Raises:
        RefusedError: the table does not allow it.
        IllegalMoveError: the rules of the game do not allow it.
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
    """Return the events that resume a match at ``table``.

    Raises:
        RefusedError: somebody else sits there, or another match is under way.
    """
    freed = free_both_seats({saved.dwarf, saved.troll}, table, player, context)
    return (*freed, Resumed(context.now, player, saved))


def fold_events(table: Table, events: Events) -> Table:
    """Return the table after ``events``."""
    for event in events:
        table = table.apply(event)
    return table


def end_battle(table: Table, game: Game, player: str, outcome: Outcome, now: float) -> BattleEnded:
    """Return the end of the battle at ``table``, whose game is ``game`` by now."""
    if table.match is None:
        raise ValueError(f"no battle to end at the {table.name}")
    match: Match = table.match.with_game(replace(game, outcome=outcome), table.match.clock)
    plies = len(game.moves)
    points = (match.points(Side.DWARF), match.points(Side.TROLL)) if match.is_over else None
    # A second battle may be given up before it begins. Then the first one still counts.
    is_second = match.battle == BATTLES and match.levels == NO_BOTS
    rated = match.rated and (plies >= RATED_PLIES or is_second)
    players = match.dwarf, match.troll
    return BattleEnded(now, player, outcome, plies, *players, rated, points, match.levels)


# Time: what happens if nobody does anything.


def next_due_time(table: Table) -> float | None:
    """Return the next time at which `overdue_events` may have events; None for never."""
    if table.clock:
        return table.clock.deadline
    is_due = table.warned_at is None and is_waited_for(table)
    return table.idle_since + table.idle_limit - table.idle_warning if is_due else None


def overdue_events(table: Table, now: float) -> Events:
    """Return the events due by now: a fallen flag, or a warning to an idle player."""
    if table.clock:
        return end_on_time(table, now)
    moment = next_due_time(table)
    return () if moment is None or now < moment else warn_idle_player(table, now)


def end_on_time(table: Table, now: float) -> tuple[BattleEnded, ...]:
    """Return the end of the battle if the side to move has no time left."""
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
    """Return the event that the clock stood still while no server ran, if it did.

    Args:
        table: the table as it stands.
        interruptions: when no server ran: since and until when.
        now: the time, in seconds since the epoch.
    """
    if table.clock is None:
        return ()
    at = table.clock.at
    seconds = sum(max(0.0, until - max(since, at)) for since, until in interruptions)
    return (ClockHeld(now, "", seconds),) if seconds else ()


def is_waited_for(table: Table) -> bool:
    """Whether a person here waits for a ply of another person here, without a clock."""
    return not table.away and may_idle(table)


def may_idle(table: Table) -> bool:
    """Whether a person waits for a ply of another person, without a clock."""
    if not (table.is_running and table.is_full and table.idle_limit) or table.clock:
        return False
    return not table.is_practice and table.levels == NO_BOTS


def is_chronically_absent(table: Table, side: Side, now: float) -> bool:
    """Whether the absent holder of a seat comes and goes, and has begun no battle for long."""
    if side not in table.away or table.is_by_correspondence or not table.idle_limit:
        return False
    return now - table.waiting_since >= (table.grace or 0.0) + table.idle_limit


def warn_idle_player(table: Table, now: float) -> Events:
    """Return the warning that the idle player's battle can soon be claimed."""
    side = require_running_game(table).turn
    return (IdleWarned(now, table.seats[side], side),)


def offer(table: Table, player: str, what: Offer, now: float) -> Events:
    """Return a player's offer; raises RefusedError if it is open already, or they have no seat."""
    side = require_seat(table, player)
    if table.offers.get(what) is side:
        other = table.seats[side.other]
        raise RefusedError(Refusal.ALREADY_OFFERED, board=table.name, player=other, offer=what)
    return (Offered(now, player, what),)


# Seats: leaving, coming back, and when a seat is free for others.


def leave_seat(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return the events by which ``player`` gives up their seat at ``table``.

    Raises:
        RefusedError: ``player`` has no seat here.
    """
    require_seat(table, player)
    left = tuple(Left(now, player, side, parting) for side in table.sides_of(player))
    if len(left) < len(table.seats):
        # An offer is made to a person, so it lapses when either leaves.
        return (*lapse_offers(table, player, now), *left)
    return left if table.is_new else (*left, Cleared(now, player))


def prepare_closing(table: Table, player: str, now: float) -> Events:
    """Return the events before a board is closed: its match is put away, or it is cleared.

    There is always one, so that anything else decided at that version finds a conflict.
    """
    fallen = end_on_time(table, now)
    standing = fold_events(table, fallen)
    if standing.match and standing.has_match_under_way:
        return (*fallen, Adjourned(now, player, standing.match.saved(now)))
    return (*fallen, Cleared(now, player))


def leave_server(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return the events at ``table`` when ``player``, who has a seat, leaves the server.

    The seat is kept, unless they left on purpose and nobody waits for them: no match is under way,
    it is practice, or nothing was played yet against a bot.
    """
    if fallen := end_on_time(table, now):
        return (*fallen, *leave_server(fold_events(table, fallen), player, parting, now))
    if parting in {Parting.LEFT, Parting.QUIT}:
        match = table.match
        is_empty = match and match.battle == 1 and not (match.game.moves or match.tournament)
        if not table.has_match_under_way or (is_empty and table.levels != NO_BOTS):
            return leave_seat(table, player, parting, now)
        if table.is_practice:
            return free_deserted_practice(table, player, now)
    require_seat(table, player)
    here = [side for side in table.sides_of(player) if side not in table.away]
    return tuple(Absent(now, player, side, parting) for side in here)


def free_abandoned_seats(table: Table, now: float) -> Events:
    """Return the events once players have been away for longer than others have to wait.

    Their seats become free. A match that nobody can go on with is put away.
    """
    events: Events = ()
    for side in table.seats:
        events += free_seat_for(fold_events(table, events), side, "", Context(now)) or ()
    return events


def free_deserted_practice(table: Table, player: str, now: float) -> Events:
    """Return the events that free the board of a practice whose player has gone elsewhere.

    The practice is put away if it is not over and a ply was played.
    """
    if table.match and table.has_match_under_way and table.match.game.moves:
        return (Adjourned(now, player, table.match.saved()),)
    return leave_seat(table, player, Parting.LEFT, now)


def come_back(table: Table, player: str, now: float) -> Events:
    """Return the events at ``table`` when ``player`` is back, if they were away."""
    away = [side for side in table.sides_of(player) if side in table.away]
    return tuple(Returned(now, player, side) for side in away)


def free_seat_for(table: Table, side: Side, player: str, context: Context) -> Events | None:
    """Return the events that free a seat for ``player``; None if its holder keeps it.

    Seats in a match under way are not freed one by one: the match is put away if all its players
    have been away for long. One of a tournament is not: its clock ends it.
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
    """Return the events that free both seats for some players, one of whom asks.

    Raises:
        RefusedError: somebody else sits there, or a match is under way.
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
    """Raise RefusedError if the holder of a seat is here, or has not been away long enough."""
    holder, since = table.seats[side], table.away.get(side)
    if table.clock and (since is None or table.grace is None):
        raise RefusedError(Refusal.CLOCK_RUNS, player=holder)
    if since is None or table.grace is None:
        raise RefusedError(Refusal.NOT_AWAY, player=holder)
    wait = since + table.grace - context.now
    if wait > 0:
        raise RefusedError(Refusal.TOO_SOON, player=holder, seconds=wait)


def require_seat(table: Table, player: str) -> Side:
    """Return the side that ``player`` plays; if both, the side to move.

    Raises:
        RefusedError: they play none.
    """
    side = table.side_of(player)
    if side is None:
        raise RefusedError(Refusal.NOT_SEATED, board=table.name, seats=table.seating)
    return side


def require_running_game(table: Table) -> Game:
    """Return the game of the running battle.

    Raises:
        RefusedError: there is none.
    """
    match = table.match
    if match and match.is_running:
        return match.game
    code = Refusal.BATTLE_OVER if match else Refusal.NO_BATTLE
    raise RefusedError(code, board=table.name, seats=table.seating)


def require_turn(table: Table, side: Side) -> None:
    """Raise RefusedError if it is not a side's turn in the running battle."""
    other = side.other
    if table.game and table.game.turn is other:
        if player := table.seats.get(other):
            raise RefusedError(Refusal.OPPONENTS_TURN, player=player, side=other)
        raise IllegalMoveError(Reason.NOT_YOUR_TURN, side=other)


def tournament_match_refusal(table: Table, of: TournamentRound) -> RefusedError:
    """Return the refusal of what would spoil a match of a tournament."""
    return RefusedError(Refusal.IN_TOURNAMENT, board=table.name, number=of.number)


def lapse_offers(table: Table, player: str, now: float) -> tuple[OfferLapsed, ...]:
    """Return the events by which all open offers lapse, because ``player`` does something else."""
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
    """Return the invitation of a player by another.

    Args:
        table: where.
        player: who asks.
        to: who is asked.
        side: the seat; None for a free one.
        context: when, and what else matters.
        level: the level of an invited bot; None for its usual one.

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
    """Return the seats that ``to`` can have, other than those of ``player``, who asks.

    Raises:
        RefusedError: there is none.
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
