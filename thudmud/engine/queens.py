"""Queen moves: how dwarfs go in every ruleset, like a chess queen over empty squares.

Owns counting and granting them. Must never capture anything.
"""

from __future__ import annotations

from thudmud.engine import checks
from thudmud.engine.attempt import Attempt
from thudmud.engine.lines import SHIFTS, STEPS
from thudmud.engine.position import Position
from thudmud.engine.squares import WIDTH

REACH = WIDTH
"""How many empty squares a queen crosses at most: all there are."""


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
    empty, seen = position.empty, 0
    for left, right in STEPS:
        at = target << left >> right
        while at & empty:
            at = at << left >> right
        seen |= at
    return seen & position.dwarfs


def require_queen_way(position: Position, attempt: Attempt) -> None:
    """Refuse what is not a straight line over empty squares; the target may hold anything."""
    direction = checks.require_straight(attempt)
    checks.require_clear_way(position, attempt, direction)
