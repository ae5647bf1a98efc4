"""The ``analyse`` command, and the analysis shown in replays."""

from __future__ import annotations

from typing import Any

from thudmud.errors import RefusedError
from thudmud.features.analysis.model import (
    LONGEST,
    SHORTEST,
    AnalysedBattle,
    Analysis,
    AnalysisCancelled,
    AnalysisLookup,
    AnalysisRefusal,
    KeptAnalysisLookup,
    PendingAnalysisLookup,
)
from thudmud.features.archive.commands import ArchiveCommand
from thudmud.features.archive.model import annotators, replay_of, show_replay
from thudmud.game.archive import GOES_ON, FoundBattle, HistoryLookup
from thudmud.game.command import CommandContext, has_verb, verb
from thudmud.game.hall import Decision
from thudmud.game.people import Person
from thudmud.game.resolution import resolve_battle
from thudmud.values import replace


def _last_battle(context: CommandContext) -> int:
    """Return the number of the player's last battle that is over.

    Raises:
        RefusedError: there is none among the latest battles.
        LookupNeededError: the battles have to be looked up first.
    """
    for battle in context.found[HistoryLookup(context.me)].battles:
        if battle.state not in GOES_ON:
            return battle.number
    raise RefusedError(AnalysisRefusal.ANALYSE_WHICH)


@verb("analyse")
class Analyse(ArchiveCommand):
    """Show the analysis of a battle.

    The default is the battle in the replay, or else the player's last battle that is over.
    """

    number: int | None = None
    asks_adviser = True

    def decide(self, context: CommandContext) -> Decision:
        analysed = self._analysed(context)
        return context.decide_answer(Analyse(analysed.battle.number), answer=analysed)

    def _analysed(self, context: CommandContext) -> AnalysedBattle:
        """Return the stored analysis of the battle, or else a new one.

        Raises:
            RefusedError: there is no such battle, it can't be analysed, or the player is in a rated
                battle.
            LookupNeededError: something has to be looked up first, or the analysis has to be made.
        """
        found = context.found
        if rated := context.hall.board_of_rated_battle(context.me):
            raise RefusedError(AnalysisRefusal.NO_ANALYSES_RATED, board=rated)
        number = self.number
        if number is None:
            seen = replay_of(context.person)
            number = seen.battle.number if seen else _last_battle(context)
        known, game = resolve_battle(number, found)
        battle = known.battle
        if battle.state in GOES_ON:
            raise RefusedError(AnalysisRefusal.NOT_OVER, number=number)
        if len(game.moves) < SHORTEST:
            raise RefusedError(AnalysisRefusal.TOO_SHORT, number=number)
        analysis: Analysis | None = found[KeptAnalysisLookup(battle.id, len(game.moves))]
        if analysis is None:
            if (plies := len(game.moves)) > LONGEST:
                raise RefusedError(
                    AnalysisRefusal.TOO_LONG_TO_ANALYSE, number=number, plies=plies, most=LONGEST
                )
            analysis = found[AnalysisLookup(battle, game)]
        if analysis is None:
            raise RefusedError(AnalysisRefusal.ANALYSIS_FAILED, number=number)
        return AnalysedBattle(battle, game, analysis)

    def apply_answer(self, person: Person, answer: Any) -> None:
        # An open replay of the same game shows the analysis from now on.
        seen = replay_of(person)
        if seen and seen.game == answer.game:
            show_replay(person, replace(seen, annotation=answer.analysis))


@verb("cancel_analysis")
class CancelAnalysis(ArchiveCommand):
    """Cancel the analysis that the player waits for."""

    words = "analyse cancel"

    def decide(self, context: CommandContext) -> Decision:
        progress = context.found[PendingAnalysisLookup(context.me)]
        if progress is None:
            raise RefusedError(AnalysisRefusal.NOTHING_ANALYSED)
        return context.decide_asides(AnalysisCancelled(context.me, progress))


@annotators.append
def _stored_analysis(context: CommandContext, known: FoundBattle) -> Analysis | None:
    if known.game is None or not has_verb(context.hall, "analyse"):
        return None
    return context.found[KeptAnalysisLookup(known.battle.id, len(known.game.moves))]
