"""Moves as they are stored: short words such as ``dA6-B6`` and ``TG7=F7xE7xE8``.

Owns that notation. Must never change what a word that was ever stored means.

A word is the piece, its origin, a mark for how it goes, its target, and its captures in their
order, by the names that squares have on our boards. Unlike a game record it keeps the verb, and
tells a trample from other captures: nothing of a move is lost.
"""

from __future__ import annotations

import re

from thudmud.rules import SQUARES, Move, Piece, Verb

_MARKS = {
    (Verb.MOVE, False): "-",
    (Verb.SHOVE, False): "=",
    (Verb.HURL, False): ">",
    (Verb.MOVE, True): "~",
}
"""By verb, and whether it is a trample."""

_WAYS = {mark: way for way, mark in _MARKS.items()}
_PIECES = {piece.value: piece for piece in Piece}
_SQUARES = {str(square): square for square in SQUARES}
_WORD = re.compile(r"([dTR])([A-O][0-9]{1,2})([-=>~])([A-O][0-9]{1,2})((?:x[A-O][0-9]{1,2})*)")


def write_moves(moves: tuple[Move, ...]) -> str:
    """Return moves as words with blanks between them."""
    return " ".join(map(write_move, moves))


def read_moves(text: str) -> tuple[Move, ...]:
    """Return the moves of such a text.

    Raises:
        ValueError: something of it is not a move.
        KeyError: a square is not on the board.
    """
    return tuple(map(read_move, text.split(" "))) if text else ()


def write_move(move: Move) -> str:
    """Return a move as a word."""
    mark = _MARKS[move.verb, move.trample]
    captures = "".join([f"x{square}" for square in move.captures])
    return f"{move.piece.value}{move.origin}{mark}{move.target}{captures}"


def read_move(word: str) -> Move:
    """Return the move that a word stands for.

    Raises:
        ValueError: it does not stand for a move.
        KeyError: a square is not on the board.
    """
    match = _WORD.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} is not a move")
    piece, origin, mark, target, rest = match.groups()
    captures = tuple([_SQUARES[name] for name in rest[1:].split("x")]) if rest else ()
    verb, trample = _WAYS[mark]
    return Move(_PIECES[piece], _SQUARES[origin], _SQUARES[target], captures, trample, verb)
