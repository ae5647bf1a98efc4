"""Who plays with whom: seeks, matches that are asked for, boards that are opened for them.

A seek says that somebody would like to play with anybody, or with one player. Who accepts it sits
opposite them at a board of its own, where the first battle has begun. That all happens in one
decision, so of two who accept the same seek one is refused. ``accept`` and ``decline`` answer
everything else that is offered, too: invitations to seats, and what is offered at a board.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import assert_never

from thudmud.english import nth
from thudmud.errors import Refused
from thudmud.play.archive import (
    BotList,
    Found,
    ListedBot,
    Performance,
    PlayerScore,
    Pool,
    ScoreLookup,
)
from thudmud.play.asides import Aside, Asked, CameIn, Invited, TurnedDown, WentOut
from thudmud.play.clocks import TimeClass, TimeControl, time_class
from thudmud.play.command import Command
from thudmud.play.commands import (
    OFFERING,
    Accept,
    Challenge,
    Decline,
    Join,
    MatchmakingCommand,
    NewBoard,
    No,
    PlayNow,
    Seek,
    Seeks,
    Withdraw,
)
from thudmud.play.events import (
    MADE,
    NO_BOTS,
    OWN_PROGRAM,
    BattleStarted,
    BoardOpened,
    HallEvent,
    Levels,
    Resumed,
    SeekEnd,
    SeekEnded,
    SeekMade,
    TableEvent,
)
from thudmud.play.hall import Decision, Hall, Person
from thudmud.play.meaning import level_meant, player_meant
from thudmud.play.options import Toggle
from thudmud.play.refusals import Refusal
from thudmud.play.table import Table
from thudmud.rules import DEFAULT_RULES, Side
from thudmud.verbs.exercises import put_aside
from thudmud.verbs.tables import Context, made_free


@dataclass(frozen=True, slots=True)
class Standing:
    """Something that was offered to a player and still stands.

    Attributes:
        player: who has offered it.
        accepting: what takes it.
        declining: what refuses it.
        seek: the number of the seek that it is, if it is one.
        invited: the invitation that it is, if it is one.
    """

    player: str
    accepting: Command
    declining: Command
    seek: int | None = None
    invited: Invited | None = None


def decide(
    command: MatchmakingCommand, hall: Hall, person: Person, context: Context, found: Found
) -> Decision | Command:
    """Return what a command brings about, or the command that it amounts to.

    Raises:
        Refused: that cannot be done.
        Unread: something has to be looked up first.
    """
    match command:
        case Seeks():
            return Decision(person.name, asides=(Asked(person.name, command),))
        case Seek():
            return _seek(command, hall, person, context)
        case Challenge():
            return _challenge(command, hall, person, context)
        case Accept(what):
            return _accept(what, hall, person, context)
        case Decline(what):
            return _decline(what, hall, person, context)
        case Withdraw(number):
            return _withdraw(number, hall, person, context)
        case PlayNow():
            return _play(command, hall, person, context, found)
        case NewBoard(rules):
            if hall.caps.new_boards_for_members and person.name not in context.members:
                raise Refused(Refusal.NEW_BOARDS_FOR_MEMBERS)
            opened = _opened(hall, person.name, rules or DEFAULT_RULES.name, context.now, 0)
            walk = WentOut(person.name, person.room, opened.name), CameIn(person.name, opened.name)
            require_boards(hall, person.name)
            asides = (*put_aside(person), *walk)
            return _in_hall(hall, person.name, (opened,), board=opened.name, asides=asides)
        case _:
            assert_never(command)


def gone(hall: Hall, player: str, now: float) -> Decision:
    """Return that what somebody sought, or was asked to, stands no more, since they are gone."""
    ended = tuple(
        _ended(seek, player, SeekEnd.GONE, now)
        for seek in hall.seeks.values()
        if player in {seek.player, seek.to}
    )
    return Decision(player, hall=ended, hall_version=hall.version or 0)


def standing(hall: Hall, person: Person, context: Context) -> Iterator[Standing]:
    """Yield what others have offered somebody, and still stands."""
    name = person.name
    for table in hall.seats_of(name):
        for offer, by in table.offers.items():
            if table.seats.get(by) != name:
                agreeing = OFFERING[offer](table.name)
                yield Standing(table.seats[by], agreeing, No(table.name))
    for seek in hall.seeks.values():
        if seek.to == name:
            taking, refusing = Accept(seek.number), Decline(seek.number)
            yield Standing(seek.player, taking, refusing, seek=seek.number)
    for invited in person.invitations.values():
        there = hall.tables.get(invited.board)
        if there and _still_asks(there, invited, context):
            sitting, declining = Join(invited.side, there.name), Decline(invited.player.lower())
            yield Standing(invited.player, sitting, declining, invited=invited)


def _still_asks(table: Table, invited: Invited, context: Context) -> bool:
    """Whether the seat to which somebody was asked can still be had, by who is not there yet."""
    is_free = made_free(table, invited.side, invited.to, context) is not None
    return is_free and not table.side_of(invited.to)


# Seeks.


def _seek(command: Seek, hall: Hall, person: Person, context: Context) -> Decision:
    rules = command.rules or DEFAULT_RULES.name
    require_boards(hall, person.name)  # or nobody could accept it
    _require_seeks(hall, person.name)
    made = _made(hall, person.name, rules, command.side, context)
    made = replace(made, rated=command.rated, time=command.time)
    return _in_hall(hall, person.name, (made,))


def _challenge(command: Challenge, hall: Hall, person: Person, context: Context) -> Decision:
    to = player_meant(hall, command.player)
    rules = command.rules or DEFAULT_RULES.name
    if to == person.name:
        raise Refused(Refusal.MATCH_SELF)
    if hall.ignores(to, person.name):
        raise Refused(Refusal.NOT_LISTENING, player=to)
    for seek in hall.seeks.values():
        is_answer = (seek.player, seek.to, seek.time) == (to, person.name, command.time)
        if is_answer and _suits(seek, rules, command.side):
            agreed = replace(seek, rated=seek.rated and command.rated)
            return _begin(agreed, hall, person, context, command.side)  # they had asked the same
        is_same = (seek.rules, seek.time) == (rules, command.time)
        if seek.player == person.name and seek.to == to and is_same:
            raise Refused(Refusal.ASKED_ALREADY, player=to, number=seek.number)
    require_invitations(hall, to)
    if to in hall.bots:
        level = level_meant(hall, to, command.level).number if command.level else None
        dwarf, troll = _seated(person.name, to, command.side)
        rated, time = command.rated, command.time
        started = BattleStarted(context.now, person.name, 1, rules, dwarf, troll, rated, time=time)
        return at_own_board(hall, (), started, level=level)
    if command.level is not None:
        raise Refused(Refusal.PLAYS_AT_NO_LEVEL, player=to)
    require_boards(hall, person.name)
    _require_seeks(hall, person.name)
    made = _made(hall, person.name, rules, command.side, context)
    made = replace(made, rated=command.rated, to=to, time=command.time)
    return _in_hall(hall, person.name, (made,))


def require_invitations(hall: Hall, to: str) -> None:
    """Raise Refused if somebody who is here does not want to be asked to games."""
    if not hall.people[to].options.has(Toggle.INVITATIONS):
        raise Refused(Refusal.NO_INVITATIONS, player=to)


def _withdraw(number: int | None, hall: Hall, person: Person, context: Context) -> Decision:
    mine = {each.number: each for each in hall.seeks.values() if each.player == person.name}
    if not mine:
        raise Refused(Refusal.NOTHING_SOUGHT)
    if number is not None and number not in mine:
        raise Refused(Refusal.NOT_YOUR_SEEK, number=number, numbers=tuple(mine))
    chosen = mine.values() if number is None else [mine[number]]
    ended = tuple(_ended(each, person.name, SeekEnd.WITHDRAWN, context.now) for each in chosen)
    return _in_hall(hall, person.name, ended)


def _play(command: PlayNow, hall: Hall, person: Person, context: Context, found: Found) -> Decision:
    name = person.name
    for seek in hall.seeks.values():
        fits = not seek.to and _suits(seek, command.rules, command.side)
        if fits and _is_in_time(seek, command.time) and _may_meet(hall, seek, name):
            return _begin(seek, hall, person, context, command.side)
    rules = command.rules or DEFAULT_RULES.name
    mine = [each for each in hall.seeks.values() if each.player == name and not each.to]
    with_bots = [each for each in hall.seats_of(name) if each.running and each.levels != NO_BOTS]
    if mine and with_bots:
        raise Refused(Refusal.SEEKING_ALREADY, number=mine[0].number)
    sought: tuple[HallEvent, ...] = ()
    require_boards(hall, name)
    if not mine:
        _require_seeks(hall, name)
        sought = (replace(_made(hall, name, rules, command.side, context), time=command.time),)
    if with_bots:
        asked = Asked(name, PlayNow(), with_bots[0].name)
        return _in_hall(hall, name, sought, asides=(asked,))
    bot = _bot(hall, name, rules, found)
    if bot is None:
        if not sought:
            raise Refused(Refusal.SEEKING_ALREADY, number=mine[0].number)
        return _in_hall(hall, name, sought)
    dwarf, troll = _seated(name, bot, command.side)
    time = command.time
    started = BattleStarted(context.now, name, 1, rules, dwarf, troll, rated=True, time=time)
    return at_own_board(hall, sought, started, (Asked(name, PlayNow()),))


def _suits(seek: SeekMade, rules: str | None, side: Side | None) -> bool:
    """Whether a seek is for such a match, if somebody else wants that side; None for any."""
    return rules in {None, seek.rules} and (not seek.side or not side or seek.side is not side)


def _is_in_time(seek: SeekMade, time: TimeControl | None) -> bool:
    """Whether a seek is for such a clock; if none is named, for none, or one without haste."""
    if time is None:
        return time_class(seek.time) not in {TimeClass.BLITZ, TimeClass.CORRESPONDENCE}
    return seek.time == time


def _may_meet(hall: Hall, seek: SeekMade, name: str) -> bool:
    """Whether somebody may accept a seek: who made it is another, and here, and will hear them."""
    if seek.player == name or seek.player not in hall.people:
        return False
    if len(hall.made_boards_of(seek.player)) >= hall.caps.boards:
        return False
    return not hall.ignores(seek.player, name) and not hall.ignores(name, seek.player)


def _bot(hall: Hall, player: str, rules: str, found: Found) -> str | None:
    """Return the bot that is most like a player by its rating; the weakest for a newcomer.

    The ratings are those by a ruleset; if the player has none by that, by the one by which they
    have played bots most. It is one of the bots that can play at any number of boards.
    """
    bots = [each for each in bots_here(hall, found).bots if each.level != OWN_PROGRAM]
    if not bots:
        return None
    score = found[ScoreLookup(player)]
    mine = score.bots.ratings if score else {}
    pool = max(mine, key=lambda each: (each == Pool(rules), mine[each].results), default=None)
    apart = {
        bot.name: abs(theirs.points - mine[pool].points)
        for bot in bots
        if pool and (theirs := bot.fared.ratings.get(pool))
    }
    return min(apart, key=apart.__getitem__, default=bots[0].name)


def bots_here(hall: Hall, found: Found) -> BotList:
    """Return the bots that are here, and how they have fared."""
    listed = []
    for name in hall.people:
        if (level := hall.level(name)) is not None:
            score = found[ScoreLookup(name)] or PlayerScore(name)
            listed.append(ListedBot(name, level, score.levels.get(level, Performance())))
    return BotList(tuple(sorted(listed, key=lambda bot: bot.level or inf)))


# Answers.


def _accept(
    what: int | str | None, hall: Hall, person: Person, context: Context
) -> Decision | Command:
    if isinstance(what, int):
        return _begin(_seek_meant(what, hall, person), hall, person, context)
    chosen = _chosen(what, hall, person, context)
    if chosen.seek is not None:
        return _begin(hall.seeks[chosen.seek], hall, person, context)
    return chosen.accepting


def _decline(what: int | str, hall: Hall, person: Person, context: Context) -> Decision | Command:
    if isinstance(what, int):
        seek = _seek_meant(what, hall, person)
        if seek.player == person.name:
            return Withdraw(seek.number)
        if seek.to != person.name:
            raise Refused(Refusal.NOT_ASKED_YOU, player=seek.player, number=what)
    else:
        chosen = _chosen(what, hall, person, context, declining=True)
        if chosen.invited:
            turned_down = TurnedDown(person.name, chosen.player, chosen.invited.board)
            return Decision(person.name, asides=(turned_down,))
        if chosen.seek is None:
            return chosen.declining
        seek = hall.seeks[chosen.seek]
    ended = _ended(seek, person.name, SeekEnd.DECLINED, context.now)
    return _in_hall(hall, person.name, (ended,))


def declined(hall: Hall, person: Person, context: Context) -> Command | None:
    """Return what a bare ``no`` refuses, all at one board together; None if nothing was offered.

    Then the match that they have asked for themselves is taken back, if that is all there is.

    Raises:
        Refused: more than that was offered; or nothing was, to one who plays nowhere.
    """
    offered = list(standing(hall, person, context))
    answers = {each.declining for each in offered}
    if len(answers) > 1:
        raise _which(offered, declining=True)
    if answers:
        return answers.pop()
    seats = hall.seats_of(person.name)
    own = [each for each in seats if each.offers]
    asked = [each.number for each in hall.seeks.values() if each.player == person.name and each.to]
    if len(asked) == 1 and not own:
        return Withdraw(asked[0])
    if not seats and hall.opens_boards:
        raise Refused(Refusal.NOTHING_STANDS)
    return None


def _chosen(
    what: str | None, hall: Hall, person: Person, context: Context, *, declining: bool = False
) -> Standing:
    """Return what somebody answers, who perhaps says by whom it was offered."""
    offered = list(standing(hall, person, context))
    # Of what is offered to anybody, one alone may be meant, or that of one player.
    if not declining and (what is not None or not offered):
        offered += [
            Standing(each.player, Accept(each.number), Withdraw(each.number), each.number)
            for each in hall.seeks.values()
            if not each.to and _may_meet(hall, each, person.name)
        ]
    if what is not None:
        near = [each for each in offered if each.player.lower().startswith(what.lower())]
        theirs = [each for each in near if each.player.lower() == what.lower()] or near
        if not theirs:
            player = player_meant(hall, what)
            raise Refused(Refusal.NOTHING_OFFERED_BY, player=player)
        offered = theirs
    if not offered:
        raise Refused(Refusal.NOTHING_STANDS)
    if len(offered) > 1:
        raise _which(offered, declining=declining)
    return offered[0]


def _which(offered: list[Standing], *, declining: bool) -> Refused:
    answers = {str(each.declining if declining else each.accepting): each for each in offered}
    players = tuple(each.player for each in answers.values())
    return Refused(Refusal.WHICH_OFFER, lines=tuple(answers), players=players)


def _seek_meant(number: int, hall: Hall, person: Person) -> SeekMade:
    seek = hall.seeks.get(number)
    if seek is None or (seek.to and person.name not in {seek.to, seek.player}):
        raise Refused(Refusal.NO_SUCH_SEEK, number=number)
    return seek


# Boards of their own.


def _begin(
    seek: SeekMade, hall: Hall, person: Person, context: Context, side: Side | None = None
) -> Decision:
    """Return that somebody accepts a seek: both sit down at a board of its own, and begin.

    They may want a side, which suits it.
    """
    name = person.name
    if seek.player == name:
        raise Refused(Refusal.OWN_SEEK, number=seek.number)
    if seek.player not in hall.people:
        raise Refused(Refusal.SEEKER_AWAY, player=seek.player, number=seek.number)
    if hall.ignores(seek.player, name):
        raise Refused(Refusal.NOT_LISTENING, player=seek.player)
    dwarf, troll = _seated(seek.player, name, seek.side or (side and side.other))
    taken = [_ended(seek, name, SeekEnd.ACCEPTED, context.now)]
    # Nobody seeks any longer who has found somebody, and the two need not ask each other again.
    both = {seek.player, name}
    taken += [
        _ended(each, name, SeekEnd.WITHDRAWN, context.now)
        for each in hall.seeks.values()
        if each.number != seek.number and each.player in both and each.to in {"", *both}
    ]
    rated = seek.rated and seek.player in context.members and name in context.members
    time = seek.time
    started = BattleStarted(context.now, name, 1, seek.rules, dwarf, troll, rated, time=time)
    return at_own_board(hall, tuple(taken), started)


def at_own_board(
    hall: Hall,
    first: tuple[HallEvent, ...],
    begun: BattleStarted | Resumed,
    asides: tuple[Aside, ...] = (),
    *,
    level: int | None = None,
) -> Decision:
    """Return that a board is opened at which a match begins or goes on, after other events.

    If a bot is to begin one, it plays as it usually does, or at a level.
    """
    player, match = begun.player, begun.match if isinstance(begun, Resumed) else begun
    names = match.dwarf, match.troll
    for each in names:
        if each not in hall.bots:
            require_boards(hall, each, asks=player)
    if isinstance(begun, BattleStarted):
        begun = replace(begun, levels=Levels(*(hall.level(each, level) for each in names)))
    opened = _opened(hall, player, match.rules, begun.at, len(first))
    return _in_hall(
        hall, player, (*first, opened), board=opened.name, at_board=(begun,), asides=asides
    )


def _opened(hall: Hall, player: str, rules: str, now: float, before: int) -> BoardOpened:
    """Return that a board is opened, after so many other events of the hall."""
    number = len(hall.tables) - len(hall.made) + 1  # as the boards are counted that stay
    names = set(map(str.lower, hall.tables))
    while (name := f"{nth(number)} board") in names:
        number += 1
    key = f"{MADE}{(hall.version or 0) + before + 1}"  # no other event has that number
    return BoardOpened(now, player, key, name, rules)


def _in_hall(
    hall: Hall,
    player: str,
    events: tuple[HallEvent, ...],
    *,
    board: str | None = None,
    at_board: tuple[TableEvent, ...] = (),
    asides: tuple[Aside, ...] = (),
) -> Decision:
    if hall.version is None or not hall.opens_boards:
        raise Refused(Refusal.NO_HALL)
    return Decision(player, board, 0, at_board, asides, hall=events, hall_version=hall.version)


def _made(hall: Hall, player: str, rules: str, side: Side | None, context: Context) -> SeekMade:
    number = next(each for each in range(1, len(hall.seeks) + 2) if each not in hall.seeks)
    return SeekMade(context.now, player, number, rules, side)


def _ended(seek: SeekMade, player: str, why: SeekEnd, now: float) -> SeekEnded:
    return SeekEnded(now, player, seek.number, why, seek.player, seek.to)


def _seated(player: str, other: str, side: Side | None) -> tuple[str, str]:
    """Return who has the dwarfs and who the trolls, if a player wants a side; dwarfs for any."""
    return (other, player) if side is Side.TROLL else (player, other)


def _require_seeks(hall: Hall, player: str) -> None:
    mine = [each.number for each in hall.seeks.values() if each.player == player]
    if len(mine) >= hall.caps.seeks:
        raise Refused(Refusal.SEEKS_TOO_MANY, most=hall.caps.seeks, numbers=tuple(mine))


def require_boards(hall: Hall, player: str, asks: str = "") -> None:
    """Refuse if a player sits at too many boards that were opened for somebody."""
    theirs = hall.made_boards_of(player)
    if len(theirs) >= hall.caps.boards:
        code = Refusal.BOARDS_TOO_MANY if asks in {"", player} else Refusal.THEIR_BOARDS_TOO_MANY
        raise Refused(code, most=hall.caps.boards, boards=tuple(theirs), player=player)


def require_share(hall: Hall, decision: Decision, names: Collection[str]) -> None:
    """Refuse what gives the players from one address more than all of them may have."""
    caps = hall.caps
    if any(isinstance(event, SeekMade) for event in decision.hall):
        theirs = [each for each in hall.seeks.values() if each.player in names]
        if len(theirs) >= caps.seeks_per_address:
            most = caps.seeks_per_address
            raise Refused(Refusal.TOO_MUCH_FROM_ADDRESS, what="seeks", most=most)
    if any(isinstance(event, BoardOpened) for event in decision.hall):
        boards = {board for name in names for board in hall.made_boards_of(name)}
        if len(boards) >= caps.boards_per_address:
            most = caps.boards_per_address
            raise Refused(Refusal.TOO_MUCH_FROM_ADDRESS, what="boards", most=most)
