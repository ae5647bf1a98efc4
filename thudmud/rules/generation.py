"""What all ways of moving share: the interface of a side, move lists by line, and queen moves.

A row, a column or a diagonal has the same moves whenever the same pieces stand on it, and from one
position to the next only the few lines through the squares of the last ply change. So every line
remembers its moves by what stands on it, and the moves of a position are some look-ups, one for
each of the board's 68 lines. What a line has to work out, it cuts from ready-made moves: a list for
each ray, sliced at the first blocker. No move is made twice.

Several threads may list moves at once. Nothing is remembered before it is whole: a list is made to
its end, and only then put where others find it. Two threads that miss the same list make it twice,
and either will do.
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
        """What this side moves."""

    @property
    def verbs(self) -> frozenset[Verb]:
        """The verbs by which this side is asked to go."""

    @property
    def captures(self) -> Capturing:
        """How this side captures, besides what it may take after a plain move."""

    def moves(
        self, position: Position, origins: int, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply of this side from a square in ``origins``.

        If ``most_tramples`` is given, of each piece's tramples only so many, the shortest first;
        sides that do not trample pay no heed to it.
        """

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes a ply of this side has, without listing them."""

    def can_move(self, position: Position) -> bool:
        """Return whether a ply of this side has any outcome."""

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the move that an attempt asks for.

        Args:
            position: this side is to move.
            attempt: its squares are on the board, a piece that this side moves stands on its
                origin, its verb is one of ``verbs``, and no capture is named twice.

        Raises:
            IllegalMove: with the exact reason, if the rules refuse it.
        """


_KEPT = 512
"""For how many ways to occupy a line its moves are kept: full, all take some 40 MB."""

_HIGH = 256
"""Where the second bitboard of a code begins: the board's own bits end at 240."""

_LOW_BITS = (1 << _HIGH) - 1


Standing = tuple[int, Piece]
"""A piece on a line: at which place from its beginning it stands, and what it is: the Thudstone
for the Rock, too, as neither goes along lines."""

Further = Callable[[list[Standing], tuple[Square, ...]], Iterable[Move]]
"""Tells the moves along a line that are not over empty squares only, from the pieces that stand on
it, in order, and from its squares."""


class Listing:
    """The lines of the board with the moves of one kind of piece.

    Args:
        mover: the kind of piece.
        reach: over how many empty squares it goes at most.
        further: what else it can do along a line, if anything.
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
        """Make the lines when moves are first listed: whoever never lists any need not wait."""
        lines = []
        for squares in _all_lines():
            bits = bits_of(squares)
            line = _Line(squares, self._mover, self._reach, self._further)
            lines.append((bits | bits << _HIGH, line))
        self._lines = tuple(lines)
        return self._lines


class _Line(dict[int, list[Move]]):
    """One line: its moves by the code of what stands on it.

    The code is two bitboards in one number: whatever is no troll, and above it whatever is no
    dwarf. So the Thudstone and the Rock are in both.
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
        """Work the moves out, and remember them once all are there."""
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
        """Make the moves from a place to either end; all at once would slow every start."""
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
