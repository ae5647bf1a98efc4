"""Sides and pieces: who plays, and what stands on a board.

Owns their names and letters. Must never know where anything stands or how it moves.
"""

from __future__ import annotations

from enum import Enum


class Side(Enum):
    """One of the two sides of a battle."""

    DWARF = "dwarf"
    TROLL = "troll"

    __hash__ = object.__hash__  # each is there once, and Enum's own takes ten times as long

    @property
    def other(self) -> Side:
        """The opponent."""
        return Side.TROLL if self is Side.DWARF else Side.DWARF

    @property
    def plural(self) -> str:
        """The side as players speak of it: ``dwarfs`` or ``trolls``."""
        return f"{self.value}s"


class Piece(Enum):
    """Anything that stands on a square; the value is the letter that boards and diagrams show."""

    DWARF = "d"
    TROLL = "T"
    STONE = "X"
    ROCK = "R"

    __hash__ = object.__hash__

    @property
    def side(self) -> Side | None:
        """The side whose fighter this is; None for the Thudstone and the Rock."""
        return _SIDES.get(self)

    @property
    def noun(self) -> str:
        """The piece in a sentence, without an article: ``dwarf``, ``troll``, ``Thudstone``."""
        return _NOUNS[self]

    @property
    def phrase(self) -> str:
        """The piece in a sentence, with its article: ``a dwarf``, ``the Rock``."""
        return f"{'a' if self in _SIDES else 'the'} {_NOUNS[self]}"

    @staticmethod
    def of(side: Side) -> Piece:
        """Return the fighter of a side."""
        return Piece.DWARF if side is Side.DWARF else Piece.TROLL


_SIDES = {Piece.DWARF: Side.DWARF, Piece.TROLL: Side.TROLL}
_NOUNS = {
    Piece.DWARF: "dwarf",
    Piece.TROLL: "troll",
    Piece.STONE: "Thudstone",
    Piece.ROCK: "Rock",
}
