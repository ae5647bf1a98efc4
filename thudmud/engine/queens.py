"""Queen moves: how dwarfs go in every ruleset, like a chess queen over empty squares.

Owns listing, counting and granting them. Must never capture anything.
"""

from __future__ import annotations

from thudmud.engine import checks
from thudmud.engine.attempt import Attempt
from thudmud.engine.lines import SHIFTS
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.rays import Rays
from thudmud.engine.squares import WIDTH

QUEEN_RAYS = Rays(Piece.DWARF, reach=WIDTH)


def count_queen_moves(dwarfs: int, empty: int) -> int:
    """Return how many queen moves the dwarfs have: all slide at once, a step at a time."""
    number = 0
    for shift in SHIFTS:
        reached = dwarfs << shift & empty
        while reached:
            number += reached.bit_count()
            reached = reached << shift & empty
        reached = dwarfs >> shift & empty
        while reached:
            number += reached.bit_count()
            reached = reached >> shift & empty
    return number


def dwarfs_in_view(position: Position, target: int) -> int:
    """Return the bitboard of the dwarfs that have a queen move to the empty square ``target``."""
    occupied, seen = position.occupied, 0
    growing, falling = QUEEN_RAYS[target]
    for squares, _ in growing:
        near = occupied & squares
        seen |= near & -near
    for squares, _ in falling:
        near = occupied & squares
        seen |= 1 << near.bit_length() >> 1
    return seen & position.dwarfs


def require_queen_way(position: Position, attempt: Attempt) -> None:
    """Refuse what is not a straight line over empty squares; the target may hold anything."""
    direction = checks.require_straight(attempt)
    checks.require_clear_way(position, attempt, direction)
