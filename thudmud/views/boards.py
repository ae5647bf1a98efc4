"""Drawings of boards: a grid with facts beside or below it, or a status line.

All characters take one column on every terminal. This rules out characters of ambiguous width,
which East Asian terminals draw two columns wide: nearly all line drawing, the middle dot, filled
circles and triangles. It also rules out characters that may be drawn as emoji, such as chess pawns.
Dashed lines remain, which most fonts have, and plain slashes for slanted edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from itertools import zip_longest
from operator import itemgetter

from thudmud.english import capitalised
from thudmud.game.events import BATTLES
from thudmud.game.options import Colour, Element, Orient
from thudmud.game.table import Table
from thudmud.rules import Move, Piece, Position, Score, Side, Square
from thudmud.rules.board import LETTERS, WIDTH, each_bit, rows_of, squares_in
from thudmud.values import replace
from thudmud.views.colours import NONE, Phrase, Run, colour_of, join_runs, with_ground, wrap_phrases
from thudmud.views.sentences import (
    game_at,
    heading,
    left_and_lost,
    match_points,
    player_or_description,
    progress,
    score_phrase,
    time_left,
    timed_sides,
    times_left,
)
from thudmud.views.view import DEFAULT_WIDTH, Display
from thudmud.views.words import GLUE, columns, wrap

GAP = "   "
PANEL_WIDTH = 30
"""The minimum width of the facts beside the board, in columns. With less room they go below it."""

MOVED_FROM, CAPTURED = "+", "*"
_EMPTY = ".", "\N{BULLET OPERATOR}"
_UTF_8 = {
    Piece.DWARF: "\N{INCREMENT}",  # a pointed helmet
    Piece.TROLL: "\N{INVERSE BULLET}",  # as wide as a square
    Piece.STONE: "\N{WHITE SUN WITH RAYS}",
    Piece.ROCK: "\N{LOZENGE}",
}
_ASCII = {piece: piece.value for piece in Piece}
_ACROSS = "-", "\N{BOX DRAWINGS LIGHT DOUBLE DASH HORIZONTAL}"
_DOWN = "|", "\N{BOX DRAWINGS LIGHT DOUBLE DASH VERTICAL}"

ELEMENTS = {
    Piece.DWARF: Element.DWARF,
    Piece.TROLL: Element.TROLL,
    Piece.STONE: Element.STONE,
    Piece.ROCK: Element.ROCK,
}


def draw(table: Table, display: Display) -> list[str]:
    """Draw a table: the grid, with facts to its right or below.

    The grid doesn't fit a screen of fewer than 20 columns.
    """
    made = _last_drawn[0]
    # Tables and displays are immutable, so identity implies equality.
    if made is None or made[0] is not table or (made[1] is not display and made[1] != display):
        made = _last_drawn[0] = table, display, _draw_uncached(table, display)
    return made[2].copy()


_last_drawn: list[tuple[Table, Display, list[str]] | None] = [None]
"""The last drawing, cached because players and observers get the same one. Key and drawing are a
single tuple, so that threads always see a matching pair."""


def status_line(table: Table) -> str:
    """Return one line with players, remaining pieces and score."""
    game = game_at(table)
    sides = ", ".join(
        f"{side.plural} {game.position.count(Piece.of(side))}"
        f" ({player_or_description(table, side)})"
        for side in Side
    )
    rock = "".join(f"; Rock on {square}" for square in game.position.squares(Piece.ROCK))
    score = f"score {game.score.dwarf} to {game.score.troll}"
    clock = f"; clock: {times_left(table)}" if table.clock else ""
    return f"{capitalised(table.name)}: {sides}{rock}; {score}{clock}."


def _draw_uncached(table: Table, display: Display) -> list[str]:
    layout = layout_for(display)
    room = display.width - 1 - layout.width - len(GAP)
    game = game_at(table)
    last = game.moves[-1] if game.moves else None
    rows = _painter_for(display, layout).grid(game.position, last)
    if room < PANEL_WIDTH:
        return [*(row.rstrip() for row in rows), *below(table, display)]
    both = zip_longest(rows, beside(table, room, display), fillvalue="")
    return [f"{row or ' ' * layout.width}{GAP}{fact}".rstrip() for row, fact in both]


# The grid.


class GridLayout(Enum):
    """Layouts of the grid. A value is the width in columns."""

    __hash__ = object.__hash__

    LARGE = 7 + 4 * WIDTH
    """Squares of four columns and two rows, with lines between them."""
    FRAMED = 7 + 2 * WIDTH
    """Squares of two columns within a frame."""
    SPACED = 5 + 2 * WIDTH
    """The same without the vertical sides of the frame."""
    TIGHT = 4 + WIDTH
    """Squares of one column, without room for brackets."""

    def __init__(self, width: int) -> None:
        self.width = width

    @property
    def step(self) -> int:
        """The distance between neighbouring squares, in columns."""
        return {GridLayout.LARGE: 4, GridLayout.TIGHT: 1}.get(self, 2)


_LAYOUTS = tuple(GridLayout)


def layout_for(display: Display) -> GridLayout:
    """Return the largest layout that the display allows and has room for."""
    for layout in _LAYOUTS:
        if layout.width < display.width and (display.is_large or layout is not GridLayout.LARGE):
            return layout
    return GridLayout.TIGHT


def glyph(piece: Piece, display: Display) -> str:
    """Return the character of a piece."""
    return _UTF_8[piece] if display.uses_utf8 else _ASCII[piece]


def signs(display: Display) -> dict[str, str]:
    """Return the characters of the pieces, by their letters, and of an empty square, by its dot."""
    drawn = {piece.value: glyph(piece, display) for piece in Piece}
    return {**drawn, _EMPTY[False]: _EMPTY[display.uses_utf8]}


def grid(position: Position, last: Move | None, display: Display, layout: GridLayout) -> list[str]:
    """Draw the grid between two rows of column letters, with brackets around the last piece moved.

    All rows have the width of the layout. Blanks at either end have no colour.
    """
    return _painter_for(display, layout).grid(position, last)


_BLANK: Run = (" ", NONE)

_Strip = list[Run]
"""Runs of a row: squares, the gaps between them, and a frame character at either end."""

_Standing = tuple[int, ...]
"""The pieces in a row: the row's bits for each kind of piece."""

_Marks = tuple[int, int, tuple[int, ...]]
"""The last move's marks in a row: the column of its origin and of its target (-1 in another row),
and the columns of its captures."""

_UNMARKED: _Marks = -1, -1, ()


def _marks(last: Move) -> dict[int, _Marks]:
    """Return the marks of the last move by row."""
    origin, target, captures = last.origin, last.target, last.captures
    marks: dict[int, _Marks] = {}
    for square in (origin, target, *captures):
        row = square.row
        marks[row] = (
            origin.column if origin.row == row else -1,
            target.column if target.row == row else -1,
            tuple([each.column for each in captures if each.row == row]) if captures else (),
        )
    return marks


class _Painter:
    """Draws grids for one display and layout."""

    def __init__(self, display: Display, layout: GridLayout) -> None:
        self._display, self._layout = display, layout
        self._is_large = layout is GridLayout.LARGE
        turned = display.orient is Orient.NORTH
        self._order = range(WIDTH - 1, -1, -1) if turned else range(WIDTH)
        self._squares, self._moved, self._captured, self._coordinates = (
            colour_of(each, display)
            for each in (
                Element.SQUARES,
                Element.LAST_MOVE,
                Element.CAPTURED,
                Element.COORDINATES,
            )
        )
        self._ground = Colour(background=self._squares.background)
        self._pieces = {
            piece: (
                glyph(piece, display),
                with_ground(colour_of(ELEMENTS[piece], display), self._squares),
            )
            for piece in Piece
        }
        self._across, self._down = _ACROSS[display.uses_utf8], _DOWN[display.uses_utf8]
        self._letters = self._lettered()
        self._between = self._ruled() if self._is_large else []
        self._empty = {row: self._blank_row(row, drawn) for drawn, row in enumerate(self._order)}

    def grid(self, position: Position, last: Move | None) -> list[str]:
        """Return the rows, with column letters above and below."""
        stand = list(
            zip(  # in the order of `Piece`
                rows_of(position.dwarfs),
                rows_of(position.trolls),
                rows_of(position.stone),
                rows_of(position.rock),
                strict=True,
            )
        )
        marks = _marks(last) if last else {}
        rows = [_row(self, row, stand[row], marks.get(row)) for row in self._order]
        if self._is_large:
            rows = [line for both in zip(rows, self._between, strict=True) for line in both][:-1]
        return [self._letters, *rows, self._letters]

    def _lettered(self) -> str:
        """Return the row of column letters, joined by a dashed line along the edge of the board."""
        step = self._layout.step
        text = (" " * (step - 1)).join(LETTERS[column] for column in self._order)
        outer = [column for column in range(WIDTH) if Square(column, 0).is_on_board]
        start, end = step * outer[0] - 1, step * outer[-1] + 2
        edge = text[start:end].replace(" ", self._across)
        return self._centred(f"{text[:start]}{edge}{text[end:]}", self._coordinates)

    def _ruled(self) -> list[str]:
        """Return the line below each row of large squares."""
        inside = [
            sum(Square(column, row).is_on_board for column in self._order) for row in self._order
        ]
        return [
            self._centred(" ".join([self._across * 3] * max(both)), self._squares)
            for both in zip(inside, [*inside[1:], 0], strict=True)
        ]

    def _centred(self, text: str, colour: Colour) -> str:
        margin = " " * ((self._layout.width - len(text)) // 2), NONE
        return join_runs([margin, (text, colour), margin], self._display)

    def _blank_row(self, row: int, drawn: int) -> _Strip:
        """Return an empty row. `drawn` is the number of rows above it on the screen."""
        squares = [Square(column, row) for column in self._order]
        strip = [_BLANK]
        for before, square in zip([None, *squares], squares, strict=False):
            strip += [self._gap(before, square), *self._blank_square(square)]
        strip += [self._gap(squares[-1], None), _BLANK]
        if not self._is_large:
            self._enclose(strip, squares, drawn)
        return strip

    def _gap(self, *beside: Square | None) -> Run:
        """Return the run between two squares, None being outside the grid."""
        on_board = [square is not None and square.is_on_board for square in beside]
        if self._is_large and any(on_board):
            return self._down, self._squares
        return " ", self._ground if all(on_board) else NONE

    def _blank_square(self, square: Square) -> _Strip:
        if not square.is_on_board:
            return [_BLANK] * (3 if self._is_large else 1)
        if self._is_large:
            return [(" ", self._ground)] * 3
        return [(_EMPTY[self._display.uses_utf8], self._squares)]

    def _enclose(self, strip: _Strip, squares: list[Square], drawn: int) -> None:
        """Add the frame to a row. `drawn` is the number of rows above it on the screen."""
        inside = [at for at, square in enumerate(squares) if square.is_on_board]
        left = right = self._down
        if inside[0]:
            left, right = "/\\" if drawn < WIDTH // 2 else "\\/"
        strip[2 * inside[0]] = (left, self._coordinates)
        strip[2 * inside[-1] + 4] = (right, self._coordinates)

    def row(self, row: int, standing: _Standing, marks: _Marks | None) -> str:
        """Draw a row between its numbers, with the last move's marks, if any."""
        strip = self._empty[row].copy()
        origin, target, captured = marks or _UNMARKED
        if origin >= 0:
            self._put(strip, origin, (MOVED_FROM, with_ground(self._moved, self._squares)))
        for column in captured:
            self._put(strip, column, (CAPTURED, with_ground(self._captured, self._squares)))
        for bits, run in zip(standing, self._pieces.values(), strict=True):
            for bit in each_bit(bits):
                self._put(strip, bit.bit_length() - 1, run)
        if target >= 0:
            self._point_out(strip, target)
        number = (f"{row + 1:>2}", self._coordinates)
        return join_runs([number, *_cut(strip, self._layout), number], self._display)

    def _put(self, strip: _Strip, column: int, run: Run) -> None:
        """Put a piece or a mark on a square."""
        at = self._place(column)
        strip[at] = run
        if self._is_large:
            strip[at - 1] = strip[at + 1] = " ", Colour(background=run[1].background)

    def _point_out(self, strip: _Strip, column: int) -> None:
        """Mark the piece that moved last."""
        at = self._place(column)
        if self._layout is not GridLayout.TIGHT:
            for gap, bracket in ((at - 1, "["), (at + 1, "]")):
                strip[gap] = bracket, with_ground(self._moved, self._ground)
        elif self._moved != NONE:
            # Without room for brackets, colour and the words below the board identify the piece.
            strip[at] = strip[at][0], with_ground(self._moved, self._squares)

    def _place(self, column: int) -> int:
        """Return the index in a strip of the square in a column."""
        drawn = self._order[column]
        return 4 * drawn + 3 if self._is_large else 2 * drawn + 2


_row = lru_cache(maxsize=16384)(_Painter.row)
"""Cached rows of all painters, a few hundred bytes each. A ply changes one to three rows."""

_painter = lru_cache(maxsize=32)(_Painter)


@lru_cache(maxsize=32)
def _painter_for(display: Display, layout: GridLayout) -> _Painter:
    """Return the painter shared by all displays with the same look."""
    look = replace(
        display,
        width=DEFAULT_WIDTH,
        is_large=False,
        is_ascii_only=False,
        is_for_reader=False,
        with_machine_lines=False,
    )
    return _painter(look, layout)


def _cut(strip: _Strip, layout: GridLayout) -> _Strip:
    match layout:
        case GridLayout.SPACED:
            return strip[1:-1]
        case GridLayout.TIGHT:
            return strip[2:-2:2]
    return strip


# Facts beside or below a grid.

Fact = list[Phrase]
"""A sentence in parts, each coloured like an element."""


def beside(table: Table, width: int, display: Display) -> list[str]:
    """Return the facts about a table as lines of at most `width` columns."""
    how_far, match = progress(table), table.match
    if match is None:
        how_far += "."
    elif match.rated:
        how_far = _fitting(width, f"{how_far}, rated", how_far)
    above: list[Fact] = [[(heading(table), None)], [(how_far, None)], []]
    below: list[Fact] = [
        *_match(table, width),
        *_clock(table, width),
        [],
        *_last_marked(table, display),
        *_turn(table, width),
    ]
    return [
        *_lines(above, width, display),
        *_tally(table, width, display),
        *_lines(below, width, display),
    ]


def _tally(table: Table, width: int, display: Display) -> Sequence[str]:
    """Return the players, their pieces and the score, as lines."""
    game = game_at(table)
    now, begun, score = game.position, game.initial_position, game.score
    dwarfs, trolls = now.dwarfs.bit_count(), now.trolls.bit_count()
    return _tally_lines(
        width,
        display,
        players=(
            player_or_description(table, Side.DWARF),
            player_or_description(table, Side.TROLL),
        ),
        left=(dwarfs, trolls),
        lost=(begun.dwarfs.bit_count() - dwarfs, begun.trolls.bit_count() - trolls),
        stones=(now.stone, now.rock),
        points=(score.dwarf, score.troll),
    )


@lru_cache(maxsize=256)
def _tally_lines(
    width: int,
    display: Display,
    *,
    players: tuple[str, str],
    left: tuple[int, int],
    lost: tuple[int, int],
    stones: tuple[int, int],
    points: tuple[int, int],
) -> Sequence[str]:
    """Return the lines of `_tally`. A ply without a capture changes none of these arguments.

    Args:
        width: the maximum number of columns of a line.
        display: the reader's display.
        players: the players, or descriptions of free seats, by side.
        left: the numbers of pieces on the board, by side.
        lost: the numbers of captured pieces, by side.
        stones: the bitboards of the Thudstone and of the Rock.
        points: the points, by side.
    """
    sides = zip(Side, players, zip(left, lost, strict=True), strict=True)
    facts = [
        *(_side(*each, width, display) for each in sides),
        *_stones(stones, display),
        [],
        _score(Score(*points), width),
    ]
    return _lines(facts, width, display)


def below(table: Table, display: Display) -> list[str]:
    """Return the facts as a few short lines below the board: narrow screens are seldom tall."""
    width, match = display.width - 1, table.match
    over = ", over" if match and not match.is_running else ""
    first: list[Fact] = [[(f"{heading(table)}{over}", None)]]
    if match is None:
        first.append([(f"{progress(table)}.", None)])
    elif match.is_practice:
        first = [[(f"{heading(table)}, practice{over}", None)]]
    elif not match.is_single_battle:
        board = f"{capitalised(table.name)}, {match.game.ruleset.name}"
        long, short = (f"{board}, battle {match.battle}{of}{BATTLES}{over}" for of in (" of ", "/"))
        rated = [f"{long}, rated"] if match.rated else []
        first = [[(_fitting(width, *rated, long, short), None)]]
    facts: list[Fact] = [
        *first,
        *_sides(table, width, display),
        *_together([_score_and_match(table, width), *_clock(table, width)], width),
        *_last_and_turn(table, width),
    ]
    return _lines(facts, width, display)


_words = itemgetter(0)
"""Returns the words of a phrase."""


def _lines(facts: Iterable[Fact], width: int, display: Display) -> list[str]:
    """Return facts as lines of at most `width` columns, each on a new line; [] is a blank one."""
    lines: list[str] = []
    for fact in facts:
        if not fact:
            lines.append("")
        elif display.colours:
            lines += wrap_phrases(fact, width + 1, "  ", display)
        else:
            lines += wrap("".join(map(_words, fact)), width + 1, "  ")
    return lines


def _fitting(width: int, *wordings: str) -> str:
    """Return the first wording that fits on a line; the last one if none fits."""
    for words in wordings:
        if columns(words) <= width:
            return words
    return wordings[-1]


def _last_move(table: Table) -> Move | None:
    """Return the last ply, or None."""
    return table.game.moves[-1] if table.game and table.game.moves else None


def _side(
    side: Side, player: str, left_and_lost: tuple[int, int], width: int, display: Display
) -> Fact:
    piece, (left, lost) = Piece.of(side), left_and_lost
    words = _fitting(
        width - len("d "),
        f"{side.plural.capitalize()}: {player}, {left} left, {lost} lost",
        f"{player}, {left} left, {lost} lost",
        f"{player}: {left}, lost {lost}",
        f"{player}: {left}",
    )
    return [(glyph(piece, display), ELEMENTS[piece]), (f"{GLUE}{words}", None)]


def _sides(table: Table, width: int, display: Display) -> list[Fact]:
    """Return both sides, on a single line if possible."""
    for count in ("{} left", "{}"):
        facts: list[Fact] = []
        for side in Side:
            piece, (left, _) = Piece.of(side), left_and_lost(table, side)
            player = player_or_description(table, side)
            words = f"{side.plural.capitalize()}: {player}, {count.format(left)}"
            facts.append([(glyph(piece, display), ELEMENTS[piece]), (f"{GLUE}{words}", None)])
        if len(both := _together(facts, width)) == 1:
            return both
    return [
        _side(side, player_or_description(table, side), left_and_lost(table, side), width, display)
        for side in Side
    ]


def _together(facts: list[Fact], width: int) -> list[Fact]:
    """Merge facts into a single one if they fit on a line."""
    one = [phrase for fact in facts for phrase in ((". ", None), *fact)][1:]
    return [one] if columns("".join(words for words, _ in one)) <= width else facts


def _stones(stones: tuple[int, int], display: Display) -> list[Fact]:
    """Name the stone on the board, which isn't recognisable by its UTF-8 character."""
    if not display.uses_utf8:
        return []
    return [
        [(glyph(stone, display), ELEMENTS[stone]), (f"{GLUE}{stone.noun}: {square}", None)]
        for stone, bits in zip((Piece.STONE, Piece.ROCK), stones, strict=True)
        for square in squares_in(bits)
    ]


def _score(now: Score, width: int) -> Fact:
    short = f"Score: {now.dwarf} to {now.troll}"
    return [(_fitting(width, score_phrase(now), short), None)]


def _match(table: Table, width: int) -> list[Fact]:
    """Return the points of the match; empty until its first battle is over."""
    match = table.match
    if match is None or (match.battle == 1 and match.is_running) or match.battles == 1:
        return []
    by_side = ", ".join(f"{side.plural} {match.points(side)}" for side in Side)
    return [[(_fitting(width, f"Match: {match_points(table, match)}", f"Match: {by_side}"), None)]]


def _score_and_match(table: Table, width: int) -> Fact:
    """Return the score, with any points of the match."""
    match = table.match
    if match is None or not _match(table, width):
        return _score(game_at(table).score, width)
    now = game_at(table).score
    begins = f"Score: {now.dwarf} to {now.troll}. Match:"
    short = f"{begins} {match.points(Side.DWARF)} to {match.points(Side.TROLL)}"
    return [(_fitting(width, f"{begins} {match_points(table, match)}", short), None)]


def _clock(table: Table, width: int) -> list[Fact]:
    """Return the clock, or the time control of the next match; empty without either."""
    if table.match is None or table.match.clock is None:
        return [[(f"Clock: {table.time}", None)]] if table.time else []
    clock = table.match.clock
    by_side = " to ".join(time_left(clock, side) for side in timed_sides(clock))
    return [[(_fitting(width, f"Clock: {times_left(table)}", f"Clock: {by_side}"), None)]]


def _last_marked(table: Table, display: Display) -> list[Fact]:
    """Return the last ply, and the key to its marks in the grid."""
    last = _last_move(table)
    if last is None:
        return []
    way: Fact = [(f"Last move: {last.origin.name} to {last.target.name}", Element.LAST_MOVE)]
    marks = f"{MOVED_FROM} from, [{glyph(last.piece, display)}] to"
    key: Fact = [("  (", None), (marks, Element.LAST_MOVE)]
    # A hurl captures on its target, so no square shows the mark of a capture.
    if last.captures and set(last.captures) - {last.target}:
        key += [(", ", None), (f"{CAPTURED} captured", Element.CAPTURED)]
    return [way, [*key, (")", None)]]


def _last_and_turn(table: Table, width: int) -> list[Fact]:
    """Return the last ply and the side to move, on a single line if possible."""
    last, turn = _last_move(table), _turn(table, 0)
    if last is None:
        return turn
    way = f"{last.origin} to {last.target}"
    words = _fitting(width, f"Last move: {way}", f"Last: {way}")
    return _together([[(words, Element.LAST_MOVE)], *turn], width)


def _turn(table: Table, width: int) -> list[Fact]:
    """Return the side to move; empty if the battle is over or not begun."""
    game = table.game
    if game is None or game.outcome:
        return []
    side = game.position.turn
    short = f"Turn: {side.plural}"
    return [
        [(_fitting(width, f"{short} ({player_or_description(table, side)})", short), Element.TURN)]
    ]
