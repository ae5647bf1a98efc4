"""Checks that several kinds of ply share: each raises `IllegalMove` if an attempt fails it."""

from __future__ import annotations

from collections.abc import Iterable

from thudmud.rules.board import NEXT_TO, SQUARES, Direction, Square, direction_to, distance, walk
from thudmud.rules.moves import Attempt, Piece, Verb
from thudmud.rules.position import Position
from thudmud.rules.refusals import IllegalMove, Reason


def require_on_board(squares: Iterable[Square]) -> None:
    """Refuse squares off the octagon."""
    for square in squares:
        if not square.on_board:
            row = [each for each in SQUARES if each.row == square.row]
            raise IllegalMove(
                Reason.OFF_BOARD, (square,), square=square, first=row[0], last=row[-1]
            )


def require_departure(attempt: Attempt) -> None:
    """Refuse a target that is the origin."""
    if attempt.origin is attempt.target:
        raise IllegalMove(Reason.SAME_SQUARE, (attempt.origin,), square=attempt.origin)


def require_straight(attempt: Attempt) -> Direction:
    """Return the direction of an attempt; refuse one that is not in a straight line."""
    require_departure(attempt)
    origin, target = attempt.origin, attempt.target
    direction = direction_to(origin, target)
    if direction is None:
        raise IllegalMove(Reason.NOT_STRAIGHT, (origin, target), origin=origin, target=target)
    return direction


def require_near(attempt: Attempt, piece: Piece, reach: int) -> None:
    """Refuse a target further away than ``reach`` squares."""
    require_departure(attempt)
    far = distance(attempt.origin, attempt.target)
    if far > reach:
        raise IllegalMove(
            Reason.TOO_FAR,
            (attempt.origin, attempt.target),
            piece=piece,
            reach=reach,
            target=attempt.target,
            far=far,
        )


def require_front(
    position: Position, attempt: Attempt, direction: Direction, piece: Piece, verb: Verb
) -> None:
    """Refuse a piece that has others of its line before it: only the front one goes."""
    front = attempt.origin
    for square in walk(front, direction):
        if position.piece_at(square) is not piece:
            break
        front = square
    if front is not attempt.origin:
        raise IllegalMove(Reason.NOT_IN_FRONT, (front,), front=front, piece=piece, verb=verb)


def require_line(attempt: Attempt, piece: Piece, length: int, verb: Verb) -> None:
    """Refuse a target further away than a line is long.

    Args:
        attempt: what was asked for.
        piece: what the line is made of.
        length: the length of the line.
        verb: what is done with the line's front piece.
    """
    far = distance(attempt.origin, attempt.target)
    if far > length:
        raise IllegalMove(
            Reason.LINE_TOO_SHORT,
            (attempt.origin, attempt.target),
            piece=piece,
            length=length,
            verb=verb,
            target=attempt.target,
            far=far,
        )


def require_clear_way(position: Position, attempt: Attempt, direction: Direction) -> None:
    """Refuse to go over a piece between origin and target."""
    for square in walk(attempt.origin, direction):
        if square is attempt.target:
            return
        piece = position.piece_at(square)
        if piece is not None:
            raise IllegalMove(
                Reason.BLOCKED,
                (square,),
                origin=attempt.origin,
                target=attempt.target,
                square=square,
                piece=piece,
            )


def require_empty_target(position: Position, attempt: Attempt) -> None:
    """Refuse an occupied target."""
    piece = position.piece_at(attempt.target)
    if piece is not None:
        raise IllegalMove(
            Reason.TARGET_TAKEN, (attempt.target,), target=attempt.target, piece=piece
        )


def require_prey(position: Position, prey: Piece, square: Square) -> None:
    """Refuse to capture on a square without a piece of the kind that can be captured."""
    if position.piece_at(square) is not prey:
        raise IllegalMove(Reason.NO_ENEMY_THERE, (square,), piece=prey, square=square)


def require_adjacent(attempt: Attempt, piece: Piece, square: Square) -> None:
    """Refuse to capture on a square that is not next to the target."""
    if not NEXT_TO[attempt.target.bit] & square.bit:
        raise IllegalMove(
            Reason.CAPTURE_NOT_ADJACENT,
            (square, attempt.target),
            square=square,
            target=attempt.target,
            piece=piece,
        )


def nothing_to_capture(attempt: Attempt, reason: Reason) -> IllegalMove:
    """Return the refusal of an attempt to capture where nothing can be captured."""
    return IllegalMove(reason, (attempt.target,), target=attempt.target)
