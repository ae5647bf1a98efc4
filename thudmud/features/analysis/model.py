"""Analyses of battles as data: an evaluation of each position, and the loss of each ply.

The adviser evaluates positions, see `thudmud.game.evaluation`; this module derives losses and marks
from its evaluations. `thudmud.features.analysis.messages` renders them. Scores of positions are in
hundredths of a dwarf; negative ones favour the trolls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from thudmud.errors import InvalidValueError
from thudmud.game.archive import Battle, Lookup
from thudmud.game.asides import Aside, aside
from thudmud.game.evaluation import (
    WIN_SCORE,
    Adviser,
    AdviserLookup,
    Evaluation,
    Variation,
    on_game_scale,
)
from thudmud.game.events import BattleId
from thudmud.rules import Game, Score, Side
from thudmud.values import ArrayValue

MISTAKE, BLUNDER = 200, 400
"""The smallest loss of a ply for either mark."""

INACCURACY = MISTAKE
"""The smallest sum of consecutive small losses for which one of their plies is marked."""

_NOTED = 50
"""The smallest loss of a ply for which the better line is stored."""

SHORTEST = 2
"""The minimum length of a battle to analyse, in plies."""

LONGEST = 500
"""The maximum length, in plies. A position takes a tenth of a second or more, and other players'
analyses may have to wait."""


class AnalysisLimits(NamedTuple):
    """Limits on analyses. ``per_address`` is the maximum at a time for players of one address."""

    per_address: int = 2


class AnalysisRefusal(Enum):
    """Codes of refusals of an analysis. The values are a stable interface for programs."""

    NO_ANALYSES = "no_analyses"
    NO_ANALYSES_RATED = "no_analyses_rated"
    ANALYSE_WHICH = "analyse_which"
    NOT_OVER = "not_over"
    TOO_SHORT = "too_short"
    TOO_LONG_TO_ANALYSE = "too_long_to_analyse"
    ANALYSIS_PENDING = "analysis_pending"
    ANALYSES_TOO_MANY = "analyses_too_many"
    ANALYSIS_FAILED = "analysis_failed"
    NOTHING_ANALYSED = "nothing_analysed"


class PlyMark(Enum):
    """The mark of a bad ply, as in chess annotation. The values are the symbols."""

    INACCURACY = "?!"
    MISTAKE = "?"
    BLUNDER = "??"


class Analysis(ArrayValue):
    """Evaluations of a battle's positions, and losses of its plies.

    Attributes:
        nodes: the number of search nodes for each position of the battle.
        scores: the score of the position before each ply and after the last ply.
        lost: for each ply, its loss against the best ply, for the side that played it.
        lines: for each ply, a better ply and its expected continuation; empty for small losses.
        slides: for each ply, the sum of small losses that it stands for, see `_slides`; 0 for most.
            Empty if there are none at all.

    Raises:
        InvalidValueError: the lengths don't match.
    """

    nodes: int
    scores: tuple[int, ...]
    lost: tuple[int, ...]
    lines: tuple[Variation, ...]
    slides: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.scores) - 1 == len(self.lost) == len(self.lines):
            raise InvalidValueError(
                f"expected {len(self.lost) + 1} scores and {len(self.lost)} lines, got"
                f" {len(self.scores)} and {len(self.lines)}"
            )
        if len(self.slides) not in {0, len(self.lost)}:
            raise InvalidValueError(
                f"expected no slides or {len(self.lost)}, got {len(self.slides)}"
            )

    def mark(self, ply: int) -> PlyMark | None:
        """Return the mark of a ply, counted from 1."""
        lost = self.lost[ply - 1]
        if lost >= MISTAKE:
            return PlyMark.BLUNDER if lost >= BLUNDER else PlyMark.MISTAKE
        return PlyMark.INACCURACY if self.slide(ply) else None

    def slide(self, ply: int) -> int:
        """Return the sum of small losses that a ply, counted from 1, stands for; usually 0."""
        return self.slides[ply - 1] if self.slides else 0

    def cost(self, ply: int) -> int:
        """Return the loss that a ply's mark refers to. Plies count from 1."""
        return self.slide(ply) or self.lost[ply - 1]


class AnalysedBattle(NamedTuple):
    """A battle with its game and analysis."""

    battle: Battle
    game: Game
    analysis: Analysis


class KeptAnalysisLookup(Lookup["Analysis | None"]):
    """Lookup of a battle's stored analysis, which must cover `plies`; None if there is none."""

    battle: BattleId
    plies: int


class AnalysisLookup(AdviserLookup["Analysis | None"]):
    """Lookup of a new analysis, made by the adviser; None if it failed."""

    battle: Battle
    game: Game

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        return {each: await adviser.evaluate(each) for each in positions(self.game)}


class PendingAnalysisLookup(Lookup["Analysing | None"]):
    """Lookup of the progress of the analysis that a player waits for; None if there is none."""

    player: str


def positions(game: Game) -> Iterator[Game]:
    """Yield the game before each ply, and after the last one unless the battle was over."""
    then = Game.start(game.ruleset, game.initial_position)
    for move in game.moves:
        yield then
        then = then.play(move)
    if then.outcome is None:
        yield then


def analysed(game: Game, weighed: Sequence[Evaluation]) -> Analysis:
    """Derive the analysis of a battle from evaluations of all its `positions`.

    Their scores are shifted by `on_game_scale`, which makes the opening's equal to its game score.

    A ply's loss is the difference of the evaluations before and after it. Both must be searched to
    the same final ply, since the side that plays the last ply of a search seems to be ahead. The
    loss is the smaller one of two search depths: at a single depth it is often noise.

    Args:
        game: the battle.
        weighed: the evaluations, in the order of `positions`.
    """
    scores = [on_game_scale(each.score, weighed[0].score, game) for each in weighed]
    if len(weighed) == len(game.moves):
        scores.append(_final_score(game))
    lost = [_lost(game, ply, weighed) for ply in range(len(game.moves))]
    best = [
        move == each.principal_variation[0] for move, each in zip(game.moves, weighed, strict=False)
    ]
    slides = _slides(game, scores, lost, best)
    lines = tuple(
        each.principal_variation if loss >= _NOTED or (slide and not is_best) else ()
        for loss, slide, is_best, each in zip(lost, slides, best, weighed, strict=False)
    )
    nodes = min(each.nodes for each in weighed)
    return Analysis(nodes, tuple(scores), tuple(lost), lines, tuple(slides))


def _slides(game: Game, scores: Sequence[int], lost: Sequence[int], best: list[bool]) -> list[int]:
    """Find series of small losses, and attribute each to one of its plies.

    A drop of the smoothed curve is a loss of the side it goes against. Drops next to a marked ply
    are skipped, since they are that ply's own loss. The others are added up; gains are subtracted,
    as compensation, down to 0. When the sum reaches `INACCURACY`, it is attributed to the worst
    unmarked ply of the series, and a new series begins. A decided position ends the series without
    a mark.

    Args:
        game: the battle.
        scores: the score of the position before each ply and after the last ply.
        lost: the loss of each ply.
        best: whether each ply is the best one.

    Returns:
        The sum attributed to each ply; 0 for most.
    """
    slides = [0] * len(game.moves)
    curve = _smoothed(scores)
    for side in Side:
        sign = 1 if side is Side.DWARF else -1
        first = 0 if game.initial_position.turn is side else 1
        own = range(first, len(game.moves), 2)
        marked = {ply for ply in own if lost[ply] >= MISTAKE}
        fallen, since = 0, 0
        for ply in range(len(game.moves)):
            fall = sign * (curve[ply] - curve[ply + 1])
            if WIN_SCORE in {abs(scores[ply]), abs(scores[ply + 1])}:
                fallen, since = 0, ply + 1
                continue
            if fall > 0 and marked & {ply - 1, ply, ply + 1}:
                continue
            fallen = max(0, fallen + fall)
            if not fallen:
                since = ply + 1
            if fallen < INACCURACY:
                continue
            if plies := [each for each in own if since <= each <= ply and each not in marked]:
                worst = max(plies, key=lambda each: (not best[each], lost[each], -each))
                slides[worst] += fallen
                fallen, since = 0, ply + 1
    return slides


def _smoothed(scores: Sequence[int]) -> list[int]:
    """Smooth a curve of scores, which oscillates in favour of the side that played last."""
    last = len(scores) - 1
    return [
        (scores[max(0, ply - 1)] + 2 * score + scores[min(last, ply + 1)]) // 4
        for ply, score in enumerate(scores)
    ]


def _lost(game: Game, ply: int, weighed: Sequence[Evaluation]) -> int:
    """Return the loss of a ply, from 0; none for the best ply or one that ends the battle."""
    before, after = weighed[ply], weighed[ply + 1] if ply + 1 < len(weighed) else None
    if after is None or game.moves[ply] == before.principal_variation[0]:
        return 0
    depth = min(before.depth, after.depth + 1)
    is_dwarfs = (game.initial_position.turn is Side.DWARF) is (ply % 2 == 0)
    losses = []
    for each in (depth, depth - 1):
        if each > 1:  # depth 1 before the ply has no counterpart after it
            one, other = before.score_at_depth(each), after.score_at_depth(each - 1)
            losses.append(one - other if is_dwarfs else other - one)
            if WIN_SCORE in {abs(one), abs(other)}:
                break  # a decided position needs no second opinion
    return max(0, min(losses, default=0))


def _final_score(game: Game) -> int:
    """Return the score of the final position: the lead, or a win if the ruleset has goals."""
    if game.ruleset.goals and game.outcome:
        won = game.outcome.winner
        return 0 if won is None else WIN_SCORE if won is Side.DWARF else -WIN_SCORE
    return 100 * _lead(game.score)


def _lead(score: Score) -> int:
    return score.dwarf - score.troll


@aside
class Analysing(Aside):
    """A battle is being analysed for a player. `done` of its `plies` are finished.

    ``is_update``: whether it goes on, as opposed to the answer to a request.
    """

    battle: Battle
    done: int
    plies: int
    is_update: bool = False


@aside
class BattleAnalysed(Aside):
    """A battle was analysed for others. The player is at its board, and their program shows it."""

    found: AnalysedBattle


@aside
class AnalysisCancelled(Aside):
    """A player cancelled the analysis they waited for."""

    progress: Analysing
