"""Ends the seeks of players who left, and those that nobody has answered in time.

A player who lost the connection looks for nobody from then on; what others asked of them waits some
minutes for them. Every node watches all seeks, and they end at the version of the hall, so only
once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, cast

from thudmud.features.matchmaking.commands import PlayNow
from thudmud.game.asides import Gone
from thudmud.game.events import Parting, SeekEnd, SeekEnded, SeekMade
from thudmud.game.feature import AppliedEvent
from thudmud.game.hall import Decision
from thudmud.game.seeks import gone, unanswered
from thudmud.service.driving import now
from thudmud.service.following import Following
from thudmud.service.interface import Base
from thudmud.store import Conflict, StoreError

LEAST_GRACE = 60.0
"""The fewest seconds for which something is kept for absent players."""

RETRY = 5.0
"""Seconds before it is tried again to store an end."""

_log = logging.getLogger(__name__)


class Seeking:
    """Watches the seeks.

    Args:
        base: what the parts of a service share. Without timers, no seek ends by itself.
        following: stores the events.
        is_ours: returns whether a player is on this node.
        play: has a player of this node look for somebody to play with.

    """

    def __init__(
        self,
        base: Base,
        following: Following,
        *,
        is_ours: Callable[[str], bool],
        play: Callable[[str, PlayNow], Coroutine[Any, Any, None]],
    ) -> None:
        self._hall, self._following, self._clock = base.hall, following, base.clock
        self._is_ours, self._play = is_ours, play
        self._scheduler, self._stopped = base.scheduler, False
        self._look_on: dict[int, SeekMade] = {}
        """By number, the open seeks whose makers look for somebody else if they are declined."""
        base.bus.on(Gone, self._gone)
        base.bus.on(SeekMade, self._made)
        base.bus.on(SeekEnded, self._ended)

    def begin(self) -> None:
        """Watch all seeks, when a server starts."""
        for seek in self._hall.seeks.values():
            self._watch(seek)
            for name in {seek.player, seek.to} - {"", *self._hall.people}:
                self._wait_for(name)

    def stop(self) -> None:
        """Ignore all further events."""
        self._stopped = True

    def _made(self, applied: AppliedEvent) -> None:
        self._watch(cast("SeekMade", applied.event))

    def _ended(self, applied: AppliedEvent) -> None:
        """Look for somebody else if nobody has accepted, and the player looks on."""
        event = cast("SeekEnded", applied.event)
        self._scheduler.cancel(("question", str(event.number)))
        seek = self._look_on.pop(event.number, None)
        if seek is None or event.why in {SeekEnd.ACCEPTED, SeekEnd.WITHDRAWN, SeekEnd.PLAYING}:
            return
        if self._is_ours(seek.player) and not self._stopped:
            command = PlayNow(seek.rules, seek.side, seek.time, seek.rated)
            now(self._play(seek.player, command))

    def _gone(self, applied: AppliedEvent) -> None:
        """End the seeks of a player who left, or wait for them."""
        gone = cast("Gone", applied.event)
        name, parting = gone.player, gone.parting
        if self._stopped or not self._concerns(name):
            return
        if parting.is_by_server:
            self._wait_for(name)
        elif applied.is_ours:
            now(self._end(name, for_good=parting is not Parting.LOST))

    def _concerns(self, name: str) -> bool:
        return any(name in {seek.player, seek.to} for seek in self._hall.seeks.values())

    def _watch(self, seek: SeekMade) -> None:
        if seek.looks_on:
            self._look_on[seek.number] = seek
        if seek.until is not None:
            key = "question", str(seek.number)
            self._scheduler.at(key, seek.until, lambda: now(self._unanswered(seek)))

    async def pass_time(self) -> None:
        """End the seeks that nobody has answered by now, for a front end without timers."""
        for seek in list(self._hall.seeks.values()):
            if seek.until is not None and seek.until <= self._clock():
                await self._unanswered(seek)

    async def _unanswered(self, seek: SeekMade) -> None:
        """End a seek that nobody has answered in time."""
        try:
            while self._hall.seeks.get(seek.number) == seek:
                await self._stored(unanswered(self._hall, seek, self._clock()))
        except StoreError as error:
            _log.error("not stored: %s", error, extra={"player": seek.player})
            key, at = ("question", str(seek.number)), self._clock() + RETRY
            self._scheduler.at(key, at, lambda: now(self._unanswered(seek)))

    def _wait_for(self, name: str) -> None:
        """End the seeks by and to a player who is away, unless they come back in some minutes."""
        self._scheduler.cancel(("absent seeker", name))  # from an earlier absence
        at = self._clock() + max(self._hall.seat_grace, LEAST_GRACE)
        end = partial(self._end, name, for_good=True)
        self._scheduler.at(("absent seeker", name), at, lambda: now(end()))

    async def _end(self, name: str, *, for_good: bool) -> None:
        """End the seeks by a player who left, and, if for good, those to them."""
        try:
            while name not in self._hall.people:
                decision = gone(self._hall, name, self._clock(), for_good=for_good)
                if not decision.hall or await self._stored(decision):
                    break
        except StoreError as error:
            _log.error("not stored: %s", error, extra={"player": name})
            self._wait_for(name)
            return
        if not for_good and self._concerns(name):
            self._wait_for(name)

    async def _stored(self, decision: Decision) -> bool:
        """Store a decision; return False if it has to be made again, after a conflict."""
        try:
            await self._following.write(decision)
        except Conflict as conflict:
            await self._following.until(conflict)
            return False
        return True
