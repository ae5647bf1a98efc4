"""Variations as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.english import join_words
from thudmud.features.archive import messages as archive
from thudmud.features.variations.commands import Evaluate, ViewVariation
from thudmud.features.variations.model import (
    Evaluating,
    EvaluationLookup,
    PositionEvaluation,
    VariationPosition,
    VariationRefusal,
)
from thudmud.rules import Piece, Side
from thudmud.views import boards, data, reader
from thudmud.views.data import Data, Fact
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, facts, words
from thudmud.views.sentences import ahead_clause
from thudmud.views.view import View
from thudmud.views.words import in_few_words, wrap

add_refusal_texts(
    {
        VariationRefusal.NO_VARIATIONS_RATED: (
            "Your battle at the {board} is rated, so there are no variations until it's over."
        ),
        VariationRefusal.VARIATION_LATER: (
            "Battle {number} isn't over yet. You can try other moves afterwards."
        ),
        VariationRefusal.VARIATION_TOO_LONG: "That's too long: a variation has up to {most} moves.",
        VariationRefusal.VARIATION_NO_PLY: (
            "Battle {number} has no move {ply}. The last is {plies}."
        ),
        VariationRefusal.VARIATION_PIECE: "{ply} doesn't fit: there's no such piece there.",
        VariationRefusal.VARIATION_OVER: "The battle is over in that position.",
        VariationRefusal.VARIATION_NO_BOTS: "There are no bots here to play against.",
        VariationRefusal.NO_EVALUATIONS: "There's no engine here to evaluate positions.",
        VariationRefusal.EVALUATION_FAILED: "No luck with that position. Try again in a moment.",
    }
)

_FORESEEN = 5
"""The maximum number of plies to show of the best line."""


@words.register
def _render_variation(_: ViewVariation, context: RenderContext, view: View) -> list[str]:
    position: VariationPosition = context.answer
    display, width = view.display, view.width
    lines = wrap(f"{_title(position)}: {_state(position)}.", width)
    name = f"variation of battle {position.battle.number}"
    table = archive.battle_table(position.battle, position.game, name)
    if display.is_for_reader:
        return lines + wrap(reader.piece_counts(table), width)
    if display.is_drawn_by_client:
        return lines
    return lines + boards.draw(table, display)


def _title(position: VariationPosition) -> str:
    number, branch = position.battle.number, position.branch
    after = f"Battle {number} after move {branch}" if branch else f"The start of battle {number}"
    if not position.plies:
        return after
    return f"{after}, then {join_words(map(in_few_words, position.plies))}"


def _state(position: VariationPosition) -> str:
    outcome = position.game.outcome
    if outcome is None:
        return f"the {position.game.turn.plural} to move"
    return f"the {outcome.winner.plural} win" if outcome.winner else "a draw"


@facts.register
def _variation_facts(_: ViewVariation, context: RenderContext) -> Iterator[Fact]:
    position: VariationPosition = context.answer
    game = position.game
    outcome = game.outcome
    known = {
        **_reference(position),
        **data.game_data(game),
        "outcome": outcome.ending.value if outcome else None,
        "winner": outcome.winner.value if outcome and outcome.winner else None,
        "legal": list(_legal(position)),
    }
    yield Fact("Thud.Variation", known, context.player)


def _reference(position: VariationPosition) -> Data:
    line = list(map(str, position.plies))
    return {"battle": position.battle.number, "branch": position.branch, "line": line}


def _legal(position: VariationPosition) -> Iterator[Data]:
    """Yield what each piece of the side to move can do."""
    game = position.game
    if game.outcome:
        return
    dwarfs = Piece.DWARF, Piece.ROCK
    for piece in dwarfs if game.turn is Side.DWARF else (Piece.TROLL,):
        for square in game.position.squares(piece):
            legal = data.legal_moves_data(game, square)
            if legal["ways"]:
                yield legal


@words.register
def _render_evaluation(_: Evaluate, context: RenderContext, view: View) -> list[str]:
    position, found = context.answer
    line = ", then ".join(map(in_few_words, found.principal_variation[:_FORESEEN]))
    ahead = ahead_clause(found.score)
    return wrap(f"{_title(position)}: {ahead}. The best line is {line}.", view.width)


@words.register
def _render_progress(_: Evaluating, __: RenderContext, ___: View) -> list[str]:
    return []  # the result follows


@facts.register
def _progress_facts(evaluating: Evaluating, _: RenderContext) -> Iterator[Fact]:
    known = _evaluated(evaluating.position, evaluating.evaluation)
    yield Fact("Thud.Evaluation", {**known, "thinking": True}, evaluating.player)


@facts.register
def _evaluation_facts(_: Evaluate, context: RenderContext) -> Iterator[Fact]:
    known = _evaluated(*context.answer)
    yield Fact("Thud.Evaluation", {**known, "thinking": False}, context.player)


def _evaluated(position: VariationPosition, found: PositionEvaluation) -> Data:
    return {
        **_reference(position),
        "rules": position.game.ruleset.name,
        "turn": data.side_to_move(position.game),
        "worth": found.score,
        "depth": found.depth,
        "best": [
            {"record": str(move), **data.move_data(move)} for move in found.principal_variation
        ],
    }


@words.register
def _pending(_: EvaluationLookup, __: RenderContext, view: View) -> list[str]:
    """Confirm that an evaluation is under way, where it isn't known how soon it comes."""
    return wrap("The position is being evaluated. You'll be told when it's done.", view.width)
