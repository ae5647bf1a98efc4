"""The dwarfs of classic and discworld: queens that capture by being hurled.

Owns how they move and what they capture. Must never look at the troll side's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt, Verb
from thudmud.engine.lines import DIRECTIONS, around, line_length
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.queens import QUEEN_RAYS, count_queen_moves, require_queen_way
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.squares import each_bit, square_at

_STEPS = tuple((each.left, each.right, each.shift) for each in DIRECTIONS)


@dataclass(frozen=True, slots=True)
class HurlingDwarfs:
    """Move like queens; the front dwarf of a line is hurled at a troll.

    Source: the published Original Rules; the Discworld MUD's furniture has the same.
    """

    @property
    def verbs(self) -> frozenset[Verb]:
        """Dwarfs are moved and hurled."""
        return frozenset({Verb.MOVE, Verb.HURL})

    def moves(self, position: Position, origins: int) -> list[Move]:
        """Return every distinct outcome from ``origins``."""
        moves = QUEEN_RAYS.list_from(position.dwarfs & origins, position.occupied)
        for fronts, reach in _hurls(position):
            for bit in each_bit(fronts & origins):
                moves.append(_hurl(bit, reach))
        return moves

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are."""
        number = count_queen_moves(position.dwarfs, position.empty)
        for fronts, _ in _hurls(position):
            number += fronts.bit_count()
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a dwarf can step aside, or be hurled at a troll next to it."""
        return around(position.dwarfs) & (position.empty | position.trolls) != 0

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the move or hurl asked for, or raise IllegalMove."""
        if attempt.verb is Verb.HURL:
            return _grant_hurl(position, attempt)
        require_queen_way(position, attempt)
        if position.piece_at(attempt.target) is Piece.TROLL:
            raise IllegalMove(Reason.MOVE_ONTO_TROLL, (attempt.target,), target=attempt.target)
        checks.require_empty_target(position, attempt)
        if attempt.captures is EVERY:
            raise checks.nothing_to_capture(attempt, "a dwarf captures by being hurled")
        if attempt.captures:
            raise IllegalMove(Reason.MOVE_CAPTURES, attempt.captures)
        return Move(Piece.DWARF, attempt.origin, attempt.target)


def _hurls(position: Position) -> Iterator[tuple[int, int]]:
    """Yield, for each direction and distance, who can be hurled and by how much their bit grows.

    Per direction two bitboards go towards each other: from the trolls back over empty squares, and
    along the dwarfs from front to front of ever longer lines.
    """
    dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
    for left, right, shift in _STEPS:
        aims, fronts, reach = trolls << right >> left, dwarfs, shift
        while aims and fronts:
            if thrown := aims & fronts:
                yield thrown, reach
            aims = (aims & empty) << right >> left
            fronts = dwarfs & fronts << left >> right
            reach += shift


@cache
def _hurl(bit: int, reach: int) -> Move:
    """Return the one move object for a hurl; there are a few thousand of them at most."""
    origin = square_at(bit)
    target = square_at(bit << reach if reach > 0 else bit >> -reach)
    return Move(Piece.DWARF, origin, target, (target,), verb=Verb.HURL)


def _grant_hurl(position: Position, attempt: Attempt) -> Move:
    origin, target = attempt.origin, attempt.target
    direction = checks.require_straight(attempt)
    piece = position.piece_at(target)
    if piece is not Piece.TROLL:
        held = "nothing" if piece is None else piece.phrase
        raise IllegalMove(Reason.LANDS_ON_NO_TROLL, (target,), target=target, piece=held)
    length = line_length(position.dwarfs, origin, direction)
    checks.require_line(attempt, Piece.DWARF, length, "hurled")
    checks.require_clear_way(position, attempt, direction)
    if attempt.captures not in (None, EVERY, (target,)):
        raise IllegalMove(Reason.HURL_CAPTURES, (target,), target=target)
    return Move(Piece.DWARF, origin, target, (target,), verb=Verb.HURL)
