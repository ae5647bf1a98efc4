"""Checks that several kinds of ply share; each raises `IllegalMoveError` if an attempt fails it."""

from __future__ import annotations

from collections.abc import Iterable

from thudmud.rules.board import NEXT_TO, SQUARES, Direction, Square, direction_to, distance, walk
from thudmud.rules.moves import Attempt, Piece, Verb
from thudmud.rules.position import Position
from thudmud.rules.refusals import IllegalMoveError, Reason


def require_on_board(squares: Iterable[Square]) -> None:
    """Refuse squares off the octagon."""
    for square in squares:
        if not square.is_on_board:
            row = [each for each in SQUARES if each.row == square.row]
            raise IllegalMoveError(
                Reason.OFF_BOARD, (square,), square=square, first=row[0], last=row[-1]
            )


def require_departure(attempt: Attempt) -> None:
    """Refuse an attempt whose target is its origin."""
    if attempt.origin is attempt.target:
        raise IllegalMoveError(Reason.SAME_SQUARE, (attempt.origin,), square=attempt.origin)


def require_straight(attempt: Attempt) -> Direction:
    """Return the direction of an attempt; refuse one that doesn't follow a straight line."""
    origin, target = attempt.origin, attempt.target
    direction = direction_to(origin, target)
    if direction is None:
        require_departure(attempt)
        raise IllegalMoveError(Reason.NOT_STRAIGHT, (origin, target), origin=origin, target=target)
    return direction


def require_near(attempt: Attempt, piece: Piece, reach: int) -> None:
    """Refuse a target more than ``reach`` squares away."""
    require_departure(attempt)
    far = distance(attempt.origin, attempt.target)
    if far > reach:
        raise IllegalMoveError(
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
    """Refuse to hurl or shove a piece with others of its line in front; only the front one goes."""
    front = attempt.origin
    for square in walk(front, direction):
        if position.piece_at(square) is not piece:
            break
        front = square
    if front is not attempt.origin:
        raise IllegalMoveError(Reason.NOT_IN_FRONT, (front,), front=front, piece=piece, verb=verb)


def require_line(attempt: Attempt, piece: Piece, length: int, verb: Verb) -> None:
    """Refuse a target further away than the line is long.

    Args:
        attempt: the attempt.
        piece: the kind of piece that forms the line.
        length: the number of pieces in the line.
        verb: hurl or shove, for the refusal.
    """
    far = distance(attempt.origin, attempt.target)
    if far > length:
        raise IllegalMoveError(
            Reason.LINE_TOO_SHORT,
            (attempt.origin, attempt.target),
            piece=piece,
            length=length,
            verb=verb,
            target=attempt.target,
            far=far,
        )


def require_clear_way(position: Position, attempt: Attempt, direction: Direction) -> None:
    """Refuse a path with a piece between origin and target."""
    for square in walk(attempt.origin, direction):
        if square is attempt.target:
            return
        piece = position.piece_at(square)
        if piece is not None:
            raise IllegalMoveError(
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
        raise IllegalMoveError(
            Reason.TARGET_TAKEN, (attempt.target,), target=attempt.target, piece=piece
        )


def require_capturable(position: Position, kind: Piece, square: Square) -> None:
    """Refuse a capture on a square without a piece of the kind that can be captured."""
    if position.piece_at(square) is not kind:
        raise IllegalMoveError(Reason.NO_ENEMY_THERE, (square,), piece=kind, square=square)


def require_adjacent(attempt: Attempt, piece: Piece, square: Square) -> None:
    """Refuse a capture on a square that isn't next to the target."""
    if not NEXT_TO[attempt.target.bit] & square.bit:
        raise IllegalMoveError(
            Reason.CAPTURE_NOT_ADJACENT,
            (square, attempt.target),
            square=square,
            target=attempt.target,
            piece=piece,
        )


def nothing_to_capture(attempt: Attempt, reason: Reason) -> IllegalMoveError:
    """Return the refusal of captures where no capture is possible."""
    return IllegalMoveError(reason, (attempt.target,), target=attempt.target)
