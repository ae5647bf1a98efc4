"""Legal moves, told briefly.

Owns how the hundreds of moves of a side are written in a few lines: squares in a row as a range,
and the many ways to capture as one choice. Must never decide what is legal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import comb

from thudmud.play.commands import Captures
from thudmud.play.meaning import listed
from thudmud.rules import Game, Move, Piece, Position, Side, Square, Verb
from thudmud.rules.english import capitalised
from thudmud.text.display import Display
from thudmud.text.words import wrapped

MOST_PATHS = 12
"""How many ways to trample are spelt out for one piece."""

MOST_PIECES, MOST_KINDS = 12, 4
"""How many pieces that capture are told of, and how many ways of each, when all are asked for."""

NO_MOVE = "has no legal move", "have no legal move"
NO_CAPTURE = "can capture nothing", "can capture nothing"
"""What one piece and what a side cannot do."""


def to(display: Display) -> str:
    """Return what stands between the ends of a range of squares: words, for who hears them."""
    return " through " if display.reader else ".."


def possible(game: Game, origin: Square | None, width: int, between: str = "..") -> list[str]:
    """Return the legal moves of the side to move, or those of the piece on ``origin``.

    They are grouped by piece and kind, in the words of the commands. A piece of the other side is
    told of as if it were that side's turn. ``between`` is what stands between the ends of a range.
    """
    position, heading = _as_moving(game.position, origin)
    rows = []
    for moves in _by_piece(game, position, origin):
        rows += wrapped(f"{heading}{_piece(moves[0], _kinds(moves, between))}", width, "    ")
    return rows or wrapped(_headed(heading, _none(position, origin, NO_MOVE)), width)


def capturing(game: Game, origin: Square | None, between: str = "..") -> list[str]:
    """Return the moves that capture, as `possible` has them, a sentence for each piece."""
    if game.outcome:
        return ["The battle is over."]
    position, heading = _as_moving(game.position, origin)
    most = MOST_KINDS if origin is None else None
    facts: list[str] = []
    further: list[Square] = []
    for moves in _by_piece(game, position, origin):
        captures = [move for move in moves if move.captures]
        if captures and len(facts) == MOST_PIECES:
            further.append(captures[0].origin)
        elif captures:
            kinds = _kinds(captures, between)
            more = ["and more"] if most and len(kinds) > most else []
            said = _piece(captures[0], [*kinds[:most], *more])
            facts.append(f"{heading}{said if heading else capitalised(said)}.")
    if further:
        facts.append(f'{listed(further)} can capture, too: "{Captures(further[0])}" tells how.')
    return facts or [_headed(heading, _none(position, origin, NO_CAPTURE))]


def _as_moving(position: Position, origin: Square | None) -> tuple[Position, str]:
    """Return a position as if it were the turn of the piece on ``origin``, and words for that."""
    piece = position.piece_at(origin) if origin else None
    owner = Side.DWARF if piece is Piece.ROCK else piece.side if piece else None
    if owner is not position.turn.other:
        return position, ""
    heading = f"It is the {position.turn.plural}' turn; if it were the {owner.plural}': "
    return replace(position, turn=owner), heading


def _headed(heading: str, sentence: str) -> str:
    """Return a sentence behind its heading, if it has one."""
    return f"{heading}{sentence[0].lower()}{sentence[1:]}" if heading else sentence


def _by_piece(game: Game, position: Position, origin: Square | None) -> Iterator[Sequence[Move]]:
    """Yield the moves of each piece that has any, or of the one on ``origin``."""
    for square in (origin,) if origin else _origins(position):
        # One more than is spelt out tells that there are more; all may be hundreds of thousands.
        moves = game.ruleset.moves_from(position, square, most_tramples=MOST_PATHS + 1)
        if moves:
            yield moves


def _origins(position: Position) -> list[Square]:
    """Return the squares of all that the side to move may be able to move."""
    pieces = (Piece.of(position.turn), Piece.ROCK)
    return sorted(square for piece in pieces for square in position.squares(piece))


def _none(position: Position, origin: Square | None, cannot: tuple[str, str]) -> str:
    one, many = cannot
    if origin is None:
        return f"The {position.turn.plural} {many}."
    if not origin.on_board:
        return f"{origin} is off the octagon."
    piece = position.piece_at(origin)
    if piece is None:
        return f"Nothing stands on {origin}."
    if piece is Piece.STONE:
        return f"The Thudstone on {origin} never moves."
    return f"The {piece.noun} on {origin} {one} now."


def _piece(move: Move, kinds: Sequence[str]) -> str:
    return f"{move.piece.noun} {move.origin}: {'; '.join(kinds)}"


def _kinds(moves: Sequence[Move], between: str) -> list[str]:
    """Return what one piece can do, a kind of ply each, in the words of the commands."""
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
        f"{kind} to {_ranges(moves[0].origin, targets, between)}{choice}"
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


def _ranges(origin: Square, targets: Iterable[Square], between: str) -> str:
    """Return ``targets`` with those in a row, seen from ``origin``, as ``B6..G6`` or so."""
    rays: defaultdict[tuple[int, int], list[tuple[int, Square]]] = defaultdict(list)
    for target in targets:
        across, down = target.column - origin.column, target.row - origin.row
        distance = max(abs(across), abs(down))
        rays[_sign(across), _sign(down)].append((distance, target))
    return ", ".join(text for ray in rays.values() for text in _runs(sorted(ray), between))


def _runs(ray: Sequence[tuple[int, Square]], between: str) -> list[str]:
    """Return squares of one ray, by distance, with three or more in a row as a range."""
    runs: list[list[tuple[int, Square]]] = []
    for distance, square in ray:
        if runs and runs[-1][-1][0] == distance - 1:
            runs[-1].append((distance, square))
        else:
            runs.append([(distance, square)])
    return [
        f"{run[0][1]}{between}{run[-1][1]}"
        if len(run) > 2
        else ", ".join(str(each) for _, each in run)
        for run in runs
    ]


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
