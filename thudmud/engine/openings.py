"""Openings: how the board stands when a battle begins, as diagrams.

Owns the diagrams, one place each, so that a printed rulebook can correct them. Must never know how
the pieces move.
"""

from __future__ import annotations

from thudmud.engine.pieces import Piece, Side
from thudmud.engine.position import Position
from thudmud.engine.squares import SQUARES

THUD = """
    A B C D E F G H I J K L M N O
 1            d d . d d
 2          d . . . . . d
 3        d . . . . . . . d
 4      d . . . . . . . . . d
 5    d . . . . . . . . . . . d
 6  d . . . . . . . . . . . . . d
 7  d . . . . . T T T . . . . . d
 8  . . . . . . T X T . . . . . .
 9  d . . . . . T T T . . . . . d
10  d . . . . . . . . . . . . . d
11    d . . . . . . . . . . . d
12      d . . . . . . . . . d
13        d . . . . . . . d
14          d . . . . . d
15            d d . d d
"""
"""The published Original Rules, and the furniture on the Discworld MUD."""

KOOM_VALLEY = """
    A B C D E F G H I J K L M N O
 1            . . . . .
 2          . T . T . T .
 3        . T T . T . T T .
 4      . . . . . . . . . . .
 5    . . . . . . . . . . . . .
 6  . . . . . . . . . . . . . . .
 7  . . . . . . . . . . . . . . .
 8  . . . . . . . R . . . . . . .
 9  . . . . . . . d . . . . . . .
10  d . . . . . . . . . . . . . d
11    d . . . . . . . . . . . d
12      d . . . . . . . . . d
13        d . . . . . . . d
14          d . . . . . d
15            d d d d d
"""
"""The one public description found of the Koom Valley rules' opening."""

_MARGIN = 4
_CELL = 2


def from_diagram(diagram: str, turn: Side) -> Position:
    """Return the position that a diagram shows.

    Args:
        diagram: a line of letters, then fifteen numbered rows as in ``THUD``.
        turn: who is to move.
    """
    rows = diagram.strip("\n").splitlines()[1:]
    marks = {square: rows[square.row][_MARGIN + _CELL * square.column] for square in SQUARES}
    pieces = {square: Piece(mark) for square, mark in marks.items() if mark != "."}
    return Position.of(pieces, turn)
