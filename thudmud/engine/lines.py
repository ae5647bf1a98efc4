"""Lines: directions, distances and neighbours on the board.

Owns the geometry that bitboards and squares share. Must never know what stands on a square.

A bitboard goes one step in a direction by a shift. ``bits << direction.left >> direction.right``
does it for all eight alike, as one of the two is always 0; mask the result with squares of the
board, for what left the board lies on bits that are no squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thudmud.engine.squares import BOARD, SQUARES, STRIDE, WIDTH, Square


@dataclass(frozen=True, slots=True)
class Direction:
    """One of the eight directions, as the columns and rows (-1, 0 or 1) of one step."""

    columns: int
    rows: int

    @property
    def shift(self) -> int:
        """By how much a step raises the number of a square's bit."""
        return self.rows * STRIDE + self.columns

    @property
    def left(self) -> int:
        """By how much a bitboard shifts left for a step, 0 if it shifts right."""
        return max(self.shift, 0)

    @property
    def right(self) -> int:
        """By how much a bitboard shifts right for a step, 0 if it shifts left."""
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

SHIFTS: tuple[int, ...] = tuple(direction.shift for direction in DIRECTIONS if direction.shift > 0)
"""The four shifts that, to the left and to the right, go in all eight directions."""

STEPS: tuple[tuple[int, int], ...] = tuple((each.left, each.right) for each in DIRECTIONS)
"""For each direction how far to shift left and right for a step; one of the two is 0."""


def around(bits: int) -> int:
    """Return the bitboard of what is one step from any of ``bits``, board or not."""
    beside = bits << 1 | bits >> 1
    rows = bits | beside
    return beside | rows << STRIDE | rows >> STRIDE


NEXT_TO: dict[int, int] = {square.bit: around(square.bit) & BOARD for square in SQUARES}
"""For the bit of each square of the board, the bitboard of the squares next to it."""


def direction_to(origin: Square, target: Square) -> Direction | None:
    """Return the direction from one square to another; None if they are not in line."""
    columns, rows = target.column - origin.column, target.row - origin.row
    far = max(abs(columns), abs(rows))
    if far == 0 or abs(columns) not in {0, far} or abs(rows) not in {0, far}:
        return None
    return Direction(columns // far, rows // far)


def distance(origin: Square, target: Square) -> int:
    """Return how many steps apart two squares are, going in any directions."""
    return max(abs(target.column - origin.column), abs(target.row - origin.row))


def walk(origin: Square, direction: Direction) -> Iterator[Square]:
    """Yield the squares from the one after ``origin`` on, up to the edge of the board."""
    column, row = origin.column + direction.columns, origin.row + direction.rows
    while 0 <= column < WIDTH and 0 <= row < WIDTH and (square := Square(column, row)).on_board:
        yield square
        column, row = column + direction.columns, row + direction.rows


def beyond(origin: Square, over: Square) -> Square | None:
    """Return the square on the far side of ``over``, a neighbour; None if off the board."""
    direction = direction_to(origin, over)
    return None if direction is None else next(walk(over, direction), None)


def line_length(bits: int, front: Square, direction: Direction) -> int:
    """Return how long the unbroken line in ``bits`` is that ends at ``front``.

    Args:
        bits: the bitboard of the fighters that form lines; ``front`` is one of them.
        front: the end of the line that faces its direction.
        direction: the direction the line faces.
    """
    length = 1
    for square in walk(front, direction.back):
        if not square.bit & bits:
            break
        length += 1
    return length
