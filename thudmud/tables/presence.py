"""How people come to the hall and leave it.

Owns what becomes of their seats: they are kept, or given up, or taken again. Must never change
anything: a decision has not happened yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from thudmud.commands import Style
from thudmud.commands.options import Options
from thudmud.tables.asides import CaughtUp, Entered, Gone
from thudmud.tables.events import Parting
from thudmud.tables.hall import Hall
from thudmud.tables.outcome import Decision
from thudmud.tables.seating import come_back, vanish
from thudmud.tables.table import Table


def part(hall: Hall, player: str, parting: Parting, now: float) -> list[Decision]:
    """Return what happens when ``player`` quits or is lost: seats kept or given up, then gone."""
    left: list[Decision] = []
    for table in hall.seats_of(player):
        events = vanish(table, player, parting, now)
        left.append(Decision(player, table.name, table.version, events))
    room = hall.people[player].room
    gone = Gone(player, room, parting, told=room in {each.board for each in left if each.events})
    return [*left, Decision(player, asides=(gone,))]


def arrive(
    hall: Hall,
    player: str,
    now: float,
    *,
    member: bool,
    styles: Mapping[str, Style],
    options: Options | None = None,
    room: str | None = None,
) -> list[Decision]:
    """Return what happens when ``player`` comes in.

    They come to the board ``room``, if it is given; else to where a seat was kept, or to the hall.
    """
    kept = sorted(hall.seats_of(player), key=lambda table: not _has_turn(table, player))
    seats = [table.name for table in kept]
    room = room or next(iter(seats), None)
    back = [
        Decision(player, table.name, table.version, come_back(table, player, now)) for table in kept
    ]
    entered = Entered(player, room, member, tuple(styles.items()), options)
    news = [
        CaughtUp(player, table.name, tuple(hall.missed.get((table.name, side), ())))
        for table in kept
        if (side := table.side_of(player))
    ]
    if room and room not in seats:
        news.append(CaughtUp(player, room))
    return [Decision(player, asides=(entered,)), *back, Decision(player, room, asides=(*news,))]


def _has_turn(table: Table, player: str) -> bool:
    game = table.game
    return bool(game and table.running and game.position.turn is table.side_of(player))
