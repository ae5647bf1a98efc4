"""The dwarfs of classic and discworld: queens that capture by being hurled.

Owns how they move and what they capture. Must never look at the troll side's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt, Verb
from thudmud.engine.lines import STEPS, around, line_length
from thudmud.engine.listing import Listing, Standing
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.queens import REACH, count_queen_moves, require_queen_way
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.squares import Square


@dataclass(frozen=True, slots=True)
class HurlingDwarfs:
    """Move like queens; the front dwarf of a line is hurled at a troll.

    Source: the published Original Rules; the Discworld MUD's furniture has the same.
    """

    @property
    def verbs(self) -> frozenset[Verb]:
        """Dwarfs are moved and hurled."""
        return frozenset({Verb.MOVE, Verb.HURL})

    def moves(
        self, position: Position, origins: int, _most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome from ``origins``."""
        return _LINES.moves(position, origins)

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are."""
        number = count_queen_moves(position.dwarfs, position.empty)
        return number + sum(dwarfs.bit_count() for dwarfs in _thrown(position))

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


def _hurls_along(standing: list[Standing], squares: tuple[Square, ...]) -> Iterator[Move]:
    """Yield the hurls of the dwarfs on one line, either way."""
    dwarf, troll = Piece.DWARF, Piece.TROLL
    for way in (standing, standing[::-1]):
        length, behind = 0, 0
        for (front, piece), (ahead, next_piece) in pairwise(way):
            if piece is not dwarf:
                length = 0
            else:
                length = length + 1 if abs(front - behind) == 1 else 1
                if next_piece is troll and abs(ahead - front) <= length:
                    yield _hurl(squares[front], squares[ahead])
            behind = front


_LINES = Listing(Piece.DWARF, REACH, further=_hurls_along)


@cache
def _hurl(origin: Square, target: Square) -> Move:
    """Return the one move object for a hurl; there are a few thousand of them at most."""
    return Move(Piece.DWARF, origin, target, (target,), verb=Verb.HURL)


def _thrown(position: Position) -> Iterator[int]:
    """Yield, for each direction and distance, the bitboard of the dwarfs that can be hurled.

    Per direction two bitboards go towards each other: from the trolls back over empty squares, and
    along the dwarfs from front to front of ever longer lines.
    """
    dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
    for left, right in STEPS:
        aims, fronts = trolls << right >> left, dwarfs
        while aims and fronts:
            yield aims & fronts
            aims = (aims & empty) << right >> left
            fronts = dwarfs & fronts << left >> right


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
