"""Symmetries of the board, and Zobrist keys that are equal for symmetric positions.

The board has eight symmetries: rotations and reflections. A ruleset has those that map its opening
to itself. Its pieces move alike in all directions, so that positions which are images of each other
have the same moves, up to the symmetry, and can be stored as one.

A Zobrist key (Zobrist 1970) is the XOR of one random 64-bit number per piece and square, and one
for the side to move. A ply therefore changes it by a few XORs. Here a position has one key per
symmetry, the key of its image; all of them are packed into one long ``int``, so that each XOR
updates all at once. Images of a position have the same keys in another order. Hence the least key
identifies the whole set of images, and the symmetries with that key lead to its representative.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import product
from struct import Struct

from thudmud.rules.board import SQUARES, WIDTH, Square, squares_in
from thudmud.rules.moves import Move, Piece, Side, unchecked_move
from thudmud.rules.position import Position
from thudmud.rules.rulesets import Ruleset
from thudmud.values import Value


class Symmetry(Value):
    """A rotation or a reflection of the board.

    Attributes:
        swaps_axes: whether columns become rows, before the flips.
        flips_columns: whether the first column becomes the last.
        flips_rows: whether the first row becomes the last.
    """

    swaps_axes: bool
    flips_columns: bool
    flips_rows: bool

    @property
    def inverse(self) -> Symmetry:
        """The symmetry that undoes this one."""
        if not self.swaps_axes:  # flips undo themselves, in any order
            return self
        return Symmetry(self.swaps_axes, self.flips_rows, self.flips_columns)

    def map_square(self, square: Square) -> Square:
        """Return the image of a square."""
        return _images(self)[square]

    def map_move(self, move: Move) -> Move:
        """Return the image of a move."""
        images = _images(self)
        captures = tuple([images[each] for each in move.captures])
        # Captures are in board order, which the symmetry changes, or in the order trampled.
        if len(captures) > 1 and not move.is_trample:
            captures = tuple(sorted(captures))
        origin, target = images[move.origin], images[move.target]
        return unchecked_move(
            move.piece, origin, target, captures, move.verb, trample=move.is_trample
        )

    def map_position(self, position: Position) -> Position:
        """Return the image of a position."""
        images = _images(self)
        pieces = {images[each]: piece for piece in Piece for each in position.squares(piece)}
        return Position.of(pieces, position.turn)


SYMMETRIES = tuple(Symmetry(*each) for each in product((False, True), repeat=3))
"""The eight symmetries of the board, the identity first."""


@cache
def _images(symmetry: Symmetry) -> dict[Square, Square]:
    images, last = {}, WIDTH - 1
    for square in SQUARES:
        column, row = square.column, square.row
        if symmetry.swaps_axes:
            column, row = row, column
        column = last - column if symmetry.flips_columns else column
        images[square] = Square(column, last - row if symmetry.flips_rows else row)
    return images


def symmetries_of(ruleset: Ruleset) -> tuple[Symmetry, ...]:
    """Return the symmetries of a ruleset, the identity first."""
    opening = ruleset.initial_position
    return tuple(each for each in SYMMETRIES if each.map_position(opening) == opening)


class ZobristHasher:
    """Zobrist keys of the positions of a ruleset, equal for images of a position.

    The keys are the same in every process and every version, so that they can be stored. Two
    different positions collide by chance about once among some billions.

    A *print* is the packed ``int`` with a key per symmetry, see the module. A *number* is the least
    of these keys.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self.symmetries = symmetries_of(ruleset)
        self._parts = Struct(f"<{len(self.symmetries)}Q")
        self._rules = self._print([_key(f"rules {ruleset.name}")] * len(self.symmetries))
        self._turn = self._print([_key("turn troll")] * len(self.symmetries))
        self._keys = {
            piece: {
                square: self._print(
                    [_key(f"{piece.value}{each.map_square(square)}") for each in self.symmetries]
                )
                for square in SQUARES
            }
            for piece in Piece
        }

    def hash_of(self, position: Position) -> int:
        """Return the print of a position."""
        found = self._rules if position.turn is Side.DWARF else self._rules ^ self._turn
        for piece in Piece:
            keys = self._keys[piece]
            for square in squares_in(position.bits(piece)):
                found ^= keys[square]
        return found

    def hash_after(self, before: int, move: Move) -> int:
        """Return the print after a move, given the print of the position before."""
        keys = self._keys[move.piece]
        found = before ^ self._turn ^ keys[move.origin] ^ keys[move.target]
        if move.captures:
            prey = self._keys[Piece.TROLL if move.piece is Piece.DWARF else Piece.DWARF]
            for square in move.captures:
                found ^= prey[square]
        return found

    def canonical_key(self, known: int) -> tuple[int, Sequence[Symmetry]]:
        """Return the number of a print, and the symmetries that lead to the representative.

        The number is from -2**63 up to 2**63 - 1. There are several symmetries if the position is
        its own image.
        """
        parts = self._parts.unpack(known.to_bytes(self._parts.size, "little"))
        least = min(parts)
        some = [each for each, part in zip(self.symmetries, parts, strict=True) if part == least]
        return least - (1 << 63), some  # signed, as databases store integers of 64 bits

    def _print(self, parts: Sequence[int]) -> int:
        return int.from_bytes(self._parts.pack(*parts), "little")


@lru_cache(maxsize=16)
def hasher_of(ruleset: Ruleset) -> ZobristHasher:
    """Return the cached fingerprints of a ruleset; creating them takes some milliseconds."""
    return ZobristHasher(ruleset)


def canonical_record(move: Move, symmetries: Sequence[Symmetry]) -> str:
    """Return the record of a move's image; with several symmetries, the first in sort order.

    Symmetric plies in a position that is its own image therefore have the same record.
    """
    return min([str(each.map_move(move)) for each in symmetries])


@cache
def _key(text: str) -> int:
    # A hash in place of a random number, so that the key never changes.
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
