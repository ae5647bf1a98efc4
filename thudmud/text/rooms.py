"""What happens round about the boards, and the answers to questions, in words for one reader.

Owns the words of asides and the looks of the hall, the lists of boards and of players. Must never
change anything.
"""

from __future__ import annotations

from thudmud.engine import Side
from thudmud.engine.english import counted
from thudmud.tables.asides import (
    CameIn,
    Emoted,
    Entered,
    Gone,
    Happening,
    Spoke,
    StyleChosen,
    Told,
    WentOut,
)
from thudmud.tables.events import Parting
from thudmud.tables.hall import Hall, Person
from thudmud.tables.objects import listed
from thudmud.tables.table import Table
from thudmud.tables.table_decisions import sorted_seats
from thudmud.text.words import does, wrapped


def told(aside: Happening, me: str | None) -> str:
    """Return ``aside`` as a sentence for ``me`` (None: somebody it does not name)."""
    match aside:
        case Entered(player):
            return f"{does(player, me, 'come')} into the hall."
        case Gone(player, _, Parting.LOST):
            return f"{player} has lost the connection."
        case Gone(player):
            return "Goodbye!" if player == me else f"{player} leaves for home."
        case WentOut(player, _, to):
            return f"{does(player, me, 'go')} to {place(to)}."
        case CameIn(player, room):
            return f"{does(player, me, 'walk')} to {place(room)}."
        case Spoke(player, _, text):
            return f"{does(player, me, 'say')}: {text}"
        case Emoted(player, _, text):
            return f"{player}{'' if text.startswith(_JOINS) else ' '}{text}"
        case Told(player, to, text):
            return f"{does(player, me, 'tell')} {'you' if to == me else to}: {text}"
        case StyleChosen(_, board, style):
            return f"You are shown the {board} in {style.value} style from now on."


_JOINS = ("'s ", ", ")
"""How an emote begins that goes on without a blank after the name."""


def place(room: str | None) -> str:
    """Return a room as it stands in a sentence."""
    return f"the {room}" if room else "the hall"


def at(room: str | None) -> str:
    """Return where somebody in a room is."""
    return f"at the {room}" if room else "in the hall"


def hall(house: Hall, player: str, width: int) -> list[str]:
    """Return the hall as ``player`` sees it: the boards, and who is there."""
    opening = 'This is the hall, where the boards stand. Walk up to one with "go to" and its name.'
    return [
        *wrapped(opening, width),
        *boards(house, width),
        *people_here(house, player, None, width),
    ]


def boards(house: Hall, width: int) -> list[str]:
    """Return the boards, one entry each, numbered as `board 2` counts them."""
    return [
        line
        for number, table in enumerate(house.tables.values(), 1)
        for line in wrapped(f"{number:>2}. {_entry(house, table)}", width, "    ")
    ]


def people_here(house: Hall, player: str, room: str | None, width: int) -> list[str]:
    """Return who is in a room besides ``player``; nothing if nobody is."""
    others = [name for name in house.people_in(room) if name != player]
    if not others:
        return []
    return wrapped(f"Also here: {listed(others)}.", width)


def who(house: Hall, player: str, width: int) -> list[str]:
    """Return the players, each with where they are and what they play."""
    lines = [counted(len(house.people), "player") + " connected:"]
    for person in house.people.values():
        lines += wrapped(f"  {_facts(house, person, player)}", width, "    ")
    return lines


def person(house: Hall, name: str, player: str, width: int) -> list[str]:
    """Return one of the players as ``player`` is told of them."""
    return wrapped(_facts(house, house.people[name], player), width)


def _facts(house: Hall, person: Person, player: str) -> str:
    plays = [
        f"plays the {side.plural} {at(table.name)}"
        for table in house.seats_of(person.name)
        if (side := table.side_of(person.name))
    ]
    mine = " (you)" if person.name == player else ""
    return f"{person.name}{mine}: {'; '.join([at(person.room), *plays])}"


def _entry(house: Hall, table: Table) -> str:
    watching = len([name for name in house.people_in(table.name) if not table.side_of(name)])
    facts = [_state(table)]
    if watching:
        facts.append(f"{watching} watching")
    return f"{table.name} ({table.ruleset.name} rules): {'; '.join(facts)}"


def _state(table: Table) -> str:
    seats = " and ".join(f"{holder} ({side.plural})" for side, holder in sorted_seats(table))
    game = table.game
    free = "".join(f"; {side.value} seat free" for side in Side if side not in table.seats)
    if table.running and game and table.match:
        plies = counted(len(game.moves), "ply")
        turn = f"{game.position.turn.plural} to move"
        return f"{seats} in battle {table.match.battle}, {plies} played, {turn}{free}"
    if table.full:
        return f"{seats}, {'between battles' if table.half_played else 'no battle begun'}"
    return f"{seats}{free}" if seats else "both seats free"
