"""Decisions for commands, and for players who connect or leave.

The logic of a single command is in its class, in `thudmud.features`. Nothing here changes state.
"""

from __future__ import annotations

from thudmud.game import events, hooks
from thudmud.game.archive import NOTHING_FOUND, LookupResults
from thudmud.game.asides import CaughtUp, Entered, Gone
from thudmud.game.command import Command, CommandContext
from thudmud.game.hall import Decision, Hall
from thudmud.game.more import Quit
from thudmud.game.options import Profile
from thudmud.game.sanctions import require_not_muted
from thudmud.game.table import Table
from thudmud.game.tables import come_back, leave_server

_TOLD_TO_ALL = (
    events.SeekMade,
    events.BoardOpened,
    events.TournamentMade,
    events.TournamentEntered,
    events.TournamentPaused,
)
"""Events that are announced to everybody in the hall and that a player can repeat alone."""


def decide(
    hall: Hall, player: str, command: Command, now: float, found: LookupResults = NOTHING_FOUND
) -> list[Decision]:
    """Compute the decisions for a command, in commit order.

    Args:
        hall: the current state of the hall.
        player: the name of the player, who must be connected.
        command: the command.
        now: the current time, in seconds since the epoch.
        found: the answers to the command's lookups.

    Raises:
        RefusedError: a table or the hall does not allow the command.
        IllegalMoveError: the rules of the game do not allow the move.
        LookupNeededError: a lookup has to be answered first.
    """
    if isinstance(command, Quit):
        return decide_departure(hall, player, events.Parting.QUIT, now)
    if hall.order and command.is_spoken():
        require_not_muted(hall.order, player, now)
    context = CommandContext(hall, hall.people[player], now, found, player)
    if context.person.private:
        for decide_privately in hooks.private_deciders:
            if decision := decide_privately(context, command):
                return [decision]
    return [command.decide(context)]


def is_limited(hall: Hall, decision: Decision) -> bool:
    """Whether a decision counts towards the player's rate limit on disturbing others.

    Anything that others are told, or that is stored for ever, counts. The exception is an action
    that no player can repeat alone: a ply needs the opponent's ply first, an answer needs an offer,
    and an end needs a beginning. Practice has no opponent, so its plies count if anybody watches.
    """
    for event in decision.hall:
        if isinstance(event, _TOLD_TO_ALL):
            return True
    if not decision.events:
        for aside in decision.asides:  # noqa: SIM110  (a generator would be called, for each line)
            if aside.is_limited:
                return True
        return False
    board = str(decision.board)
    match decision.events[-1]:
        case (
            events.Moved()
            | events.Declined()
            | events.TakenBack()
            | events.Adjourned()
            | events.BattleEnded()
        ):
            if not hall.tables[board].is_practice:
                return False
            return bool(hall.rooms.occupants_and_observers(board).members - {decision.player})
        case events.BattleStarted():
            agreed = {events.Offer.RESTART, events.Offer.REMATCH, events.Offer.BEGIN}
            return agreed.isdisjoint(hall.tables[board].offers)
        case _:
            return True


_NEW_IN_THE_HALL = (
    events.BoardOpened,
    events.SeekMade,
    events.TournamentMade,
    events.TournamentEntered,
    events.PuzzleTried,
    events.Commented,
)
"""Events of the hall that begin or add something and that a player can repeat alone."""


def is_deferrable(hall: Hall, decision: Decision) -> bool:
    """Whether storing a decision can be delayed without harm to other players.

    Actions that begin something, or that a player does alone at a board, can be delayed. A ply
    against an opponent can't, nor can the end of the battle or the second battle of the match: the
    opponent is waiting. These urgent actions are bounded, since a battle has a maximum length and a
    match has two battles.
    """
    if any(isinstance(event, _NEW_IN_THE_HALL) for event in decision.hall):
        return True
    if not decision.events:
        return False
    table = hall.tables[str(decision.board)]
    match decision.events[-1]:
        case events.Moved():
            return table.is_practice
        case events.BattleStarted():
            return not table.half_played
        case (
            events.Joined()
            | events.RulesSet()
            | events.PositionSet()
            | events.TimeSet()
            | events.TakenBack()
            | events.Resumed()
        ):
            return True
        case _:
            return False


# Players who connect or leave: their seats are kept, given up or resumed.


def decide_departure(
    hall: Hall, player: str, parting: events.Parting, now: float
) -> list[Decision]:
    """Compute the decisions for a player who leaves: first at each seat, then in the hall."""
    left: list[Decision] = []
    for table in hall.tables.seats_of(player):
        gone_away = leave_server(table, player, parting, now)
        left.append(Decision(player, table.name, table.version, gone_away))
    room = hall.people[player].room
    gone = Gone(
        player, room, parting, is_announced=room in {each.board for each in left if each.events}
    )
    return [*left, Decision(player, asides=(gone,))]


def decide_arrival(
    hall: Hall,
    player: str,
    now: float,
    profile: Profile,
    *,
    member: bool,
    room: str | None = None,
    adjourned: bool = False,
    found: LookupResults = NOTHING_FOUND,
) -> list[Decision]:
    """Compute the decisions for a player who enters the server.

    Args:
        hall: the current state of the hall.
        player: the player's name.
        now: the current time, in seconds since the epoch.
        profile: the player's stored preferences.
        member: whether the player has an account.
        room: the board to enter; by default the most urgent one where the player has a seat, see
            `_seats_by_urgency`, else the hall.
        adjourned: whether the player has an adjourned match.
        found: the answers to lookups at entry, as in `Entered`.
    """
    kept = _seats_by_urgency(hall, player, now)
    seats = [table.name for table in kept]
    room = room or next(iter(seats), None)
    back = [
        Decision(player, table.name, table.version, come_back(table, player, now)) for table in kept
    ]
    entered = Entered(
        player,
        room,
        member,
        tuple(profile.styles.items()),
        profile.options,
        adjourned,
        profile.ignored,
        profile.news,
        found,
        profile.followed,
        profile.plan,
        active=now,
    )
    caught_up = [
        CaughtUp(player, table.name, tuple(hall.missed.get((table.name, side), ())))
        for table in kept
        if (side := table.side_of(player))
    ]
    if room and room not in seats:
        caught_up.append(CaughtUp(player, room))
    shown = Decision(player, room, asides=(*caught_up,))
    return [Decision(player, asides=(entered,)), *back, shown]


_BACK_WITHIN = 3600.0
"""Seconds for which a player who returns is led back to the board that they left."""


def _seats_by_urgency(hall: Hall, player: str, now: float) -> list[Table]:
    """Return the tables with a player's seats: the one to return to comes first.

    That is where they were in a match when they left, unless that is long ago; then a table whose
    clock is running, even in the opponent's turn; then one where it is their turn.
    """
    before = hall.people.left.get(player)

    def rank(table: Table) -> tuple[bool, bool, bool]:
        side = table.side_of(player)
        since = table.away.get(side, now) if side else now
        was_here = (
            before is not None
            and before.room == table.name
            and table.has_match_under_way
            and now - since < _BACK_WITHIN
        )
        return not was_here, not table.has_live_clock, not table.is_turn_of(player)

    return sorted(hall.tables.seats_of(player), key=rank)
