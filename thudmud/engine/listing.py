"""Listing: the moves along the lines of the board, ready-made.

Owns the fast way to list moves that go straight. A row, a column or a diagonal has the same moves
whenever the same pieces stand on it, and from one position to the next only the few lines through
the squares of the last ply change. So every line remembers its moves by what stands on it, and the
moves of a position are some look-ups, one for each of the board's 68 lines. No move is made twice.

Must never know which moves there are: that is told by the rules of the piece, line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from thudmud.engine.lines import Direction, walk
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.squares import SQUARES, Square, bits_of

Along = Callable[[tuple[Square, ...], str], Iterable[Move]]
"""Tells the moves along a line from its squares and from what stands on each of them: "d" or "T",
"X" for the Thudstone and the Rock alike, "." for nothing."""

_KEPT = 512
"""For how many ways to occupy a line its moves are kept: at most some 20 MB in all."""

_MARKS = ".dTX"
_HIGH = 256


class Listing:
    """The lines of the board with the moves of one kind of piece."""

    def __init__(self, along: Along) -> None:
        self._along = along
        self._lines: list[tuple[int, _Line]] = []

    def moves(self, position: Position, origins: int) -> list[Move]:
        """Return the moves from ``origins``, a bitboard."""
        moves: list[Move] = []
        code = _encode(position)
        for mask, line in self._lines or self._prepare():
            moves += line[code & mask]
        if position.occupied & ~origins:
            return [move for move in moves if move.origin.bit & origins]
        return moves

    def _prepare(self) -> list[tuple[int, _Line]]:
        self._lines = [(_mask(squares), _Line(squares, self._along)) for squares in _all_lines()]
        return self._lines


class _Line(dict[int, list[Move]]):
    """One line: its moves by the code of what stands on it."""

    def __init__(self, squares: tuple[Square, ...], along: Along) -> None:
        super().__init__()
        self._squares = squares
        self._along = along

    def __missing__(self, code: int) -> list[Move]:
        if len(self) >= _KEPT:
            self.clear()
        marks = "".join(_decode(code, square) for square in self._squares)
        moves = self[code] = list(self._along(self._squares, marks))
        return moves


def slides(squares: tuple[Square, ...], marks: str, mover: Piece, reach: int) -> Iterator[Move]:
    """Yield the moves along a line of the pieces of a kind over at most ``reach`` empty squares."""
    for index, mark in enumerate(marks):
        if mark == mover.value:
            for target in (*_clear(marks, index, 1, reach), *_clear(marks, index, -1, reach)):
                yield _slide(mover, squares[index], squares[target])


def _clear(marks: str, index: int, step: int, reach: int) -> Iterator[int]:
    """Yield the places along a line from ``index`` on, up to the first that is not empty."""
    end = len(marks) if step > 0 else -1
    for place in list(range(index + step, end, step))[:reach]:
        if marks[place] != ".":
            return
        yield place


@cache
def _slide(piece: Piece, origin: Square, target: Square) -> Move:
    """Return the one move object for a slide; there are some ten thousand in all."""
    return Move(piece, origin, target)


def _encode(position: Position) -> int:
    """Return a position as two bits for each square: what never moves along a line sets both."""
    fixed = position.stone | position.rock
    return position.dwarfs | fixed | (position.trolls | fixed) << _HIGH


def _decode(code: int, square: Square) -> str:
    return _MARKS[bool(code & square.bit) + 2 * bool(code >> _HIGH & square.bit)]


def _mask(squares: tuple[Square, ...]) -> int:
    bits = bits_of(squares)
    return bits | bits << _HIGH


def _all_lines() -> Iterator[tuple[Square, ...]]:
    """Yield the board's rows, columns and diagonals."""
    for direction in (Direction(1, 0), Direction(0, 1), Direction(1, 1), Direction(-1, 1)):
        for first in SQUARES:
            if next(walk(first, direction.back), None) is None:
                yield (first, *walk(first, direction))
