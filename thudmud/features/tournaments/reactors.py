"""The director: does what is due in tournaments, by itself.

It pairs rounds, opens boards, begins battles, and ends matches to which somebody does not come.
`thudmud.features.tournaments.directing` says what is due. All of it is events of the hall's stream,
decided at its version, and nothing else is remembered. So every node may do it, and each thing is
done once: whoever is second finds a conflict, and looks again. A node that is killed leaves nothing
half done.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import cast

from thudmud.features.tournaments.directing import WAVE, free, next_step, paired, pairings, present
from thudmud.features.tournaments.model import Tournament, TournamentRegister
from thudmud.features.tournaments.pairing import Pairing
from thudmud.game.asides import Entered, TookOver
from thudmud.game.events import TABLE_EVENTS_BUT_MOVES, TOURNAMENTS, TournamentEvent
from thudmud.game.feature import AppliedEvent, FeatureContext, Reactor
from thudmud.store import StoreError

RETRY = 5.0
"""Seconds before something that could not be stored is tried again."""

_Arrival = Entered | TookOver

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> Director:
    """Do what is due in the tournaments of a service."""
    return Director(service)


class Director(Reactor):
    """Does what is due in tournaments.

    It looks at a tournament only when its events, or the battles of its matches, change something,
    and when its timer fires.

    Attributes:
        due: the numbers of tournaments to look at.
        is_working: whether it is at work.
    """

    def __init__(self, service: FeatureContext) -> None:
        self._service, self._hall, self._clock = service, service.hall, service.clock
        self.due: set[int] = set()
        self.is_working = self._is_stopped = False
        service.at_stop(self.stop)
        service.bus.on(TOURNAMENTS, self._tournament_changed)
        service.bus.on((Entered, TookOver), self._came)
        service.bus.on(TABLE_EVENTS_BUT_MOVES, self._board_changed)

    @property
    def _tournaments(self) -> Mapping[int, Tournament]:
        return self._hall.part(TournamentRegister).known

    def stop(self) -> None:
        """Do nothing more."""
        self._is_stopped = True
        self.due.clear()

    def begin(self) -> None:
        """Look at all tournaments, when a server starts."""
        self.due.update(self._tournaments)
        self.work()

    def _tournament_changed(self, applied: AppliedEvent) -> None:
        self._look_soon({cast("TournamentEvent", applied.event).number})

    def _board_changed(self, applied: AppliedEvent) -> None:
        """See to the tournament of a match in which something other than a ply has happened."""
        tables = applied.table, applied.before
        matches = (each.match for each in tables if each and each.match)
        self._look_soon({each.tournament.number for each in matches if each.tournament})

    def _came(self, applied: AppliedEvent) -> None:
        """Check tournaments whose start may have waited for this player."""
        at, player = self._clock(), cast("_Arrival", applied.event).player
        self._look_soon(
            {
                number
                for number, each in self._tournaments.items()
                if player in each.entries and not each.rounds and each.made.starts <= at
            }
        )

    def _look_soon(self, numbers: set[int]) -> None:
        if numbers and not self._is_stopped:
            self.due |= numbers
            self.work()

    def work(self) -> None:
        """Do what is due by now, in the background."""
        if self.due and not (self.is_working or self._is_stopped):
            self._service.spawn(self._work())

    async def look(self) -> None:
        """Do what is due by now in all tournaments, for a front end without timers."""
        self.due.update(self._tournaments)
        await self._work()

    def next_look(self) -> float | None:
        """Return when there is something to do, for a front end without timers; None for never."""
        at, moments = self._clock(), list[float]()
        for each in self._tournaments.values():
            step = next_step(self._hall, each, at)
            if step.decision or step.pairs:
                return at
            moments += [] if step.at is None else [step.at]
        return min(moments, default=None)

    async def _work(self) -> None:
        if self.is_working:
            return
        self.is_working = True
        try:
            while self.due and not self._is_stopped:
                number = min(self.due)
                self.due.discard(number)
                try:
                    await self._see_to(number)
                except StoreError as error:
                    _log.error("not stored: %s", error, extra={"tournament": number})
                    self._look_at(number, self._clock() + RETRY)
                except Exception:  # noqa: BLE001  (play goes on in spite of our bugs)
                    _log.exception("nothing more is done about tournament %s for now", number)
                    self._look_at(number, self._clock() + RETRY)
        finally:
            self.is_working = False

    def _look_at(self, number: int, at: float) -> None:
        key = "tournament", str(number)
        self._service.scheduler.at(key, at, lambda: self._look_soon({number}))

    async def _see_to(self, number: int) -> None:
        """Do what is due by now in a tournament, and plan to look at it again.

        Raises:
            StoreError: it cannot be stored.
        """
        while (tournament := self._tournaments.get(number)) and not self._is_stopped:
            decision, pairs, at = next_step(self._hall, tournament, self._clock())
            if pairs:
                found = await self._paired(tournament)
                if self._tournaments.get(number) is not tournament:
                    continue  # something has happened meanwhile
                decision = paired(self._hall, tournament, found, self._clock())
                at = self._clock() + WAVE
            if decision is None:
                if at is not None:
                    self._look_at(number, at)
                return
            await self._service.carry_out(decision)

    async def _paired(self, tournament: Tournament) -> Sequence[Pairing]:
        """Return the pairings of the next round, found in a thread, since it can take a second."""
        names: Sequence[str] = present(self._hall, tournament)
        if tournament.is_arena:
            names = free(self._hall, tournament, self._clock())
        if not self._service.scheduler.has_timers:
            return pairings(tournament, names)
        import asyncio  # noqa: PLC0415  (where nothing waits it is not needed)

        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, pairings, tournament, names)
