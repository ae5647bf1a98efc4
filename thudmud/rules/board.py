"""The board: its squares and their names, bitboards, and straight lines. Knows no pieces.

The grid is 15 by 15. The board is an octagon of 165 squares: the grid without a triangle of 15
squares at each corner.

A square has two names. On boards and in commands the columns are A to O. In game records, which
Thud programs exchange, they are A to P without the I, so ``J7`` is one column further left there
than here. `Square.parse` and ``str(square)`` use the names on boards; `Square.from_record` and
`Square.record_name` those of records.

A bitboard is an ``int`` with one bit per square. Rows have 15 squares but are 16 bits apart, so
that a bit that's never on the board follows each row. A set of squares shifted one step in any
direction and masked with ``BOARD`` therefore can't wrap round to the next row. A step in a
direction is ``bits << direction.left >> direction.right``, as one of the two is always 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import total_ordering
from struct import Struct
from typing import NoReturn

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable

WIDTH = 15
STRIDE = 16
_CORNER = 5
"""Columns (or rows) missing from each end of the outermost row: 5 + 4 + 3 + 2 + 1 = 15 squares."""

LETTERS = "ABCDEFGHIJKLMNO"
"""The column letters on boards and in commands."""

RECORD_LETTERS = "ABCDEFGHJKLMNOP"
"""The column letters in game records, which skip the I."""

_NAME = re.compile(r"([A-O])([1-9]|1[0-5])", re.ASCII | re.IGNORECASE)
_RECORD_NAME = re.compile(r"([A-Z])(0|[1-9][0-9]?)", re.ASCII)


@total_ordering
class Square:
    """A square of the grid, on the octagon or off it. There is one instance per square.

    Attributes:
        column: 0 (letter A) to 14 (letter O).
        row: 0 (number 1, drawn at the top) to 14 (number 15).
        is_on_board: whether the square is one of the 165.
        bit: the square as a bitboard with one bit set.
        name: the name, such as ``A6``.
    """

    __slots__ = ("bit", "column", "is_on_board", "name", "row")

    column: int
    row: int
    is_on_board: bool
    bit: int
    name: str

    def __new__(cls, column: int, row: int) -> Square:
        """Return the square at a column and row; raise InvalidValueError off the grid."""
        if not (0 <= column < WIDTH and 0 <= row < WIDTH):
            raise InvalidValueError(
                f"expected a column and a row from 0 to {WIDTH - 1}, got {column} and {row}"
            )
        return _GRID[row * WIDTH + column]

    @staticmethod
    def parse(name: str) -> Square:
        """Parse a square name such as ``A6`` or ``a6``.

        Raises:
            InvalidValueError: the string isn't the name of a square.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise InvalidValueError(
                f"expected a letter from A to O and a number from 1 to 15, got {name!r}"
            )
        return Square(LETTERS.index(match[1].upper()), int(match[2]) - 1)

    @staticmethod
    def from_record(name: str) -> Square:
        """Parse a square name of game records, such as ``P9``.

        Raises:
            InvalidValueError: the name is invalid; for the letter I, the message explains why.
        """
        match = _RECORD_NAME.fullmatch(name)
        if match is None:
            raise InvalidValueError(
                f"expected a square such as A6, with a capital letter, got {name}"
            )
        letter, number = match[1], int(match[2])
        if letter == "I":
            raise InvalidValueError(f"{name}: game records skip the letter I (A to H, then J to P)")
        if letter not in RECORD_LETTERS or not 1 <= number <= WIDTH:
            raise InvalidValueError(f"expected a square from A1 to P15 (no letter I), got {name}")
        return Square(RECORD_LETTERS.index(letter), number - 1)

    @property
    def record_name(self) -> str:
        """The name in game records: O9 is ``P9`` there, and H8 is ``H8``."""
        return f"{RECORD_LETTERS[self.column]}{self.row + 1}"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{self}>"

    def __hash__(self) -> int:
        return self.row * STRIDE + self.column

    def __lt__(self, other: Square) -> bool:
        return self.bit < other.bit if isinstance(other, Square) else NotImplemented

    def __reduce__(self) -> tuple[type[Square], tuple[int, int]]:
        return Square, (
            self.column,
            self.row,
        )  # copies and pickles are the same instance

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"squares are immutable: can't set {name} to {value!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"squares are immutable: can't delete {name}")


def _make(column: int, row: int) -> Square:
    square = object.__new__(Square)
    from_edges = min(column, WIDTH - 1 - column) + min(row, WIDTH - 1 - row)
    object.__setattr__(square, "column", column)
    object.__setattr__(square, "row", row)
    object.__setattr__(square, "is_on_board", from_edges >= _CORNER)
    object.__setattr__(square, "bit", 1 << (row * STRIDE + column))
    object.__setattr__(square, "name", f"{LETTERS[column]}{row + 1}")
    return square


_GRID = tuple(_make(column, row) for row in range(WIDTH) for column in range(WIDTH))

SQUARES: tuple[Square, ...] = tuple(square for square in _GRID if square.is_on_board)
"""The 165 squares of the board, row by row, each row from its first letter on."""

BOARD: int = sum(square.bit for square in SQUARES)
"""The bitboard of all 165 squares."""

CENTRE = Square.parse("H8")

_BY_BIT = {square.bit: square for square in SQUARES}
_ROWS = Struct(f"<{WIDTH}H")  # of STRIDE bits each


def square_at(bit: int) -> Square:
    """Return the square of a bitboard with exactly one bit set."""
    return _BY_BIT[bit]


def squares_in(bits: int) -> tuple[Square, ...]:
    """Return the squares of a bitboard, row by row."""
    return tuple(_BY_BIT[bit] for bit in each_bit(bits))


def each_bit(bits: int) -> Iterator[int]:
    """Yield the bits of a bitboard one by one, the lowest (nearest to the top left) first."""
    while bits:
        bit = bits & -bits  # the lowest bit alone: -bits inverts all bits above it
        yield bit
        bits ^= bit


def rows_of(bits: int) -> tuple[int, ...]:
    """Return the rows of a bitboard from the top, as numbers whose bit 0 is column A."""
    return _ROWS.unpack(bits.to_bytes(_ROWS.size, "little"))


def bits_of(squares: tuple[Square, ...]) -> int:
    """Return the bitboard of the given squares."""
    bits = 0
    for square in squares:
        bits |= square.bit
    return bits


@immutable
@dataclass(frozen=True, slots=True)
class Direction:
    """One of the eight directions, as the change of column and row (-1, 0 or 1) in one step."""

    columns: int
    rows: int

    @property
    def shift(self) -> int:
        """The change of a square's bit number in one step."""
        return self.rows * STRIDE + self.columns

    @property
    def left(self) -> int:
        """The left shift of a bitboard in one step; 0 if the step shifts right."""
        return max(self.shift, 0)

    @property
    def right(self) -> int:
        """The right shift of a bitboard in one step; 0 if the step shifts left."""
        return max(-self.shift, 0)

    @property
    def back(self) -> Direction:
        """The opposite direction."""
        return Direction(-self.columns, -self.rows)


DIRECTIONS: tuple[Direction, ...] = tuple(
    Direction(columns, rows)
    for rows in (-1, 0, 1)
    for columns in (-1, 0, 1)
    if (columns, rows) != (0, 0)
)

_BY_STEP = {(each.columns, each.rows): each for each in DIRECTIONS}

SHIFTS: tuple[int, ...] = tuple(direction.shift for direction in DIRECTIONS if direction.shift > 0)
"""The four positive shifts. Used to the left and to the right, they give all eight directions."""

STEPS: tuple[tuple[int, int], ...] = tuple((each.left, each.right) for each in DIRECTIONS)
"""The left and the right shift of a step in each direction; one of the two is 0."""


def neighbours_of(bits: int) -> int:
    """Return the bitboard of the squares one step from any of ``bits``, not masked with ``BOARD``.

    A square of ``bits`` itself is included if another one is next to it.
    """
    beside = bits << 1 | bits >> 1
    rows = bits | beside
    return beside | rows << STRIDE | rows >> STRIDE


NEXT_TO: dict[int, int] = {square.bit: neighbours_of(square.bit) & BOARD for square in SQUARES}
"""The bitboard of each square's neighbours on the board, by the square's bit."""


def direction_to(origin: Square, target: Square) -> Direction | None:
    """Return the direction from one square to another; None without a straight line."""
    columns, rows = target.column - origin.column, target.row - origin.row
    far = max(abs(columns), abs(rows))
    if far == 0 or abs(columns) not in {0, far} or abs(rows) not in {0, far}:
        return None
    return _BY_STEP[columns // far, rows // far]


def distance(origin: Square, target: Square) -> int:
    """Return the distance between two squares in king's moves (Chebyshev distance)."""
    return max(abs(target.column - origin.column), abs(target.row - origin.row))


def walk(origin: Square, direction: Direction) -> Iterator[Square]:
    """Yield the squares after ``origin`` in a direction, up to the edge of the board."""
    column, row = origin.column + direction.columns, origin.row + direction.rows
    while 0 <= column < WIDTH and 0 <= row < WIDTH:
        square = _GRID[row * WIDTH + column]
        if not square.is_on_board:
            return
        yield square
        column, row = column + direction.columns, row + direction.rows


def beyond(origin: Square, over: Square) -> Square | None:
    """Return the square behind a neighbour, in line with both; None if that is off the board."""
    direction = direction_to(origin, over)
    return None if direction is None else next(walk(over, direction), None)


def line_length(bits: int, front: Square, direction: Direction) -> int:
    """Return the length of the unbroken line that ends at ``front``.

    Args:
        bits: the bitboard of one side's fighters, ``front`` among them.
        front: the front of the line.
        direction: the direction that the line faces.
    """
    length = 1
    for square in walk(front, direction.back):
        if not square.bit & bits:
            break
        length += 1
    return length
