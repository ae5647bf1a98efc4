"""The board without a picture: what happens, and what stands on squares, rows and columns.

Facts for those who hear them read aloud: short ones, each a line of its own, without symbols that a
voice would spell out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from thudmud.english import capitalised, counted, listed
from thudmud.play.commands import (
    Around,
    Captures,
    LastMove,
    Lines,
    Query,
    ScanColumn,
    ScanRow,
    Style,
    Where,
)
from thudmud.play.events import BATTLES, BattleEnded, Moved, Resumed, TableEvent
from thudmud.play.table import Table
from thudmud.rules import SQUARES, Piece, Position, Side, Square
from thudmud.rules.board import LETTERS, Direction, walk
from thudmud.views import sentences
from thudmud.views.legal import capturing, lines, to
from thudmud.views.sentences import COMPASS, game_at, last_ply, named, points
from thudmud.views.view import Display
from thudmud.views.words import wrapped


def answered(table: Table, query: Query, me: str, display: Display) -> list[str]:
    """Return the answer that ``me`` is given about a board, as lines that fit the screen."""
    game = game_at(table)
    match query:
        case Lines(side):
            facts = lines(game, side)
        case Captures(origin):
            facts = capturing(game, origin, to(display))
        case LastMove():
            facts = [last_ply(table, me)]
        case _:
            facts = _seen(game.position, query)
    return [line for fact in facts for line in wrapped(fact, display.width)]


def _seen(position: Position, query: Where | ScanRow | ScanColumn | Around) -> list[str]:
    match query:
        case Where(piece):
            return [where(position, piece)]
        case ScanRow(row):
            row_squares = [square for square in SQUARES if square.row == row]
            return [f"Row {row + 1}: {_along(position, row_squares)}."]
        case ScanColumn(column):
            squares = [square for square in SQUARES if square.column == column]
            return [f"Column {LETTERS[column]}: {_along(position, squares)}."]
        case Around(square):
            return _around(position, square)


def where(position: Position, piece: Piece) -> str:
    """Return on which squares pieces of a kind stand."""
    squares = position.squares(piece)
    if piece.side:
        number = counted(len(squares), piece.noun) if squares else f"No {piece.noun}s"
        return f"{number}: {', '.join(map(str, squares))}." if squares else f"{number}."
    if not squares:
        return f"There is no {piece.noun} on this board."
    return f"{capitalised(piece.phrase)}: {squares[0]}."


def _along(position: Position, squares: Sequence[Square]) -> str:
    """Return what stands on the squares of a line, those in a row that hold the same as one."""
    runs: list[tuple[Piece | None, list[Square]]] = []
    for square in squares:
        piece = position.piece_at(square)
        if runs and runs[-1][0] is piece:
            runs[-1][1].append(square)
        else:
            runs.append((piece, [square]))
    return ", ".join(_run(piece, run) for piece, run in runs)


def _run(piece: Piece | None, run: Sequence[Square]) -> str:
    span = str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}"
    if piece is None:
        return f"{span} empty"
    return f"{span} {piece.noun}{'s' if len(run) > 1 else ''}"


def _around(position: Position, square: Square) -> list[str]:
    """Return what stands on a square, and what is first met from it in each direction, clockwise.

    Directions next to each other, in which it is the same, are told as one.
    """
    if not square.on_board:
        return [f"{square} is off the octagon."]
    piece = position.piece_at(square)
    met = [(name, _met(position, square, direction)) for name, direction in COMPASS.items()]
    runs = [
        (seen, [name for name, _ in run]) for seen, run in groupby(met, key=lambda each: each[1])
    ]
    if len(runs) > 1 and runs[0][0] == runs[-1][0]:  # northwest is next to north
        runs[0][1][:0] = runs.pop()[1]
    facts = (f"{capitalised(listed(names))}: {seen}." for seen, names in runs)
    return [f"{square}: {piece.phrase if piece else 'empty'}.", *facts]


def _met(position: Position, origin: Square, direction: Direction) -> str:
    """Return the first piece in a direction and how far it is, or how far the edge is."""
    far = 0
    for far, square in enumerate(walk(origin, direction), 1):
        piece = position.piece_at(square)
        if piece:
            away = "adjacent" if far == 1 else f"{far} away"
            return f"{piece.phrase} on {square}, {away}"
    return f"{counted(far, 'empty square')} to the edge" if far else "the edge"


SHORTEST_RUN = 3
"""How many pieces in a straight line are told by its two ends."""

_WAYS = (Direction(1, 0), Direction(0, 1), Direction(1, 1), Direction(-1, 1))


def happened(event: TableEvent, table: Table, me: str | None) -> list[str]:
    """Return what an event was, without how the board stands after it."""
    if isinstance(event, Moved):
        return [last_ply(table, me), *sentences.facts(event, table, me)[1:]]
    if isinstance(event, BattleEnded) and table.match:
        score = event.outcome.score
        return [
            capitalised(sentences.why_ended(event, table.match, me)),
            "The battle is over.",
            *(f"{_side(table, side, me)}: {score.of(side)}." for side in Side),
            sentences.verdict(event.outcome),
            *map(capitalised, sentences.so_far(table, table.match, me)),
        ]
    return sentences.facts(event, table, me)


def left_by(event: TableEvent, table: Table, me: str | None, style: Style) -> list[str]:
    """Return how a board stands after an event that made another position."""
    if isinstance(event, Resumed):
        return stands(table, me, style)
    if isinstance(event, Moved) and style is Style.BRIEF and not event.move.captures:
        return []
    return [counts(table)]


def stands(table: Table, me: str | None, style: Style) -> list[str]:
    """Return how a board stands for somebody who comes to it."""
    if style is Style.BRIEF or table.match is None:
        return [_heading(table), counts(table)]
    return position(table, me)


def position(table: Table, me: str | None) -> list[str]:
    """Return all that there is to see on a board."""
    pieces = game_at(table).position
    standing = (f"{_plural(piece)} at {runs(pieces.squares(piece))}." for piece in Piece)
    score = game_at(table).score
    facts = [
        _heading(table),
        *(_left(table, side, me) for side in Side),
        *(said for piece, said in zip(Piece, standing, strict=True) if pieces.count(piece)),
        f"Score: dwarfs {score.dwarf}, trolls {score.troll}.",
    ]
    match = table.match
    if match is None:
        return facts
    if match.battle > 1 or match.over:
        facts.append(f"Match: {points(table, match, me)}.")
    return [*facts, last_ply(table, me)]


def counts(table: Table) -> str:
    """Return how many pieces are left, and where the Rock is if there is one."""
    pieces = game_at(table).position
    left = ", ".join(f"{side.plural} {pieces.count(Piece.of(side))}" for side in Side)
    rock = "".join(f", the Rock on {square}" for square in pieces.squares(Piece.ROCK))
    return f"{capitalised(left)}{rock}."


def turn(table: Table, me: str | None) -> list[str]:
    """Return whose turn it is; nothing when no battle is being played."""
    if not table.running or table.game is None:
        return []
    side = table.game.position.turn
    player = table.seats.get(side)
    if player is None:
        return [f"The {side.plural}' turn; their seat is free."]
    if player == me:
        return ["Your turn."]
    away = f"; {player} is away" if side in table.away else ""
    plays = "" if me in table.seats.values() else f", {side.plural}"
    return [f"{player}'s turn{plays}{away}."]


def runs(squares: Iterable[Square]) -> str:
    """Return squares, those in a straight line as one, the longest lines first."""
    left, told = set(squares), []
    while len(longest := max(_lines_in(left), key=len, default=())) >= SHORTEST_RUN:
        left -= set(longest)
        first, last = longest[0], longest[-1]
        is_diagonal = first.row != last.row and first.column != last.column
        told.append(f"{'diagonal ' if is_diagonal else ''}{first} to {last}")
    return ", ".join([*told, *map(str, sorted(left))])


def _lines_in(squares: set[Square]) -> Iterable[tuple[Square, ...]]:
    """Yield from each square, in each direction, the squares without a gap."""
    for first in sorted(squares):
        for way in _WAYS:
            line = [first]
            for square in walk(first, way):
                if square not in squares:
                    break
                line.append(square)
            yield tuple(line)


def _heading(table: Table) -> str:
    """Return which board it is, by which rules, and how far the battle on it has come."""
    board = f"{capitalised(table.name)}, {game_at(table).ruleset.name} rules"
    match = table.match
    if match is None:
        return f"{board}. No battle has begun."
    which = "single battle" if match.single else f"battle {match.battle} of {BATTLES}"
    over = "" if match.running else ", over"
    return f"{board}, {which}, {counted(len(match.game.moves), 'ply')}{over}."


def _left(table: Table, side: Side, me: str | None) -> str:
    game, piece = game_at(table), Piece.of(side)
    left = game.position.count(piece)
    lost = game.opening.count(piece) - left
    return f"{_side(table, side, me)}: {left} left{f', {lost} lost' if lost else ''}."


def _side(table: Table, side: Side, me: str | None) -> str:
    """Return a side, and who plays it."""
    holder = named(table, side, me) if side in table.seats else "seat free"
    return f"{side.plural.capitalize()}, {holder}"


def _plural(piece: Piece) -> str:
    return f"{capitalised(piece.noun)}s" if piece.side else capitalised(piece.phrase)
