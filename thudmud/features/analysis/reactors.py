"""The scheduler of analyses: one for each battle, shared by all players who wait for it.

Positions are evaluated one by one. Battles get the adviser by shortest remaining time first: before
each position, a battle yields to a waiting one with fewer plies left. An analysis without waiting
players is cancelled before its next position, or as soon as another one is requested.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from thudmud.errors import RefusedError
from thudmud.features.analysis.commands import Analyse
from thudmud.features.analysis.model import (
    AnalysedBattle,
    Analysing,
    Analysis,
    AnalysisCancelled,
    AnalysisLimits,
    AnalysisLookup,
    AnalysisRefusal,
    BattleAnalysed,
    PendingAnalysisLookup,
    analysed,
    positions,
)
from thudmud.features.analysis.storage import keep_analysis
from thudmud.game.archive import LookupResults
from thudmud.game.evaluation import Evaluation
from thudmud.game.events import BattleId
from thudmud.game.feature import AppliedEvent, FeatureContext, LookupRequest, Postponed
from thudmud.game.hall import Decision
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.store import StoreError

if TYPE_CHECKING:
    import asyncio

MOST = 64
"""The maximum number of analyses that run or wait."""

POSITION_SECONDS = 0.02
"""A rough estimate of the adviser's time for a position, in seconds."""

STEP = 4
"""The number of plies between two reports of progress, which take half a second or more."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class AnalysisWork:
    """A running or waiting analysis of a battle.

    Attributes:
        asked: the request, with the battle.
        origin: the address of the player who requested it first, if known.
        done: the number of finished plies.
        waiting: by name, the players who wait, with the cause to pass on in notifications.
        task: the task that runs it.
        turn: a future that resolves when it may continue; None unless it waits for its turn.
    """

    asked: AnalysisLookup
    origin: str = ""
    done: int = 0
    waiting: dict[str, object] = field(default_factory=dict)
    task: asyncio.Task[Analysis | None] | None = None
    turn: asyncio.Future[None] | None = None

    @property
    def left(self) -> int:
        """The number of unfinished plies."""
        return len(self.asked.game.moves) - self.done

    def progress(self, player: str, *, is_update: bool = False) -> Analysing:
        """Return the progress as an aside for a player."""
        plies = len(self.asked.game.moves)
        return Analysing(player, self.asked.battle, self.done, plies, is_update)


def setup(service: FeatureContext) -> None:
    """Register the handlers of analyses with a service."""
    analyses = Analyses(service)
    service.register_lookup(AnalysisLookup, analyses.look_up)
    service.register_lookup(
        PendingAnalysisLookup, lambda request, _: analyses.under_way(request.player)
    )
    service.bus.subscribe(AnalysisCancelled, analyses.cancelled)
    service.on_stop(analyses.close)


class Analyses:
    """All analyses of this node."""

    def __init__(self, service: FeatureContext) -> None:
        self._service, self._hall = service, service.hall
        self._works: dict[BattleId, AnalysisWork] = {}
        self._weighed: set[AnalysisWork] = set()
        """Analyses whose turn it is. A cancelled one remains until its task has ended."""
        self._closed = False

    def look_up(self, request: LookupRequest, asked: AnalysisLookup) -> Analysis | Postponed | None:
        """Start an analysis, or join one of the same battle.

        Returns:
            The analysis if it is finished at once, else `Postponed`; None if it failed at once.

        Raises:
            RefusedError: the player can't have this battle analysed now.
        """
        name = request.player
        self._cancel_abandoned()
        if refusal := self._refusal(request, asked):
            raise refusal
        work = self._works.get(asked.battle.id)
        if work is None:
            work = self._works[asked.battle.id] = AnalysisWork(asked, request.origin)
            going = self._service.spawn(self._do(work))
            if going is None or isinstance(going, Analysis):
                return going
            work.task = going
        work.waiting[name] = request.cause
        return Postponed(Decision(name, asides=(work.progress(name),)), POSITION_SECONDS)

    def _refusal(self, request: LookupRequest, asked: AnalysisLookup) -> RefusedError | None:
        """Return the refusal of a request, or None if it can be granted."""
        if self._service.adviser is None:
            return RefusedError(AnalysisRefusal.NO_ANALYSES, number=asked.battle.number)
        if under_way := self.under_way(request.player):
            number, done, plies = under_way.battle.number, under_way.done, under_way.plies
            return RefusedError(
                AnalysisRefusal.ANALYSIS_PENDING, number=number, done=done, plies=plies
            )
        if asked.battle.id in self._works:
            return None
        most = self._hall.limits(AnalysisLimits).per_address
        begun = sum(each.origin == request.origin for each in self._works.values())
        if request.origin and begun >= most:
            return RefusedError(Refusal.TOO_MUCH_FROM_ADDRESS, what="analyses", most=most)
        return RefusedError(AnalysisRefusal.ANALYSES_TOO_MANY) if len(self._works) >= MOST else None

    def under_way(self, player: str) -> Analysing | None:
        """Return the progress of the analysis that a player waits for; None if there is none."""
        work = self._awaited_by(player)
        return work.progress(player) if work else None

    def _awaited_by(self, player: str) -> AnalysisWork | None:
        return next((each for each in self._works.values() if player in each.waiting), None)

    def cancelled(self, applied: AppliedEvent) -> None:
        """Remove a player from their analysis, and cancel it if nobody else waits."""
        player = cast("AnalysisCancelled", applied.event).player
        work = self._awaited_by(player)
        if work is None:
            return
        del work.waiting[player]
        if not work.waiting:
            self._end(work)

    def _cancel_abandoned(self) -> None:
        """Cancel analyses whose waiting players have all left."""
        for work in [each for each in self._works.values() if self._is_abandoned(each)]:
            self._end(work)

    def _is_abandoned(self, work: AnalysisWork) -> bool:
        here = self._service.local_players()
        return bool(work.waiting) and not any(player in here for player in work.waiting)

    def _end(self, work: AnalysisWork) -> None:
        """Cancel an analysis. The next request for the same battle starts a new one."""
        if work.task:
            self._forget(work)
            work.task.cancel()

    def close(self) -> None:
        """Cancel all analyses."""
        self._closed = True
        for work in self._works.values():
            if work.task:
                work.task.cancel()

    async def _do(self, work: AnalysisWork) -> Analysis | None:
        try:
            analysis = await self._analyse_and_store(work)
        finally:
            self._forget(work)
            self._release_turn(work)
        for player, cause in work.waiting.items():
            command = Analyse(work.asked.battle.number)
            found = LookupResults({work.asked: analysis})
            try:
                await self._service.run_command(player, command, found, cause)
            except StoreError as error:
                _log.error("could not deliver an analysis: %s", error)
        if analysis and work.task and not self._closed:  # not at once, as in a house
            self._tell_others(work, AnalysedBattle(work.asked.battle, work.asked.game, analysis))
        return analysis

    def _tell_others(self, work: AnalysisWork, found: AnalysedBattle) -> None:
        """Tell the programs of players who look at the battle's board, and haven't asked."""
        hall, here = self._hall, self._service.local_players()
        for table in [each for each in hall.tables.values() if _has_battle(each, found.battle.id)]:
            for name in hall.rooms.occupants_and_observers(table.name).names:
                may_see = name in here and not hall.board_of_rated_battle(name)
                if may_see and name not in work.waiting:
                    self._service.tell(BattleAnalysed(name, found))

    def _tell_progress(self, work: AnalysisWork) -> None:
        for player, cause in work.waiting.items():
            if player in self._service.local_players() and not self._closed:
                self._service.tell(work.progress(player, is_update=True), cause)

    def _forget(self, work: AnalysisWork) -> None:
        if self._works.get(work.asked.battle.id) is work:
            del self._works[work.asked.battle.id]

    # Taking turns.

    async def _take_turn(self, work: AnalysisWork, at_once: int) -> None:
        """Wait for a battle's turn to have a position evaluated.

        A battle keeps its turn until it is done, or a shorter one waits.

        Args:
            work: the analysis.
            at_once: the number of turns that exist.
        """
        shortest = self._shortest_waiting()
        if work in self._weighed:
            if shortest is None or shortest.left >= work.left:
                return
            self._release_turn(work)
        elif len(self._weighed) < at_once:
            self._weighed.add(work)
            return
        work.turn = _future()
        try:
            await work.turn
        finally:
            work.turn = None

    def _release_turn(self, work: AnalysisWork) -> None:
        """Hand a battle's turn, if it has one, to the shortest waiting battle."""
        # An analysis that was cancelled while it waited has no turn to hand on.
        if work not in self._weighed:
            return
        self._weighed.remove(work)
        if (other := self._shortest_waiting()) and other.turn:
            # Reserved before the waiting task runs, so that nobody else can take the turn
            # meanwhile.
            self._weighed.add(other)
            other.turn.set_result(None)

    def _shortest_waiting(self) -> AnalysisWork | None:
        waiting = [each for each in self._works.values() if each.turn and not each.turn.done()]
        return min(waiting, key=lambda each: each.left, default=None)

    async def _analyse_and_store(self, work: AnalysisWork) -> Analysis | None:
        """Make and store an analysis; None if there is no adviser, one fails, or nobody waits."""
        adviser = self._service.adviser
        if adviser is None:
            return None
        game, weighed = work.asked.game, list[Evaluation]()
        try:
            for then in positions(game):
                await self._take_turn(work, adviser.at_once)
                # Checked after waiting: the players may have left in the meantime.
                if self._is_abandoned(work):
                    work.waiting.clear()
                    return None
                found = await adviser.evaluate(then)
                if found is None:
                    return None
                weighed.append(found)
                work.done = len(then.moves)
                if work.done and work.done % STEP == 0 and work.done < len(game.moves):
                    self._tell_progress(work)
            analysis = analysed(game, weighed)
        except Exception:  # noqa: BLE001  (those who wait are told that it failed)
            _log.exception("could not analyse battle %d", work.asked.battle.number)
            return None
        try:
            began = work.asked.battle.id
            await self._service.store.write(lambda rows: keep_analysis(rows, began, analysis))
        except StoreError as error:  # the next request makes it again
            _log.error("could not store an analysis: %s", error)
        return analysis


def _has_battle(table: Table, battle: BattleId) -> bool:
    return table.match is not None and table.match.battle_id == battle


def _future() -> asyncio.Future[None]:
    import asyncio  # noqa: PLC0415  (slow to load, and nothing waits in a house)

    return asyncio.get_running_loop().create_future()
