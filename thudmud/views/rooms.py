"""The hall in words: who comes, goes and speaks, the lists of boards and players, the greeting."""

from __future__ import annotations

from collections.abc import Collection
from operator import attrgetter
from typing import assert_never

from thudmud.english import capitalised, counted, does, lasting, listed
from thudmud.play import asides, events
from thudmud.play.archive import BotList, ListedBot
from thudmud.play.clocks import AWAY
from thudmud.play.hall import Hall
from thudmud.play.options import Switch
from thudmud.play.table import Table
from thudmud.rules import DEFAULT_RULES, Side
from thudmud.verbs.archive import Replay, ViewRecord
from thudmud.verbs.letters import Letters
from thudmud.verbs.matchmaking import Accept, Challenge, Decline, Invite, PlayNow, Seeks, Withdraw
from thudmud.verbs.more import Help
from thudmud.verbs.options import SetReader
from thudmud.verbs.order import Reports
from thudmud.verbs.people import Who
from thudmud.verbs.rooms import Boards, Look, Observe, Unobserve, ViewNews
from thudmud.verbs.seats import Join
from thudmud.views import analysis, order
from thudmud.views.archive import count
from thudmud.views.options import choice_text
from thudmud.views.ratings import explained, points_of
from thudmud.views.sentences import timed
from thudmud.views.view import Display
from thudmud.views.words import MOST_BOARDS, wrapped, wrapped_each

_JOINS = ("'s ", ", ")
"""What an emote begins with if no blank is to stand between it and the name."""


def aside_text(aside: asides.Aside, me: str | None) -> str:
    """Return an aside as a sentence for ``me`` (None: somebody it does not name)."""
    return capitalised(_aside(aside, me))


def _aside(aside: asides.Aside, me: str | None) -> str:
    match aside:
        case asides.Spoke(player, _, text):
            return f"{does(player, me, aside.verb)}: {text}"
        case asides.Entered(player, None):
            return f"{does(player, me, 'come')} into the hall."
        case asides.TookOver(player):
            return f"{does(player, me, 'go')} on from here."
        case asides.Gone(player, parting=events.Parting.LOST):
            return f"{player} has lost the connection."
        case asides.Gone(player, parting=events.Parting.IDLE):
            return f"{player} has been idle for too long and is gone."
        case asides.Gone(player):
            return "Goodbye!" if player == me else f"{player} leaves for home."
        case asides.WentOut(player, to=room):
            return f"{does(player, me, 'go')} to the {room or 'hall'}."
        case asides.CameIn(player, room):
            return f"{does(player, me, 'walk')} to the {room or 'hall'}."
        case asides.Emoted(player, _, text):
            return f"{player}{'' if text.startswith(_JOINS) else ' '}{text}"
        case asides.PlayersDeaf():
            return 'The players do not hear that while they play. "kibitz" speaks to them, too.'
        case asides.Told(player, to, text):
            return f"{does(player, me, 'tell')} {'you' if to == me else to}: {text}"
        case asides.LetterSent(player, to, is_here=is_here) if player == me:
            when = "They are told so now." if is_here else "They are told so when they come in."
            return f"Your message to {to} is kept. {when}"
        case asides.LetterSent(player):
            return f'{player} has left you a message: "{Letters()}" shows it.'
        case asides.LettersForgotten(_, (number,)):
            return f"Message {number} is deleted."
        case asides.LettersForgotten(_, numbers):
            return f"{counted(len(numbers), 'message')} are deleted."
        case asides.ReportMade(player, about, text) if player != me:
            return f'{player} reports {about}: "{text}" ("{Reports()}" lists what is open.)'
        case asides.ReportMade(_, about, said=said):
            last = "line" if len(said) == 1 else f"{len(said)} lines"
            lines = f", with the last {last} that you heard from them"
            return f"Your report about {about} is kept for the operators{lines if said else ''}."
        case asides.Invited(player, to, board, side) if to == me:
            seat = f"play the {side.plural} at the {board}"
            return f'{player} asks you to {seat}. To do so, say "{Join(side, board)}".'
        case asides.Invited(player, to, board, side, level):
            how = "" if level is None else f", at level {level}"
            return f"{does(player, me, 'ask')} {to} to play the {side.plural} at the {board}{how}."
        case asides.TurnedDown(player, to, board):
            return f"{does(player, me, 'decline')} to sit down at the {board}."
        case asides.CommentMade(player, _, battle, ply, text) if player == me:
            on = f"comment on ply {ply} of battle {battle}"
            if not text:
                return f"Your {on} is gone."
            return f'Your {on} is kept, and "{ViewRecord(battle)}" shows it.'
        case asides.CommentMade(player, _, battle, ply, text):
            return f"{player} comments on ply {ply} of battle {battle}: {text}"
        case asides.StyleChosen(_, board, style):
            return f"You are shown the {board} in {style.value} style from now on."
        case asides.ObserveChosen(_, board, observed) if board in observed:
            return f'You observe the {board} from now on. "{Unobserve(board)}" ends that.'
        case asides.ObserveChosen(_, board):
            return f"You observe the {board} no longer."
        case asides.OptionChosen(_, choice, options):
            return choice_text(choice, options)
        case asides.TimeShort(seconds=seconds):
            return f"You have less than {lasting(seconds)} left."
        case asides.ReplayLeft(_, replay):
            number, ply = replay.battle.number, replay.ply
            again = f'"{Replay(number, ply)}" opens it there again.'
            return f"You leave the replay of battle {number} at ply {ply}. {again}"
        case (
            asides.Announced()
            | asides.Sanctioned()
            | asides.Lifted()
            | asides.ReportClosed()
            | asides.ShutdownTold()
        ):
            return order.told(aside, me)
        case asides.Analysing():
            return analysis.progress(aside)
        case asides.AnalysisCancelled(_, number):
            return f"Battle {number} is not analysed for you any more."
    return ""  # the board or the battle that is shown says it


def hall_event_text(event: events.HallEvent, table: Table | None, me: str | None) -> str:
    """Return what happens to the boards, in a sentence."""
    board = table.name if table else ""
    match event:
        case events.BoardOpened(player="", rules=rules):
            return f"There is a new board: the {board}, with the {rules} rules."
        case events.BoardOpened(key=key) if key.startswith(events.MADE):
            return ""  # whoever comes to it is told so
        case events.BoardOpened(player=player, rules=rules):
            opens = capitalised(does(player, me, "open"))
            return f"{opens} a board: the {board}, with the {rules} rules."
        case events.BoardClosed(key=key) if key.startswith(events.MADE):
            return ""
        case events.BoardClosed(player=""):
            return f"The {board} is closed."
        case events.BoardClosed(player=player):
            return f"{capitalised(does(player, me, 'close'))} the {board}."
        case events.BoardRenamed(name=name):
            return f"The {board} is called {name} from now on."
        case events.SeekMade():
            return _seek_made(event, me)
        case events.SeekEnded():
            return _seek_ended(event, me)
        case events.Commented() | events.Interrupted() | events.LessonDone() | events.PuzzleTried():
            return ""  # an aside says it, or nobody is told
        case _:
            assert_never(event)


def _seek_made(seek: events.SeekMade, me: str | None) -> str:
    what = _match_wanted(seek)
    if seek.player == me:
        ends = f'"{Withdraw(seek.number)}" takes that back.'
        if seek.to:
            return f"You ask {seek.to} to {what}. {ends}"
        return f"You would like to play {what}: seek {seek.number}. {ends}"
    if seek.to:
        answers = f'"{Accept(seek.number)}" or "{Decline(seek.number)}"'
        return f"{seek.player} asks you to {what}. To answer, type {answers}."
    typed = f'"{Accept(seek.number)}" begins it'
    return f"{seek.player} would like to play {what}. {capitalised(typed)}."


def _match_wanted(seek: events.SeekMade) -> str:
    """Return what a seek is for: ``an unrated match by the classic rules, first as dwarfs``."""
    first = f", first as {seek.side.plural}" if seek.side else ""
    rules = f"by the {seek.rules} rules{timed(seek.time)}"
    return f"{'a' if seek.rated else 'an unrated'} match {rules}{first}"


def _seek_ended(ended: events.SeekEnded, me: str | None) -> str:
    """Return why a seek stands no more, to those whom that concerns."""
    seeker, player = ended.seeker, ended.player
    match ended.why:
        case events.SeekEnd.ACCEPTED if me == seeker != player:
            return f"{player} accepts: your match begins."
        case events.SeekEnd.ACCEPTED if me == player:
            return f"{seeker} was waiting for that: your match begins."
        case events.SeekEnd.DECLINED if me == seeker:
            return f"{player} declines the match that you asked for."
        case events.SeekEnd.DECLINED if me == player:
            return f"You decline {seeker}'s match."
        case events.SeekEnd.WITHDRAWN | events.SeekEnd.GONE if me == seeker:
            return f"Your seek {ended.number} stands no more."
        case events.SeekEnd.WITHDRAWN | events.SeekEnd.GONE if me == ended.to:
            return f"{seeker} no longer asks you to a match."
    return ""


def seeks(hall: Hall, player: str, width: int) -> list[str]:
    """Return who would like to play, as somebody is told who may accept it."""
    stands = [each for each in hall.seeks.values() if each.to in {"", player}]
    stands += [each for each in hall.seeks.values() if each.player == player and each.to]
    if not stands:
        has_bot = any(hall.bots[each] for each in bots(hall))
        until = ", and has a bot play with you until then" if has_bot else ""
        typed = f'"{PlayNow()}" looks for somebody{until}.'
        return wrapped(f"Nobody seeks a match just now. {typed}", width)
    stands.sort(key=attrgetter("number"))
    entries = (f"{each.number:>3}. {_seek(each, player)}" for each in stands)
    lines = wrapped_each(entries, width, "     ")
    others = [each.number for each in stands if each.player != player]
    if others:
        lines += wrapped(f'To play, type "{Accept(others[0])}", say.', width)
    return lines


def _seek(seek: events.SeekMade, player: str) -> str:
    if not seek.to:
        return f"{capitalised(does(seek.player, player, 'seek'))} {_match_wanted(seek)}."
    whom = "you" if seek.to == player else seek.to
    return f"{capitalised(does(seek.player, player, 'ask'))} {whom} to {_match_wanted(seek)}."


def hall_seen(hall: Hall, player: str, width: int) -> list[str]:
    """Return the hall as ``player`` sees it: who is there, how to play, and the boards."""
    entries = _entries(hall)
    lines = [
        *people_here(hall, player, None, width),
        *_ways_to_play(hall, width),
        *_who_waits(hall, player, width),
        *wrapped('This is the hall. Walk up to a board with "go to" and its name:', width),
        *wrapped_each(entries[:MOST_BOARDS], width, "    "),
    ]
    if more := len(entries[MOST_BOARDS:]):
        lines += wrapped(f'And {counted(more, "more board")}: "{Boards()}" lists all.', width)
    return lines


_MOST_SEEKS = 2
"""How many seeks are told one by one to somebody who comes to the hall."""

_MOST_PEOPLE = 12
"""How many names are told of those who are in a room."""


def _who_waits(hall: Hall, player: str, width: int) -> list[str]:
    """Return who would like to play with anybody, to somebody who may accept that."""
    open_seeks = [each for each in hall.seeks.values() if not each.to and each.player != player]
    if len(open_seeks) > _MOST_SEEKS:
        return wrapped(f'{len(open_seeks)} matches are sought: "{Seeks()}" lists them.', width)
    return wrapped_each((_seek_made(each, player) for each in open_seeks), width)


def bots(hall: Hall) -> list[str]:
    """Return the names of the bots that can be invited, wherever they are."""
    return [name for name in hall.people if name in hall.bots]


def news(hall: Hall, width: int) -> list[str]:
    """Return what the operator has written for all."""
    lines = hall.news or ["There is no news."]
    return [row for line in lines for row in wrapped(line, width) or [""]]


def newer_news(hall: Hall, entered: asides.Entered, width: int) -> list[str]:
    """Return that there is news which a member who comes in has not seen, if there is."""
    if not (entered.member and hall.edition) or entered.news in {None, hall.edition}:
        return []
    return wrapped(f'There is news that you have not seen: "{ViewNews()}" shows it.', width)


def bots_listed(hall: Hall, found: BotList, display: Display) -> list[str]:
    """Return the bots, the weakest first, and how each has fared against people: a row each."""
    width, in_all = display.width, counted(len(found.bots), "bot")
    if not found.bots:
        return wrapped("There are no bots here.", width)
    heading = f"{in_all} here, and what came of their battles with people:"
    rows = [f"  {_bot(hall, bot, display)}" for bot in found.bots]
    if not display.reader and max(map(len, rows)) >= width:
        heading = f"{in_all} here; level, rating (give or take), won/drawn/lost against people:"
        rows = [f"  {_short_bot(bot, display)}" for bot in found.bots]
    ratings = [bot.rating for bot in found.bots]
    by = f"The ratings are those by the {DEFAULT_RULES.name} rules." if any(ratings) else ""
    weakest = found.bots[0].name
    how = f'To play with one, type "{_inviting(weakest)}" at a board with a free seat.'
    asks: type[Challenge | Invite] = Invite
    if hall.opens_boards:
        how, asks = f'To play with one, type "{Challenge(weakest.lower())}".', Challenge
    if hall.bots[weakest]:
        typed = asks(weakest.lower(), level=str(hall.levels[-1].number))
        known = listed(hall.levels, "or")
        how += f' "{typed}" has it play at another level, {known}.'
    how += f' "{Look(weakest.lower())}" tells how well it plays.'
    return [
        *wrapped(heading, width),
        *wrapped_each(rows, width, "    "),
        *wrapped(by, width),
        *explained(ratings, display),
        *wrapped(how, width),
    ]


def _bot(hall: Hall, bot: ListedBot, display: Display) -> str:
    """Return what the list of bots says of one, in words."""
    rating, level, tally = bot.rating, hall.bots[bot.name], bot.fared.in_all
    title = f"{bot.name}, {level}" if level else bot.name
    good = "no rating"
    if rating:
        good = f"rating {points_of(rating, display)}, give or take {rating.uncertainty}"
    return f"{title}: {good}; {count(tally) if any(tally) else 'no battle yet'}."


def _short_bot(bot: ListedBot, display: Display) -> str:
    """Return the same for a narrow screen."""
    rating = bot.rating
    title = f"{bot.name} {bot.level}" if bot.level else bot.name
    good = f"{points_of(rating, display)} ({rating.uncertainty})" if rating else "no rating"
    return f"{title}: {good}, {'/'.join(map(str, bot.fared.in_all))}"


def seat_for_a_bot(hall: Hall) -> list[str]:
    """Return the sentence that tells how a bot takes the seat that is free; none without a bot."""
    return [f'"{_inviting(bot)}" has a bot take it.' for bot in bots(hall)[:1]]


def _ways_to_play(hall: Hall, width: int) -> list[str]:
    """Return what to type to play; nothing if only people play here, who sit down."""
    names = bots(hall)
    if hall.opens_boards:
        how = f'To play, type "{PlayNow()}".'
        if names:
            how += f' "{Challenge(names[0].lower())}" plays with a bot of your choice.'
        return wrapped(how, width)
    if not names:
        return []
    free = next((table.name for table in hall.tables.values() if not table.seats), None)
    typed = f'"{_inviting(names[0])}" at a board with a free seat'
    if free:
        typed = f'"{Join(Side.DWARF, free)}", then "{_inviting(names[0])}", then "start"'
    who = f"the bot{'s' if len(names) > 1 else ''} {listed(names)}"
    return wrapped(f"To play with {who}, type {typed}.", width)


def _inviting(bot: str) -> str:
    return str(Invite(bot.lower()))


def boards(hall: Hall, width: int) -> list[str]:
    """Return the boards, as lines."""
    return wrapped_each(_entries(hall), width, "    ")


def _entries(hall: Hall) -> list[str]:
    """Return the boards, one entry each, numbered as `board 2` counts them."""
    made = {name: number for number, name in hall.made.items()}
    stays = (table for name, table in hall.tables.items() if name not in made)
    entries = [*enumerate(stays, 1), *((n, hall.tables[hall.made[n]]) for n in sorted(hall.made))]
    return [f"{n:>2}. {_board(hall, table)}" for n, table in entries]


def battles(hall: Hall, width: int) -> list[str]:
    """Return the boards at which a match is under way."""
    entries = [f"{_board(hall, table)}" for table in hall.tables.values() if table.under_way]
    if not entries:
        return wrapped(f'No match is being played. "{PlayNow()}" begins one.', width)
    lines = wrapped_each((f"  {each}" for each in entries), width, "    ")
    how = 'To watch one, type "observe" or "go to" and the name of its board.'
    return lines + wrapped(how, width)


def _board(hall: Hall, table: Table) -> str:
    """Return what the list of boards says of one."""
    taken = [
        f"{seat.player} ({seat.side.plural}{', away' if seat.side in table.away else ''})"
        for seat in table.seating
        if seat.player is not None
    ]
    if table.is_practice:
        taken = [f"{table.seats[Side.DWARF]} (both sides{', away' if table.away else ''})"]
    facts = [" and ".join(taken) or "both seats free"]
    if taken:
        if table.match or table.full:
            facts.append(_progress(table))
        facts += [f"{side.value} seat free" for side in Side if side not in table.seats]
    watching = len([name for name in hall.people_in(table.name) if not table.side_of(name)])
    if watching:
        facts.append(f"{watching} watching")
    time = f", {table.time}" if table.time else ""
    return f"{table.name} ({table.ruleset.name} rules{time}): {'; '.join(facts)}"


def _progress(table: Table) -> str:
    match = table.match
    if match is None:
        return "no battle begun"
    if match.over:
        return "battle over" if match.is_practice else "match over"
    if not match.running:
        return "between the battles of a match"
    plies = counted(len(match.game.moves), "ply")
    which = "practice" if match.is_practice else f"battle {match.battle}"
    return f"{which}, {plies} played, {match.game.position.turn.plural} to move"


def people_here(hall: Hall, player: str, room: str | None, width: int) -> list[str]:
    """Return who is in a room besides ``player``; nothing if nobody is."""
    there = [name for name in hall.people_in(room) if name != player]
    people = [name for name in there if name not in hall.bots]
    programs = [name for name in there if name in hall.bots]
    if more := len(people[_MOST_PEOPLE:]):
        people = [*people[:_MOST_PEOPLE], f'{counted(more, "other")} ("{Who()}" lists all)']
    here = [listed(people)] if people else []
    if programs:
        here.append(f"the {'bot' if len(programs) == 1 else 'bots'} {listed(programs)}")
    return wrapped(f"Also here: {', and '.join(here)}.", width) if here else []


def elsewhere(hall: Hall, player: str, room: str | None, width: int) -> list[str]:
    """Return where else somebody who comes to a board is in the middle of a match."""
    others = [each for each in hall.seats_of(player) if each.under_way and each.name != room]
    if not others:
        return []
    mine, theirs, waiting = list[str](), list[str](), list[str]()
    for table in others:
        clock = table.clock
        if clock is None or (clock.stands and clock.stood < AWAY):
            waiting.append(table.name)
        else:
            (mine if table.seats[clock.turn] == player else theirs).append(table.name)
    names = listed(each.name for each in others)

    def at(boards: list[str]) -> str:
        return "there" if len(boards) == len(others) else f"at the {listed(boards)}"

    told = [f"You play at the {names}, too."]
    told += [f"Your time runs {at(mine)}."] if mine else []
    told += [f"The other side's time runs {at(theirs)}."] if theirs else []
    if waiting:
        match = "match {} waits" if len(waiting) == 1 else "matches {} wait"
        told.append(f"Your {match.format(at(waiting))} for you.")
    return wrapped(" ".join(told), width)


def observed(hall: Hall, player: str, width: int) -> list[str]:
    """Return which boards a player observes, and how things stand there."""
    boards = hall.people[player].observed
    if not boards:
        how = f'"{Observe()}" and the name of a board, or of somebody who plays, begins it'
        return wrapped(f"You observe no board. {capitalised(how)}.", width)
    entries = (f"  {_board(hall, hall.tables[board])}" for board in boards)
    ends = f'"{Unobserve()}" and a name ends one of these, "{Unobserve()}" alone all.'
    return [
        *wrapped("You observe:", width),
        *wrapped_each(entries, width, "    "),
        *wrapped(capitalised(ends), width),
    ]


NARROWEST = 40
"""How many columns the greeting fits: it is sent before the client can tell its width."""


def greeting(bots: Collection[str], players: int) -> str:
    """Return the lines of the greeting: who is here, and what to type.

    Args:
        bots: the names of the bots.
        players: how many people are here.
    """
    here = [counted(players, "player")] if players else []
    if bots:
        here.append(counted(len(bots), "bot"))
    told = f"{listed(here)} {'is' if len(bots) + players == 1 else 'are'} here"
    alone = ": a bot plays with you until somebody comes" if bots else ""
    text = (
        f"Welcome to thudmud. {told if here else 'Nobody is here yet'}. To play Thud, the board"
        f' game of dwarfs and trolls, give a name of your own, and then type "{PlayNow()}"{alone}.'
        f' "{Help()}" tells the rest. With a screen reader, say "{SetReader(Switch.ON)}", now or'
        " later."
    )
    return "\n".join(wrapped(text, NARROWEST))
