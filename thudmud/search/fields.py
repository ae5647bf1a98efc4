"""Facts about all squares of a position at once, as bitboards: the base of the evaluation.

All functions take and return bitboards, see `thudmud.rules.board`. Each handles the whole board in
some dozens of operations on long ints; a loop over squares in Python would be far too slow for a
search. Small numbers per square are *bit-sliced*: one bitboard has the lowest bit of every square's
number, the next one the second bit, and so on. Adding 1 on many squares is then the logic of a half
adder, ``carry = sum & more; sum ^= more``, for all squares at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from thudmud.rules.board import BOARD, SHIFTS, SQUARES, STRIDE, neighbours_of

RADII = range(1, 8)
"""The radii of the discs that measure nearness."""


def _discs(centre: int) -> Iterator[int]:
    """Yield ever larger discs. The octagon is convex, so no shortest path leaves the board."""
    disc = centre
    for _ in RADII:
        disc = (disc | neighbours_of(disc)) & BOARD
        yield disc


DISCS: dict[int, tuple[int, ...]] = {square.bit: tuple(_discs(square.bit)) for square in SQUARES}
"""The squares within each of the radii, by the bit of the centre."""


def lines_reach(fighters: int, empty: int) -> int:
    """Return the squares that lines of two or more reach at a distance of two or more.

    A line of n reaches up to n squares ahead over empty squares, whatever the last one holds. Such
    lines are the only threat to a troll that captures everything next to it.
    """
    reach = 0
    for shift in SHIFTS:
        pairs = fighters & fighters << shift  # the fronts of lines of two or more that go up
        if not pairs:
            continue
        # `ahead` has the squares at one distance from the fronts, and advances a step at a time
        # while the square before is empty. Before each step, `fronts` loses the lines that are too
        # short for that distance, and `far` is the shift from the fronts to `ahead`.
        threes, twice = pairs & pairs << shift, shift + shift
        if ahead := pairs << shift & empty:
            ahead <<= shift
            reach |= ahead
            fronts, far = threes, twice
            while fronts and (ahead := (ahead & empty & fronts << far) << shift):
                reach |= ahead
                fronts &= fronts << shift
                far += shift
        # Facing down, the front of a pair is its lower square: one shift more than facing up.
        if ahead := pairs >> twice & empty:
            ahead >>= shift
            reach |= ahead
            fronts, far = threes >> twice, twice
            while fronts and (ahead := (ahead & empty & fronts >> far) >> shift):
                reach |= ahead
                fronts &= fronts >> shift
                far += shift
    return reach & BOARD


@lru_cache(1 << 13)
def neighbour_counts(fighters: int) -> tuple[int, int, int]:
    """Return the number of fighters next to each square, bit-sliced, saturating at 3.

    Returns:
        The low bits, the high bits, and the squares with four neighbours or more. These have both
        bits set.
    """
    # First the fighters on the left and right of each square, and with the square's own fighter,
    # which gives the numbers of whole rows of three; then the rows above and below.
    left, right = fighters << 1, fighters >> 1
    sides_1, sides_2 = left ^ right, left & right
    row_1, row_2 = sides_1 ^ fighters, sides_2 | sides_1 & fighters
    above_1, above_2 = row_1 << STRIDE, row_2 << STRIDE
    below_1, below_2 = row_1 >> STRIDE, row_2 >> STRIDE
    rows_1 = above_1 ^ below_1
    carry = above_1 & below_1 | rows_1 & sides_1
    # Four bits count two each: any two of them make four.
    rows_2, others_2 = above_2 ^ below_2, sides_2 ^ carry
    fours = (above_2 & below_2 | sides_2 & carry | rows_2 & others_2) & BOARD
    return (rows_1 ^ sides_1) & BOARD | fours, (rows_2 ^ others_2) & BOARD | fours, fours


@cache
def closeness(centre: int) -> tuple[int, int, int]:
    """Return each square's nearness to a centre, from 7 (the centre and its neighbours) to 0.

    Args:
        centre: the bit of a square; with 0, no square is near.

    Returns:
        The numbers as bit slices, the lowest first.
    """
    ones = twos = fours = 0
    for disc in DISCS.get(centre, ()):  # a square's number is the number of discs around it
        carry = ones & disc
        ones ^= disc
        fours ^= twos & carry
        twos ^= carry
    return ones, twos, fours
