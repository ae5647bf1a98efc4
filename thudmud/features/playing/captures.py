"""Captures of which only one square was typed besides the piece, such as ``g7xf7``."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.game.refusals import Refusal
from thudmud.rules import Attempt, Game, Move, Square, Verb
from thudmud.rules.board import distance


def resolve_capture(game: Game, origin: Square, square: Square) -> Move:
    """Return the only capture of a piece that ends on a square, or that captures there alone.

    Raises:
        RefusedError: there is no such capture, or more than one.
    """
    moves = [move for move in game.listed_moves()[0] if move.origin == origin and move.captures]
    fitting = [move for move in moves if move.target == square or move.captures == (square,)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise RefusedError(Refusal.NO_CAPTURE_THERE, (square,), origin=origin, target=square)
    example = typed_attempt(min(fitting, key=plainness).attempt())
    raise RefusedError(Refusal.NAME_THE_CAPTURES, (square,), origin=origin, example=example)


def typed_attempt(attempt: Attempt) -> str:
    """Return an attempt in few letters: ``shove g7 g5 capturing f4``."""
    is_hurl = attempt.verb is Verb.HURL
    captures = attempt.captures if isinstance(attempt.captures, tuple) and not is_hurl else ()
    capturing = f" capturing {', '.join(map(str, captures))}" if captures else ""
    return f"{attempt.verb.value} {attempt.origin} {attempt.target}{capturing}".lower()


def plainness(move: Move) -> tuple[int, int, Square, Square]:
    """Return a sort key that prefers the plainest move as an example."""
    return len(move.captures), distance(move.origin, move.target), move.origin, move.target
