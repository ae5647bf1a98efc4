"""Plies as bit masks, numbers for all squares as bit slices, and the interface of tactics.

A position in the search is a few plain ints, one bitboard per kind of piece (see
`thudmud.rules.board`), and a ply is a mask for each of them. Playing a ply is an XOR per bitboard,
and so is taking it back; no object is created.

To rate a move, each square gets a small number: how good it is to be there. These numbers are
*bit-sliced*: slice k is a bitboard with bit k of every square's number. So a sum for the whole
board is a ripple-carry adder of a dozen ANDs and XORs, however many squares there are, where Python
would need a loop over 165. The slices are used in two ways. `highest_squares` and `lowest_squares`
select the best squares without sorting, one bit of the numbers at a time. `numbers_of` transposes
the slices into a byte string when single numbers are needed, by SWAR (SIMD within a register): each
square gets a byte of its own in one long int, so that all squares are added at once, and no carry
crosses from one byte into the next.
"""

from __future__ import annotations

from struct import unpack
from typing import Protocol, TypeVar

from thudmud.rules.board import BOARD, SHIFTS
from thudmud.rules.moves import Side

Ply = tuple[int, int, int]
"""The masks of a ply: the bits to flip on the bitboards of the dwarfs, the trolls and the Rock."""

Capture = tuple[int, bool, Ply]
"""The number of captures, whether the troll could then be captured, and the ply."""

ENOUGH = 4
"""The fewest dwarfs captured that can be worth losing the troll."""

Step = tuple[int, Ply]
"""A rating of a troll's step, higher for more promising ones, and the ply."""

HANGING_PENALTY = 1 << 30
"""Subtracted from the rating of an unpromising step, such as one to a square where the troll could
be captured. Such steps come after all others."""

Slices = tuple[int, ...]
"""A number below 256 for each square, bit-sliced: the bitboards of its bits, the lowest first."""

WAYS = tuple(way for shift in SHIFTS for way in ((shift, 0), (0, shift)))
"""The left and the right shift of a step in each of the eight directions."""

_BITS = BOARD.bit_length()  # bits of a bitboard, and so bytes of a transposed one
_ABOVE = 1 << _BITS  # a bit above all squares, which makes all binary texts equally long
_NOTHING = int.from_bytes(bin(_ABOVE).encode())  # the text of an empty slice as a number

_EMPTY_LANES = int.from_bytes(bin(_ABOVE).encode("utf-16-be"))  # the same with two bytes each

BITS = tuple(1 << number for number in range(_BITS))
"""The bit of each bit number."""


def numbers_of(slices: Slices) -> bytes:
    """Transpose bit slices into bytes: the number of the square with bit ``1 << n`` is byte n."""
    # The binary digits of a slice, as text, are a fast way in plain Python to spread its bits over
    # bytes; `bin` takes a third of the time of a format with padding. The text begins with the
    # highest bit, and so do big-endian bytes. The codes of "0" and "1" differ by 1; `_NOTHING`, as
    # often as it was added, takes away the rest. No byte of the difference overflows, as there are
    # at most eight slices.
    found = 0
    for each in reversed(slices):
        found += found + int.from_bytes(bin(each | _ABOVE).encode())
    return (found - _NOTHING * ((1 << len(slices)) - 1)).to_bytes(_BITS, "little")


def lanes_of(squares: int) -> int:
    """Return an int with 16 bits for each square: 1 for those given, else 0.

    Such ints can be added and multiplied, as long as each square's number is below 65,536.
    """
    # As in `numbers_of`, but with two bytes for each binary digit.
    return int.from_bytes(bin(squares | _ABOVE).encode("utf-16-be")) - _EMPTY_LANES


def numbers_in_lanes(lanes: int) -> tuple[int, ...]:
    """Return the numbers of such an int: that of the square with bit ``1 << n`` has index n."""
    return unpack(f"<{_BITS}H", lanes.to_bytes(2 * _BITS, "little"))


def highest_squares(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the highest numbers, at least ``most`` of them if there are as many.

    A radix select, from the highest bit down. ``rest`` has the squares whose bits so far equal
    those of the last one to be chosen, and ``kept`` those with higher numbers. Ties make the result
    larger than ``most``.
    """
    kept, rest = 0, squares
    for each in reversed(slices):
        higher = rest & each
        if (kept | higher).bit_count() >= most:
            rest = higher  # enough: squares without this bit are out
        else:
            kept |= higher
            rest &= ~each
    return kept | rest


def lowest_squares(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the lowest numbers, at least ``most`` of them if there are as many.

    The same as `highest_squares` with inverted bits.
    """
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

    A move's rating is the target's number minus the origin's. Only squares with the highest numbers
    are considered as targets, and only dwarfs on squares with the lowest as origins. All these
    dwarfs slide at once, a step at a time.

    ``empty`` has only squares of the board, so the AND after each shift also stops slides at the
    edge: a bit that leaves a row lands on the spare bit between two rows, see
    `thudmud.rules.board`.
    """
    targets, origins = highest_squares(empty, slices, most), lowest_squares(dwarfs, slices, most)
    numbers = numbers_of(slices)
    found: list[int] = []
    # A found move is one small int, as these are sorted much faster than tuples or bitboards: the
    # rating, and the bit numbers of its two squares, the higher one first.
    #
    # The code for left and right shifts is written out twice, so that each step is a single shift:
    # this is the innermost loop of the whole search. `back` is the distance to the origin in bits.
    for shift in SHIFTS:
        at, back = origins << shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                target = hits.bit_length() - 1
                hits ^= BITS[target]
                origin = target - back
                found.append((numbers[target] - numbers[origin]) << 16 | target << 8 | origin)
            at, back = at << shift & empty, back + shift
        at, back = origins >> shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                target = hits.bit_length() - 1
                hits ^= BITS[target]
                origin = target + back
                found.append((numbers[target] - numbers[origin]) << 16 | origin << 8 | target)
            at, back = at >> shift & empty, back + shift
    found.sort(reverse=True)
    return [(BITS[each >> 8 & 255] | BITS[each & 255], 0, 0) for each in found[:most]]


Field = TypeVar("Field")
"""Facts about a position that several methods of `Tactics` share."""


class Tactics(Protocol[Field]):
    """The move generation and the evaluation for one ruleset.

    A position is three bitboards, ``d`` the dwarfs, ``t`` the trolls and ``r`` the Rock; ``empty``
    has the unoccupied squares of the ground, and ``field`` is the result of `field`. All scores are
    from the dwarfs' point of view, in hundredths of a dwarf.

    Attributes:
        ground: the squares that a piece can stand on.
        has_goals: whether a ply can win; `winner_sign` is only called if so.
        troll_beam: the number of the trolls' moves without captures that are worth searching.
        ranked_exactly: the number of plies at the root with exact scores in the first ranking; for
            the others, an upper bound is enough.
    """

    ground: int
    has_goals: bool
    troll_beam: int = 64
    ranked_exactly: int = 1_000

    def rate_gathering_squares(self, _d: int, _t: int) -> dict[int, int]:
        """Return a rating of each square as the dwarfs' gathering square, by the square's bit.

        Empty for rules under which dwarfs don't gather.
        """
        return {}

    def boldness(self, _quiet_plies: int) -> int:
        """Return both sides' readiness to take risks after plies without a capture.

        Always 0 for rules under which that doesn't matter.
        """
        return 0

    def use_weights_of(self, side: Side, gather: int, boldness: int) -> None:
        """Switch to one side's weights.

        Args:
            side: the side that chooses a ply.
            gather: the bit of the dwarfs' gathering square.
            boldness: the result of `boldness`.
        """

    def field(self, d: int, t: int, empty: int) -> Field:
        """Return the facts about a position that the other methods share."""

    def winner_sign(self, _d: int, _t: int, _r: int, *, dwarfs_to_move: bool) -> int:  # noqa: ARG002
        """Return 1 if the dwarfs have won or win with the next ply, -1 if the trolls do, else 0."""
        return 0

    def evaluate(
        self, d: int, t: int, r: int, empty: int, field: Field, *, dwarfs_to_move: bool
    ) -> int:
        """Return the static evaluation of a position."""

    def dwarf_captures(self, d: int, t: int, r: int, empty: int, field: Field) -> list[Ply]:
        """Return the dwarfs' captures; of similar ones, only the one with the most captures."""

    def dwarf_moves(  # noqa: PLR0917  (a call by keywords takes longer)
        self, d: int, t: int, r: int, empty: int, field: Field, most: int
    ) -> list[Ply]:
        """Return about the ``most`` most promising quiet plies of the dwarfs, the best first."""

    def troll_captures(
        self, d: int, t: int, r: int, empty: int, field: Field, *, least: int = 0
    ) -> list[Capture]:
        """Return the trolls' captures worth searching.

        If ``least`` isn't 0, captures of fewer dwarfs may be left out, and so may captures of fewer
        than `ENOUGH` that lose the troll.
        """

    def troll_moves(self, d: int, t: int, r: int, empty: int, field: Field) -> list[Step]:
        """Return the quiet plies of the trolls."""
