"""The hall in words: who comes, goes and speaks, the lists of boards and players, the greeting."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from thudmud.english import capitalised, counted, does, listed
from thudmud.play.asides import (
    CameIn,
    Emoted,
    Entered,
    Gone,
    Happening,
    Invited,
    OptionChosen,
    Spoke,
    StyleChosen,
    Told,
    TookOver,
    WentOut,
)
from thudmud.play.commands import Invite, Join
from thudmud.play.events import (
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    HallEvent,
    Interrupted,
    Parting,
)
from thudmud.play.hall import Hall, Person
from thudmud.play.table import Table
from thudmud.rules import Side
from thudmud.views.options import said
from thudmud.views.words import wrapped


def told(aside: Happening, me: str | None) -> str:
    """Return ``aside`` as a sentence for ``me`` (None: somebody it does not name)."""
    return capitalised(_told(aside, me))


def _told(aside: Happening, me: str | None) -> str:
    match aside:
        case Spoke(player, _, text):
            return f"{does(player, me, 'say')}: {text}"
        case Entered(player, None):
            return f"{does(player, me, 'come')} into the hall."
        case TookOver(player):
            return f"{does(player, me, 'go')} on from here."
        case Gone(player, _, parting):
            return _gone(player, parting, me)
        case WentOut(player, _, to):
            return f"{does(player, me, 'go')} to {place(to)}."
        case CameIn(player, room):
            return f"{does(player, me, 'walk')} to {place(room)}."
        case Emoted(player, _, text):
            return f"{player}{'' if text.startswith(_JOINS) else ' '}{text}"
        case Told(player, to, text):
            return f"{does(player, me, 'tell')} {'you' if to == me else to}: {text}"
        case Invited():
            return _invited(aside, me)
        case StyleChosen(_, board, style):
            return f"You are shown the {board} in {style.value} style from now on."
        case OptionChosen(_, choice, options):
            return said(choice, options)
    return ""  # what is shown says it all


def _invited(aside: Invited, me: str | None) -> str:
    asked, seat = aside.to, f"play the {aside.side.plural} at the {aside.board}"
    if asked == me:
        words = Join(aside.side, aside.board)
        return f'{aside.player} asks you to {seat}. To do so, say "{words}".'
    return f"{does(aside.player, me, 'ask')} {asked} to {seat}."


def _gone(player: str, parting: Parting, me: str | None) -> str:
    match parting:
        case Parting.LOST:
            return f"{player} has lost the connection."
        case Parting.IDLE:
            return f"{player} has been idle for too long and is gone."
    return "Goodbye!" if player == me else f"{player} leaves for home."


_JOINS = ("'s ", ", ")
"""How an emote begins that goes on without a blank after the name."""


def changed(event: HallEvent, table: Table | None, me: str | None) -> str:
    """Return what happens to the boards, in a sentence."""
    board = table.name if table else ""
    match event:
        case BoardOpened(player=player, rules=rules):
            comes = f"{does(player, me, 'open')} a board" if player else "there is a new board"
            return f"{capitalised(comes)}: the {board}, with the {rules} rules."
        case BoardClosed(player=player):
            return capitalised(
                f"{does(player, me, 'close')} the {board}." if player else f"the {board} is closed."
            )
        case BoardRenamed(name=name):
            return f"The {board} is called {name} from now on."
        case Interrupted():
            return ""
        case _:
            assert_never(event)


def place(room: str | None) -> str:
    """Return a room as it stands in a sentence."""
    return f"the {room}" if room else "the hall"


def at(room: str | None) -> str:
    """Return where somebody in a room is."""
    return f"at the {room}" if room else "in the hall"


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
    return wrapped(f"To play with {who}, type {typed}.", width)


def _inviting(bot: str) -> str:
    return str(Invite(bot.lower()))


def boards(hall: Hall, width: int) -> list[str]:
    """Return the boards, one entry each, numbered as `board 2` counts them."""
    return [
        line
        for number, table in enumerate(hall.tables.values(), 1)
        for line in wrapped(f"{number:>2}. {_entry(hall, table)}", width, "    ")
    ]


def people_here(hall: Hall, player: str, room: str | None, width: int) -> list[str]:
    """Return who is in a room besides ``player``; nothing if nobody is."""
    others = [
        f"{name} (a bot)" if name in hall.bots else name
        for name in hall.people_in(room)
        if name != player
    ]
    if not others:
        return []
    return wrapped(f"Also here: {listed(others)}.", width)


def who(hall: Hall, player: str, width: int) -> list[str]:
    """Return the players, and the bots, each with where they are and what they play."""
    people = counted(len(hall.people.keys() - hall.bots), "player")
    programs = bots(hall)
    also = f" and {counted(len(programs), 'bot')}" if programs else ""
    lines = wrapped(f"{people}{also} connected:", width)
    for person in hall.people.values():
        lines += wrapped(f"  {_facts(hall, person, player)}", width, "    ")
    if not programs:
        return lines
    return lines + wrapped('"invite" and its name ask a bot to a game.', width)


def person(hall: Hall, name: str, player: str, width: int) -> list[str]:
    """Return one of the players as ``player`` is told of them."""
    return wrapped(_facts(hall, hall.people[name], player), width)


def _facts(hall: Hall, person: Person, player: str) -> str:
    plays = [
        f"plays the {side.plural} {at(table.name)}"
        for table in hall.seats_of(person.name)
        if (side := table.side_of(person.name))
    ]
    mine = " (you)" if person.name == player else " (a bot)" if person.name in hall.bots else ""
    return f"{person.name}{mine}: {'; '.join([at(person.room), *plays])}"


def _entry(hall: Hall, table: Table) -> str:
    watching = len([name for name in hall.people_in(table.name) if not table.side_of(name)])
    facts = [_state(table)]
    if watching:
        facts.append(f"{watching} watching")
    return f"{table.name} ({table.ruleset.name} rules): {'; '.join(facts)}"


def _state(table: Table) -> str:
    seats = " and ".join(
        f"{seat.player} ({seat.side.plural}{', away' if seat.side in table.away else ''})"
        for seat in table.seating
        if seat.player is not None
    )
    if not seats:
        return "both seats free"
    progress = [_progress(table)] if table.match or table.full else []
    free = [f"{side.value} seat free" for side in Side if side not in table.seats]
    return "; ".join([seats, *progress, *free])


def _progress(table: Table) -> str:
    match = table.match
    if match is None:
        return "no battle begun"
    if match.over:
        return "match over"
    if not match.running:
        return "between the battles of a match"
    plies = counted(len(match.game.moves), "ply")
    return f"battle {match.battle}, {plies} played, {match.game.position.turn.plural} to move"


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
    alone = f'Nobody to play with? Take a seat at a board, and type "{Invite(bot.lower())}".'
    return "\n".join([GREETING, *wrapped(alone, NARROWEST)])
