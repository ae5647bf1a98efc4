"""Decides commands, and what happens when players come and go.

What each command does is in its class, in `thudmud.features`. Deciding changes nothing.
"""

from __future__ import annotations

from thudmud.game import events, hooks
from thudmud.game.archive import NOTHING_FOUND, Found
from thudmud.game.asides import CaughtUp, Entered, Gone
from thudmud.game.command import Command, Scene
from thudmud.game.hall import Decision, Hall
from thudmud.game.more import Quit
from thudmud.game.options import Profile
from thudmud.game.sanctions import require_not_muted
from thudmud.game.tables import come_back, vanish

_TOLD_TO_ALL = (
    events.SeekMade,
    events.BoardOpened,
    events.TournamentMade,
    events.TournamentEntered,
    events.TournamentPaused,
)
"""Events that everybody in the hall is told of, and that a player can bring about again."""


def decide(
    hall: Hall, player: str, command: Command, now: float, found: Found = NOTHING_FOUND
) -> list[Decision]:
    """Return the decisions for a command, to be committed in this order.

    Args:
        hall: the hall as it stands.
        player: the name of the player, who is here.
        command: the command.
        now: the time, in seconds since the epoch.
        found: what has been looked up for it.

    Raises:
        Refused: a table or the hall does not allow it.
        IllegalMove: the rules of the game do not allow it.
        Unread: something has to be looked up first.
    """
    if isinstance(command, Quit):
        return part(hall, player, events.Parting.QUIT, now)
    if hall.order and command.is_spoken():
        require_not_muted(hall.order, player, now)
    scene = Scene(hall, hall.people[player], now, found, player)
    if scene.person.private:
        for decide_privately in hooks.private_deciders:
            if decision := decide_privately(scene, command):
                return [decision]
    return [command.decide(scene)]


def is_limited(hall: Hall, decision: Decision) -> bool:
    """Whether a decision counts towards how often a player may disturb others.

    All that others are told of, or that is stored for ever, counts, except what nobody can repeat
    alone: a ply waits for the opponent's, an answer for an offer, and an end for a beginning. In
    practice nothing waits, so it counts if anybody else watches.
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
            return bool(hall.rooms.told_of(board).members - {decision.player})
        case events.BattleStarted():
            agreed = {events.Offer.RESTART, events.Offer.REMATCH}
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
"""Events of the hall that begin or add something, and that a player can bring about again."""


def can_wait(hall: Hall, decision: Decision) -> bool:
    """Whether what a decision has stored can wait, without harm to anybody else.

    All can that begins something, or that a player does alone at a board. A ply in a battle with
    somebody else cannot, nor can its end, nor the second battle of their match: the opponent waits
    for it. Nobody can go on for ever by these: a battle has a longest length, and a match two of
    them.
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


# Coming and going: seats are kept, given up or taken again.


def part(hall: Hall, player: str, parting: events.Parting, now: float) -> list[Decision]:
    """Return the decisions for a player who leaves: at each seat, and then from the hall."""
    left: list[Decision] = []
    for table in hall.tables.seats_of(player):
        gone_away = vanish(table, player, parting, now)
        left.append(Decision(player, table.name, table.version, gone_away))
    room = hall.people[player].room
    gone = Gone(player, room, parting, told=room in {each.board for each in left if each.events})
    return [*left, Decision(player, asides=(gone,))]


def arrive(
    hall: Hall,
    player: str,
    now: float,
    profile: Profile,
    *,
    member: bool,
    room: str | None = None,
    adjourned: bool = False,
    found: Found = NOTHING_FOUND,
) -> list[Decision]:
    """Return the decisions for a player who comes in. ``adjourned``: a match of theirs is put away.

    ``found`` is as for `Entered`.

    They come to the board ``room`` if given, else to a board where a seat was kept, else to the
    hall.
    """
    kept = sorted(hall.tables.seats_of(player), key=lambda table: not table.is_turn_of(player))
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
