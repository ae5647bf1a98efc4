"""Ends the seeks of players who have left, and questions without an answer.

The seeks of a player who loses the connection end at once; challenges to that player wait for some
minutes. Every node watches all seeks. They end at a version of the hall's stream, and so only once.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import cast

from thudmud.features.matchmaking.commands import PlayNow, bot_battles_of, seek_with_word
from thudmud.features.matchmaking.messages import terms_of
from thudmud.game.asides import Gone
from thudmud.game.events import Parting, SeekEnd, SeekEnded, SeekMade
from thudmud.game.feature import AppliedEvent, FeatureContext, Reactor
from thudmud.game.seeks import end_seeks_of_departed, expire_question
from thudmud.store import StoreError

LEAST_GRACE = 60.0
"""The fewest seconds for which challenges wait for an absent player."""

RETRY = 5.0
"""Seconds before the end of a seek is stored again after a failure."""

_log = logging.getLogger(__name__)


class Seeking(Reactor):
    """Watches the seeks. Without timers, no seek ends by itself."""

    def __init__(self, service: FeatureContext) -> None:
        self._service, self._hall = service, service.hall
        self._stopped = False
        self._look_on: dict[int, SeekMade] = {}
        """Open seeks, by number, of players who look for somebody else if they are declined."""
        service.bus.subscribe(Gone, self._on_player_gone)
        service.bus.subscribe(SeekMade, self._on_seek_made)
        service.bus.subscribe(SeekEnded, self._on_seek_ended)
        service.register_preview("challenge", self._preview)
        service.on_stop(self._stop)

    def begin(self) -> None:
        """Watch all seeks, when a server starts."""
        for seek in self._hall.seeks.values():
            self._watch(seek)
            for name in {seek.player, seek.to} - {"", *self._hall.people}:
                self._end_after_absence(name)

    async def _preview(self, word: str) -> tuple[str, str] | None:
        """Return what a seek with a word offers; None if there is none."""
        seek = seek_with_word(self._hall, word)
        if seek is None:
            return None
        return f"{seek.player} challenges you", f"{seek.player} challenges you to {terms_of(seek)}."

    def _stop(self) -> None:
        """Ignore all further events."""
        self._stopped = True

    def _on_seek_made(self, applied: AppliedEvent) -> None:
        self._watch(cast("SeekMade", applied.event))

    def _on_seek_ended(self, applied: AppliedEvent) -> None:
        """Look for another opponent if the seek wasn't accepted and the player keeps looking."""
        event = cast("SeekEnded", applied.event)
        self._service.scheduler.cancel(("question", str(event.number)))
        seek = self._look_on.pop(event.number, None)
        if seek is None or event.why in {SeekEnd.ACCEPTED, SeekEnd.WITHDRAWN, SeekEnd.PLAYING}:
            return
        if not self._stopped:
            self._service.spawn(self._play(seek))

    async def _play(self, seek: SeekMade) -> None:
        """Look for an opponent for a player on this node, who isn't looking or playing already."""
        hall, name = self._hall, seek.player
        if name not in self._service.local_players() or name not in hall.people:
            return
        now = self._service.clock()
        looks = any(each.player == name and not each.to for each in hall.seeks.values())
        # A battle with a bot goes on meanwhile; anything else would be interrupted by one.
        is_elsewhere = hall.is_occupied(name, now) and not bot_battles_of(hall, name)
        if not (looks or is_elsewhere or hall.is_busy(name, now)):
            is_rated = None if seek.rated else False
            command = PlayNow(seek.rules, seek.side, seek.time, is_rated)
            await self._service.run_command(name, command)

    def _on_player_gone(self, applied: AppliedEvent) -> None:
        """End the seeks of a player who has left, at once or after some minutes."""
        gone = cast("Gone", applied.event)
        name, parting = gone.player, gone.parting
        if self._stopped or not self._has_seeks_of(name):
            return
        if parting.is_by_server:
            self._end_after_absence(name)
        elif applied.is_ours:
            self._service.spawn(self._end(name, for_good=parting is not Parting.LOST))

    def _has_seeks_of(self, name: str) -> bool:
        return any(name in {seek.player, seek.to} for seek in self._hall.seeks.values())

    def _watch(self, seek: SeekMade) -> None:
        if seek.keeps_looking:
            self._look_on[seek.number] = seek
        if seek.until is not None:
            key = "question", str(seek.number)
            self._service.scheduler.schedule(
                key, seek.until, lambda: self._service.spawn(self._expire_question(seek))
            )

    async def run_overdue(self) -> None:
        """End the questions whose time is up."""
        for seek in list(self._hall.seeks.values()):
            if seek.until is not None and seek.until <= self._service.clock():
                await self._expire_question(seek)

    async def _expire_question(self, seek: SeekMade) -> None:
        """End a question whose time is up."""
        try:
            while self._hall.seeks.get(seek.number) == seek:
                await self._service.carry_out(
                    expire_question(self._hall, seek, self._service.clock())
                )
        except StoreError as error:
            _log.error(
                "could not store the end of a question: %s", error, extra={"player": seek.player}
            )
            key, at = ("question", str(seek.number)), self._service.clock() + RETRY
            self._service.scheduler.schedule(
                key, at, lambda: self._service.spawn(self._expire_question(seek))
            )

    def _end_after_absence(self, name: str) -> None:
        """End the seeks by and to an absent player in some minutes, unless they come back."""
        self._service.scheduler.cancel(("absent seeker", name))  # the timer of an earlier absence
        at = self._service.clock() + max(self._hall.seat_grace, LEAST_GRACE)
        end = partial(self._end, name, for_good=True)
        self._service.scheduler.schedule(
            ("absent seeker", name), at, lambda: self._service.spawn(end())
        )

    async def _end(self, name: str, *, for_good: bool) -> None:
        """End the seeks by a player who has left and, if for good, those to that player."""
        try:
            while name not in self._hall.people:
                decision = end_seeks_of_departed(
                    self._hall, name, self._service.clock(), for_good=for_good
                )
                if not decision.hall or await self._service.carry_out(decision):
                    break
        except StoreError as error:
            _log.error("could not store the end of a seek: %s", error, extra={"player": name})
            self._end_after_absence(name)
            return
        if not for_good and self._has_seeks_of(name):
            self._end_after_absence(name)
