"""Legal moves, told briefly.

Owns how the hundreds of moves of a side are written in a few lines: squares in a row as a range,
and the many ways to capture as one choice. Must never decide what is legal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import comb

from thudmud.engine import Game, Move, Piece, Position, Side, Square, Verb
from thudmud.tables.objects import listed
from thudmud.text.words import wrapped

MOST_PATHS = 12
"""How many ways to trample are spelt out for one piece."""


def possible(game: Game, origin: Square | None, width: int) -> list[str]:
    """Return the legal moves of the side to move, or those of the piece on ``origin``.

    They are grouped by piece and kind, in the words of the commands. A piece of the other side is
    told of as if it were that side's turn.
    """
    position, heading = game.position, ""
    piece = position.piece_at(origin) if origin else None
    owner = Side.DWARF if piece is Piece.ROCK else piece.side if piece else None
    if owner is position.turn.other:
        position = replace(position, turn=owner)
        turn = position.turn
        heading = f"It is the {turn.other.plural}' turn; if it were the {turn.plural}': "
    origins = (origin,) if origin else _origins(position)
    rows = []
    for square in origins:
        # One more than is spelt out tells that there are more; all may be hundreds of thousands.
        moves = game.ruleset.moves_from(position, square, most_tramples=MOST_PATHS + 1)
        if moves:
            rows += wrapped(heading + _piece(square, moves), width, "    ")
    return rows or wrapped(heading + _none(position, origin), width)


def _origins(position: Position) -> list[Square]:
    """Return the squares of all that the side to move may be able to move."""
    pieces = (Piece.of(position.turn), Piece.ROCK)
    return sorted(square for piece in pieces for square in position.squares(piece))


def _none(position: Position, origin: Square | None) -> str:
    if origin is None:
        return f"The {position.turn.plural} have no legal move."
    if not origin.on_board:
        return f"{origin} is off the octagon."
    piece = position.piece_at(origin)
    if piece is None:
        return f"Nothing stands on {origin}."
    if piece is Piece.STONE:
        return f"The Thudstone on {origin} never moves."
    return f"The {piece.noun} on {origin} has no legal move now."


def _piece(square: Square, moves: Sequence[Move]) -> str:
    return f"{moves[0].piece.noun} {square}: {'; '.join(_kinds(moves))}"


def _kinds(moves: Sequence[Move]) -> list[str]:
    """Return what one piece can do, a kind of ply each, in the words of the commands."""
    origin = moves[0].origin
    choices: defaultdict[tuple[Verb, Square], list[Move]] = defaultdict(list)
    tramples = []
    for move in moves:
        if move.trample:
            tramples.append(move)
        else:
            choices[move.verb, move.target].append(move)
    by_kind: defaultdict[tuple[str, str], list[Square]] = defaultdict(list)
    for (verb, target), options in choices.items():
        by_kind[verb.value, _choice(options)].append(target)
    kinds = [
        f"{kind} to {_ranges(origin, targets)}{choice}"
        for (kind, choice), targets in by_kind.items()
    ]
    return kinds + _tramples(tramples)


def _choice(options: Sequence[Move]) -> str:
    """Return what can be captured on the way to one target, in a few words."""
    sets = {frozenset(move.captures) for move in options}
    if sets == {frozenset()} or options[0].captures == (options[0].target,):
        return ""
    none = " or none" if frozenset() in sets else ""
    return f" capturing {_some(sets - {frozenset()})}{none}"


def _some(sets: set[frozenset[Square]]) -> str:
    """Return a choice of sets, none of them empty, in a few words."""
    squares = sorted(frozenset().union(*sets))
    least, most = min(map(len, sets)), max(map(len, sets))
    if len(sets) == sum(comb(len(squares), size) for size in range(least, most + 1)):
        if least == len(squares):
            return listed(squares)
        if most == 1:
            return listed(squares, "or")
        if most == len(squares):
            number = "any" if least == 1 else f"{least} or more"
            return f"{number} of {listed(squares)}"
    return " or ".join(listed(sorted(each)) for each in sorted(sets, key=sorted))


def _tramples(moves: Sequence[Move]) -> list[str]:
    """Return the ways to trample, which come shortest first, the first of them spelt out."""
    paths = [
        f"move to {move.target} capturing {', '.join(map(str, move.captures))}" for move in moves
    ]
    return [*paths[:MOST_PATHS], "and more ways to trample"] if len(paths) > MOST_PATHS else paths


def _ranges(origin: Square, targets: Iterable[Square]) -> str:
    """Return ``targets`` with those in a row, seen from ``origin``, as ``B6..G6``."""
    rays: defaultdict[tuple[int, int], list[tuple[int, Square]]] = defaultdict(list)
    for target in targets:
        across, down = target.column - origin.column, target.row - origin.row
        distance = max(abs(across), abs(down))
        rays[_sign(across), _sign(down)].append((distance, target))
    return ", ".join(text for ray in rays.values() for text in _runs(sorted(ray)))


def _runs(ray: Sequence[tuple[int, Square]]) -> list[str]:
    """Return squares of one ray, by distance, with three or more in a row as a range."""
    runs: list[list[tuple[int, Square]]] = []
    for distance, square in ray:
        if runs and runs[-1][-1][0] == distance - 1:
            runs[-1].append((distance, square))
        else:
            runs.append([(distance, square)])
    return [
        f"{run[0][1]}..{run[-1][1]}" if len(run) > 2 else ", ".join(str(each) for _, each in run)
        for run in runs
    ]


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
