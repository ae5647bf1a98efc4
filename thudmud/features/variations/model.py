"""Variations as data: a position of a finished battle after other moves, and its evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from thudmud.game.archive import Battle
from thudmud.game.asides import Aside, aside
from thudmud.game.evaluation import Adviser, AdviserLookup, Evaluation, on_game_scale
from thudmud.rules import Game, Move
from thudmud.values import Value

MOST_PLIES = 60
"""The maximum number of plies in a variation."""


class VariationRefusal(Enum):
    """Codes of refusals of a variation. The values are a stable interface for programs."""

    NO_VARIATIONS_RATED = "no_variations_rated"
    VARIATION_LATER = "variation_later"
    VARIATION_TOO_LONG = "variation_too_long"
    VARIATION_NO_PLY = "variation_no_ply"
    VARIATION_PIECE = "variation_piece"
    VARIATION_OVER = "variation_over"
    VARIATION_NO_BOTS = "variation_no_bots"
    NO_EVALUATIONS = "no_evaluations"
    EVALUATION_FAILED = "evaluation_failed"


class VariationPosition(NamedTuple):
    """A position after a variation.

    Attributes:
        battle: the battle.
        branch: the number of the battle's own plies before the variation.
        game: the game with the plies of both.
    """

    battle: Battle
    branch: int
    game: Game

    @property
    def plies(self) -> tuple[Move, ...]:
        """The plies of the variation."""
        return self.game.moves[self.branch :]


class PositionEvaluation(Value):
    """The evaluation of a position on the scale of game scores.

    Attributes:
        score: in hundredths of a dwarf; negative scores favour the trolls.
        depth: the search depth, in plies.
        principal_variation: the best line found, a ply and its expected continuation.
    """

    score: int
    depth: int
    principal_variation: tuple[Move, ...]


@aside
class Evaluating(Aside):
    """A position is being evaluated for a player; ``evaluation`` is what is known so far."""

    position: VariationPosition
    evaluation: PositionEvaluation


class EvaluationLookup(AdviserLookup["PositionEvaluation | None"]):
    """Lookup of the evaluation of a position; None if the adviser finds nothing."""

    position: VariationPosition

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        game = self.position.game
        both = opening_of(game), game
        return {each: await adviser.evaluate(each) for each in both}


def opening_of(game: Game) -> Game:
    """Return the game before its first ply."""
    return Game.start(game.ruleset, game.initial_position)


def running_game_after(whole: Game, ply: int) -> Game:
    """Return a game after a ply, as if nobody had resigned or agreed to end it there."""
    if ply == len(whole.moves) and ply:
        return whole.after(ply - 1).play(whole.moves[-1])
    return whole.after(ply) if ply else opening_of(whole)


def position_evaluation(found: Evaluation, opening: Evaluation, game: Game) -> PositionEvaluation:
    """Return an evaluation on the scale of game scores."""
    score = on_game_scale(found.score, opening.score, game)
    return PositionEvaluation(score, len(found.scores_by_depth), found.principal_variation)
