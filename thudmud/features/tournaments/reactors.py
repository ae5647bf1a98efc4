"""The tournament director: pairs rounds, opens boards, begins battles, and scores no-shows.

`thudmud.features.tournaments.directing` decides the next step. Each step is a decision of events at
the current version of the hall's stream, and there is no other state. So every node may run a
director, and each step still happens once: the slower node gets a conflict, and checks again. A
node that is killed leaves nothing half done.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import cast

from thudmud.english import capitalised
from thudmud.features.tournaments.directing import (
    WAVE,
    free_players,
    next_step,
    pair_round,
    pairings,
    present_entrants,
)
from thudmud.features.tournaments.messages import terms, titled
from thudmud.features.tournaments.model import Tournament, TournamentLookup, TournamentRegister
from thudmud.features.tournaments.pairing import Pairing
from thudmud.game.asides import Entered, TookOver
from thudmud.game.events import TABLE_EVENTS_BUT_MOVES, TOURNAMENTS, TournamentEvent
from thudmud.game.feature import AppliedEvent, FeatureContext, Reactor
from thudmud.store import StoreError

RETRY = 5.0
"""Seconds before a step is tried again after a failure."""

_Arrival = Entered | TookOver

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> Director:
    """Start the director of a service."""
    return Director(service)


class Director(Reactor):
    """Runs the steps that are due in tournaments.

    A tournament is checked only after its events, after events at the boards of its matches, and
    when its timer fires.

    Attributes:
        due: the numbers of the tournaments to be checked.
        is_working: whether a check is under way.
    """

    def __init__(self, service: FeatureContext) -> None:
        self._service, self._hall, self._clock = service, service.hall, service.clock
        self.due: set[int] = set()
        self.is_working = self._is_stopped = False
        service.on_stop(self.stop)
        service.register_preview("tournament", self._preview)
        service.bus.subscribe(TOURNAMENTS, self._tournament_changed)
        service.bus.subscribe((Entered, TookOver), self._came)
        service.bus.subscribe(TABLE_EVENTS_BUT_MOVES, self._board_changed)

    @property
    def _tournaments(self) -> Mapping[int, Tournament]:
        return self._hall.part(TournamentRegister).known

    async def _preview(self, name: str) -> tuple[str, str] | None:
        """Return a tournament's name and its terms; None if its number is unknown."""
        number = int(name)
        known = self._tournaments.get(number)
        tournament = known or await self._service.look_up(TournamentLookup(number))
        if tournament is None:
            return None
        return capitalised(titled(tournament)), f"{capitalised(terms(tournament.made))}."

    def stop(self) -> None:
        """Stop for good."""
        self._is_stopped = True
        self.due.clear()

    def begin(self) -> None:
        """Check all tournaments, when a server starts."""
        self.due.update(self._tournaments)
        self.work()

    def _tournament_changed(self, applied: AppliedEvent) -> None:
        self._look_soon({cast("TournamentEvent", applied.event).number})

    def _board_changed(self, applied: AppliedEvent) -> None:
        """Schedule a check of the tournament whose match an event other than a move concerns."""
        tables = applied.table, applied.before
        matches = (each.match for each in tables if each and each.match)
        self._look_soon({each.tournament.number for each in matches if each.tournament})

    def _came(self, applied: AppliedEvent) -> None:
        """Schedule a check of tournaments whose start may have waited for this player."""
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
        """Run the steps that are due, in the background."""
        if self.due and not (self.is_working or self._is_stopped):
            self._service.spawn(self._work())

    async def run_overdue(self) -> None:
        """Run the steps that are due in all tournaments; for a front end without timers."""
        self.due.update(self._tournaments)
        await self._work()

    def next_run_time(self) -> float | None:
        """Return when the next step is due, for a front end without timers; None for never."""
        at, moments = self._clock(), list[float]()
        for each in self._tournaments.values():
            step = next_step(self._hall, each, at)
            if step.decision or step.needs_pairing:
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
                    _log.error(
                        "could not store events: %s",
                        error,
                        extra={"tournament": number},
                    )
                    self._look_at(number, self._clock() + RETRY)
                except Exception:  # noqa: BLE001  (a bug here must not stop the other tournaments)
                    _log.exception("could not direct tournament %s, will retry", number)
                    self._look_at(number, self._clock() + RETRY)
        finally:
            self.is_working = False

    def _look_at(self, number: int, at: float) -> None:
        key = "tournament", str(number)
        self._service.scheduler.schedule(key, at, lambda: self._look_soon({number}))

    async def _see_to(self, number: int) -> None:
        """Run all steps that are due in a tournament, and set the timer for the next.

        Raises:
            StoreError: a step can't be stored.
        """
        while (tournament := self._tournaments.get(number)) and not self._is_stopped:
            decision, pairs, at = next_step(self._hall, tournament, self._clock())
            if pairs:
                found = await self._paired(tournament)
                if self._tournaments.get(number) is not tournament:
                    continue  # changed while the thread was pairing: the pairings may be void
                decision = pair_round(self._hall, tournament, found, self._clock())
                at = self._clock() + WAVE
            if decision is None:
                if at is not None:
                    self._look_at(number, at)
                return
            await self._service.carry_out(decision)

    async def _paired(self, tournament: Tournament) -> Sequence[Pairing]:
        """Compute the pairings of the next round, in a thread, since that can take a second."""
        names: Sequence[str] = present_entrants(self._hall, tournament)
        if tournament.is_arena:
            names = free_players(self._hall, tournament, self._clock())
        if not self._service.scheduler.has_timers:
            return pairings(tournament, names)
        import asyncio  # noqa: PLC0415  (not needed without an event loop)

        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, pairings, tournament, names)
