"""A drawn board: the grid, with facts beside it or below it; and a board in one status line.

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
from itertools import zip_longest

from thudmud.english import capitalised
from thudmud.play.events import BATTLES
from thudmud.play.options import Colour, Element, Orient
from thudmud.play.table import Table
from thudmud.rules import SQUARES, Move, Piece, Position, Side, Square
from thudmud.rules.board import LETTERS, WIDTH, each_bit, rows_of
from thudmud.views.colours import NONE, Phrase, Run, colour_of, flowed, joined, on
from thudmud.views.sentences import (
    game_at,
    heading,
    holder,
    left_and_lost,
    points,
    progress,
    score,
)
from thudmud.views.view import DEFAULT_WIDTH, Display
from thudmud.views.words import GLUE, columns

GAP = "   "
PANEL_WIDTH = 30
"""The least room beside the board that the facts need; with less they stand below."""

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


def draw(table: Table, display: Display) -> list[str]:
    """Return ``table`` drawn whole: the grid, and beside or below it what else there is to know.

    A screen of fewer than 18 columns cannot hold the grid.
    """
    return list(_last_drawn.drawn(table, display))


def status_line(table: Table) -> str:
    """Return one line with what the board holds, who sits where, and the score."""
    game = game_at(table)
    sides = ", ".join(
        f"{side.plural} {game.position.count(Piece.of(side))} ({holder(table, side)})"
        for side in Side
    )
    rock = "".join(f"; Rock on {square}" for square in game.position.squares(Piece.ROCK))
    score = f"score {game.score.dwarf} to {game.score.troll}"
    return f"{capitalised(table.name)}: {sides}{rock}; {score}."


class _LastDrawing:
    """The drawing that was made last: both players and all who look on are shown the same.

    It is kept with what it is of in one value, so that threads never see the one without the other.
    """

    def __init__(self) -> None:
        self._made: tuple[Table, Display, tuple[str, ...]] | None = None

    def drawn(self, table: Table, display: Display) -> tuple[str, ...]:
        # Neither ever changes, so that what is drawn of the very same two is the same.
        made = self._made
        if made is None or made[0] is not table or (made[1] is not display and made[1] != display):
            made = self._made = (table, display, tuple(_drawn(table, display)))
        return made[2]


_last_drawn = _LastDrawing()


def _drawn(table: Table, display: Display) -> list[str]:
    layout = GridLayout.TIGHT
    if display.utf8 and _room(GridLayout.FRAMED, display) >= PANEL_WIDTH:
        # The frame is two lines high: with the facts below it, 24 lines would not hold it.
        layout = GridLayout.FRAMED
    elif display.width > GridLayout.SPACED.value:
        layout = GridLayout.SPACED
    rows, room = (
        grid(game_at(table).position, _last_move(table), display, layout),
        _room(layout, display),
    )
    if room < PANEL_WIDTH:
        facts = below(table, display, marked=layout is not GridLayout.TIGHT)
        return [*(row.rstrip() for row in rows), *facts]
    both = zip_longest(rows, beside(table, room, display), fillvalue="")
    return [f"{row or ' ' * layout.value}{GAP}{fact}".rstrip() for row, fact in both]


def _room(layout: GridLayout, display: Display) -> int:
    """Return how many columns are left beside a grid."""
    return display.width - 1 - layout.value - len(GAP)


# The grid.


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


# The facts beside a grid, or below it.

Fact = list[Phrase]
"""A sentence, in pieces; those that have a colour say which."""


def beside(table: Table, width: int, display: Display) -> list[str]:
    """Return the facts about ``table`` as lines of at most ``width`` columns."""
    facts: list[Fact] = [
        [(heading(table), None)],
        [(progress(table) if table.match else f"{progress(table)}.", None)],
        [],
        *(_side(table, side, width, display) for side in Side),
        *_stones(table, display),
        [],
        _score(table, width),
        *_match(table, width),
        [],
        *_last_marked(table, display),
        *_turn(table, width),
    ]
    return _lines(facts, width, display)


def below(table: Table, display: Display, *, marked: bool) -> list[str]:
    """Return the facts in a few short lines: a narrow screen is seldom a high one.

    Whose turn it is, and what was played last, is told above a board, or below it where somebody
    just looks.

    Args:
        table: the table.
        display: how everything is shown.
        marked: whether the grid marks the piece that moved last; else these lines tell it.
    """
    width, match, last = display.width - 1, table.match, _last_move(table)
    over = ", over" if match and not match.running else ""
    first: list[Fact] = [[(f"{heading(table)}{over}", None)]]
    if match is None:
        first.append([(f"{progress(table)}.", None)])
    elif match.is_practice:
        first = [[(f"{heading(table)}, practice{over}", None)]]
    elif not match.single:
        board = f"{capitalised(table.name)}, {match.game.ruleset.name}"
        long, short = (f"{board}, battle {match.battle}{of}{BATTLES}{over}" for of in (" of ", "/"))
        first = [[(_fitting(width, long, short), None)]]
    facts: list[Fact] = [
        *first,
        *(_side(table, side, width, display) for side in Side),
        _score_and_match(table, width),
    ]
    if last and not marked:
        way = f"{last.origin} to {last.target}"
        facts.append([(_fitting(width, f"Last move: {way}", f"Last: {way}"), Element.LAST_MOVE)])
    return _lines(facts, width, display)


def _lines(facts: Iterable[Fact], width: int, display: Display) -> list[str]:
    """Return facts as lines of at most ``width`` columns, each beginning one of its own."""
    return [line for fact in facts for line in (flowed(fact, width + 1, "  ", display) or [""])]


def _fitting(width: int, *wordings: str) -> str:
    """Return the first wording of a fact that fits on a line; the last if none does."""
    return next((words for words in wordings if columns(words) <= width), wordings[-1])


def _last_move(table: Table) -> Move | None:
    """Return the last ply, if any has been played."""
    return table.game.moves[-1] if table.game and table.game.moves else None


def _side(table: Table, side: Side, width: int, display: Display) -> Fact:
    piece = Piece.of(side)
    left, lost = left_and_lost(table, side)
    words = _side_words(side, holder(table, side), left, lost, width - len("d "))
    return [(glyph(piece, display), ELEMENTS[piece]), (f"{GLUE}{words}", None)]


@lru_cache(maxsize=1024)
def _side_words(side: Side, player: str, left: int, lost: int, width: int) -> str:
    return _fitting(
        width,
        f"{side.plural.capitalize()}: {player}, {left} left, {lost} lost",
        f"{player}, {left} left, {lost} lost",
        f"{player}: {left}, lost {lost}",
        f"{player}: {left}",
    )


def _stones(table: Table, display: Display) -> list[Fact]:
    """Return which stone is on the board, where its first letter does not tell."""
    stones = (Piece.STONE, Piece.ROCK) if display.utf8 else ()
    return [
        [(glyph(stone, display), ELEMENTS[stone]), (f"{GLUE}{stone.noun}: {square}", None)]
        for stone in stones
        for square in game_at(table).position.squares(stone)
    ]


def _score(table: Table, width: int) -> Fact:
    game = game_at(table)
    short = f"Score: {game.score.dwarf} to {game.score.troll}"
    return [(_fitting(width, score(game), short), None)]


def _match(table: Table, width: int) -> list[Fact]:
    """Return the points of the match as a line; none before a battle of it has ended."""
    match = table.match
    if match is None or match.battles == 1 or (match.battle == 1 and match.running):
        return []
    by_side = ", ".join(f"{side.plural} {match.points(side)}" for side in Side)
    return [[(_fitting(width, f"Match: {points(table, match)}", f"Match: {by_side}"), None)]]


def _score_and_match(table: Table, width: int) -> Fact:
    """Return the score, and on the same line the points of the match if there are any."""
    match = table.match
    if match is None or not _match(table, width):
        return _score(table, width)
    now = game_at(table).score
    begins = f"Score: {now.dwarf} to {now.troll}. Match:"
    short = f"{begins} {match.points(Side.DWARF)} to {match.points(Side.TROLL)}"
    return [(_fitting(width, f"{begins} {points(table, match)}", short), None)]


def _last_marked(table: Table, display: Display) -> list[Fact]:
    """Return the last ply, and how the grid marks it."""
    last = _last_move(table)
    if last is None:
        return []
    way: Fact = [(f"Last move: {last.origin} to {last.target}", Element.LAST_MOVE)]
    marks = f"{MOVED_FROM} from, [{glyph(last.piece, display)}] to"
    key: Fact = [("  (", None), (marks, Element.LAST_MOVE)]
    # A hurl captures where it lands: no square is left with the mark of a capture.
    if set(last.captures) - {last.target}:
        key += [(", ", None), (f"{CAPTURED} captured", Element.CAPTURED)]
    return [way, [*key, (")", None)]]


def _turn(table: Table, width: int) -> list[Fact]:
    """Return whose turn it is, if anybody's."""
    game = table.game
    if game is None or game.outcome:
        return []
    side = game.position.turn
    short = f"Turn: {side.plural}"
    return [[(_fitting(width, f"{short} ({holder(table, side)})", short), Element.TURN)]]
