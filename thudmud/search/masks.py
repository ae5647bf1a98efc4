"""Plies as masks, and numbers that all squares have at once, as bitboards of their bits."""

from __future__ import annotations

from thudmud.rules.board import BOARD, SHIFTS

Ply = tuple[int, int, int]
"""What to flip on the bitboards of the dwarfs, of the trolls and of the Rock."""

Capture = tuple[int, int, Ply]
"""How many it takes, the bit of the square where it ends, and the ply."""

Step = tuple[int, int, Ply]
"""How promising a troll's step is, the bit of the square where it ends, and the ply."""

Slices = tuple[int, ...]
"""A number below 256 for each square: the bitboards of its bits, the lowest first."""

_BITS = BOARD.bit_length()
_LOWEST = int.from_bytes(b"\1" * _BITS)


def numbers_of(slices: Slices) -> bytes:
    """Return the numbers of all squares: that of the square with the bit ``1 << n`` is the nth."""
    found = 0
    for power, each in enumerate(slices):
        found += (int.from_bytes(f"{each:0{_BITS}b}".encode()) & _LOWEST) << power
    return found.to_bytes(_BITS, "little")


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
    numbers = numbers_of(slices)
    found: list[tuple[int, int, int]] = []
    for shift in SHIFTS:
        at, back = origins << shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                target = bit.bit_length() - 1
                origin = target - back
                found.append((numbers[target] - numbers[origin], target, origin))
            at, back = at << shift & empty, back + shift
        at, back = origins >> shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                target = bit.bit_length() - 1
                origin = target + back
                found.append((numbers[target] - numbers[origin], origin, target))
            at, back = at >> shift & empty, back + shift
    found.sort(reverse=True)
    return [(1 << one | 1 << other, 0, 0) for _, one, other in found[:most]]
