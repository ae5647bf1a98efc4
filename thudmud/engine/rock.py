"""The Rock of Koom Valley: dwarfs walk it home, trolls close in on it.

Owns its steps and the two goals that are about it. Must never move a fighter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt
from thudmud.engine.lines import NEXT_TO, around
from thudmud.engine.move import Move
from thudmud.engine.outcome import Ending
from thudmud.engine.pieces import Piece, Side
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.squares import SQUARES, bits_of, each_bit, square_at

HOME: int = bits_of(tuple(square for square in SQUARES if square.row == 0))
"""F1 to J1, which the Rock has to reach."""

CAPTORS = 3
"""How many trolls have to stand next to the Rock."""


def rock_steps(position: Position) -> int:
    """Return the bitboard of squares to which the Rock can go: a dwarf is beside it all the way."""
    beside = NEXT_TO.get(position.rock, 0)
    if not beside & position.dwarfs:
        return 0
    return beside & around(position.dwarfs) & position.empty


def rock_moves(position: Position) -> Iterator[Move]:
    """Yield the moves of the Rock."""
    for target in each_bit(rock_steps(position)):
        yield _rock_move(position.rock, target)


def grant_rock_move(position: Position, attempt: Attempt) -> Move:
    """Return the move of the Rock that an attempt asks for, or raise IllegalMove."""
    checks.require_near(attempt, Piece.ROCK, 1)
    checks.require_empty_target(position, attempt)
    if attempt.captures is EVERY:
        raise checks.nothing_to_capture(attempt, "the Rock takes no part in captures")
    if attempt.captures:
        raise IllegalMove(Reason.ROCK_CAPTURES, attempt.captures)
    for square in (attempt.origin, attempt.target):
        if not NEXT_TO[square.bit] & position.dwarfs:
            raise IllegalMove(Reason.ROCK_NOT_ESCORTED, (square,), square=square)
    return _rock_move(attempt.origin.bit, attempt.target.bit)


def rock_escaped(position: Position) -> tuple[Ending, Side] | None:
    """Goal of the dwarfs: the Rock stands at home."""
    return (Ending.ROCK_ESCAPED, Side.DWARF) if position.rock & HOME else None


def rock_captured(position: Position) -> tuple[Ending, Side] | None:
    """Goal of the trolls: after a ply of theirs, three of them stand next to the Rock."""
    if position.turn is Side.TROLL:
        return None
    captors = NEXT_TO.get(position.rock, 0) & position.trolls
    return (Ending.ROCK_CAPTURED, Side.TROLL) if captors.bit_count() >= CAPTORS else None


@cache
def _rock_move(origin: int, target: int) -> Move:
    return Move(Piece.ROCK, square_at(origin), square_at(target))
