"""Squares: the 15 by 15 grid, and which 165 of its squares are the octagonal board.

Owns the names of squares (letter = column, number = row) and their place in a bitboard. Must never
know what stands on a square.

A bitboard is an ``int`` with one bit per square. Rows are 16 bits apart although they hold 15
squares, so that every row is followed by a bit that is never on the board: a set of squares shifted
one step in any direction and masked with ``BOARD`` cannot wrap round to the next row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import total_ordering
from struct import Struct
from typing import NoReturn

WIDTH = 15
STRIDE = 16
_CORNER = 5
"""Columns (or rows) that a corner triangle takes off the outermost row: 5 + 4 + 3 + 2 + 1 = 15."""

LETTERS = "ABCDEFGHIJKLMNO"
_NAME = re.compile(r"([A-O])([1-9]|1[0-5])", re.ASCII | re.IGNORECASE)


@total_ordering
class Square:
    """One square of the grid, on the octagon or off it; there is one instance for each.

    Attributes:
        column: 0 (letter A) to 14 (letter O).
        row: 0 (number 1, drawn at the top) to 14 (number 15).
        on_board: whether the square is one of the 165.
        bit: the square as a bitboard with one bit set.
    """

    __slots__ = ("bit", "column", "on_board", "row")

    column: int
    row: int
    on_board: bool
    bit: int

    def __new__(cls, column: int, row: int) -> Square:
        """Return the square at a column and a row; ValueError if the grid has none there."""
        if not (0 <= column < WIDTH and 0 <= row < WIDTH):
            raise ValueError(f"the grid has no column {column}, row {row}")
        return _GRID[row * WIDTH + column]

    @staticmethod
    def parse(name: str) -> Square:
        """Return the square with a name such as ``A6`` or ``a6``; ValueError if there is none."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError(f"{name!r} is not a square: a letter A to O and a number 1 to 15")
        return Square(LETTERS.index(match[1].upper()), int(match[2]) - 1)

    def __str__(self) -> str:
        return f"{LETTERS[self.column]}{self.row + 1}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __hash__(self) -> int:
        return self.row * STRIDE + self.column

    def __lt__(self, other: Square) -> bool:
        return self.bit < other.bit if isinstance(other, Square) else NotImplemented

    def __reduce__(self) -> tuple[type[Square], tuple[int, int]]:
        return Square, (self.column, self.row)  # so that copies and pickles are the same instance

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a square does not change: {name} = {value!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a square does not change: del {name}")


def _make(column: int, row: int) -> Square:
    square = object.__new__(Square)
    from_edges = min(column, WIDTH - 1 - column) + min(row, WIDTH - 1 - row)
    object.__setattr__(square, "column", column)
    object.__setattr__(square, "row", row)
    object.__setattr__(square, "on_board", from_edges >= _CORNER)
    object.__setattr__(square, "bit", 1 << (row * STRIDE + column))
    return square


_GRID = tuple(_make(column, row) for row in range(WIDTH) for column in range(WIDTH))

SQUARES: tuple[Square, ...] = tuple(square for square in _GRID if square.on_board)
"""The 165 squares of the board, row by row from A (or the row's first letter) on."""

BOARD: int = sum(square.bit for square in SQUARES)
"""The bitboard of all 165 squares."""

CENTRE = Square.parse("H8")

_BY_BIT = {square.bit: square for square in SQUARES}
_ROWS = Struct(f"<{WIDTH}H")  # of STRIDE bits each


def square_at(bit: int) -> Square:
    """Return the square of the board that a bitboard with one bit set stands for."""
    return _BY_BIT[bit]


def squares_in(bits: int) -> tuple[Square, ...]:
    """Return the squares of a bitboard, row by row."""
    return tuple(_BY_BIT[bit] for bit in each_bit(bits))


def each_bit(bits: int) -> Iterator[int]:
    """Yield the bits of a bitboard one by one, lowest (nearest to the top left) first."""
    while bits:
        bit = bits & -bits
        yield bit
        bits ^= bit


def rows_of(bits: int) -> tuple[int, ...]:
    """Return the rows of a bitboard, the first on top: each with bit 0 for its column A."""
    return _ROWS.unpack(bits.to_bytes(_ROWS.size, "little"))


def bits_of(squares: tuple[Square, ...]) -> int:
    """Return the bitboard of some squares."""
    bits = 0
    for square in squares:
        bits |= square.bit
    return bits
