"""What all ways of moving share: the interface of a side, move lists by line, queen moves.

A row, column or diagonal with the same pieces has the same moves, and from one position to the next
only the few lines through the squares of the last ply change. So every line caches its moves by
what stands on it, and the moves of a position are one look-up for each of the board's 68 lines. A
line that has to compute its moves cuts them from ready-made ones: a list for each ray, sliced at
the first blocker. No move is made twice.

Several threads may list moves at once. Lists are cached only when they are complete. Two threads
that miss the same list make it twice, and either result will do.
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
from thudmud.rules.moves import Attempt, Capturing, Move, Piece, Verb
from thudmud.rules.position import Position


class Fighters(Protocol):
    """How one side moves and captures: a frozen value, made once per ruleset."""

    @property
    def pieces(self) -> frozenset[Piece]:
        """The pieces that this side moves."""

    @property
    def verbs(self) -> frozenset[Verb]:
        """The verbs of this side's plies."""

    @property
    def captures(self) -> Capturing:
        """How this side captures, besides after a plain move."""

    def moves(
        self, position: Position, origins: int, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply of this side from a square in ``origins``.

        ``most_tramples`` limits the tramples of each piece to the shortest ones; sides that do not
        trample ignore it.
        """

    def count(self, position: Position) -> int:
        """Return the number of distinct outcomes of a ply of this side, without listing them."""

    def can_move(self, position: Position) -> bool:
        """Return whether a ply of this side has any outcome."""

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the move that an attempt asks for.

        Args:
            position: a position with this side to move.
            attempt: an attempt whose squares are on the board, with a piece of this side on its
                origin, one of ``verbs``, and no capture named twice.

        Raises:
            IllegalMove: the rules refuse it, for the exact reason in the exception.
        """


_KEPT = 512
"""For how many ways to occupy a line its moves are cached: when full, all take some 40 MB."""

_HIGH = 256
"""The shift of the second bitboard of a code: the board's own bits end at 240."""

_LOW_BITS = (1 << _HIGH) - 1


Standing = tuple[int, Piece]
"""A piece on a line: its place from the beginning, and its kind: the Thudstone for the Rock, too,
as neither moves along lines."""

Further = Callable[[list[Standing], tuple[Square, ...]], Iterable[Move]]
"""Makes the moves along a line that are not only over empty squares, from the pieces that stand on
it, in order, and from its squares."""


class Listing:
    """The lines of the board with the moves of one kind of piece.

    Args:
        mover: the kind of piece.
        reach: the most empty squares that it goes.
        further: makes its other moves along a line, if it has any.
    """

    def __init__(self, mover: Piece, reach: int, further: Further | None = None) -> None:
        self._mover = mover
        self._reach = reach
        self._further = further
        self._lines: tuple[tuple[int, _Line], ...] = ()

    def moves(self, position: Position, origins: int) -> list[Move]:
        """Return the moves from ``origins``, a bitboard."""
        moves: list[Move] = []
        fixed = position.stone | position.rock
        code = position.dwarfs | fixed | (position.trolls | fixed) << _HIGH
        for mask, line in self._lines or self._prepare():
            moves += line[code & mask]
        if position.occupied & ~origins:
            return [move for move in moves if move.origin.bit & origins]
        return moves

    def _prepare(self) -> tuple[tuple[int, _Line], ...]:
        """Make the lines when moves are first listed: programs that list none need not wait."""
        lines = []
        for squares in _all_lines():
            bits = bits_of(squares)
            line = _Line(squares, self._mover, self._reach, self._further)
            lines.append((bits | bits << _HIGH, line))
        self._lines = tuple(lines)
        return self._lines


class _Line(dict[int, list[Move]]):
    """One line: its moves by the code of what stands on it.

    The code is two bitboards in one number: everything but trolls, and above it everything but
    dwarfs. So the Thudstone and the Rock are in both.
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
        """Compute the moves, and cache them once they are complete."""
        standing = self._read(code)
        moves = self._slides(standing)
        if self._further is not None:
            moves += self._further(standing, self._squares)
        if len(self) >= _KEPT:
            self.clear()
        self[code] = moves
        return moves

    def _read(self, code: int) -> list[Standing]:
        """Return what stands on the line, in order."""
        low, high = code & _LOW_BITS, code >> _HIGH
        dwarf, troll, stone = Piece.DWARF, Piece.TROLL, Piece.STONE
        standing = [(self._places[bit], dwarf) for bit in each_bit(low & ~high)]
        standing += [(self._places[bit], troll) for bit in each_bit(high & ~low)]
        standing += [(self._places[bit], stone) for bit in each_bit(low & high)]
        return sorted(standing, key=itemgetter(0))

    def _slides(self, standing: list[Standing]) -> list[Move]:
        """Return the moves over empty squares."""
        moves: list[Move] = []
        before = -1
        end = len(self._squares), Piece.STONE
        for (place, piece), (after, _) in pairwise([*standing, end]):
            if piece is self._mover:
                back, ahead = self._rays.get(place) or self._make_rays(place)
                moves += back[: place - before - 1]
                moves += ahead[: after - place - 1]
            before = place
        return moves

    def _make_rays(self, place: int) -> tuple[list[Move], list[Move]]:
        """Make the moves from a place to either end, when first needed: all would delay a start."""
        origin, squares = self._squares[place], self._squares
        back, ahead = squares[:place][::-1], squares[place + 1 :]
        rays = self._rays[place] = (
            [Move(self._mover, origin, target) for target in back[: self._reach]],
            [Move(self._mover, origin, target) for target in ahead[: self._reach]],
        )
        return rays


def _all_lines() -> Iterator[tuple[Square, ...]]:
    """Yield the board's rows, columns and diagonals, each from its lowest bit on."""
    for direction in (Direction(1, 0), Direction(0, 1), Direction(1, 1), Direction(-1, 1)):
        for first in SQUARES:
            if next(walk(first, direction.back), None) is None:
                yield (first, *walk(first, direction))


REACH = WIDTH
"""The most empty squares that a queen goes: all there are."""


def count_queen_moves(dwarfs: int, empty: int) -> int:
    """Return the number of the dwarfs' queen moves: all slide at once, a step at a time."""
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
    """Refuse any but a straight line over empty squares; the target may be occupied."""
    direction = checks.require_straight(attempt)
    checks.require_clear_way(position, attempt, direction)
