"""Move generation shared by the rulesets: the interface of a side, moves by line, queen moves.

Moves along a line depend only on the pieces on that line, and a ply changes only the few lines
through its squares. So each of the board's 68 lines (rows, columns, diagonals) caches its moves by
its occupancy, and the moves of a position are 68 look-ups. To fill the cache, a line takes slices
of ready-made lists: one per square and ray, cut at the first blocker. No move is created twice.

Several threads may generate moves at once. Only complete lists are cached. Two threads that miss
the same entry both compute it, and either result will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Protocol

from thudmud.rules import checks
from thudmud.rules.board import (
    SHIFTS,
    SQUARES,
    STEPS,
    WIDTH,
    Direction,
    Square,
    bits_of,
    each_bit,
    walk,
)
from thudmud.rules.moves import Attempt, Capturing, Move, Piece, Verb, quiet_move
from thudmud.rules.position import Position


class SideRules(Protocol):
    """How one side moves and captures: a frozen value, one per side of a ruleset."""

    @property
    def pieces(self) -> frozenset[Piece]:
        """The kinds of pieces that this side moves."""

    @property
    def verbs(self) -> frozenset[Verb]:
        """The verbs of this side's plies."""

    @property
    def captures(self) -> Capturing:
        """The way in which this side captures, other than after a plain move."""

    def moves(
        self, position: Position, origins: int, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply of this side from a square in ``origins``.

        ``most_tramples`` limits each piece to its shortest tramples; sides without tramples ignore
        it.
        """

    def count(self, position: Position) -> int:
        """Return the number of distinct outcomes of this side's ply, faster than by listing."""

    def can_move(self, position: Position) -> bool:
        """Return whether this side has a legal ply."""

    def validate(self, position: Position, attempt: Attempt) -> Move:
        """Return the move that an attempt asks for.

        Args:
            position: a position with this side to move.
            attempt: an attempt with squares on the board, a piece of this side on its origin, one
                of ``verbs``, and no capture named twice. The ruleset has checked that.

        Raises:
            IllegalMoveError: the rules refuse the attempt; the exception has the exact reason.
        """


_KEPT = 512
"""The most cached occupancies of a line. Full caches of all lines take some 40 MB."""

_HIGH = 256
"""The shift of the second bitboard in an occupancy code: the board's own bits end below 240."""

_LOW_BITS = (1 << _HIGH) - 1


PieceOnLine = tuple[int, Piece]
"""A piece on a line: its index along the line, and its kind.

The Rock counts as the Thudstone: neither moves along lines."""

Further = Callable[[list[PieceOnLine], tuple[Square, ...]], Iterable[Move]]
"""Generates a line's moves other than slides over empty squares.

The arguments are the pieces on the line, in order, and the line's squares."""


class SlideGenerator:
    """The moves of one kind of piece along all lines of the board.

    Args:
        mover: the kind of piece.
        reach: the most empty squares that it slides.
        further: generates its other moves along a line, if there are any.
    """

    def __init__(self, mover: Piece, reach: int, further: Further | None = None) -> None:
        self._mover = mover
        self._reach = reach
        self._further = further
        self._lines: tuple[tuple[int, _Line], ...] = ()

    def moves(self, position: Position, origins: int) -> list[Move]:
        """Return the moves from the squares of ``origins``, a bitboard."""
        moves: list[Move] = []
        fixed = position.stone | position.rock
        code = position.dwarfs | fixed | (position.trolls | fixed) << _HIGH  # see `_Line`
        for mask, line in self._lines or self._prepare():
            moves += line[code & mask]
        if position.occupied & ~origins:
            return [move for move in moves if move.origin.bit & origins]
        return moves

    def _prepare(self) -> tuple[tuple[int, _Line], ...]:
        """Create the lines on first use, so that programs that list no moves start faster."""
        lines = []
        for squares in _all_lines():
            bits = bits_of(squares)
            line = _Line(squares, self._mover, self._reach, self._further)
            lines.append((bits | bits << _HIGH, line))
        self._lines = tuple(lines)
        return self._lines


class _Line(dict[int, list[Move]]):
    """The moves along one line, by the code of its occupancy.

    The code is two bitboards in one number. The low one has the dwarfs, the high one the trolls;
    both have the Thudstone and the Rock.
    """

    def __init__(
        self, squares: tuple[Square, ...], mover: Piece, reach: int, further: Further | None
    ) -> None:
        super().__init__()
        self._squares = squares
        self._places = {square.bit: place for place, square in enumerate(squares)}
        self._mover = mover
        self._reach = reach
        self._further = further
        self._rays: dict[int, tuple[list[Move], list[Move]]] = {}

    def __missing__(self, code: int) -> list[Move]:
        """Compute the moves for an occupancy, and cache the complete list."""
        standing = self._read(code)
        moves = self._slides(standing)
        if self._further is not None:
            moves += self._further(standing, self._squares)
        if len(self) >= _KEPT:
            self.clear()
        self[code] = moves
        return moves

    def _read(self, code: int) -> list[PieceOnLine]:
        """Decode an occupancy into the pieces on the line, in order."""
        low, high = code & _LOW_BITS, code >> _HIGH
        dwarf, troll, stone = Piece.DWARF, Piece.TROLL, Piece.STONE
        standing = [(self._places[bit], dwarf) for bit in each_bit(low & ~high)]
        standing += [(self._places[bit], troll) for bit in each_bit(high & ~low)]
        standing += [(self._places[bit], stone) for bit in each_bit(low & high)]
        return sorted(standing, key=itemgetter(0))

    def _slides(self, standing: list[PieceOnLine]) -> list[Move]:
        """Return the moves over empty squares."""
        moves: list[Move] = []
        before = -1
        end = len(self._squares), Piece.STONE
        for (place, piece), (after, _) in pairwise([*standing, end]):
            if piece is self._mover:
                # A ray's moves are sorted by distance: its empty squares are a prefix.
                back, ahead = self._rays.get(place) or self._make_rays(place)
                moves += back[: place - before - 1]
                moves += ahead[: after - place - 1]
            before = place
        return moves

    def _make_rays(self, place: int) -> tuple[list[Move], list[Move]]:
        """Create the moves from a square to both ends on first use; all at once take too long."""
        origin, squares = self._squares[place], self._squares
        back, ahead = squares[:place][::-1], squares[place + 1 :]
        rays = self._rays[place] = (
            [quiet_move(self._mover, origin, target) for target in back[: self._reach]],
            [quiet_move(self._mover, origin, target) for target in ahead[: self._reach]],
        )
        return rays


def _all_lines() -> Iterator[tuple[Square, ...]]:
    """Yield the board's rows, columns and diagonals, each from its lowest bit on."""
    for direction in (Direction(1, 0), Direction(0, 1), Direction(1, 1), Direction(-1, 1)):
        for first in SQUARES:
            if next(walk(first, direction.back), None) is None:
                yield (first, *walk(first, direction))


REACH = WIDTH
"""The most empty squares that a queen move crosses: no limit on this board."""


def count_queen_moves(dwarfs: int, empty: int) -> int:
    """Return the number of the dwarfs' queen moves; all dwarfs slide at once, a step at a time."""
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
    """Refuse all but a straight path over empty squares; the target may be occupied."""
    direction = checks.require_straight(attempt)
    checks.require_clear_way(position, attempt, direction)
