"""The dwarfs of Koom Valley: queens that trap trolls between them, and that escort the Rock.

Owns how they move and what they capture. Must never look at the troll side's rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt, Verb
from thudmud.engine.lines import STEPS, around, beyond
from thudmud.engine.listing import Listing
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.queens import (
    REACH,
    count_queen_moves,
    dwarfs_in_view,
    require_queen_way,
)
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.rock import grant_rock_move, rock_moves, rock_steps
from thudmud.engine.squares import Square, each_bit, square_at, squares_in

_CACHED = 4096
_QUEENS = Listing(Piece.DWARF, REACH)


@dataclass(frozen=True, slots=True)
class TrappingDwarfs:
    """Move like queens, trapping trolls against other dwarfs; or walk the Rock one square.

    Source: the published Koom Valley rules.
    """

    @property
    def verbs(self) -> frozenset[Verb]:
        """Dwarfs and the Rock are moved, and nothing else."""
        return frozenset({Verb.MOVE})

    def moves(
        self, position: Position, origins: int, _most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome from ``origins``."""
        moves = _QUEENS.moves(position, origins)
        for target in each_bit(_traps(position)):
            trapped = _trapped(position, target)
            for origin in each_bit(dwarfs_in_view(position, target) & origins):
                moves += _capturing(origin, target, trapped)
        if position.rock & origins:
            moves += rock_moves(position)
        return moves

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are."""
        number = count_queen_moves(position.dwarfs, position.empty)
        number += rock_steps(position).bit_count()
        for target in each_bit(_traps(position)):
            choices = 2 ** _trapped(position, target).bit_count() - 1
            number += dwarfs_in_view(position, target).bit_count() * choices
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a dwarf can step aside; where none can, no square is free for the Rock."""
        return around(position.dwarfs) & position.empty != 0

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the move of a dwarf or the Rock that is asked for, or raise IllegalMove."""
        if position.piece_at(attempt.origin) is Piece.ROCK:
            return grant_rock_move(position, attempt)
        require_queen_way(position, attempt)
        checks.require_empty_target(position, attempt)
        return Move(Piece.DWARF, attempt.origin, attempt.target, _named(position, attempt))


def _traps(position: Position) -> int:
    """Return the bitboard of empty squares from which a dwarf would trap a troll."""
    dwarfs, trolls, traps = position.dwarfs, position.trolls, 0
    for left, right in STEPS:
        between = trolls & dwarfs << right >> left
        traps |= between << right >> left
    return traps & position.empty


def _trapped(position: Position, target: int) -> int:
    """Return the bitboard of the trolls that a dwarf on ``target`` has between it and another.

    The dwarf itself, not yet gone from where it stood, is never that other: the troll between would
    have been in its way.
    """
    trapped = 0
    for left, right in STEPS:
        troll = target << left >> right
        if troll & position.trolls and troll << left >> right & position.dwarfs:
            trapped |= troll
    return trapped


@lru_cache(maxsize=_CACHED)
def _capturing(origin: int, target: int, trapped: int) -> tuple[Move, ...]:
    """Return the moves between two squares, one for each set of trolls that may be captured."""
    start, end, trolls = square_at(origin), square_at(target), squares_in(trapped)
    return tuple(
        Move(Piece.DWARF, start, end, captures)
        for number in range(1, len(trolls) + 1)
        for captures in combinations(trolls, number)
    )


def _named(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    """Return the captures that were asked for, in board order; refuse what is not trapped."""
    if attempt.captures is EVERY:
        trapped = squares_in(_trapped(position, attempt.target.bit))
        if not trapped:
            raise checks.nothing_to_capture(attempt, "no troll is trapped there")
        return trapped
    for square in attempt.captures or ():
        checks.require_prey(position, Piece.TROLL, square)
        checks.require_adjacent(attempt, Piece.DWARF, square)
        _require_trapped(position, attempt, square)
    return tuple(sorted(attempt.captures or ()))


def _require_trapped(position: Position, attempt: Attempt, troll: Square) -> None:
    behind = beyond(attempt.target, troll)
    if behind is None:
        raise IllegalMove(Reason.NOT_TRAPPED_AT_EDGE, (troll,), square=troll, target=attempt.target)
    if position.piece_at(behind) is not Piece.DWARF:
        raise IllegalMove(Reason.NOT_TRAPPED, (troll, behind), square=troll, behind=behind)
