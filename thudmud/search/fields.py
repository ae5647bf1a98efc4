"""Facts about all squares of a position at once, as bitboards: the base of the evaluation.

All functions take and return bitboards, see `thudmud.rules.board`; each handles the whole board in
some dozens of operations, which is what makes a search in Python possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from thudmud.rules.board import BOARD, SHIFTS, SQUARES, around

RADII = range(1, 8)
"""The radii of the discs that measure nearness."""


def _discs(centre: int) -> Iterator[int]:
    """Yield ever larger discs. The octagon is convex, so no step has to go round a corner."""
    disc = centre
    for _ in RADII:
        disc = (disc | around(disc)) & BOARD
        yield disc


DISCS: dict[int, tuple[int, ...]] = {square.bit: tuple(_discs(square.bit)) for square in SQUARES}
"""For the bit of each square: the squares within each of the radii."""


def lines_reach(fighters: int, empty: int) -> int:
    """Return the squares that lines of two or more reach, two squares ahead or more.

    A line of n goes up to n squares ahead, over empty squares; what stands on the last one does not
    matter. A troll that captures everything next to it has only these to fear.
    """
    reach = 0
    for shift in SHIFTS:
        pairs = fighters & fighters << shift  # the fronts of lines of two or more that go up
        if not pairs:
            continue
        # Per line, the square that is as many steps ahead as the line is long; then, for longer
        # lines, the square after that, as long as all before are empty.
        threes, twice = pairs & pairs << shift, shift + shift
        if ahead := pairs << shift & empty:
            ahead <<= shift
            reach |= ahead
            fronts, far = threes, twice
            while fronts and (ahead := (ahead & empty & fronts << far) << shift):
                reach |= ahead
                fronts &= fronts << shift
                far += shift
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
    """Return how many fighters are next to each square, 3 for more, as two bits of a number.

    The third bitboard has the squares with four or more.
    """
    ones = twos = fours = 0
    for shift in SHIFTS:
        for beside in (fighters << shift, fighters >> shift):
            carry = ones & beside
            ones ^= beside
            fours |= twos & carry
            twos ^= carry
    return (ones | fours) & BOARD, (twos | fours) & BOARD, fours & BOARD


@cache
def closeness(centre: int) -> tuple[int, int, int]:
    """Return how near each square is to a centre, 7 to 0, as three bits of a number.

    Args:
        centre: the bit of a square; with 0 no square is near.
    """
    ones = twos = fours = 0
    for disc in DISCS.get(centre, ()):
        carry = ones & disc
        ones ^= disc
        fours ^= twos & carry
        twos ^= carry
    return ones, twos, fours
