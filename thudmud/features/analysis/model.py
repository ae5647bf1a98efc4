"""Analyses of battles, as data: what each position was worth, and which plies lost something.

An adviser weighs the positions, see `thudmud.game.evaluation`; this module works out what each
ply lost, and `thudmud.features.analysis.messages` has the words. All worths are in hundredths of a
dwarf, as the dwarfs see it: below 0 is good for the trolls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from thudmud.errors import InvalidValueError
from thudmud.game.archive import Battle, Lookup
from thudmud.game.asides import Aside, aside
from thudmud.game.evaluation import (
    DECIDED,
    Adviser,
    AdviserLookup,
    Evaluation,
    Variation,
    limit_worth,
)
from thudmud.game.events import BattleId
from thudmud.rules import Game, Score, Side
from thudmud.values import ArrayValue

MISTAKE, BLUNDER = 200, 400
"""The losses from which a ply gets a mark."""

INACCURACY = MISTAKE
"""The sum of small losses, one after the other, from which one of their plies gets a mark."""

_NOTED = 50
"""The loss from which the better line is kept."""

SHORTEST = 2
"""The fewest plies of a battle that can be analysed."""

LONGEST = 500
"""The most plies: a position takes a tenth of a second, or several. Others have to wait as long."""


class AnalysisLimits(NamedTuple):
    """``per_address`` is how many battles are analysed at once for one address, at most."""

    per_address: int = 2


class AnalysisRefusal(Enum):
    """Reasons for refusing an analysis. The values are a stable interface for programs."""

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
    """The mark of a ply that lost much. The value is how it is written."""

    INACCURACY = "?!"
    MISTAKE = "?"
    BLUNDER = "??"


class Analysis(ArrayValue):
    """What the positions of a battle were worth, and what its plies lost.

    Attributes:
        nodes: how many positions were looked at for each position of the battle.
        worths: the worth before each ply, and at the end.
        lost: how much worse each ply was than the best, for the side that played it.
        lines: for each ply a better one and the plies expected after it; empty where little was
            lost.
        slides: for each ply what it lost together with others of its side, each of which lost too
            little for a mark; 0 for all but the worst of them.

    Raises:
        InvalidValueError: the lengths do not fit together.
    """

    nodes: int
    worths: tuple[int, ...]
    lost: tuple[int, ...]
    lines: tuple[Variation, ...]
    slides: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.worths) - 1 == len(self.lost) == len(self.lines):
            raise InvalidValueError("there should be a worth before each ply, and one in the end")
        if len(self.slides) not in {0, len(self.lost)}:
            raise InvalidValueError("there should be a slide for each ply, or none at all")

    def mark(self, ply: int) -> PlyMark | None:
        """Return the mark of a ply, counted from 1."""
        lost = self.lost[ply - 1]
        if lost >= MISTAKE:
            return PlyMark.BLUNDER if lost >= BLUNDER else PlyMark.MISTAKE
        return PlyMark.INACCURACY if self.slide(ply) else None

    def slide(self, ply: int) -> int:
        """Return what a ply, counted from 1, lost together with other small losses."""
        return self.slides[ply - 1] if self.slides else 0

    def cost(self, ply: int) -> int:
        """Return what a mark of a ply, counted from 1, is for."""
        return self.slide(ply) or self.lost[ply - 1]


class AnalysedBattle(NamedTuple):
    """A battle with its game and its analysis."""

    battle: Battle
    game: Game
    analysis: Analysis


class KeptAnalysisLookup(Lookup["Analysis | None"]):
    """The stored analysis of a battle with that many plies; None if there is none."""

    battle: BattleId
    plies: int


class AnalysisLookup(AdviserLookup["Analysis | None"]):
    """A new analysis of a battle, by the adviser; None if it failed."""

    battle: Battle
    game: Game

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        return {each: await adviser.weigh(each) for each in positions(self.game)}


class UnderWayLookup(Lookup["tuple[int, int, int] | None"]):
    """The analysis that a player waits for: the battle's number, the plies done, and all plies.

    None if they wait for none.
    """

    player: str


def positions(game: Game) -> Iterator[Game]:
    """Yield a battle before each ply, and after the last one unless that ended it."""
    then = Game.start(game.ruleset, game.opening)
    for move in game.moves:
        yield then
        then = then.play(move)
    if then.outcome is None:
        yield then


def analysed(game: Game, weighed: Sequence[Evaluation]) -> Analysis:
    """Return the analysis of a battle of which each of its `positions` was weighed.

    An adviser's worths can be compared with each other, but not with scores. So the opening gets
    the worth of its score, and all other worths are shifted with it.

    What a ply lost is the worth before it less the worth after it, both searched to the same future
    ply: the side that plays the last ply of a search seems to be ahead. Only what is seen at two
    depths counts, since at one depth it is often chance.
    """
    more = 100 * _lead(game.ruleset.score(game.opening)) - weighed[0].worth
    worths = [
        each.worth if abs(each.worth) == DECIDED else limit_worth(each.worth + more)
        for each in weighed
    ]
    if len(weighed) == len(game.moves):
        worths.append(_worth_in_the_end(game))
    lost = [_lost(game, ply, weighed) for ply in range(len(game.moves))]
    best = [move == each.line[0] for move, each in zip(game.moves, weighed, strict=False)]
    slides = _slides(game, worths, lost, best)
    lines = tuple(
        each.line if loss >= _NOTED or (slide and not is_best) else ()
        for loss, slide, is_best, each in zip(lost, slides, best, weighed, strict=False)
    )
    nodes = min(each.nodes for each in weighed)
    return Analysis(nodes, tuple(worths), tuple(lost), lines, tuple(slides))


def _slides(game: Game, worths: Sequence[int], lost: Sequence[int], best: list[bool]) -> list[int]:
    """Return for each ply what it lost with other plies that lost too little for a mark.

    The curve falls for a side by plies of its own. What it falls around a marked ply is what that
    ply lost. All else adds up, until the curve rises again by as much: that is compensation. Once
    the sum is as much as a mistake, the one of its plies that lost most stands for all.
    """
    slides = [0] * len(game.moves)
    curve = _smoothed(worths)
    for side in Side:
        sign = 1 if side is Side.DWARF else -1
        first = 0 if game.opening.turn is side else 1
        own = range(first, len(game.moves), 2)
        marked = {ply for ply in own if lost[ply] >= MISTAKE}
        fallen, since = 0, 0
        for ply in range(len(game.moves)):
            fall = sign * (curve[ply] - curve[ply + 1])
            if DECIDED in {abs(worths[ply]), abs(worths[ply + 1])}:
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


def _smoothed(worths: Sequence[int]) -> list[int]:
    """Return a curve without the swing between the sides: whoever plays last looks better."""
    last = len(worths) - 1
    return [
        (worths[max(0, ply - 1)] + 2 * worth + worths[min(last, ply + 1)]) // 4
        for ply, worth in enumerate(worths)
    ]


def _lost(game: Game, ply: int, weighed: Sequence[Evaluation]) -> int:
    """Return what a ply, from 0, lost. The best ply and one that ends a battle lose nothing."""
    before, after = weighed[ply], weighed[ply + 1] if ply + 1 < len(weighed) else None
    if after is None or game.moves[ply] == before.line[0]:
        return 0
    depth = min(before.depth, after.depth + 1)
    is_dwarfs = (game.opening.turn is Side.DWARF) is (ply % 2 == 0)
    losses = []
    for each in (depth, depth - 1):
        if each > 1:  # what was not looked at can be compared with nothing
            one, other = before.at(each), after.at(each - 1)
            losses.append(one - other if is_dwarfs else other - one)
            if DECIDED in {abs(one), abs(other)}:
                break  # that is certain
    return max(0, min(losses, default=0))


def _worth_in_the_end(game: Game) -> int:
    """Return the worth of a battle that was ended by a ply."""
    if game.ruleset.goals and game.outcome:
        won = game.outcome.winner
        return 0 if won is None else DECIDED if won is Side.DWARF else -DECIDED
    return 100 * _lead(game.score)


def _lead(score: Score) -> int:
    return score.dwarf - score.troll


@aside
class Analysing(Aside):
    """A battle is being analysed for a player. ``done`` of its plies are finished."""

    battle: Battle
    done: int
    plies: int


@aside
class AnalysisCancelled(Aside):
    """A player cancelled the analysis of a battle."""

    number: int
