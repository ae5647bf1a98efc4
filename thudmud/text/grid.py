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
from enum import Enum
from itertools import pairwise

from thudmud.commands.options import Colour, Element, Orient
from thudmud.engine import SQUARES, Move, Piece, Position, Square
from thudmud.engine.squares import LETTERS, WIDTH
from thudmud.text.colours import NONE, Run, colour_of, joined, on
from thudmud.text.display import Display

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


class Form(Enum):
    """How much room a grid takes; the value is its width in columns."""

    FRAMED = 5 + 2 * WIDTH
    """With a line round the squares, in UTF-8."""
    SPACED = 3 + 2 * WIDTH
    TIGHT = 2 + WIDTH
    """Without gaps, and so without the brackets in them."""


def glyph(piece: Piece, display: Display) -> str:
    """Return what a piece is drawn as."""
    return _UTF_8[piece] if display.utf8 else piece.value


def grid(position: Position, last: Move | None, display: Display, form: Form) -> list[str]:
    """Return the column letters and the fifteen rows, the piece moved last in brackets.

    All of them are as wide as the form; what is blank at an end has no colour.
    """
    marks = _marks(position, last, display, form)
    ground = Colour(background=colour_of(Element.SQUARES, display).background)
    turned = display.orient is Orient.NORTH
    order = range(WIDTH - 1, -1, -1) if turned else range(WIDTH)
    rows: list[str] = []
    for row in order:
        squares = [Square(column, row) for column in order]
        cells = [marks.get(square, _BLANK) for square in squares]
        gaps = _gaps(squares, ground, display, last)
        # The strip has a place for the frame at either end, and a gap on both sides of each square.
        strip = [_BLANK, *(run for pair in zip(gaps, cells, strict=False) for run in pair)]
        strip += [gaps[-1], _BLANK]
        if form is Form.FRAMED:
            _enclose(strip, squares, len(rows), colour_of(Element.COORDINATES, display))
        rows.append(_row(row, _cut(strip, form), display))
    return _headed(rows, order, display, form)


_BLANK: Run = (" ", NONE)


def _marks(
    position: Position, last: Move | None, display: Display, form: Form
) -> dict[Square, Run]:
    """Return what is drawn on each of the squares."""
    squares, moved, captured = (
        colour_of(each, display) for each in (Element.SQUARES, Element.LAST_MOVE, Element.CAPTURED)
    )
    marks = dict.fromkeys(SQUARES, (_EMPTY[display.utf8], squares))
    if last:
        marks[last.origin] = (MOVED_FROM, on(moved, squares))
        marks |= dict.fromkeys(last.captures, (CAPTURED, on(captured, squares)))
    for piece in Piece:
        drawn = glyph(piece, display), on(colour_of(ELEMENTS[piece], display), squares)
        marks |= dict.fromkeys(position.squares(piece), drawn)
    if last and form is Form.TIGHT and moved != NONE:
        # No bracket says which one moved; the words below the board do, and so does its colour.
        marks[last.target] = marks[last.target][0], on(moved, squares)
    return marks


def _gaps(squares: list[Square], ground: Colour, display: Display, last: Move | None) -> list[Run]:
    """Return what is drawn before each of the squares of a row, and after the last of them."""
    inside = [square.on_board for square in squares]
    between = [False, *(a and b for a, b in pairwise(inside)), False]
    gaps = [(" ", ground if each else NONE) for each in between]
    if last and last.target in squares:
        at = squares.index(last.target)
        colour = on(colour_of(Element.LAST_MOVE, display), ground)
        gaps[at], gaps[at + 1] = ("[", colour), ("]", colour)
    return gaps


def _enclose(strip: list[Run], squares: list[Square], drawn: int, colour: Colour) -> None:
    """Put the frame round a row, of which so many are drawn above it."""
    inside = [at for at, square in enumerate(squares) if square.on_board]
    left = right = _DOWN
    if inside[0]:
        left, right = "/\\" if drawn < WIDTH // 2 else "\\/"
    strip[2 * inside[0]] = (left, colour)
    strip[2 * inside[-1] + 4] = (right, colour)


def _cut(strip: list[Run], form: Form) -> list[Run]:
    match form:
        case Form.FRAMED:
            return strip
        case Form.SPACED:
            return strip[1:-1]
    return strip[2:-2:2]


def _row(row: int, strip: list[Run], display: Display) -> str:
    number = (f"{row + 1:>2}", colour_of(Element.COORDINATES, display))
    return joined([number, *strip], display)


def _headed(rows: list[str], order: Iterable[int], display: Display, form: Form) -> list[str]:
    """Return rows below the letters of the columns, and within what is left of the frame."""
    colour = colour_of(Element.COORDINATES, display)
    letters = ("" if form is Form.TIGHT else " ").join(LETTERS[column] for column in order)
    margin = {Form.FRAMED: 4, Form.SPACED: 3, Form.TIGHT: 2}[form]
    heading = _padded(margin, letters, colour, display, form)
    if form is not Form.FRAMED:
        return [heading, *rows]
    outer = sum(square.on_board for square in SQUARES if square.row == 0)
    line = _padded(3 + WIDTH - outer, _ACROSS * (2 * outer + 1), colour, display, form)
    return [heading, line, *rows, line]


def _padded(margin: int, text: str, colour: Colour, display: Display, form: Form) -> str:
    rest = form.value - margin - len(text)
    return joined([(" " * margin, NONE), (text, colour), (" " * rest, NONE)], display)
