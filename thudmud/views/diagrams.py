"""Descriptions of the boards that help pages draw, for screen readers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from thudmud.english import capitalised
from thudmud.rules import Piece, Square
from thudmud.views.reader import describe_squares

_COLUMNS = re.compile("[ A-O-]+")
_LETTER = re.compile("[A-O]")
_ROW = re.compile("[0-9]+")
_PIECES = {piece.value: piece for piece in Piece}


def describe_boards(drawing: Sequence[str]) -> list[str]:
    """Return sentences on the pieces of a drawn board, or of two: before and after a move.

    The first row of a drawing has the letters of the columns, and each other row the pieces below
    them. Any other diagram returns an empty list.
    """
    letters, *rows = drawing
    if not _COLUMNS.fullmatch(letters):
        return []
    boards: list[dict[int, str]] = []
    last = ""
    for column in _LETTER.finditer(letters):
        if not boards or column[0] <= last:
            boards.append({})
        last = boards[-1][column.start()] = column[0]
    described = [_describe_pieces(board, rows) for board in boards]
    if len(described) == 1:
        return [f"{capitalised(each)}." for each in described[0]]
    return [
        f"{when}: {'; '.join(each)}."
        for when, each in zip(("Before", "After"), described, strict=True)
    ]


def _describe_pieces(letters: dict[int, str], rows: Sequence[str]) -> list[str]:
    """Return each kind of piece with its squares.

    Args:
        letters: the letters of the columns, by their places in a row.
        rows: the rows, which begin with their numbers.
    """
    bits = dict.fromkeys(Piece, 0)
    for row in rows:
        number = _ROW.search(row)
        for place, letter in letters.items():
            if number and (piece := _PIECES.get(row[place : place + 1])):
                bits[piece] |= Square.parse(f"{letter}{number[0]}").bit
    return [
        f"{piece.noun}s at {describe_squares(standing)}"
        if standing.bit_count() > 1
        else f"{piece.phrase} at {describe_squares(standing)}"
        for piece, standing in bits.items()
        if standing
    ]
