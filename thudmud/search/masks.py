"""Plies as masks, numbers for all squares as bitboards, and the interface of tactics."""

from __future__ import annotations

from typing import Protocol, TypeVar

from thudmud.rules.board import BOARD, SHIFTS
from thudmud.rules.moves import Side

Ply = tuple[int, int, int]
"""What to flip on the bitboards of the dwarfs, of the trolls and of the Rock."""

Capture = tuple[int, bool, Ply]
"""The number of captures, whether the troll could then be captured, and the ply."""

ENOUGH = 4
"""How many dwarfs have to be taken that losing the troll for them may be worth it."""

Step = tuple[int, Ply]
"""How promising a troll's step is, and the ply."""

HANGS = 1 << 30
"""What makes a troll's step the least promising: it could be captured there."""

Slices = tuple[int, ...]
"""A number below 256 for each square: the bitboards of its bits, the lowest first."""

WAYS = tuple(way for shift in SHIFTS for way in ((shift, 0), (0, shift)))
"""For each of the eight directions how far to shift left and right for a step."""

_BITS = BOARD.bit_length()
_LOWEST = int.from_bytes(b"\1" * _BITS)


def numbers_of(slices: Slices) -> bytes:
    """Return the numbers of all squares: that of the square with the bit ``1 << n`` is the nth."""
    found = 0
    for power, each in enumerate(slices):
        found += (int.from_bytes(f"{each:0{_BITS}b}".encode()) & _LOWEST) << power
    return found.to_bytes(_BITS, "little")


def top(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the highest numbers, at least ``most`` if there are as many."""
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
    """Return the squares with the lowest numbers, at least ``most`` if there are as many."""
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

    A move's value is the target's number less the origin's. Only the squares with the highest
    numbers are targets, and only dwarfs on the lowest are moved: all of them slide at once, a step
    at a time.
    """
    targets, origins = top(empty, slices, most), bottom(dwarfs, slices, most)
    numbers = numbers_of(slices)
    found: list[tuple[int, int]] = []
    # Either way by itself: a step is one shift then, and this is the innermost loop of all.
    for shift in SHIFTS:
        at, back = origins << shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                target = bit.bit_length() - 1
                origin = target - back
                found.append((numbers[target] - numbers[origin], bit | 1 << origin))
            at, back = at << shift & empty, back + shift
        at, back = origins >> shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                target = bit.bit_length() - 1
                origin = target + back
                found.append((numbers[target] - numbers[origin], bit | 1 << origin))
            at, back = at >> shift & empty, back + shift
    found.sort(reverse=True)
    return [(mask, 0, 0) for _, mask in found[:most]]


Field = TypeVar("Field")
"""Facts about a position that several questions about it share."""


class Tactics(Protocol[Field]):
    """The plies and the evaluation of one ruleset.

    A position is three bitboards, ``d`` the dwarfs, ``t`` the trolls and ``r`` the Rock; ``empty``
    has the squares of the ground without any, and ``field`` is what `field` returns for it. All
    worths are in the dwarfs' view, in hundredths of a dwarf.

    Attributes:
        ground: the squares that a piece can stand on.
        has_goals: whether a ply can win; `decided` is only asked if so.
    """

    ground: int
    has_goals: bool

    def gathering(self, _d: int, _t: int) -> dict[int, int]:
        """Return how good each square is as the dwarfs' gathering square, by its bit.

        Empty for rules where they do not gather.
        """
        return {}

    def boldness(self, _quiet_plies: int) -> int:
        """Return how bold both sides are after so many plies without a capture.

        Always 0 for rules where that does not matter.
        """
        return 0

    def weigh_for(self, side: Side, gather: int, boldness: int) -> None:
        """Use one side's weights from now on.

        Args:
            side: the side.
            gather: the bit of the dwarfs' gathering square.
            boldness: what `boldness` returned.
        """

    def field(self, d: int, t: int, empty: int) -> Field:
        """Return what several questions about a position share."""

    def decided(self, _d: int, _t: int, _r: int, *, dwarfs_to_move: bool) -> int:  # noqa: ARG002
        """Return 1 if the dwarfs have won or win with the next ply, -1 if the trolls do, else 0."""
        return 0

    def worth(
        self, d: int, t: int, r: int, empty: int, field: Field, *, dwarfs_to_move: bool
    ) -> int:
        """Return the static worth of a position."""

    def dwarf_captures(self, d: int, t: int, r: int, empty: int, field: Field) -> list[Ply]:
        """Return the dwarfs' captures; of similar ones, the one that takes most."""

    def dwarf_moves(  # noqa: PLR0917  (a call by keywords takes longer)
        self, d: int, t: int, r: int, empty: int, field: Field, most: int
    ) -> list[Ply]:
        """Return about the ``most`` most promising other plies of the dwarfs, the best first."""

    def troll_captures(
        self, d: int, t: int, r: int, empty: int, field: Field, *, least: int = 0
    ) -> list[Capture]:
        """Return the trolls' captures that may be worth searching.

        If ``least`` is not 0, those may be left out that take fewer than that, and those of fewer
        than `ENOUGH` that lose the troll.
        """

    def troll_moves(self, d: int, t: int, r: int, empty: int, field: Field) -> list[Step]:
        """Return the other plies of the trolls."""
