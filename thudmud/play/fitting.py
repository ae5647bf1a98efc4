"""Whether an event can come next at a table.

What a store holds is what a table decided, so nobody asks there. What somebody else has kept, line
by line, may have lost a line, or have been changed.
"""

from __future__ import annotations

from typing import assert_never

from thudmud.errors import InvalidValueError
from thudmud.play.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Declined,
    Joined,
    Left,
    Moved,
    Offered,
    OfferLapsed,
    Resumed,
    Returned,
    RulesSet,
    TableEvent,
    TakenBack,
)
from thudmud.play.table import Table
from thudmud.rules import Game, IllegalMove, Side


def require_fit(table: Table, event: TableEvent) -> None:
    """Raise InvalidValueError if an event cannot be what happens next at a table."""
    if problem := _problem(table, event):
        raise InvalidValueError(problem)


def require_ply(game: Game | None, event: Moved) -> None:
    """Raise InvalidValueError if a ply cannot be the next of a battle."""
    if problem := _of_ply(game, event):
        raise InvalidValueError(problem)


def _problem(table: Table, event: TableEvent) -> str | None:
    match event:
        case Moved():
            return _of_ply(table.game, event)
        case Joined(player=player, side=side):
            taken = side in table.seats or table.side_of(player)
            return f"{player} cannot sit down" if taken else None
        case Left(player=player, side=side) | Absent(player=player, side=side):
            return _of_seat(table, player, side)
        case Returned(player=player, side=side):
            return _of_seat(table, player, side)
        case Offered(player=player):
            return None if table.side_of(player) else f"{player} has no seat"
        case BattleStarted():
            return _of_start(table, event)
        case BattleEnded(outcome=outcome, plies=plies):
            game = table.game
            ends = game and len(game.moves) == plies and game.outcome in {None, outcome}
            return None if ends else "no such battle ends"
        case TakenBack(moves=moves):
            game = table.game if table.running else None
            last = game.moves[-len(moves) :] if game else ()
            return None if moves == last else "these plies were not the last"
        case RulesSet():
            return "a match is under way" if table.under_way else None
        case Adjourned(match=saved):
            there = table.match and table.match.saved()
            return None if saved == there else "another match was put away"
        case Resumed():
            return "a match is under way" if table.under_way else None
        case OfferLapsed() | Declined() | Cleared():
            return None
        case _:
            assert_never(event)


def _of_seat(table: Table, player: str, side: Side) -> str | None:
    return None if table.seats.get(side) == player else f"{player} has no such seat"


def _of_start(table: Table, event: BattleStarted) -> str | None:
    sit = event.dwarf, event.troll
    swapped = event.number > 1
    seats = tuple(table.seats.get(side) for side in Side)
    if table.half_played is not swapped:
        return f"battle {event.number} of a match cannot begin"
    return None if sit == (seats[::-1] if swapped else seats) else "others sit there"


def _of_ply(game: Game | None, event: Moved) -> str | None:
    if game is None:
        return "no battle has begun"
    if event.ply != len(game.moves) + 1:
        return f"ply {event.ply} comes after ply {len(game.moves)}"
    try:
        legal = game.resolve(event.move.attempt(), event.side)
    except IllegalMove as refusal:
        return str(refusal)
    return None if legal == event.move else f"{event.move} is not played so"
