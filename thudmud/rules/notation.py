"""The notation of game records: plies, setups, and positions with their side to move.

Thud programs exchange plies such as ``dA6-B6``, ``TG7-F7xE7xE8`` and ``RH8-H7``. A hurl repeats its
target after the x; a trample lists its captures in the order trampled. A setup lists every piece
and its square, ``dF1,...,TG7,...,RH8``, with R for the Thudstone as well as the Rock. A position is
a setup and the side to move: ``dF1,...,RH8 dwarf``. Whether R is the Thudstone or the Rock depends
on the rules, so parsing a position takes a ruleset.

Column letters differ from those on boards: the notation skips the I, see `thudmud.rules.board`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from thudmud.errors import InvalidValueError
from thudmud.rules.board import Square, distance
from thudmud.rules.moves import Attempt, Move, Piece, Side, Verb, split_ply
from thudmud.rules.position import Position
from thudmud.rules.refusals import IllegalMoveError, Reason
from thudmud.rules.rulesets import Ruleset

_PIECE = re.compile(r"([dTR]) ?(\w+)", re.ASCII)
_NO_VERB = {Reason.NO_SUCH_VERB, Reason.NOT_THIS_SIDES_VERB}


def read_ply(text: str, ruleset: Ruleset, position: Position) -> Move:
    """Parse a ply of a record into the move that it makes in ``position``.

    Raises:
        IllegalMoveError: the rules refuse the ply.
        InvalidValueError: the string isn't a ply, or its piece isn't on its origin.
    """
    mark, origin, target, captures = split_ply(text)
    piece = position.piece_at(origin)
    if piece is not None and piece.mark != mark:
        raise InvalidValueError(
            f"{text.strip()}: the piece on {origin.record_name} is {piece.phrase}"
        )
    side = Side.TROLL if mark == "T" else Side.DWARF
    return _resolve(ruleset, position, Attempt(Verb.MOVE, origin, target, captures), side)


def _resolve(ruleset: Ruleset, position: Position, attempt: Attempt, side: Side) -> Move:
    """Return the move by the first verb that the rules allow; records don't include the verb."""
    refusals: list[IllegalMoveError] = []
    for verb in Verb:
        try:
            return ruleset.resolve(position, replace(attempt, verb=verb), side)
        except IllegalMoveError as refusal:
            if refusal.code not in _NO_VERB:
                refusals.append(refusal)
    # The refusal of the verb that was most likely meant: with captures, a shove or a hurl. But a
    # troll that goes one square moves, and only needs a shove where the rules limit its captures.
    is_step = side is Side.TROLL and distance(attempt.origin, attempt.target) <= 1
    raise refusals[-1 if attempt.captures and not is_step else 0]


def write_setup(position: Position) -> str:
    """Return the setup of a position. It doesn't include the side to move."""
    return ",".join(
        piece.mark + square.record_name
        for piece in (Piece.DWARF, Piece.TROLL, Piece.ROCK, Piece.STONE)
        for square in position.squares(piece)
    )


def read_setup(line: str, ruleset: Ruleset, turn: Side) -> Position:
    """Parse a setup into a position; raise InvalidValueError if it is invalid."""
    pieces: dict[Square, Piece] = {}
    centrepiece = Piece.ROCK if ruleset.initial_position.rock else Piece.STONE
    kinds = {"d": Piece.DWARF, "T": Piece.TROLL, "R": centrepiece}
    for entry in line.split(","):
        match = _PIECE.fullmatch(entry.strip())
        if match is None:
            raise InvalidValueError(
                "expected the setup as the first line of a record, such as dF1,dG1,...,RH8; got"
                f" {entry.strip()!r} in it"
            )
        square = Square.from_record(match[2])
        if not square.is_on_board:
            raise InvalidValueError(f"{entry.strip()} is off the board")
        if square in pieces:
            raise InvalidValueError(f"two pieces on {match[2]}")
        pieces[square] = kinds[match[1]]
    position = Position.of(pieces, turn)
    require_possible(position, ruleset)
    return position


def write_position(position: Position) -> str:
    """Return a position as one line, its setup and the side to move: ``dF1,...,RH8 dwarf``."""
    return f"{write_setup(position)} {position.turn.value}"


def read_position(text: str, ruleset: Ruleset) -> Position:
    """Parse the output of `write_position`; raise InvalidValueError if it is invalid."""
    setup, _, turn = text.strip().rpartition(" ")
    if turn not in _SIDES:
        raise InvalidValueError(
            f"expected a setup and dwarf or troll as the side to move, got {turn!r:.50}"
        )
    return read_setup(setup, ruleset, _SIDES[turn])


_SIDES = {side.value: side for side in Side}


def require_possible(position: Position, ruleset: Ruleset) -> None:
    """Raise InvalidValueError if no battle under these rules can reach a position."""
    opening = ruleset.initial_position
    for piece in (Piece.DWARF, Piece.TROLL):
        number, most = position.count(piece), opening.count(piece)
        if number > most:
            raise InvalidValueError(f"expected at most {most} {piece.noun}s, got {number}")
    number, needed = ((each.stone | each.rock).bit_count() for each in (position, opening))
    if number != needed:
        raise InvalidValueError(f"expected {needed} R, got {number}")
    if position.stone != opening.stone:
        (home,) = opening.squares(Piece.STONE) or position.squares(Piece.STONE)
        raise InvalidValueError(f"expected the Thudstone at R{home.record_name}")
