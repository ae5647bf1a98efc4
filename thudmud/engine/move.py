"""Moves: what the rules grant. One move is one distinct outcome of a ply.

Owns the value. Must never decide whether a move is legal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thudmud.engine.attempt import Attempt, Verb
from thudmud.engine.pieces import Piece
from thudmud.engine.squares import Square, bits_of


@dataclass(frozen=True, slots=True)
class Move:
    """A ply that a ruleset has granted.

    Attributes:
        piece: what goes.
        origin: where it stood.
        target: where it ends; the origin itself if a trample comes full circle.
        captures: what leaves the board: in board order, or in a trample in the order trampled.
        trample: whether it went over what it captured (Koom Valley).
        verb: how it was asked for. Not compared: a shove and a move with the same squares and
            captures are one outcome.
        path_bits: bitboard of origin and target, empty if they are the same square: what to flip on
            the bitboard of the piece.
        captured_bits: bitboard of the captures.
    """

    piece: Piece
    origin: Square
    target: Square
    captures: tuple[Square, ...] = ()
    trample: bool = False
    verb: Verb = field(default=Verb.MOVE, compare=False)
    path_bits: int = field(init=False, repr=False, compare=False)
    captured_bits: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path_bits", self.origin.bit ^ self.target.bit)
        object.__setattr__(self, "captured_bits", bits_of(self.captures))

    def attempt(self) -> Attempt:
        """Return the attempt that asks for exactly this move, captures always said."""
        return Attempt(self.verb, self.origin, self.target, self.captures)
