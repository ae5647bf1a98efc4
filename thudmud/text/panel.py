"""The facts about a table that are told beside its grid, or below it.

Owns those facts and the order in which they are told. Must never draw a square.
"""

from __future__ import annotations

from thudmud.commands.options import Element
from thudmud.engine import Game, Move, Piece, Position, Score, Side
from thudmud.engine.english import capitalised, counted
from thudmud.tables.match import BATTLES
from thudmud.tables.table import Table
from thudmud.text.colours import Phrase, flowed
from thudmud.text.display import Display
from thudmud.text.grid import CAPTURED, ELEMENTS, MOVED_FROM, glyph
from thudmud.text.words import GLUE

Fact = list[Phrase]
"""A sentence, in pieces; those that have a colour say which."""


def beside(table: Table, width: int, display: Display) -> list[str]:
    """Return the facts about ``table`` as lines of at most ``width`` columns."""
    facts: list[Fact] = [
        [(_heading(table), None)],
        [(_progress(table), None)],
        [],
        *(_side(table, side, display) for side in Side),
        *_stones(table, display),
        [],
        [(_score_line(table), None)],
        *_match(table),
        [],
        *_last(table, display),
        *_turn(table),
    ]
    return [line for fact in facts for line in (flowed(fact, width + 1, "  ", display) or [""])]


def below(table: Table, display: Display) -> list[str]:
    """Return the facts as one short paragraph: a narrow screen is seldom a high one."""
    facts: list[Fact] = [
        [(_heading(table), None)],
        [(_progress(table).rstrip("."), None)],
        *(_side(table, side, display) for side in Side),
        [(_score_line(table), None)],
        *_match(table),
        *_last(table, display)[:1],
        *_turn(table),
    ]
    phrases = [phrase for fact in facts for phrase in [*fact, _STOP]]
    return flowed([*phrases[:-1], (".", None)], display.width, "", display)


_STOP: Phrase = (". ", None)


def position(table: Table) -> Position:
    """Return how the pieces stand, or how they will stand when a battle begins."""
    return table.game.position if table.game else table.ruleset.opening


def last_move(table: Table) -> Move | None:
    """Return the last ply, if any has been played."""
    return table.game.moves[-1] if table.game and table.game.moves else None


def score(table: Table) -> Score:
    """Return what the pieces on the board count."""
    return table.game.score if table.game else table.ruleset.score(table.ruleset.opening)


def holder(table: Table, side: Side) -> str:
    """Return who plays ``side``, or that nobody does."""
    return table.seats.get(side, "seat free")


def _heading(table: Table) -> str:
    rules = (table.game.ruleset if table.game else table.ruleset).name
    return f"{capitalised(table.name)}, {rules} rules"


def _progress(table: Table) -> str:
    match = table.match
    if match is None:
        return "No battle has begun."
    plies = counted(len(match.game.moves), "ply")
    which = "A single battle" if match.single else f"Battle {match.battle} of {BATTLES}"
    return f"{which}, {plies}" if match.running else f"{which} is over, {plies}"


def _side(table: Table, side: Side, display: Display) -> Fact:
    piece = Piece.of(side)
    left = position(table).count(piece)
    lost = _opening(table).count(piece) - left
    words = f"{GLUE}{side.plural.capitalize()}: {holder(table, side)}, {left} left, {lost} lost"
    return [(glyph(piece, display), ELEMENTS[piece]), (words, None)]


def _stones(table: Table, display: Display) -> list[Fact]:
    """Return which stone is on the board, where its first letter does not tell."""
    stones = (Piece.STONE, Piece.ROCK) if display.utf8 else ()
    return [
        [(glyph(stone, display), ELEMENTS[stone]), (f"{GLUE}{stone.noun}: {square}", None)]
        for stone in stones
        for square in position(table).squares(stone)
    ]


def _score_line(table: Table) -> str:
    now = score(table)
    return f"Score: dwarfs {now.dwarf}, trolls {now.troll}"


def _match(table: Table) -> list[Fact]:
    """Return the points of the match as a line; none before a battle of it has ended."""
    match = table.match
    if match is None or match.single or (match.battle == 1 and match.running):
        return []
    points = ", ".join(f"{holder(table, side)} {match.points(side)}" for side in Side)
    return [[(f"Match: {points}", None)]]


def _last(table: Table, display: Display) -> list[Fact]:
    """Return the last ply, and how the grid marks it."""
    last = last_move(table)
    if last is None:
        return []
    said: Fact = [(f"Last move: {last.origin} to {last.target}", Element.LAST_MOVE)]
    moved = f"{MOVED_FROM} from, [{glyph(last.piece, display)}] to"
    key: Fact = [("  (", None), (moved, Element.LAST_MOVE)]
    # A hurl captures where it lands: no square is left with the mark of a capture.
    if set(last.captures) - {last.target}:
        key += [(", ", None), (f"{CAPTURED} captured", Element.CAPTURED)]
    return [said, [*key, (")", None)]]


def _turn(table: Table) -> list[Fact]:
    """Return whose turn it is, if anybody's."""
    game = table.game
    if game is None or game.outcome:
        return []
    side = game.position.turn
    return [[(f"Turn: {side.plural} ({holder(table, side)})", Element.TURN)]]


def _opening(table: Table) -> Position:
    game: Game | None = table.game
    return game.opening if game else table.ruleset.opening
