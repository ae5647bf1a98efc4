"""The facts about a table that are told beside its grid, or below it.

Owns those facts and the order in which they are told. Must never draw a square.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from thudmud.play.events import BATTLES
from thudmud.play.options import Element
from thudmud.play.table import Table
from thudmud.rules import Game, Move, Piece, Position, Score, Side
from thudmud.rules.english import capitalised, counted
from thudmud.text.colours import Phrase, flowed
from thudmud.text.display import Display
from thudmud.text.grid import CAPTURED, ELEMENTS, MOVED_FROM, glyph
from thudmud.text.words import GLUE, columns

Fact = list[Phrase]
"""A sentence, in pieces; those that have a colour say which."""


def beside(table: Table, width: int, display: Display) -> list[str]:
    """Return the facts about ``table`` as lines of at most ``width`` columns."""
    facts: list[Fact] = [
        [(_heading(table), None)],
        [(_progress(table), None)],
        [],
        *(_side(table, side, width, display) for side in Side),
        *_stones(table, display),
        [],
        _score_line(table, width),
        *_match(table, width),
        [],
        *_last(table, display),
        *_turn(table, width),
    ]
    return _lines(facts, width, display)


def below(table: Table, display: Display, *, marked: bool) -> list[str]:
    """Return the facts in a few short lines: a narrow screen is seldom a high one.

    Whose turn it is, and what was played last, is told above a board, or below it where somebody
    just looks.

    Args:
        table: the table.
        display: how everything is shown.
        marked: whether the grid marks the piece that moved last; else these lines tell it.
    """
    width = display.width - 1
    facts: list[Fact] = [
        *_short_heading(table),
        *(_side(table, side, width, display) for side in Side),
        *_short_score(table, width),
        *([] if marked else _last_moved(table, width)),
    ]
    return _lines(facts, width, display)


def _lines(facts: Iterable[Fact], width: int, display: Display) -> list[str]:
    """Return facts as lines of at most ``width`` columns, each beginning one of its own."""
    return [line for fact in facts for line in (flowed(fact, width + 1, "  ", display) or [""])]


def _fitting(width: int, *wordings: str) -> str:
    """Return the first wording of a fact that fits on a line; the last if none does."""
    return next((words for words in wordings if columns(words) <= width), wordings[-1])


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


def _short_heading(table: Table) -> list[Fact]:
    match = table.match
    if match is None:
        return [[(_heading(table), None)], [(_progress(table), None)]]
    if match.single:
        return [[(f"{_heading(table)}{'' if match.running else ', over'}", None)]]
    which = f"battle {match.battle} of {BATTLES}{'' if match.running else ', over'}"
    return [[(f"{capitalised(table.name)}, {match.game.ruleset.name}, {which}", None)]]


def _side(table: Table, side: Side, width: int, display: Display) -> Fact:
    piece = Piece.of(side)
    left = position(table).count(piece)
    lost = _opening(table).count(piece) - left
    player = holder(table, side)
    words = _side_words(side, player, left, lost, width - len("d "))
    return [(glyph(piece, display), ELEMENTS[piece]), (f"{GLUE}{words}", None)]


@lru_cache(maxsize=1024)
def _side_words(side: Side, player: str, left: int, lost: int, width: int) -> str:
    return _fitting(
        width,
        f"{side.plural.capitalize()}: {player}, {left} left, {lost} lost",
        f"{player}, {left} left, {lost} lost",
        f"{player}: {left}, lost {lost}",
        f"{player}: {left}",
    )


def _stones(table: Table, display: Display) -> list[Fact]:
    """Return which stone is on the board, where its first letter does not tell."""
    stones = (Piece.STONE, Piece.ROCK) if display.utf8 else ()
    return [
        [(glyph(stone, display), ELEMENTS[stone]), (f"{GLUE}{stone.noun}: {square}", None)]
        for stone in stones
        for square in position(table).squares(stone)
    ]


def _score_line(table: Table, width: int) -> Fact:
    now = score(table)
    said = f"Score: dwarfs {now.dwarf}, trolls {now.troll}"
    return [(_fitting(width, said, f"Score: {now.dwarf} to {now.troll}"), None)]


def _match(table: Table, width: int) -> list[Fact]:
    """Return the points of the match as a line; none before a battle of it has ended."""
    match = table.match
    if match is None or match.single or (match.battle == 1 and match.running):
        return []
    by_name = ", ".join(f"{holder(table, side)} {match.points(side)}" for side in Side)
    by_side = ", ".join(f"{side.plural} {match.points(side)}" for side in Side)
    return [[(_fitting(width, f"Match: {by_name}", f"Match: {by_side}"), None)]]


def _short_score(table: Table, width: int) -> list[Fact]:
    """Return the score, and on the same line the points of the match if there are any."""
    match = table.match
    if match is None or not _match(table, width):
        return [_score_line(table, width)]
    now = score(table)
    points = f"{match.points(Side.DWARF)} to {match.points(Side.TROLL)}"
    named = ", ".join(f"{holder(table, side)} {match.points(side)}" for side in Side)
    said = f"Score: {now.dwarf} to {now.troll}. Match:"
    return [[(_fitting(width, f"{said} {named}", f"{said} {points}"), None)]]


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


def _last_moved(table: Table, width: int) -> list[Fact]:
    """Return the last ply alone."""
    last = last_move(table)
    if last is None:
        return []
    way = f"{last.origin} to {last.target}"
    return [[(_fitting(width, f"Last move: {way}", f"Last: {way}"), Element.LAST_MOVE)]]


def _turn(table: Table, width: int) -> list[Fact]:
    """Return whose turn it is, if anybody's."""
    game = table.game
    if game is None or game.outcome:
        return []
    side = game.position.turn
    said = f"Turn: {side.plural}"
    return [[(_fitting(width, f"{said} ({holder(table, side)})", said), Element.TURN)]]


def _opening(table: Table) -> Position:
    game: Game | None = table.game
    return game.opening if game else table.ruleset.opening
