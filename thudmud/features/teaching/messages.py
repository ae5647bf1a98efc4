"""What newcomers are taught: the aims, how to move, with an example, and missed captures."""

from __future__ import annotations

from thudmud.english import capitalised, join_words
from thudmud.features.teaching.model import CaptureMissed, MoveTaught
from thudmud.game.advice import MOST_TRAMPLES
from thudmud.game.command import has_verb
from thudmud.game.events import NO_BOTS
from thudmud.game.table import Table
from thudmud.rules import Ending, Move, Piece, Side
from thudmud.rules.board import distance
from thudmud.rules.classic import ShovingTrolls
from thudmud.rules.generation import SideRules
from thudmud.rules.moves import Capturing
from thudmud.views.registry import RenderContext, words
from thudmud.views.standing import at_table, without_typing
from thudmud.views.view import View
from thudmud.views.words import wrap_each


@words.register
def _move_taught(told: MoveTaught, context: RenderContext, view: View) -> list[str]:
    table = context.known_table
    if table.game is None:
        return []
    game, side = table.game, Piece.of(table.game.turn)
    moves = game.ruleset.legal_moves(game.position, MOST_TRAMPLES)
    plain = [move for move in moves if move.piece is side and not move.captures]
    example = min(plain, key=_example_rank, default=None)
    sentences = ["It is your turn."] if told.is_reminder else []
    is_first = not told.is_reminder and not view.display.is_drawn_by_client
    aims = _aims(table, context) if is_first else []
    where = f" on {told.board}" if view.is_elsewhere else ""
    if example and view.display.is_drawn_by_client:
        sentences.append(f"Move by choosing two squares: {example.origin}, then {example.target}.")
    elif example:
        squares = f"{example.origin} {example.target}".lower()
        sentences.append(f'Move by typing two squares: "{squares}{where}".')
    has_clock = table.time is not None and table.levels == NO_BOTS and not table.is_practice
    if told.with_hints and not has_clock:
        sentences.append(f'"hint{where}" suggests a move.')
    if told.is_reminder and not table.has_live_clock and has_verb(context.hall, "tutorial"):
        sentences.append('"tutorial" teaches you the game while the battle waits.')
    if view.display.is_drawn_by_client:
        sentences = without_typing(sentences)
    how = sentences if view.display.is_for_reader else [" ".join(sentences)]
    return wrap_each([*aims, *how], view.width)


def _aims(table: Table, context: RenderContext) -> list[str]:
    """Return what each side wants, how pieces capture, and where to read or learn more."""
    ruleset = table.ruleset
    aim = "Dwarfs and trolls hunt each other: in the end a troll counts 4, a dwarf 1."
    if ruleset.goals:
        aim = f"{capitalised(', '.join(_GOALS[goal.ending] for goal in ruleset.goals))}."
    takes = "; ".join(_capturing(ruleset.side_rules(side)) for side in Side)
    page = "thud" if not ruleset.goals else ruleset.name
    pages = f'"help {page}" explains the game.'
    if not ruleset.goals and not table.has_live_clock and has_verb(context.hall, "tutorial"):
        pages = f'"tutorial" teaches it step by step, and "help {page}" explains it in full.'
    return [aim, f"{capitalised(takes)}.", pages]


_GOALS = {
    Ending.ROCK_ESCAPED: "dwarfs want the Rock home on F1 to J1",
    Ending.ROCK_CAPTURED: "trolls want three of them next to it",
}

_CAPTURING = {
    Capturing.HURL: "lines of dwarfs hurl one at a troll",
    Capturing.SHOVE: "trolls take dwarfs next to where they go",
    Capturing.TRAP: "dwarfs trap a troll between two of them",
    Capturing.TRAMPLE: "trolls trample dwarfs next to them",
}


def _capturing(rules: SideRules) -> str:
    match rules:
        case ShovingTrolls(most_after_move=1):
            return "trolls take a dwarf next to where they go"
    return _CAPTURING[rules.captures]


@words.register
def _capture_missed(told: CaptureMissed, context: RenderContext, view: View) -> list[str]:
    if view.display.is_drawn_by_client:
        return []  # it asks what to capture
    squares = ", ".join(map(str, told.captures)).lower()
    line = f"{told.origin} {told.target}".lower()
    line += f" capturing {'all' if told.has_all else squares}"
    sentences = [
        f"Your move to {told.target} captured nothing.",
        f'"{line}" would have taken {join_words(map(str, told.captures))}.',
    ]
    if has_verb(context.hall, "undo"):
        sentences.append('"undo" asks to take your move back.')
    return at_table(sentences, context.known_table, view)


def _example_rank(move: Move) -> tuple[int, int, int, int]:
    """Return a sort key that prefers single steps from upper rows.

    A single step is safe in the initial position. Four squares can put a dwarf within the trolls'
    reach.
    """
    origin, target = move.origin, move.target
    sideways = abs(target.column - origin.column)
    return distance(origin, target), origin.row, origin.column, sideways
