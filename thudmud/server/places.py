"""Where spectators are: stored, so that they are there again after a restart of the server."""

from __future__ import annotations

import asyncio
import logging

from thudmud.features.rooms.commands import Go, Observe
from thudmud.game.asides import CameIn, Entered, Gone, ObserveChosen
from thudmud.game.events import Joined, Left
from thudmud.game.feature import AppliedEvent
from thudmud.service import Service, Visit
from thudmud.store import LastPlace, StoreError, accounts

_MOVEMENTS = (Entered, CameIn, ObserveChosen, Gone, Joined, Left)

_NOWHERE = LastPlace()

_log = logging.getLogger(__name__)


class Places:
    """Stores in the background where players are who have no seat there, until they leave.

    Args:
        service: the service.
    """

    def __init__(self, service: Service) -> None:
        self._service, self._hall, self._store = service, service.hall, service.store
        self._stored: dict[str, LastPlace] = {}
        """The stored places of players who are here; players without one are in the hall."""
        self._unwritten: dict[str, LastPlace | None] = {}
        self._writing: asyncio.Task[None] | None = None
        self._is_stopping = False
        service.bus.subscribe(_MOVEMENTS, self._handle_movement)

    async def recall(self, name: str) -> LastPlace | None:
        """Return where an absent player was when the server stopped; None if unknown.

        Raises:
            StoreError: the store cannot be read.
        """
        if name in self._hall.people:
            return None
        place = await self._store.read(accounts.find_place, name)
        if place:
            self._stored[name] = place
        return place

    async def restore(self, visit: Visit, place: LastPlace) -> None:
        """Take a player to the board that they watched, unless they have a seat, and observe."""
        tables = self._hall.tables
        try:
            for key in place.observed:
                table = tables.with_key(key)
                if table and not table.side_of(visit.name):
                    await self._service.submit(visit, Observe(table.name))
            table = tables.with_key(place.room)
            if table and not tables.seats_of(visit.name):
                await self._service.submit(visit, Go(table.name))
        except StoreError as error:
            _log.error("could not restore a place: %s", error, extra={"player": visit.name})

    def stop(self) -> None:
        """Keep the places as they are: from now on, players leave because the server stops."""
        self._is_stopping = True

    async def close(self) -> None:
        """Wait until all places are stored."""
        if self._writing:
            await self._writing

    def _handle_movement(self, applied: AppliedEvent) -> None:
        event = applied.event
        if self._is_stopping or not applied.is_ours or not isinstance(event, _MOVEMENTS):
            return
        name = event.player
        place = self._place(name)
        if name in self._hall.bots or self._stored.get(name, _NOWHERE) == place:
            return
        self._stored[name] = place
        self._unwritten[name] = None if place == _NOWHERE else place
        if place == _NOWHERE:
            del self._stored[name]
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    def _place(self, name: str) -> LastPlace:
        person, tables = self._hall.people.get(name), self._hall.tables
        if person is None:
            return _NOWHERE
        here = self._hall.table_in(person.room)
        room = here.key if here and not here.side_of(name) else ""
        return LastPlace(room, tuple(tables[board].key for board in person.observed))

    async def _write(self) -> None:
        try:
            while self._unwritten:
                places, self._unwritten = self._unwritten, {}
                await self._store.write(accounts.set_places, places)
        except StoreError as error:
            _log.error("could not store where players are: %s", error)
        finally:
            self._writing = None
