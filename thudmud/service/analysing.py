"""Analyses under way: one for each battle, whoever waits for it.

The positions of a battle are weighed one at a time, so that other battles, and games, have their
turns in between. If those who wait leave, the analysis goes on and is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thudmud.errors import Refused
from thudmud.play.analysis import Analysis, AnalysisLookup, Weighed, analysed, positions
from thudmud.play.archive import Found
from thudmud.play.asides import Analysing
from thudmud.play.events import BattleId
from thudmud.play.hall import Decision
from thudmud.play.refusals import Refusal
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.driving import now
from thudmud.service.hinting import HINT_SECONDS
from thudmud.service.interface import Adviser, Base, Result, Visit
from thudmud.store import StoreError
from thudmud.verbs.archive import Analyse

if TYPE_CHECKING:
    import asyncio

MOST = 8
"""How many battles are analysed at once."""

STEP = 40
"""Those who wait are told the progress after so many plies each."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class AnalysisWork:
    """The analysis of one battle.

    Attributes:
        asked: the battle.
        origin: the address of the player for whom it was begun, if known.
        done: how many of its plies are done.
        waiting: those who wait for it, each with the cause to pass to ``told``.
        task: the task that runs it.
    """

    asked: AnalysisLookup
    origin: str = ""
    done: int = 0
    waiting: dict[str, object] = field(default_factory=dict)
    task: asyncio.Task[Analysis | None] | None = None

    def progress(self, player: str) -> Analysing:
        """Return the progress, for a player."""
        return Analysing(player, self.asked.battle, self.done, len(self.asked.game.moves))


class Analyses:
    """All analyses under way.

    Args:
        base: what they stand on.
        adviser: weighs the positions; None if there is none.
        broadcaster: tells the progress.
        found: answers a player who waited, once it is finished.
    """

    def __init__(
        self,
        base: Base,
        adviser: Adviser | None,
        broadcaster: Broadcaster,
        found: Callable[[str, AnalysisLookup, Analysis | None, object], Awaitable[None]],
    ) -> None:
        self._hall, self._keep = base.hall, base.store.keep_analysis
        self._adviser, self._broadcaster, self._tell_found = adviser, broadcaster, found
        self._works: dict[BattleId, AnalysisWork] = {}
        self._closed = False

    def look_for(
        self, visit: Visit, asked: AnalysisLookup, found: Found, cause: object
    ) -> Result | None:
        """Have a battle analysed; None if that is finished at once, as where nothing waits.

        Otherwise it runs in the background, and the player's other lines do not wait for it.
        """
        name, number = visit.name, asked.battle.number
        if refusal := self._refusal(visit, asked):
            return self._broadcaster.refuse(name, Analyse(number), refusal, cause)
        work = self._works.get(asked.battle.id)
        if work is None:
            work = self._works[asked.battle.id] = AnalysisWork(asked, visit.origin)
            going = now(self._do(work))
            if going is None or isinstance(going, Analysis):
                found.take(asked, going)
                return None
            work.task = going
        work.waiting[name] = cause
        self._broadcaster.carry_out(Decision(name, asides=(work.progress(name),)), cause)
        return Result(Analyse(number), done=True, seconds=HINT_SECONDS)

    def _refusal(self, visit: Visit, asked: AnalysisLookup) -> Refused | None:
        """Return why a player cannot have a battle analysed now, if they cannot."""
        if self._adviser is None:
            return Refused(Refusal.NO_ANALYSES, number=asked.battle.number)
        if under_way := self.under_way(visit.name):
            number, done, plies = under_way
            return Refused(Refusal.ANALYSIS_PENDING, number=number, done=done, plies=plies)
        if asked.battle.id in self._works:
            return None
        most = self._hall.caps.analyses_per_address
        begun = sum(each.origin == visit.origin for each in self._works.values())
        if visit.origin and begun >= most:  # those who asked may have left
            return Refused(Refusal.TOO_MUCH_FROM_ADDRESS, what="analyses", most=most)
        return Refused(Refusal.ANALYSES_TOO_MANY) if len(self._works) >= MOST else None

    def under_way(self, player: str) -> tuple[int, int, int] | None:
        """Return the analysis a player waits for: battle, plies done, and plies; None if none."""
        work = self._awaited_by(player)
        if work is None:
            return None
        return work.asked.battle.number, work.done, len(work.asked.game.moves)

    def _awaited_by(self, player: str) -> AnalysisWork | None:
        return next((each for each in self._works.values() if player in each.waiting), None)

    def cancel(self, player: str) -> None:
        """Let a player wait no longer. An analysis that nobody waits for is cancelled."""
        work = self._awaited_by(player)
        if work is None:
            return
        del work.waiting[player]
        if not work.waiting and work.task:
            self._forget(work)  # the next player who asks starts a new one
            work.task.cancel()

    def close(self) -> None:
        """Cancel all analyses."""
        self._closed = True
        for work in self._works.values():
            if work.task:
                work.task.cancel()

    async def _do(self, work: AnalysisWork) -> Analysis | None:
        try:
            analysis = await self._found(work)
        finally:
            self._forget(work)
        for player, cause in work.waiting.items():
            await self._tell_found(player, work.asked, analysis, cause)
        return analysis

    def _tell_progress(self, work: AnalysisWork) -> None:
        for player, cause in work.waiting.items():
            if player in self._broadcaster.visits and not self._closed:
                told = Decision(player, asides=(work.progress(player),))
                self._broadcaster.carry_out(told, cause)

    def _forget(self, work: AnalysisWork) -> None:
        if self._works.get(work.asked.battle.id) is work:
            del self._works[work.asked.battle.id]

    async def _found(self, work: AnalysisWork) -> Analysis | None:
        """Make the analysis, store it and return it; None if the adviser fails or is missing."""
        if self._adviser is None:
            return None
        game, weighed = work.asked.game, list[Weighed]()
        try:
            for then in positions(game):
                found = await self._adviser.weigh(then)
                if found is None:
                    return None
                weighed.append(found)
                work.done = len(then.moves)
                if work.done and work.done % STEP == 0 and work.done < len(game.moves):
                    self._tell_progress(work)
            analysis = analysed(game, weighed)
        except Exception:  # noqa: BLE001  (those who wait are told that it failed)
            _log.exception("battle %d was not analysed", work.asked.battle.number)
            return None
        try:
            await self._keep(work.asked.battle.id, analysis)
        except StoreError as error:  # the next player who asks has it made again
            _log.error("an analysis was not stored: %s", error)
        return analysis
