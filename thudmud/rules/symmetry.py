"""Turns and reflections of the board, and numbers by which positions are found again.

The board has eight symmetries. A ruleset keeps those that leave its opening as it is: its pieces
move alike in all directions, so that positions which are images of each other are played alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import product
from struct import Struct

from thudmud.rules.board import SQUARES, WIDTH, Square, squares_in
from thudmud.rules.moves import Move, Piece, Side, listed
from thudmud.rules.position import Position
from thudmud.rules.rulesets import Ruleset
from thudmud.values import Value


class Symmetry(Value):
    """A turn or a reflection of the board.

    Attributes:
        swaps: whether columns become rows, before anything else.
        flips_columns: whether the first column becomes the last.
        flips_rows: whether the first row becomes the last.
    """

    swaps: bool
    flips_columns: bool
    flips_rows: bool

    @property
    def inverse(self) -> Symmetry:
        """The symmetry that undoes this one."""
        if not self.swaps:
            return self
        return Symmetry(self.swaps, self.flips_rows, self.flips_columns)

    def square(self, square: Square) -> Square:
        """Return where a square goes."""
        return _images(self)[square]

    def move(self, move: Move) -> Move:
        """Return where a move goes."""
        images = _images(self)
        captures = tuple([images[each] for each in move.captures])
        if len(captures) > 1 and not move.trample:
            captures = tuple(sorted(captures))
        origin, target = images[move.origin], images[move.target]
        return listed(move.piece, origin, target, captures, move.verb, trample=move.trample)

    def position(self, position: Position) -> Position:
        """Return where a position goes."""
        images = _images(self)
        pieces = {images[each]: piece for piece in Piece for each in position.squares(piece)}
        return Position.of(pieces, position.turn)


SYMMETRIES = tuple(Symmetry(*each) for each in product((False, True), repeat=3))
"""The eight of the board; the first changes nothing."""


@cache
def _images(symmetry: Symmetry) -> dict[Square, Square]:
    images, last = {}, WIDTH - 1
    for square in SQUARES:
        column, row = square.column, square.row
        if symmetry.swaps:
            column, row = row, column
        column = last - column if symmetry.flips_columns else column
        images[square] = Square(column, last - row if symmetry.flips_rows else row)
    return images


def symmetries_of(ruleset: Ruleset) -> tuple[Symmetry, ...]:
    """Return the symmetries that a ruleset keeps, the first of which changes nothing."""
    opening = ruleset.opening
    return tuple(each for each in SYMMETRIES if each.position(opening) == opening)


class Fingerprints:
    """Numbers of the positions of a ruleset, by which they are found again.

    All images of a position have the same. They are the same in every process and in every version,
    so that they can be stored. Two positions have the same one by chance, which happens once among
    some billions.

    In between stand longer numbers, prints: they have one part for each symmetry, so that a move
    changes all parts at once.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self.symmetries = symmetries_of(ruleset)
        self._parts = Struct(f"<{len(self.symmetries)}Q")
        self._rules = self._print([_key(f"rules {ruleset.name}")] * len(self.symmetries))
        self._turn = self._print([_key("turn troll")] * len(self.symmetries))
        self._keys = {
            piece: {
                square: self._print(
                    [_key(f"{piece.value}{each.square(square)}") for each in self.symmetries]
                )
                for square in SQUARES
            }
            for piece in Piece
        }

    def of(self, position: Position) -> int:
        """Return the print of a position."""
        found = self._rules if position.turn is Side.DWARF else self._rules ^ self._turn
        for piece in Piece:
            keys = self._keys[piece]
            for square in squares_in(position.bits(piece)):
                found ^= keys[square]
        return found

    def after(self, before: int, move: Move) -> int:
        """Return the print of a position after a move, by that of the position before it."""
        keys = self._keys[move.piece]
        found = before ^ self._turn ^ keys[move.origin] ^ keys[move.target]
        if move.captures:
            prey = self._keys[Piece.TROLL if move.piece is Piece.DWARF else Piece.DWARF]
            for square in move.captures:
                found ^= prey[square]
        return found

    def number(self, known: int) -> tuple[int, Sequence[Symmetry]]:
        """Return the number of a position, from -2**63 up to 2**63 - 1, by its print.

        And the symmetries that make of it the image that stands for all: several if it is its own
        image.
        """
        parts = self._parts.unpack(known.to_bytes(self._parts.size, "little"))
        least = min(parts)
        some = [each for each, part in zip(self.symmetries, parts, strict=True) if part == least]
        return least - (1 << 63), some

    def _print(self, parts: Sequence[int]) -> int:
        return int.from_bytes(self._parts.pack(*parts), "little")


@lru_cache(maxsize=16)
def fingerprints_of(ruleset: Ruleset) -> Fingerprints:
    """Return the fingerprints of a ruleset; made once, in some milliseconds."""
    return Fingerprints(ruleset)


def written(move: Move, symmetries: Sequence[Symmetry]) -> str:
    """Return the record of the image of a move; by several symmetries, of that which comes first.

    So plies that come to the same in a position that is its own image have the same record.
    """
    return min([str(each.move(move)) for each in symmetries])


@cache
def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
