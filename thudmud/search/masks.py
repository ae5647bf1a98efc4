"""Plies as masks, and numbers that all squares have at once, as bitboards of their bits."""

from __future__ import annotations

from thudmud.rules.board import SHIFTS, each_bit

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


def best_slides(dwarfs: int, empty: int, slices: Slices, most: int) -> list[Ply]:
    """Return about the ``most`` best queen moves, the best first.

    A move is worth the number of where it goes less that of where it comes from. Of all squares
    only those with the highest numbers are gone to, and of all dwarfs only those on the lowest go:
    all of them slide at once, a step at a time.
    """
    targets, origins = top(empty, slices, most), bottom(dwarfs, slices, most)
    numbers = {bit: number_at(bit, slices) for bit in each_bit(targets | origins)}
    found: list[tuple[int, Ply]] = []
    for shift in SHIFTS:
        at, back = origins << shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                origin = bit >> back
                found.append((numbers[bit] - numbers[origin], (bit | origin, 0, 0)))
            at, back = at << shift & empty, back + shift
        at, back = origins >> shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                origin = bit << back
                found.append((numbers[bit] - numbers[origin], (bit | origin, 0, 0)))
            at, back = at >> shift & empty, back + shift
    found.sort(reverse=True)
    return [ply for _, ply in found[:most]]
