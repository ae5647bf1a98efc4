"""The questions about a board that need no picture of it.

Owns the same as `thudmud.commands.model`, for those. Must never know how a line is read, nor what
a command does.
"""

from __future__ import annotations

from dataclasses import dataclass

from thudmud.rules import Piece, Side, Square
from thudmud.rules.board import LETTERS

_NAMES = {
    Piece.DWARF: "dwarfs",
    Piece.TROLL: "trolls",
    Piece.STONE: "stone",
    Piece.ROCK: "rock",
}


def _on(words: str | None) -> str:
    return "" if words is None else f" on {words}"


@dataclass(frozen=True, slots=True)
class Where:
    """Tell the squares on which pieces of a kind stand."""

    piece: Piece
    on: str | None = None

    def __str__(self) -> str:
        return f"where {_NAMES[self.piece]}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class ScanRow:
    """Tell what stands in a row, 0 being the row that is called 1."""

    row: int
    on: str | None = None

    def __str__(self) -> str:
        return f"scan row {self.row + 1}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class ScanColumn:
    """Tell what stands in a column, 0 being the column that is called A."""

    column: int
    on: str | None = None

    def __str__(self) -> str:
        return f"scan column {LETTERS[self.column]}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Around:
    """Tell what stands on a square, and what is next to it in each direction."""

    square: Square
    on: str | None = None

    def __str__(self) -> str:
        return f"around {self.square}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Lines:
    """Tell the lines of pieces from which one can be hurled or shoved, of one side or both."""

    side: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        side = "" if self.side is None else f" {self.side.plural}"
        return f"lines{side}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Captures:
    """Tell the moves that capture, of the side to move or of the piece on one square."""

    origin: Square | None = None
    on: str | None = None

    def __str__(self) -> str:
        origin = "" if self.origin is None else f" {self.origin}"
        return f"captures{origin}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class LastMove:
    """Tell the last ply."""

    on: str | None = None

    def __str__(self) -> str:
        return f"last move{_on(self.on)}"


Query = Where | ScanRow | ScanColumn | Around | Lines | Captures | LastMove
