"""Plies as masks, and numbers that all squares have at once, as bitboards of their bits."""

from __future__ import annotations

Ply = tuple[int, int, int]
"""What to flip on the bitboards of the dwarfs, of the trolls and of the Rock."""

Capture = tuple[int, int, Ply]
"""How many it takes, the bit of the square where it ends, and the ply."""

Step = tuple[int, int, Ply]
"""How promising a troll's step is, the bit of the square where it ends, and the ply."""

Slices = tuple[int, ...]
"""A number for each square: the bitboards of its bits, the lowest first."""


def number_at(bit: int, slices: Slices) -> int:
    """Return the number of the square with a bit."""
    number, value = 0, 1
    for each in slices:
        if each & bit:
            number += value
        value += value
    return number


def top(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the highest numbers, ``most`` at least if there are so many."""
    kept, rest = 0, squares
    for each in reversed(slices):
        higher = rest & each
        if (kept | higher).bit_count() >= most:
            rest = higher
        else:
            kept |= higher
            rest &= ~each
    return kept | rest


def bottom(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the lowest numbers, ``most`` at least if there are so many."""
    kept, rest = 0, squares
    for each in reversed(slices):
        lower = rest & ~each
        if (kept | lower).bit_count() >= most:
            rest = lower
        else:
            kept |= lower
            rest &= each
    return kept | rest
