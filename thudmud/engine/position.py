"""Positions: where the pieces stand and who is to move.

Owns the bitboards. Must never know the rules: it puts pieces where it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece, Side
from thudmud.engine.squares import BOARD, Square, squares_in


@dataclass(frozen=True, slots=True)
class Position:
    """Where the pieces stand and who is to move. The first four attributes are bitboards."""

    dwarfs: int
    trolls: int
    stone: int
    rock: int
    turn: Side

    @staticmethod
    def of(pieces: Mapping[Square, Piece], turn: Side) -> Position:
        """Return the position with these pieces; ValueError if one stands off the board."""
        bits = dict.fromkeys(Piece, 0)
        for square, piece in pieces.items():
            if not square.on_board:
                raise ValueError(f"{square} is not on the board")
            bits[piece] |= square.bit
        return Position(
            bits[Piece.DWARF], bits[Piece.TROLL], bits[Piece.STONE], bits[Piece.ROCK], turn
        )

    @property
    def occupied(self) -> int:
        """The bitboard of everything that stands on the board."""
        return self.dwarfs | self.trolls | self.stone | self.rock

    @property
    def empty(self) -> int:
        """The bitboard of the squares of the board on which nothing stands."""
        return BOARD ^ (self.dwarfs | self.trolls | self.stone | self.rock)

    def bits(self, piece: Piece) -> int:
        """Return the bitboard of one kind of piece."""
        if piece is Piece.DWARF:
            return self.dwarfs
        if piece is Piece.TROLL:
            return self.trolls
        return self.stone if piece is Piece.STONE else self.rock

    def piece_at(self, square: Square) -> Piece | None:
        """Return what stands on a square, if anything does."""
        bit = square.bit
        if self.dwarfs & bit:
            return Piece.DWARF
        if self.trolls & bit:
            return Piece.TROLL
        if self.stone & bit:
            return Piece.STONE
        return Piece.ROCK if self.rock & bit else None

    def squares(self, piece: Piece) -> tuple[Square, ...]:
        """Return the squares on which pieces of a kind stand, row by row."""
        return squares_in(self.bits(piece))

    def count(self, piece: Piece) -> int:
        """Return how many pieces of a kind there are."""
        return self.bits(piece).bit_count()

    def after(self, move: Move) -> Position:
        """Return the position after a move by the side to move, which is taken as legal."""
        return self._flipped(move)

    def before(self, move: Move) -> Position:
        """Return the position before a move, which is taken as the one that led here."""
        return self._flipped(move)

    def _flipped(self, move: Move) -> Position:
        """Flip the squares of a move: doing it and taking it back flip the same bits.

        A fighter only ever captures fighters of the other side, and the Rock captures nothing.
        """
        turn = Side.TROLL if self.turn is Side.DWARF else Side.DWARF
        path, captured = move.path_bits, move.captured_bits
        if move.piece is Piece.DWARF:
            return Position(self.dwarfs ^ path, self.trolls ^ captured, self.stone, self.rock, turn)
        if move.piece is Piece.TROLL:
            return Position(self.dwarfs ^ captured, self.trolls ^ path, self.stone, self.rock, turn)
        return Position(self.dwarfs, self.trolls, self.stone, self.rock ^ path, turn)
