"""The explanation of how to move, with an example that is legal in the position."""

from __future__ import annotations

from thudmud.features.teaching.model import MoveTaught
from thudmud.game.advice import MOST_TRAMPLES
from thudmud.game.command import has_verb
from thudmud.rules import Move, Piece
from thudmud.rules.board import distance
from thudmud.views.registry import RenderContext, words
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
    where = f" on {told.board}" if view.is_elsewhere else ""
    if example and view.display.is_drawn_by_client:
        sentences.append(f"Move by clicking two squares: {example.origin}, then {example.target}.")
    elif example:
        squares = f"{example.origin} {example.target}".lower()
        sentences.append(f'Move by typing two squares: "{squares}{where}".')
    if told.with_hints:
        sentences.append(f'"hint{where}" suggests a move.')
    if told.is_reminder and not table.has_live_clock and has_verb(context.hall, "tutorial"):
        sentences.append('"tutorial" teaches you the game while the battle waits.')
    return wrap_each(sentences if view.display.is_for_reader else [" ".join(sentences)], view.width)


def _example_rank(move: Move) -> tuple[int, int, int, int]:
    """Return a sort key that prefers single steps from upper rows.

    A single step is safe in the initial position. Four squares can put a dwarf within the trolls'
    reach.
    """
    origin, target = move.origin, move.target
    sideways = abs(target.column - origin.column)
    return distance(origin, target), origin.row, origin.column, sideways
