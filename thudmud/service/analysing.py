"""The analyses that are under way: one for each battle, whoever waits for it.

A battle's positions are weighed one after another, so that those of other battles, and all who
play, have their turns between them. Who leaves meanwhile misses nothing: it goes on, and is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from thudmud.play.analysis import Analysis, AnalysisLookup, Weighed, analysed, positions
from thudmud.play.asides import Analysing
from thudmud.play.events import BattleId
from thudmud.service.driving import now
from thudmud.service.interface import Adviser
from thudmud.store import StoreError

if TYPE_CHECKING:
    import asyncio

MOST = 8
"""How many battles are analysed at once."""

STEP = 40
"""After how many plies those who wait are told how far it has come."""

_log = logging.getLogger(__name__)


class AnalysisTeller(Protocol):
    """What tells those who wait."""

    def tell_progress(self, progress: Analysing, cause: object) -> None:
        """Tell a player how far the analysis has come, unless they have left."""

    async def tell_analysed(
        self, name: str, asked: AnalysisLookup, analysis: Analysis | None, cause: object
    ) -> None:
        """Tell a player what was found out, if anything was, unless they have left."""


@dataclass(slots=True, eq=False)
class AnalysisWork:
    """One battle that is analysed.

    Attributes:
        asked: the battle.
        origin: where the player came from for whom it was begun, if that is known.
        done: how many of its plies are done.
        waiting: those who wait for it, each with what ``told`` is to be told that it is about.
        task: what does it.
    """

    asked: AnalysisLookup
    origin: str = ""
    done: int = 0
    waiting: dict[str, object] = field(default_factory=dict)
    task: asyncio.Task[Analysis | None] | None = None

    def progress(self, player: str) -> Analysing:
        """Return how far it has come, for a player."""
        return Analysing(player, self.asked.battle, self.done, len(self.asked.game.moves))


class Analyses:
    """All that are under way.

    Args:
        adviser: who weighs positions.
        keep: stores what was found out.
        teller: tells those who wait.
    """

    def __init__(
        self,
        adviser: Adviser,
        keep: Callable[[BattleId, Analysis], Awaitable[None]],
        teller: AnalysisTeller,
    ) -> None:
        self._adviser, self._keep, self._teller = adviser, keep, teller
        self._works: dict[BattleId, AnalysisWork] = {}

    def awaited_by(self, player: str) -> AnalysisWork | None:
        """Return what a player waits for, if anything."""
        return next((each for each in self._works.values() if player in each.waiting), None)

    def is_under_way(self, asked: AnalysisLookup) -> bool:
        """Whether a battle is being analysed."""
        return asked.battle.id in self._works

    @property
    def is_full(self) -> bool:
        """Whether as many are under way as can be."""
        return len(self._works) >= MOST

    def begun_from(self, origin: str) -> int:
        """Return how many were begun for those who come from somewhere; they may have left."""
        return sum(each.origin == origin for each in self._works.values())

    def begin(
        self, asked: AnalysisLookup, player: str, origin: str, cause: object
    ) -> AnalysisWork | Analysis | None:
        """Let a player wait for an analysis, which is begun unless it is under way.

        Returns:
            what it is that they wait for; or what has come of it, where nothing waits.
        """
        work = self._works.get(asked.battle.id)
        if work is None:
            work = self._works[asked.battle.id] = AnalysisWork(asked, origin)
            going = now(self._do(work))
            if going is None or isinstance(going, Analysis):
                return going
            work.task = going
        work.waiting[player] = cause
        return work

    def cancel(self, player: str) -> None:
        """Let a player wait no longer; what nobody waits for any more is given up."""
        work = self.awaited_by(player)
        if work is None:
            return
        del work.waiting[player]
        if not work.waiting and work.task:
            self._forget(work)  # who asks now begins anew
            work.task.cancel()

    def close(self) -> None:
        """Give all of them up."""
        for work in self._works.values():
            if work.task:
                work.task.cancel()

    async def _do(self, work: AnalysisWork) -> Analysis | None:
        try:
            analysis = await self._found(work)
        finally:
            self._forget(work)
        for player, cause in work.waiting.items():
            await self._teller.tell_analysed(player, work.asked, analysis, cause)
        return analysis

    def _forget(self, work: AnalysisWork) -> None:
        if self._works.get(work.asked.battle.id) is work:
            del self._works[work.asked.battle.id]

    async def _found(self, work: AnalysisWork) -> Analysis | None:
        """Return what is found out, and keep it; None if the adviser fails."""
        game, weighed = work.asked.game, list[Weighed]()
        try:
            for then in positions(game):
                found = await self._adviser.weigh(then)
                if found is None:
                    return None
                weighed.append(found)
                work.done = len(then.moves)
                if work.done and work.done % STEP == 0 and work.done < len(game.moves):
                    for player, cause in work.waiting.items():
                        self._teller.tell_progress(work.progress(player), cause)
            analysis = analysed(game, weighed)
        except Exception:  # noqa: BLE001  (those who wait are told that there is none)
            _log.exception("battle %d was not analysed", work.asked.battle.number)
            return None
        try:
            await self._keep(work.asked.battle.id, analysis)
        except StoreError as error:  # then it is made again when somebody asks for it
            _log.error("an analysis was not stored: %s", error)
        return analysis
