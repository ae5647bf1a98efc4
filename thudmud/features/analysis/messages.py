"""Analyses as text, curve and facts: the course of a battle, and its mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thudmud.english import capitalised, join_words, pluralize, with_article
from thudmud.features.analysis.commands import Analyse, CancelAnalysis
from thudmud.features.analysis.model import (
    AnalysedBattle,
    Analysing,
    Analysis,
    AnalysisCancelled,
    AnalysisLookup,
    AnalysisRefusal,
    BattleAnalysed,
    PlyMark,
)
from thudmud.features.archive import curves
from thudmud.features.archive import messages as archive
from thudmud.features.archive.commands import Replay, ViewRecord
from thudmud.features.archive.model import Replayed
from thudmud.game.advice import build_advice
from thudmud.game.archive import Battle
from thudmud.game.evaluation import WIN_SCORE, Variation
from thudmud.rules import Game, Side
from thudmud.views.data import Data, Fact
from thudmud.views.reasons import danger, merits_of
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, add_facts_to, add_lines_to, facts, words
from thudmud.views.sentences import UNKNOWN, ahead_clause, points_phrase
from thudmud.views.standing import wrap_clickable
from thudmud.views.view import Display, View
from thudmud.views.words import in_few_words, wrap, wrap_each

add_refusal_texts(
    {
        AnalysisRefusal.NO_ANALYSES: (
            'Battles can\'t be analysed here. "replay {number}" shows it again.'
        ),
        AnalysisRefusal.NO_ANALYSES_RATED: (
            "Your battle at the {board} is rated, so there's no analysis until it's over."
        ),
        AnalysisRefusal.ANALYSE_WHICH: 'Which battle? Add its number: "history" lists them.',
        AnalysisRefusal.NOT_OVER: "Battle {number} isn't over yet. You can analyse it afterwards.",
        AnalysisRefusal.TOO_SHORT: "Battle {number} is too short to be analysed.",
        AnalysisRefusal.TOO_LONG_TO_ANALYSE: (
            "Battle {number} had {plies} moves. Only battles of up to {most} can be analysed."
        ),
        AnalysisRefusal.ANALYSIS_PENDING: (
            "Battle {number} is being analysed for you: {done} of {plies} moves are done. You can"
            ' ask for another once it is finished. "analyse cancel" stops it.'
        ),
        AnalysisRefusal.ANALYSES_TOO_MANY: (
            "Too many battles are being analysed just now. Try again in a minute."
        ),
        AnalysisRefusal.ANALYSIS_FAILED: (
            'No luck with battle {number} this time. "analyse {number}" tries again.'
        ),
        AnalysisRefusal.NOTHING_ANALYSED: (
            'Nothing is being analysed for you. "analyse 12" analyses battle 12.'
        ),
    }
)

MOST_TOLD = 10
"""The maximum number of mistakes to list."""

_FORESEEN = 4
"""The maximum number of plies to show of a better line."""

_TOLD_STEP = 40
"""The number of plies between two reports of progress in words."""

_NOUNS = {
    PlyMark.INACCURACY: "inaccuracy",
    PlyMark.MISTAKE: "mistake",
    PlyMark.BLUNDER: "blunder",
}


@words.register
def _progress(analysing: Analysing, _: RenderContext, view: View) -> list[str]:
    """Render the progress of an analysis.

    A client that draws boards shows updates itself, and has a button that cancels it.
    """
    is_shown = view.display.is_drawn_by_client or analysing.done % _TOLD_STEP
    if analysing.is_update and is_shown:
        return []
    number, plies = analysing.battle.number, pluralize(analysing.plies, "move")
    told = f"Battle {number} is being analysed: {analysing.done} of {plies} done."
    if not analysing.done:
        told = (
            f"Battle {number} is being analysed ({plies}). You'll be told when it's done."
            f' "{CancelAnalysis()}" stops it.'
        )
    return wrap_clickable(told, view)


@facts.register
def _progress_facts(analysing: Analysing, _: RenderContext) -> Iterator[Fact]:
    known = _analysing(analysing.battle, analysing.done, analysing.plies)
    yield Fact("Thud.Analysis", known, analysing.player)


@words.register
def _cancelled(cancelled: AnalysisCancelled, _: RenderContext, view: View) -> list[str]:
    number = cancelled.progress.battle.number
    return wrap(f"The analysis of battle {number} is cancelled.", view.width)


@facts.register
def _cancelled_facts(cancelled: AnalysisCancelled, _: RenderContext) -> Iterator[Fact]:
    known = _analysing(cancelled.progress.battle, None, cancelled.progress.plies)
    yield Fact("Thud.Analysis", known, cancelled.player)


@words.register
def _render_answer(_: Analyse, context: RenderContext, view: View) -> list[str]:
    return render_analysis(context.answer, view.display)


@facts.register
def _told_facts(_: Analyse, context: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Analysis", _analysed(*context.answer), context.player)


@words.register
def _analysed_for_others(_: BattleAnalysed, __: RenderContext, ___: View) -> list[str]:
    return []


@facts.register
def _analysed_facts(analysed: BattleAnalysed, _: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Analysis", _analysed(*analysed.found), analysed.player)


@add_facts_to(ViewRecord)
def _recorded_facts(_: ViewRecord, context: RenderContext) -> Iterator[Fact]:
    known, analysis = context.answer
    if isinstance(analysis, Analysis):
        yield Fact("Thud.Analysis", _analysed(known.battle, known.game, analysis), context.player)


@add_lines_to(Replayed)
def _replayed(seen: Replayed, _: RenderContext, view: View) -> list[str]:
    if not isinstance(seen.annotation, Analysis):
        return []
    return wrap(of_ply(seen.annotation, seen.game, seen.ply), view.width)


@words.register
def _pending(asked: AnalysisLookup, _: RenderContext, view: View) -> list[str]:
    """Confirm that an analysis is under way, where its progress is unknown."""
    told = f"Battle {asked.battle.number} is being analysed. You'll be told when it's done."
    return wrap(told, view.width)


def _analysing(battle: Battle, done: int | None, plies: int) -> Data:
    known = {"battle": battle.number, "rules": battle.rules, "plies": plies, "done": done}
    return {**known, "nodes": None, "worth": [], "better": []}


def _analysed(battle: Battle, game: Game, analysis: Analysis) -> Data:
    plies, turns = len(game.moves), (game.initial_position.turn, game.initial_position.turn.other)
    return {
        **_analysing(battle, plies, plies),
        "nodes": analysis.nodes,
        "worth": list(analysis.scores),
        "better": [
            {
                "ply": ply,
                "side": turns[(ply - 1) % 2].value,
                "record": str(game.moves[ply - 1]),
                "lost": analysis.lost[ply - 1],
                "slide": analysis.slide(ply) or None,
                "mark": mark.value if (mark := analysis.mark(ply)) else None,
                "line": list(map(str, line)),
            }
            for ply, line in enumerate(analysis.lines, 1)
            if line or analysis.mark(ply)
        ],
    }


def render_analysis(found: AnalysedBattle, display: Display) -> list[str]:
    """Render a whole analysis. A screen reader gets sentences in place of the curve.

    A client that draws boards shows the curve and the marks itself.
    """
    battle, game, analysis = found
    width = display.width
    if display.is_drawn_by_client:
        return wrap(f"Battle {battle.number} is analysed. {_counts(game, analysis)}", width)
    lines = wrap(f"Battle {battle.number}, {archive.entry(battle)}.", width)
    if display.is_for_reader:
        lines += wrap_each(_course(analysis.scores), width)
    else:
        lines += wrap(
            "Above the line the dwarfs are ahead, below it the trolls. The scale shows by about how"
            " many points. The numbers at the bottom count moves.",
            width,
        )
        lines += curve(analysis.scores, display)
    lines += wrap(_counts(game, analysis), width)
    marked = [ply for ply in range(1, len(game.moves) + 1) if analysis.mark(ply)]
    worst = sorted(marked, key=lambda ply: -analysis.cost(ply))[:MOST_TOLD]
    lines += wrap_each((_marked(found, ply, display) for ply in sorted(worst)), width, "    ")
    shows = f'"{Replay(battle.number)}" shows each move, and who was ahead after it.'
    if len(marked) > len(worst):
        shows = f"These are the {len(worst)} costliest. {shows}"
    return lines + wrap(shows, width)


def of_ply(analysis: Analysis, game: Game, ply: int) -> str:
    """Return sentences on the evaluation after a ply, its mark, and a better line with a reason."""
    ahead = _ahead(analysis.scores[ply])
    if not ply:
        return f"At the start {ahead}."
    mark, better = analysis.mark(ply), analysis.lines[ply - 1]
    noun = f"Now {ahead}."
    if mark:
        noun = f"{capitalised(with_article(_NOUNS[mark]))}, {mark.value}: now {ahead}."
    if not (better or mark):
        return noun
    before, played = game.after(ply - 1), game.moves[ply - 1]
    told = [noun]
    if loses := danger(build_advice(before, (played,)), "now"):
        told.append(capitalised(f"{loses}."))
    told.append(_better(analysis, game, ply))
    if better and (merits := merits_of(build_advice(before, better))):
        told.append(f"That {merits[0].removeprefix('it ')}.")
    return " ".join(told)


# Sentences.


def _counts(game: Game, analysis: Analysis) -> str:
    """Return a sentence that counts the marks of each side."""
    counts = []
    for side in Side:
        first = 1 if game.initial_position.turn is side else 2
        marks = [analysis.mark(ply) for ply in range(first, len(game.moves) + 1, 2)]
        some = [
            f"{pluralize(marks.count(mark), noun)} ({mark.value})"
            for mark, noun in _NOUNS.items()
            if mark in marks
        ]
        counts.append(f"the {side.plural} made {join_words(some) if some else 'no mistakes'}")
    return capitalised(f"{'; '.join(counts)}.")


def _marked(found: AnalysedBattle, ply: int, display: Display) -> str:
    """Return an entry for a ply with a mark."""
    battle, game, analysis = found
    move, mark = game.moves[ply - 1], analysis.mark(ply)
    side = _side(game, ply)
    player = battle.player(side) or UNKNOWN
    what = (
        f"Move {ply} {mark.value if mark else ''} {player} ({side.plural}), {in_few_words(move)}."
    )
    if mark and display.is_for_reader:
        noun = with_article(_NOUNS[mark])
        what = f"Move {ply}, {noun} by {player}, {side.plural}: {in_few_words(move)}."
    return f"{what} {_better(analysis, game, ply)}"


def _better(analysis: Analysis, game: Game, ply: int) -> str:
    """Return a sentence on a better line than the ply, and its advantage."""
    line, slide = _line(analysis.lines[ply - 1]), analysis.slide(ply)
    if slide:
        added = f"Small losses add up to {points_phrase(slide)} points"
        return f"{added}; this is the largest. Better: {line}." if line else f"{added} here."
    before, after = analysis.scores[ply - 1], analysis.scores[ply]
    sign = 1 if _side(game, ply) is Side.DWARF else -1
    by = f"Better by {points_phrase(analysis.lost[ply - 1])}"
    if sign * before >= WIN_SCORE:
        by = "This would have won"
    elif sign * after <= -WIN_SCORE:
        by = "This would not have lost"
    return f"{by}: {line}."


def _side(game: Game, ply: int) -> Side:
    """Return the side that played a ply, counted from 1."""
    return game.initial_position.turn if ply % 2 else game.initial_position.turn.other


def _line(line: Variation) -> str:
    return ", then ".join(map(in_few_words, line[:_FORESEEN]))


def _ahead(score: int) -> str:
    return ahead_clause(score, "have won, or can force a win")


def _course(scores: Sequence[int]) -> list[str]:
    """Summarise the course of a battle in about ten sentences."""
    last = len(scores) - 1
    step = next(each for each in _STEPS if last <= 10 * each)
    told = [f"At the start {_ahead(scores[0])}."]
    told += [f"After move {ply}, {_ahead(scores[ply])}." for ply in range(step, last, step)]
    return [*told, f"At the end, after move {last}, {_ahead(scores[last])}."]


# The curve.

_ROWS = 3
"""The height of the curve on either side of its base line, in rows."""

_MARGIN = 6
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)


def curve(scores: Sequence[int], display: Display) -> list[str]:
    """Render scores as a curve, no wider than the screen.

    In a long battle each column is the mean of several plies. The scale covers positions that
    aren't decided; decided ones are cut off at the edge.
    """
    across, up = curves.parts(display)
    room = across * (display.width - 1 - _MARGIN)
    group = -(-len(scores) // room)
    groups = [scores[first : first + group] for first in range(0, len(scores), group)]
    undecided = [abs(each) for each in scores if abs(each) < WIN_SCORE]
    most = max(1, -(-max(undecided, default=0) // 100))
    heights = [_height(sum(each) / len(each), most, _ROWS * up) for each in groups]
    above = curves.rows(heights, _ROWS, display)
    below = curves.rows([-each for each in heights], _ROWS, display, hangs=True)
    step = next(each for each in _STEPS if each >= _MARGIN * across * group)
    last = len(scores) - 1
    ticks = {ply // group // across: ply for ply in range(step, last + 1, step)}
    ticks = ticks or {last // group // across: last}
    line = "".join("+" if column in ticks else "-" for column in range(len(above[0])))
    labels = {0: f"{most:+}", _ROWS: "0", 2 * _ROWS: f"{-most:+}"}
    rows = [*above, line, *below]
    drawn = [f"{labels.get(number, ''):>{_MARGIN - 2}} |{row}" for number, row in enumerate(rows)]
    return [each.rstrip() for each in [*drawn, " " * (_MARGIN - 1) + _numbers(ticks)]]


def _height(score: float, most: int, levels: int) -> int:
    """Return a score as a height in levels; all levels together represent `most` dwarfs."""
    return max(-levels, min(levels, round(levels * score / (100 * most))))


def _numbers(ticks: dict[int, int]) -> str:
    """Return the row of ply numbers below the curve, each starting at its column."""
    row = ""
    for column, ply in ticks.items():
        row += f"{' ' * (column + 1 - len(row))}{ply}"
    return row
