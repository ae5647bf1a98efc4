"""What members publish: calendars and feeds, found by their addresses; and ending their mails."""

from __future__ import annotations

import asyncio
import logging
import math
from http import HTTPStatus

from thudmud.accounts.limiters import RateLimiter, is_local, network
from thudmud.features.notifications.pages import CALENDAR, MAIL, NOTHING, PublishedRequest
from thudmud.features.notifications.published import calendar, feed
from thudmud.game.hall import Hall
from thudmud.store import Store, StoreError
from thudmud.web.pictures import Absence

MOST_ENTRIES = 20
"""How many battles are in a feed."""

PER_HOUR, AT_ONCE = 120, 30
"""How often something can be asked for from one address, in an hour and at once."""

BROKEN = Absence(HTTPStatus.SERVICE_UNAVAILABLE, "That cannot be read just now.", 60)
_HOUR = 3_600.0

_log = logging.getLogger(__name__)


class Publisher:
    """All that is published on a server; `web.published.Publications`.

    Args:
        hall: the boards.
        store: the battles, and what members have chosen.
    """

    def __init__(self, hall: Hall, store: Store) -> None:
        self._hall, self._store = hall, store
        self._limiter = RateLimiter(PER_HOUR / _HOUR, AT_ONCE)

    async def find(self, wanted: PublishedRequest, address: str) -> str | Absence:
        """Return what is asked for; "" if mails can be ended, or are."""
        if not is_local(address):
            wait = self._limiter.of(network(address)).take(asyncio.get_running_loop().time())
            if wait:
                sentence = "That was asked for too often from your address."
                return Absence(HTTPStatus.TOO_MANY_REQUESTS, sentence, math.ceil(wait))
        try:
            return await self._find(wanted)
        except StoreError as error:
            _log.warning("nothing is published: %s", error)
            return BROKEN

    async def _find(self, wanted: PublishedRequest) -> str | Absence:
        if wanted.kind == MAIL:
            look = self._store.end_mails if wanted.ends else self._store.is_ended_by
            return "" if await look(wanted.word) else NOTHING
        page = self._hall.ways.page
        if wanted.kind == CALENDAR:
            player = await self._store.calendar_of(wanted.word)
            if not (player and page):
                return NOTHING
            return calendar(player, self._hall.tables.seats_of(player), page)
        player = await self._store.feed_of(wanted.word)
        if not (player and page):
            return NOTHING
        return feed(player, await self._store.ended(player, MOST_ENTRIES), page)
