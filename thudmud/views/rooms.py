"""The hall in words: who comes, goes and speaks, the lists of boards and players, the greeting."""

from __future__ import annotations

from collections.abc import Collection
from operator import attrgetter
from typing import assert_never

from thudmud.english import capitalised, counted, does, listed
from thudmud.play import asides, events
from thudmud.play.archive import BotList, ListedBot
from thudmud.play.commands import (
    Accept,
    Challenge,
    Decline,
    Invite,
    Join,
    Look,
    PlayNow,
    Unignore,
    ViewRecord,
    Withdraw,
)
from thudmud.play.hall import Hall
from thudmud.play.table import Table
from thudmud.rules import Side
from thudmud.views import analysis
from thudmud.views.archive import count
from thudmud.views.options import choice_text
from thudmud.views.view import Display
from thudmud.views.words import wrapped, wrapped_each

_JOINS = ("'s ", ", ")
"""What an emote begins with if no blank is to stand between it and the name."""


def aside_text(aside: asides.Happening, me: str | None) -> str:
    """Return an aside as a sentence for ``me`` (None: somebody it does not name)."""
    return capitalised(_aside(aside, me))


def _aside(aside: asides.Happening, me: str | None) -> str:
    match aside:
        case asides.Spoke(player, _, text):
            return f"{does(player, me, 'say')}: {text}"
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
        case asides.Told(player, to, text):
            return f"{does(player, me, 'tell')} {'you' if to == me else to}: {text}"
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
        case asides.IgnoreChosen(_, other, ignored, is_here):
            if other not in ignored:
                return f"You hear {other} again."
            absent = "" if is_here else f" Nobody called {other} is here just now."
            back = f'"{Unignore(other.lower())}" ends that.{absent}'
            return f"You do not hear {other} from now on. {back}"
        case asides.OptionChosen(_, choice, options):
            return choice_text(choice, options)
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
    return f"{'a' if seek.rated else 'an unrated'} match by the {seek.rules} rules{first}"


def elsewhere(hall: Hall, player: str, room: str | None, width: int) -> list[str]:
    """Return where else somebody who comes to a board is in the middle of a match."""
    others = [each.name for each in hall.seats_of(player) if each.under_way and each.name != room]
    if not others:
        return []
    waits = "Your match there waits" if len(others) == 1 else "Your matches there wait"
    return wrapped(f"You play at the {listed(others)}, too. {waits} for you.", width)


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
    """Return the hall as ``player`` sees it: the boards, the bots, and who is there."""
    opening = 'This is the hall, where the boards stand. Walk up to one with "go to" and its name.'
    return [
        *wrapped(opening, width),
        *boards(hall, width),
        *_ways_to_play(hall, width),
        *people_here(hall, player, None, width),
    ]


def bots(hall: Hall) -> list[str]:
    """Return the names of the bots that can be invited, wherever they are."""
    return [name for name in hall.people if name in hall.bots]


def news(hall: Hall, width: int) -> list[str]:
    """Return what the operator has written for all."""
    lines = hall.news or ["There is no news."]
    return [row for line in lines for row in wrapped(line, width) or [""]]


def bots_listed(hall: Hall, found: BotList, display: Display) -> list[str]:
    """Return the bots, the weakest first, and how each has fared against people: a row each."""
    width, in_all = display.width, counted(len(found.bots), "bot")
    if not found.bots:
        return wrapped("There are no bots here.", width)
    heading = f"{in_all} here, and what came of their battles with people:"
    rows = [f"  {_bot(hall, bot)}" for bot in found.bots]
    if not display.reader and max(map(len, rows)) >= width:
        heading = f"{in_all} here; level, rating (give or take), won/drawn/lost against people:"
        rows = [f"  {_short_bot(bot)}" for bot in found.bots]
    weakest = found.bots[0].name
    how = f'To play with one, type "{_inviting(weakest)}" at a board with a free seat.'
    if hall.bots[weakest]:
        typed = Invite(weakest.lower(), level=str(hall.levels[-1].number))
        known = listed(hall.levels, "or")
        how += f' "{typed}" has it play at another level, {known}.'
    how += f' "{Look(weakest.lower())}" tells how well it plays.'
    return [
        *wrapped(heading, width),
        *wrapped_each(rows, width, "    "),
        *wrapped(how, width),
    ]


def _bot(hall: Hall, bot: ListedBot) -> str:
    """Return what the list of bots says of one, in words."""
    rating, level, tally = bot.fared.rating, hall.bots[bot.name], bot.fared.in_all
    title = f"{bot.name}, {level}" if level else bot.name
    good = f"rating {rating.points}, give or take {rating.uncertainty}" if rating else "no rating"
    return f"{title}: {good}; {count(tally) if any(tally) else 'no battle yet'}."


def _short_bot(bot: ListedBot) -> str:
    """Return the same for a narrow screen."""
    rating = bot.fared.rating
    title = f"{bot.name} {bot.level}" if bot.level else bot.name
    good = f"{rating.points} ({rating.uncertainty})" if rating else "no rating"
    return f"{title}: {good}, {'/'.join(map(str, bot.fared.in_all))}"


def seat_for_a_bot(hall: Hall) -> list[str]:
    """Return the sentence that tells how a bot takes the seat that is free; none without a bot."""
    return [f'"{_inviting(bot)}" has a bot take it.' for bot in bots(hall)[:1]]


def _ways_to_play(hall: Hall, width: int) -> list[str]:
    """Return what to type to play with a bot; nothing if there are none."""
    names = bots(hall)
    if not names:
        return []
    free = next((table.name for table in hall.tables.values() if not table.seats), None)
    typed = f'"{_inviting(names[0])}" at a board with a free seat'
    if free:
        typed = f'"{Join(Side.DWARF, free)}", then "{_inviting(names[0])}", then "start"'
    who = f"the bot{'s' if len(names) > 1 else ''} {listed(names)}"
    if hall.opens_boards:
        chosen = f'"{Challenge(names[0].lower())}" plays with a bot of your choice'
        return wrapped(f'To play, type "{PlayNow()}". {chosen}: {listed(names)}.', width)
    return wrapped(f"To play with {who}, type {typed}.", width)


def _inviting(bot: str) -> str:
    return str(Invite(bot.lower()))


def boards(hall: Hall, width: int) -> list[str]:
    """Return the boards, one entry each, numbered as `board 2` counts them."""
    made = {name: number for number, name in hall.made.items()}
    stays = (table for name, table in hall.tables.items() if name not in made)
    entries = [*enumerate(stays, 1), *((n, hall.tables[hall.made[n]]) for n in sorted(hall.made))]
    return wrapped_each((f"{n:>2}. {_board(hall, table)}" for n, table in entries), width, "    ")


def battles(hall: Hall, width: int) -> list[str]:
    """Return the boards at which a match is under way."""
    entries = [f"{_board(hall, table)}" for table in hall.tables.values() if table.under_way]
    if not entries:
        return wrapped(f'No match is being played. "{PlayNow()}" begins one.', width)
    lines = wrapped_each((f"  {each}" for each in entries), width, "    ")
    return lines + wrapped('To watch one, type "go to" and the name of its board.', width)


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
    return f"{table.name} ({table.ruleset.name} rules): {'; '.join(facts)}"


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
    others = [
        f"{name} (a bot)" if name in hall.bots else name
        for name in hall.people_in(room)
        if name != player
    ]
    return wrapped(f"Also here: {listed(others)}.", width) if others else []


def who(hall: Hall, player: str, width: int) -> list[str]:
    """Return the players, and the bots, each with where they are and what they play."""
    people = counted(len(hall.people.keys() - hall.bots), "player")
    programs = bots(hall)
    also = f" and {counted(len(programs), 'bot')}" if programs else ""
    lines = wrapped(f"{people}{also} connected:", width)
    lines += wrapped_each(
        (f"  {_person(hall, name, player)}" for name in hall.people), width, "    "
    )
    if programs:
        how = (
            'To ask a bot to a game, type "invite" and its name. "bots" tells how well each plays.'
        )
        lines += wrapped(how, width)
    return lines


def person(hall: Hall, name: str, player: str, width: int) -> list[str]:
    """Return one of the players as ``player`` is told of them."""
    described = _person(hall, name, player)
    if name in hall.bots:
        usual = hall.bots[name]
        plays = "A program of its own chooses its moves."
        if usual:
            plays = f"{usual.name}, level {usual.number} of {len(hall.levels)}: {usual.sentence}"
        described += f". {plays}"
    return wrapped(described, width)


def _person(hall: Hall, name: str, player: str) -> str:
    room = hall.people[name].room
    plays = [_plays(hall, table, name) for table in hall.seats_of(name)]
    mine = " (you)" if name == player else " (a bot)" if name in hall.bots else ""
    return f"{name}{mine}: {'; '.join([f'at the {room}' if room else 'in the hall', *plays])}"


def _plays(hall: Hall, table: Table, name: str) -> str:
    """Return what somebody plays at a table where they have a seat."""
    side = table.side_of(name)
    if side is None or table.is_practice:
        return f"plays both sides at the {table.name}"
    level = _level(table.levels.of(side), hall, name)
    return f"plays the {side.plural} at the {table.name}{level}"


def _level(level: int | None, hall: Hall, name: str) -> str:
    """Return at which level somebody plays, if they are a bot that was asked for another one."""
    return f", at level {level}" if level and level != hall.usual_level(name) else ""


def ignored(hall: Hall, player: str, width: int) -> list[str]:
    """Return whom a player ignores."""
    if names := hall.people[player].ignored:
        return wrapped(f'You ignore {listed(names)}. "unignore" and a name ends that.', width)
    nobody = 'You ignore nobody. To hear somebody no longer, type "ignore" and the name.'
    return wrapped(nobody, width)


GREETING = (
    "Welcome to thudmud, where people\n"
    "play Thud, the board game of dwarfs\n"
    "and trolls. Come in with a name of\n"
    'your own; then "help" tells the rest.\n'
    "With a screen reader, say\n"
    '"options reader on", now or later.'
)
NARROWEST = 40
"""How many columns the greeting fits."""


def greeting(bots: Collection[str]) -> str:
    """Return the lines of the greeting, which tell of one of the bots, if there are any."""
    bot = min(bots, default=None)
    if bot is None:
        return GREETING
    alone = f'To play, type "{PlayNow()}": a bot plays with you until somebody comes.'
    return "\n".join([GREETING, *wrapped(alone, NARROWEST)])
