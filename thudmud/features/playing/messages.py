"""Answers to questions about boards, as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import assert_never

from thudmud.english import capitalised, join_words, pluralize
from thudmud.features.playing import refusal_texts  # noqa: F401
from thudmud.features.playing.queries import (
    Around,
    Captures,
    LastMove,
    Lines,
    PieceQuery,
    Query,
    ScanColumn,
    ScanRow,
    ViewClock,
    ViewGame,
    ViewPossible,
    Where,
)
from thudmud.game.table import Table
from thudmud.rules import SQUARES, Piece, Position, Square
from thudmud.rules.board import LETTERS, Direction, walk
from thudmud.views import data, legal, sentences
from thudmud.views.data import Fact
from thudmud.views.facts import board_reference, table_facts_in_full
from thudmud.views.legal import COMPASS, captures_by_piece, lines_by_side, range_word
from thudmud.views.reader import clock_sentences
from thudmud.views.registry import RenderContext, added_lines, facts, words
from thudmud.views.standing import full_board_lines, status_lines
from thudmud.views.view import Display, View
from thudmud.views.words import wrap, wrap_each


@words.register
def _render_query(
    query: PieceQuery,
    context: RenderContext,
    view: View,
) -> list[str]:
    answer = query_answer_lines(context.known_table, query, context.player, view.display)
    return added_lines(Query, query, context, view) + answer


@words.register
def _possible(asked: ViewPossible, context: RenderContext, view: View) -> list[str]:
    """Render the legal moves of the side to move, or of the piece on a square."""
    table, me, width = context.known_table, context.player, view.width
    game, lines = sentences.game_at(table), added_lines(Query, asked, context, view)
    side = game.position.turn
    if asked.origin is None and side is not table.side_of(me):
        lines += wrap(f"{sentences.turn_sentence(table, me)} The {side.plural}' moves:", width)
    return lines + legal.moves_by_piece(game, asked.origin, width, legal.range_word(view.display))


@facts.register
def _possible_facts(asked: ViewPossible, context: RenderContext) -> Iterator[Fact]:
    table = context.known_table
    if table.game:
        known = {**board_reference(table), "ply": len(table.game.moves)}
        if asked.origin is None:
            yield Fact(
                "Thud.Plies", {**known, **data.legal_ply_records(table.game)}, context.player
            )
        else:
            legal = data.legal_moves_data(table.game, asked.origin)
            yield Fact("Thud.Legal", {**known, **legal}, context.player)


@words.register
def _game(_: ViewGame, context: RenderContext, view: View) -> list[str]:
    table = context.known_table
    return full_board_lines(table, view) + status_lines(table, view)


@facts.register
def _game_facts(_: ViewGame | ViewClock, context: RenderContext) -> Iterator[Fact]:
    yield from table_facts_in_full(context.known_table, context.player)


def query_answer_lines(table: Table, query: PieceQuery, me: str, display: Display) -> list[str]:
    """Return the answer to a question about a board, as wrapped lines."""
    game = sentences.game_at(table)
    match query:
        case Lines(side):
            facts = lines_by_side(game, side)
        case Captures(origin, side=side):
            facts = captures_by_piece(game, origin, range_word(display), side)
        case LastMove():
            facts = [sentences.last_ply(table, me)]
        case Where(kind):
            present = [piece for piece in Piece if game.position.bits(piece)]
            facts = [where(game.position, piece) for piece in ([kind] if kind else present)]
        case ScanRow(row):
            squares = [square for square in SQUARES if square.row == row]
            facts = [f"Row {row + 1}: {_along(game.position, squares)}."]
        case ScanColumn(column):
            squares = [square for square in SQUARES if square.column == column]
            facts = [f"Column {LETTERS[column]}: {_along(game.position, squares)}."]
        case Around(square):
            facts = _around(game.position, square)
        case ViewClock():
            facts = clock_sentences(table, me)
        case _:
            assert_never(query)
    return wrap_each(facts, display.width)


def where(position: Position, piece: Piece) -> str:
    """Return a sentence that lists the squares of all pieces of a kind."""
    squares = position.squares(piece)
    if piece.side:
        number = pluralize(len(squares), piece.noun) if squares else f"No {piece.noun}s"
        return f"{number}: {', '.join(map(str, squares))}." if squares else f"{number}."
    if not squares:
        return f"There is no {piece.noun} on this board."
    return f"{capitalised(piece.phrase)}: {squares[0]}."


def _along(position: Position, squares: Sequence[Square]) -> str:
    """Describe a row or column, merging runs of squares with the same content."""
    return ", ".join(
        _span(piece, list(run)) for piece, run in groupby(squares, key=position.piece_at)
    )


def _span(piece: Piece | None, squares: Sequence[Square]) -> str:
    ends = str(squares[0]) if len(squares) == 1 else f"{squares[0]} to {squares[-1]}"
    if piece is None:
        return f"{ends} empty"
    return f"{ends} {piece.noun}{'s' if len(squares) > 1 else ''}"


def _around(position: Position, square: Square) -> list[str]:
    """Describe a square and the first piece in each direction, clockwise from north.

    Adjacent directions with the same description share a sentence.
    """
    if not square.is_on_board:
        return [f"{square} is off the board."]
    piece = position.piece_at(square)
    met = [(name, _met(position, square, direction)) for name, direction in COMPASS.items()]
    runs = [
        (seen, [name for name, _ in run]) for seen, run in groupby(met, key=lambda each: each[1])
    ]
    if len(runs) > 1 and runs[0][0] == runs[-1][0]:  # wrap around: northwest is adjacent to north
        runs[0][1][:0] = runs.pop()[1]
    facts = (f"{capitalised(join_words(names))}: {seen}." for seen, names in runs)
    return [f"{square}: {piece.phrase if piece else 'empty'}.", *facts]


def _met(position: Position, origin: Square, direction: Direction) -> str:
    """Describe the first piece in a direction and its distance, or the distance to the edge."""
    far = 0
    for far, square in enumerate(walk(origin, direction), 1):
        piece = position.piece_at(square)
        if piece:
            away = "adjacent" if far == 1 else f"{far} away"
            return f"{piece.phrase} on {square}, {away}"
    return f"{pluralize(far, 'empty square')} to the edge" if far else "the edge"
