"""The board without a picture: answers about squares, rows, columns and pieces, in words.

Owns those answers. Must never decide what is legal, nor know who asks for more than their name.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from thudmud.play.commands import (
    Around,
    Captures,
    LastMove,
    Lines,
    Query,
    ScanColumn,
    ScanRow,
    Where,
)
from thudmud.play.meaning import listed
from thudmud.play.table import Table
from thudmud.rules import SQUARES, Piece, Position, Square
from thudmud.rules.board import LETTERS, Direction, walk
from thudmud.rules.english import capitalised, counted
from thudmud.text.display import Display
from thudmud.text.legal import capturing, to
from thudmud.text.phrases import COMPASS, game_at, last_ply
from thudmud.text.prey import lines
from thudmud.text.words import wrapped


def answered(table: Table, query: Query, me: str, display: Display) -> list[str]:
    """Return the answer that ``me`` is given about a board, as lines that fit the screen."""
    game = game_at(table)
    match query:
        case Lines(side):
            facts = lines(game, side)
        case Captures(origin):
            facts = capturing(game, origin, to(display))
        case LastMove():
            facts = [last_ply(table, me)]
        case _:
            facts = _seen(game.position, query)
    return [line for fact in facts for line in wrapped(fact, display.width)]


def _seen(position: Position, query: Where | ScanRow | ScanColumn | Around) -> list[str]:
    match query:
        case Where(piece):
            return [where(position, piece)]
        case ScanRow(row):
            row_squares = [square for square in SQUARES if square.row == row]
            return [f"Row {row + 1}: {_along(position, row_squares)}."]
        case ScanColumn(column):
            squares = [square for square in SQUARES if square.column == column]
            return [f"Column {LETTERS[column]}: {_along(position, squares)}."]
        case Around(square):
            return _around(position, square)


def where(position: Position, piece: Piece) -> str:
    """Return on which squares pieces of a kind stand."""
    squares = position.squares(piece)
    if piece.side:
        number = counted(len(squares), piece.noun) if squares else f"No {piece.noun}s"
        return f"{number}: {', '.join(map(str, squares))}." if squares else f"{number}."
    if not squares:
        return f"There is no {piece.noun} on this board."
    return f"{capitalised(piece.phrase)}: {squares[0]}."


def _along(position: Position, squares: Sequence[Square]) -> str:
    """Return what stands on the squares of a line, those in a row that hold the same as one."""
    runs: list[tuple[Piece | None, list[Square]]] = []
    for square in squares:
        piece = position.piece_at(square)
        if runs and runs[-1][0] is piece:
            runs[-1][1].append(square)
        else:
            runs.append((piece, [square]))
    return ", ".join(_run(piece, run) for piece, run in runs)


def _run(piece: Piece | None, run: Sequence[Square]) -> str:
    span = str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}"
    if piece is None:
        return f"{span} empty"
    return f"{span} {piece.noun}{'s' if len(run) > 1 else ''}"


def _around(position: Position, square: Square) -> list[str]:
    """Return what stands on a square, and what is first met from it in each direction, clockwise.

    Directions next to each other, in which it is the same, are told as one.
    """
    if not square.on_board:
        return [f"{square} is off the octagon."]
    piece = position.piece_at(square)
    met = [(name, _met(position, square, direction)) for name, direction in COMPASS.items()]
    runs = [
        (seen, [name for name, _ in run]) for seen, run in groupby(met, key=lambda each: each[1])
    ]
    if len(runs) > 1 and runs[0][0] == runs[-1][0]:  # northwest is next to north
        runs[0][1][:0] = runs.pop()[1]
    facts = (f"{capitalised(listed(names))}: {seen}." for seen, names in runs)
    return [f"{square}: {piece.phrase if piece else 'empty'}.", *facts]


def _met(position: Position, origin: Square, direction: Direction) -> str:
    """Return the first piece in a direction and how far it is, or how far the edge is."""
    far = 0
    for far, square in enumerate(walk(origin, direction), 1):
        piece = position.piece_at(square)
        if piece:
            away = "adjacent" if far == 1 else f"{far} away"
            return f"{piece.phrase} on {square}, {away}"
    return f"{counted(far, 'empty square')} to the edge" if far else "the edge"
