"""The squares of a board, drawn.

Owns how squares, pieces and the last move look in ASCII and in UTF-8, and which side is at the
bottom. Must never know whose game it is, nor what stands beside the grid.

Every character takes one column on every terminal. That leaves out those whose width Unicode calls
ambiguous, which East Asian terminals draw two columns wide: nearly all of the line drawing, the
middle dot, the filled circles and triangles; and those that may turn into emoji, as chess pawns do.
What is left and is still in most fonts is dashed lines, with plain slashes for the slanted sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from functools import lru_cache

from thudmud.play.options import Colour, Element, Orient
from thudmud.rules import SQUARES, Move, Piece, Position, Square
from thudmud.rules.board import LETTERS, WIDTH, each_bit, rows_of
from thudmud.text.colours import NONE, Run, colour_of, joined, on
from thudmud.text.display import DEFAULT_WIDTH, Display

MOVED_FROM, CAPTURED = "+", "*"
_EMPTY = ".", "\N{BULLET OPERATOR}"
_UTF_8 = {
    Piece.DWARF: "\N{INCREMENT}",  # a pointed helmet
    Piece.TROLL: "\N{INVERSE BULLET}",  # as broad as a square
    Piece.STONE: "\N{WHITE SUN WITH RAYS}",
    Piece.ROCK: "\N{LOZENGE}",
}
_ACROSS = "\N{BOX DRAWINGS LIGHT DOUBLE DASH HORIZONTAL}"
_DOWN = "\N{BOX DRAWINGS LIGHT DOUBLE DASH VERTICAL}"

ELEMENTS = {
    Piece.DWARF: Element.DWARF,
    Piece.TROLL: Element.TROLL,
    Piece.STONE: Element.STONE,
    Piece.ROCK: Element.ROCK,
}


class GridLayout(Enum):
    """How much room a grid takes; the value is its width in columns."""

    FRAMED = 5 + 2 * WIDTH
    """With a line round the squares, in UTF-8."""
    SPACED = 3 + 2 * WIDTH
    TIGHT = 2 + WIDTH
    """Without gaps, and so without the brackets in them."""


def glyph(piece: Piece, display: Display) -> str:
    """Return what a piece is drawn as."""
    return _UTF_8[piece] if display.utf8 else piece.value


def grid(position: Position, last: Move | None, display: Display, layout: GridLayout) -> list[str]:
    """Return the column letters and the fifteen rows, the piece moved last in brackets.

    All of them are as wide as the layout; what is blank at an end has no colour.
    """
    return _painter_for(display, layout).grid(position, last)


_BLANK: Run = (" ", NONE)

_Strip = list[Run]
"""A row's squares, with a gap before and behind each, and a place for the frame at either end."""

_Standing = tuple[int, ...]
"""What stands in a row: for each kind of piece the row of its bitboard."""


class _Painter:
    """Draws grids of one look."""

    def __init__(self, display: Display, layout: GridLayout) -> None:
        self._display, self._layout = display, layout
        turned = display.orient is Orient.NORTH
        self._order = range(WIDTH - 1, -1, -1) if turned else range(WIDTH)
        self._squares, self._moved, self._captured = (
            colour_of(each, display)
            for each in (Element.SQUARES, Element.LAST_MOVE, Element.CAPTURED)
        )
        self._pieces = {
            piece: (glyph(piece, display), on(colour_of(ELEMENTS[piece], display), self._squares))
            for piece in Piece
        }
        self._above, self._below = _around(self._order, display, layout)
        self._empty = {row: self._blank_row(row, drawn) for drawn, row in enumerate(self._order)}

    def grid(self, position: Position, last: Move | None) -> list[str]:
        """Return the column letters and the rows."""
        stand = list(zip(*(rows_of(position.bits(piece)) for piece in self._pieces), strict=True))
        touched = {at.row for at in (last.origin, last.target, *last.captures)} if last else ()
        rows = [
            _row(self, row, stand[row], last if row in touched else None) for row in self._order
        ]
        return [*self._above, *rows, *self._below]

    def _blank_row(self, row: int, drawn: int) -> _Strip:
        """Return a row on which nothing stands, of which so many are drawn above it."""
        ground = Colour(background=self._squares.background)
        squares = [Square(column, row) for column in self._order]
        empty = _EMPTY[self._display.utf8], self._squares
        strip = [_BLANK]
        for before, square in zip([None, *squares], squares, strict=False):
            joins = before is not None and before.on_board and square.on_board
            strip.append((" ", ground if joins else NONE))
            strip.append(empty if square.on_board else _BLANK)
        strip += [_BLANK, _BLANK]
        if self._layout is GridLayout.FRAMED:
            _enclose(strip, squares, drawn, colour_of(Element.COORDINATES, self._display))
        return strip

    def row(self, row: int, standing: _Standing, last: Move | None) -> str:
        """Return a row with its number, and with the marks of the last move, if it touched it."""
        display, strip = self._display, self._empty[row].copy()
        if last:
            self._mark(strip, row, last)
        for bits, run in zip(standing, self._pieces.values(), strict=True):
            for bit in each_bit(bits):
                strip[self._place(bit.bit_length() - 1)] = run
        number = (f"{row + 1:>2}", colour_of(Element.COORDINATES, display))
        if last and last.target.row == row:
            self._point_out(strip, last.target.column)
        return joined([number, *_cut(strip, self._layout)], display)

    def _mark(self, strip: _Strip, row: int, last: Move) -> None:
        """Put the marks of the last move where nothing stands any more."""
        if last.origin.row == row:
            strip[self._place(last.origin.column)] = MOVED_FROM, on(self._moved, self._squares)
        for square in last.captures:
            if square.row == row:
                strip[self._place(square.column)] = CAPTURED, on(self._captured, self._squares)

    def _point_out(self, strip: _Strip, column: int) -> None:
        """Show which piece was moved last."""
        at = self._place(column)
        if self._layout is not GridLayout.TIGHT:
            for gap, bracket in ((at - 1, "["), (at + 1, "]")):
                strip[gap] = bracket, on(self._moved, Colour(background=self._squares.background))
        elif self._moved != NONE:
            # No bracket says which one moved; the words below the board do, and so does its colour.
            strip[at] = strip[at][0], on(self._moved, self._squares)

    def _place(self, column: int) -> int:
        """Return where in a strip the square in a column is."""
        return 2 * (self._order[column] + 1)


_row = lru_cache(maxsize=16384)(_Painter.row)
"""Rows of all painters, some hundred bytes each: a ply changes one to three of a board's rows."""

_painter = lru_cache(maxsize=32)(_Painter)


@lru_cache(maxsize=32)
def _painter_for(display: Display, layout: GridLayout) -> _Painter:
    """Return the painter that all share who differ in nothing that a grid shows."""
    look = replace(display, width=DEFAULT_WIDTH, ascii_only=False, reader=False, machine=False)
    return _painter(look, layout)


def _enclose(strip: list[Run], squares: list[Square], drawn: int, colour: Colour) -> None:
    """Put the frame round a row, of which so many are drawn above it."""
    inside = [at for at, square in enumerate(squares) if square.on_board]
    left = right = _DOWN
    if inside[0]:
        left, right = "/\\" if drawn < WIDTH // 2 else "\\/"
    strip[2 * inside[0]] = (left, colour)
    strip[2 * inside[-1] + 4] = (right, colour)


def _cut(strip: list[Run], layout: GridLayout) -> list[Run]:
    match layout:
        case GridLayout.FRAMED:
            return strip
        case GridLayout.SPACED:
            return strip[1:-1]
    return strip[2:-2:2]


def _around(
    order: Iterable[int], display: Display, layout: GridLayout
) -> tuple[list[str], list[str]]:
    """Return what is above the rows, the letters of the columns and the frame, and below them."""
    colour = colour_of(Element.COORDINATES, display)
    letters = ("" if layout is GridLayout.TIGHT else " ").join(LETTERS[column] for column in order)
    margin = {GridLayout.FRAMED: 4, GridLayout.SPACED: 3, GridLayout.TIGHT: 2}[layout]
    heading = _padded(margin, letters, colour, display, layout)
    if layout is not GridLayout.FRAMED:
        return [heading], []
    outer = sum(square.on_board for square in SQUARES if square.row == 0)
    line = _padded(3 + WIDTH - outer, _ACROSS * (2 * outer + 1), colour, display, layout)
    return [heading, line], [line]


def _padded(margin: int, text: str, colour: Colour, display: Display, layout: GridLayout) -> str:
    rest = layout.value - margin - len(text)
    return joined([(" " * margin, NONE), (text, colour), (" " * rest, NONE)], display)
