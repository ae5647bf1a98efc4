"""A table as a drawn board, and as one status line.

Owns how squares, pieces and the last move look in ASCII, and the facts told beside the board. Must
never tell who reads it: the same lines go to every reader of the same width.
"""

from __future__ import annotations

from itertools import zip_longest

from thudmud.engine import SQUARES, Game, Move, Piece, Position, Score, Side, Square
from thudmud.engine.english import capitalised, counted
from thudmud.engine.squares import LETTERS, WIDTH
from thudmud.tables.match import BATTLES
from thudmud.tables.table import Table
from thudmud.text.display import Display
from thudmud.text.words import wrapped

EMPTY, MOVED_FROM, CAPTURED = ".", "+", "*"
GAP = "   "
GRID_WIDTH = 3 + 2 * WIDTH
PANEL_WIDTH = 38
"""The least room beside the board that the panel needs; with less it stands below."""


def full(table: Table, display: Display) -> list[str]:
    """Return ``table`` drawn whole: the grid, and beside or below it what else there is to know.

    A screen of fewer than 18 columns cannot hold the grid.
    """
    width = display.width
    rows = grid(_position(table), _last_move(table))
    if width <= GRID_WIDTH:
        rows = [_narrow(row) for row in rows]
    beside = width - 1 - GRID_WIDTH - len(GAP)
    if beside < PANEL_WIDTH:
        return [*rows, *wrapped(". ".join(_below(table)) + ".", width)]
    both = zip_longest(rows, panel(table, beside), fillvalue="")
    return [f"{row:{GRID_WIDTH}}{GAP}{fact}".rstrip() for row, fact in both]


def grid(position: Position, last: Move | None = None) -> list[str]:
    """Return the column letters and the fifteen rows, the piece moved last in brackets."""
    marks = dict.fromkeys(SQUARES, EMPTY)
    if last:
        marks[last.origin] = MOVED_FROM
        marks |= dict.fromkeys(last.captures, CAPTURED)
    for piece in Piece:
        marks |= dict.fromkeys(position.squares(piece), piece.value)
    heading = "   " + " ".join(LETTERS)
    return [heading, *(_row(number, marks, last) for number in range(WIDTH))]


def _row(row: int, marks: dict[Square, str], last: Move | None) -> str:
    cells = [marks.get(Square(column, row), " ") for column in range(WIDTH)]
    gaps = [" "] * (WIDTH + 1)
    if last and last.target.row == row:
        gaps[last.target.column], gaps[last.target.column + 1] = "[", "]"
    drawn = "".join(gap + cell for gap, cell in zip(gaps, cells, strict=False))
    return f"{row + 1:>2}{drawn}{gaps[-1]}".rstrip()


def _narrow(row: str) -> str:
    """Return a row of the grid without the gaps, and so without the brackets in them."""
    return row[:2] + row[3::2]


def panel(table: Table, width: int) -> list[str]:
    """Return the facts about ``table`` as lines of at most ``width`` columns."""
    facts = [
        _heading(table),
        _progress(table),
        "",
        *(_side_line(table, side) for side in Side),
        "",
        _score_line(table),
        *_match_lines(table),
        "",
        *_last_lines(table),
        *_turn_lines(table),
    ]
    return [line for fact in facts for line in (wrapped(fact, width + 1, "  ") or [""])]


def _below(table: Table) -> list[str]:
    """Return the facts for one short paragraph: a narrow screen is seldom a high one."""
    last = _last_lines(table)[:1]
    sides = (_side_line(table, side) for side in Side)
    facts = [_heading(table), _progress(table), *sides, _score_line(table), *_match_lines(table)]
    return [fact.rstrip(".") for fact in [*facts, *last, *_turn_lines(table)]]


def status(table: Table) -> str:
    """Return one line with what the board holds, who sits where, and the score."""
    sides = ", ".join(
        f"{side.plural} {_position(table).count(Piece.of(side))} ({holder(table, side)})"
        for side in Side
    )
    rock = "".join(f"; Rock on {square}" for square in _position(table).squares(Piece.ROCK))
    now = _score(table)
    return f"{capitalised(table.name)}: {sides}{rock}; score {now.dwarf} to {now.troll}."


def holder(table: Table, side: Side) -> str:
    """Return who plays ``side``, or that nobody does."""
    return table.seats.get(side, "seat free")


def _heading(table: Table) -> str:
    return f"{capitalised(table.name)}, {_rules(table)} rules"


def _score_line(table: Table) -> str:
    now = _score(table)
    return f"Score: dwarfs {now.dwarf}, trolls {now.troll}"


def _match_lines(table: Table) -> list[str]:
    """Return the points of the match as a line; none before a battle of it has ended."""
    match = table.match
    if match is None or match.single or (match.battle == 1 and match.running):
        return []
    points = ", ".join(f"{holder(table, side)} {match.points(side)}" for side in Side)
    return [f"Match: {points}"]


def _turn_lines(table: Table) -> list[str]:
    """Return whose turn it is, if anybody's."""
    game = table.game
    if game is None or game.outcome:
        return []
    side = game.position.turn
    return [f"Turn: {side.plural} ({holder(table, side)})"]


def _score(table: Table) -> Score:
    return table.game.score if table.game else table.ruleset.score(table.ruleset.opening)


def _position(table: Table) -> Position:
    return table.game.position if table.game else table.ruleset.opening


def _last_move(table: Table) -> Move | None:
    return table.game.moves[-1] if table.game and table.game.moves else None


def _rules(table: Table) -> str:
    return (table.game.ruleset if table.game else table.ruleset).name


def _progress(table: Table) -> str:
    match = table.match
    if match is None:
        return "No battle has begun."
    plies = counted(len(match.game.moves), "ply")
    which = "A single battle" if match.single else f"Battle {match.battle} of {BATTLES}"
    return f"{which}, {plies}" if match.running else f"{which} is over, {plies}"


def _side_line(table: Table, side: Side) -> str:
    piece = Piece.of(side)
    left = _position(table).count(piece)
    lost = _opening(table).count(piece) - left
    name = side.plural.capitalize()
    return f"{piece.value} {name}: {holder(table, side)}, {left} left, {lost} lost"


def _opening(table: Table) -> Position:
    game: Game | None = table.game
    return game.opening if game else table.ruleset.opening


def _last_lines(table: Table) -> list[str]:
    last = _last_move(table)
    if last is None:
        return []
    lines = [f"Last move: {last.origin} to {last.target}"]
    key = f"{MOVED_FROM} from, [{last.piece.value}] to"
    # A hurl captures where it lands: no square is left with the mark of a capture.
    marked = set(last.captures) - {last.target}
    return [*lines, f"  ({key}, {CAPTURED} captured)" if marked else f"  ({key})"]
