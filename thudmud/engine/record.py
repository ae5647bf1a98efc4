"""Game records: battles in the notation that Thud programs exchange.

Owns reading and writing that notation. Must never touch a file, nor judge a ply: the ruleset does.

The first line is the setup, every piece and its square (``dF1,...,TG7,...,RH8``, R for the
Thudstone as for the Rock); then comes one ply a line: ``dA6-B6``, ``TG7-F7xE7xE8``, ``RH8-H7``. A
hurl repeats its target after the x; a trample lists its captures in the order trampled. Columns go
by other letters than on our boards: the notation skips the I (A to H, then J to P).

A record does not tell how a battle ended unless a ply ended it. The dwarfs are the first to move,
unless the first ply is a troll's.
"""

from __future__ import annotations

import re
from dataclasses import replace

from thudmud.engine.attempt import Attempt, Verb
from thudmud.engine.game import Game
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece, Side
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.rulesets import Ruleset
from thudmud.engine.squares import CENTRE, WIDTH, Square

_LETTERS = "ABCDEFGHJKLMNOP"
_SQUARE = re.compile(r"([A-Z])(0|[1-9][0-9]?)", re.ASCII)
_PIECE = re.compile(r"([dTR]) ?(\w+)", re.ASCII)
_PLY = re.compile(r"([dTR]) ?([A-Za-z][0-9]+)-([A-Za-z][0-9]+)((?:x[A-Za-z][0-9]+)*)", re.ASCII)
_MARKS = {Piece.DWARF: "d", Piece.TROLL: "T", Piece.ROCK: "R", Piece.STONE: "R"}
_NO_VERB = {Reason.NO_SUCH_VERB, Reason.NOT_THIS_SIDES_VERB}


class RecordError(ValueError):
    """A record that cannot be read.

    Attributes:
        line: the number of the line, from 1.
        problem: what is wrong with it.
    """

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


def read_record(text: str, ruleset: Ruleset) -> Game:
    """Return the battle that a record tells, ended if its last ply ended it.

    Blank lines are passed over.

    Raises:
        RecordError: naming the line and what is wrong with it.
    """
    lines = [
        (number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()
    ]
    if not lines:
        raise RecordError(1, "there is no setup line such as dF1,dG1,...,RH8")
    (first, setup), *plies = lines
    turn = Side.TROLL if plies and plies[0][1].startswith("T") else Side.DWARF
    try:
        game = Game.start(ruleset, read_setup(setup, ruleset, turn))
    except ValueError as error:
        raise RecordError(first, str(error)) from None
    for number, line in plies:
        game = _play_line(number, line, game)
    return game


def write_record(game: Game) -> str:
    """Return the record of a battle, one line for the setup and one for each ply.

    Raises:
        ValueError: if the trolls are the first to move and have not moved yet, as a record has no
            way to say that.
    """
    if game.opening.turn is Side.TROLL and not game.moves:
        raise ValueError("a record without a ply cannot say that the trolls move first")
    return "\n".join([write_setup(game.opening), *map(write_ply, game.moves), ""])


def read_setup(line: str, ruleset: Ruleset, turn: Side) -> Position:
    """Return the position that a setup line describes; ValueError if it cannot be one."""
    pieces: dict[Square, Piece] = {}
    centrepiece = Piece.ROCK if ruleset.opening.rock else Piece.STONE
    kinds = {"d": Piece.DWARF, "T": Piece.TROLL, "R": centrepiece}
    for entry in line.split(","):
        match = _PIECE.fullmatch(entry.strip())
        if match is None:
            raise ValueError(
                f"{entry.strip()!r} is not a piece on a square; the first line of a record is the "
                "setup, such as dF1,dG1,...,RH8"
            )
        square = _read_square(match[2])
        if not square.on_board:
            raise ValueError(f"{entry.strip()} is off the octagon")
        if square in pieces:
            raise ValueError(f"{match[2]} is set up twice")
        pieces[square] = kinds[match[1]]
    position = Position.of(pieces, turn)
    _require_possible(position, ruleset)
    return position


def write_setup(position: Position) -> str:
    """Return the setup line of a position, which does not tell who is to move."""
    return ",".join(
        mark + record_name(square)
        for piece, mark in _MARKS.items()
        for square in position.squares(piece)
    )


def write_ply(move: Move) -> str:
    """Return a move as a ply of a record."""
    captures = "".join(f"x{record_name(square)}" for square in move.captures)
    return f"{_MARKS[move.piece]}{record_name(move.origin)}-{record_name(move.target)}{captures}"


def read_ply(text: str, ruleset: Ruleset, position: Position) -> Move:
    """Return the move that a ply of a record tells, the position being the one before it.

    Raises:
        IllegalMove: if the rules refuse it.
        ValueError: if it is no ply, or another piece stands where it begins.
    """
    match = _PLY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text.strip()!r} is not a ply such as dA6-B6 or TG7-F7xE7")
    mark, origin, target = match[1], _read_square(match[2]), _read_square(match[3])
    captures = tuple(_read_square(name) for name in match[4].split("x")[1:])
    piece = position.piece_at(origin)
    if piece is not None and _MARKS[piece] != mark:
        raise ValueError(f"{text.strip()}: {piece.phrase} stands on {record_name(origin)}")
    side = Side.TROLL if mark == "T" else Side.DWARF
    return _resolve(ruleset, position, Attempt(Verb.MOVE, origin, target, captures), side)


def _resolve(ruleset: Ruleset, position: Position, attempt: Attempt, side: Side) -> Move:
    """Return the move by whichever verb is granted: a record does not tell them apart."""
    refusals: list[IllegalMove] = []
    for verb in Verb:
        try:
            return ruleset.resolve(position, replace(attempt, verb=verb), side)
        except IllegalMove as refusal:
            if refusal.reason not in _NO_VERB:
                refusals.append(refusal)
    raise refusals[-1 if attempt.captures else 0]  # captures are what shoves and hurls are for


def _play_line(number: int, line: str, game: Game) -> Game:
    try:
        return _play(line, game)
    except IllegalMove as refusal:
        raise RecordError(number, f"{line}: {refusal.told(record_name)}") from None
    except ValueError as error:
        raise RecordError(number, str(error)) from None


def _play(line: str, game: Game) -> Game:
    if game.outcome is not None:
        raise IllegalMove(Reason.GAME_OVER)
    return game.play(read_ply(line, game.ruleset, game.position))


def _require_possible(position: Position, ruleset: Ruleset) -> None:
    """Refuse a setup that no battle by these rules comes to; ValueError says why."""
    for piece in (Piece.DWARF, Piece.TROLL):
        number, most = position.count(piece), ruleset.opening.count(piece)
        if number > most:
            raise ValueError(f"there are {number} {piece.noun}s, and only {most} in these rules")
    centrepieces = position.squares(Piece.STONE) + position.squares(Piece.ROCK)
    if len(centrepieces) != 1:
        raise ValueError(f"there has to be one R, and there are {len(centrepieces)}")
    if position.stone not in (0, CENTRE.bit):
        raise ValueError(f"the Thudstone stands on {record_name(CENTRE)}, so RH8")


def _read_square(name: str) -> Square:
    """Return the square that records call ``name``; ValueError if they have no such name."""
    match = _SQUARE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name} is not a square such as A6: a capital letter, a number")
    letter, number = match[1], int(match[2])
    if letter == "I":
        raise ValueError(f"{name}: game records skip the letter I (A to H, then J to P)")
    if letter not in _LETTERS or not 1 <= number <= WIDTH:
        raise ValueError(f"{name} is not on the grid: records go from A1 to P15, without the I")
    return Square(_LETTERS.index(letter), number - 1)


def record_name(square: Square) -> str:
    """Return what records call a square."""
    return f"{_LETTERS[square.column]}{square.row + 1}"
