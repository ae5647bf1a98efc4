"""The page's side of a server: its connections, and what they ask for.

It is no part of the start: it is loaded with the first connection to the page, or a moment after
the server is ready.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from functools import partial

from thudmud.accounts.limiters import RateLimiter, TokenBucket, is_local, network
from thudmud.features import NAMES
from thudmud.game.feature import AnswerPage
from thudmud.server.config import Settings
from thudmud.server.gallery import Gallery
from thudmud.server.inbox import InboxQueue
from thudmud.server.proxies import Proxies
from thudmud.server.session import Caller, PlayerSession, SessionPolicy
from thudmud.server.sessions import Sessions
from thudmud.store import StoreError
from thudmud.telnet.intake import Reading
from thudmud.values import replace
from thudmud.web.connection import HttpPolicy
from thudmud.web.frames import FrameScreen
from thudmud.web.http import HttpRequest, HttpResponse, plain
from thudmud.web.pictures import Preview, Site
from thudmud.web.routes import Route, Routes, routes_of
from thudmud.web.sockets import SocketPolicy, WebConnection

PER_HOUR, AT_ONCE = 120, 30
"""How often pages of features can be asked for from one address, in an hour and at once."""

PAGE_COST = 8
"""What a request for such a page counts for, in requests: it is looked up."""

_HOUR = 3_600.0

_log = logging.getLogger(__name__)


class Pages:
    """Makes the connections to the page, which share their limits and what was drawn."""

    def __init__(self, sessions: Sessions, buffer: memoryview) -> None:
        self._sessions, self._buffer = sessions, buffer
        self._gallery = Gallery(sessions.service.hall, sessions.store)
        limiter = RateLimiter(PER_HOUR / _HOUR, AT_ONCE)
        self._pages = tuple(
            Route(each.path, FeaturePage(each.answer, limiter).respond, each.methods)
            for each in sessions.pages()
        )
        self._turns = InboxQueue()
        self._browsing: set[asyncio.Transport] = set()
        """The connections that are no WebSockets."""

    def adopt(self, settings: Settings, shared: SessionPolicy, forwarders: Proxies) -> None:
        """Apply settings to connections from now on."""
        server, web = settings.server, settings.web
        self._shared, self._forwarders = shared, forwarders
        self._budgets = RateLimiter(web.requests_per_second, web.requests_at_once)
        site = Site(
            find=self._preview,
            pictures=self._gallery,
            public_url=web.public_url,
            embed=frozenset(web.embed),
            features=tuple(name for name in NAMES if name not in settings.features.off),
        )
        routes = Routes(routes_of(site, self._pages))
        self._policy = HttpPolicy(self._turns, web.patience, routes.respond)
        self._sockets = SocketPolicy(
            max_line=server.max_line,
            outbox_bytes=server.outbox_bytes,
            max_frame=web.max_frame,
            rate=partial(TokenBucket, web.frames_per_second, web.frames_at_once),
            ping=web.ping,
            origins=frozenset(web.origins),
            public_url=web.public_url,
        )

    def connection(self, caller: Caller) -> WebConnection:
        """Return the protocol of a connection that was accepted."""
        peer = _WebPeer(caller, self._forwarders, self._budgets, self._shared, self._browsing)
        return WebConnection(peer, self._policy, self._sockets, self._buffer)

    def abort(self) -> None:
        """End the connections that are no WebSockets."""
        for transport in self._browsing:
            transport.abort()

    async def close(self) -> None:
        """Draw nothing more."""
        await self._gallery.close()

    async def _preview(self, kind: str, name: str) -> Preview | None:
        try:
            if kind == "board":
                told = self._sessions.told_of_board(name)
            else:
                told = await self._sessions.told_of_battle(int(name))
        except StoreError as error:
            _log.error("a link cannot be told of: %s", error)
            return None
        return told and Preview(*told)


class FeaturePage:
    """A page of a feature; one address can only ask so often for all of them."""

    def __init__(self, answer: AnswerPage, limiter: RateLimiter) -> None:
        self._answer, self._limiter = answer, limiter

    async def respond(self, request: HttpRequest, **variables: str) -> HttpResponse:
        """Return the response to a request."""
        if not is_local(request.address):
            bucket = self._limiter.of(network(request.address))
            if wait := bucket.take(asyncio.get_running_loop().time()):
                later = {"Retry-After": str(math.ceil(wait))}
                return plain(429, "That was asked for too often from your address.", later)
        status, fields, text = await self._answer(**variables)
        if "Content-Type" not in fields:
            return plain(status, text, fields, cost=PAGE_COST)
        return HttpResponse(status, fields, text.encode(), cost=PAGE_COST)


class _WebPeer:
    """The peer of a connection to the page; an `HttpPeer`."""

    def __init__(
        self,
        caller: Caller,
        forwarders: Proxies,
        budgets: RateLimiter,
        shared: SessionPolicy,
        browsing: set[asyncio.Transport],
    ) -> None:
        self._caller, self._forwarders, self._shared = caller, forwarders, shared
        self._budgets, self._browsing = budgets, browsing
        self.is_forwarder = caller.address in forwarders
        self.source = network(caller.address)
        if self.is_forwarder:  # the next request may be anybody's
            self.source += f" {caller.port}"

    def came(self, transport: asyncio.Transport) -> None:
        """Note the connection."""
        self._browsing.add(transport)

    def is_secure(self, fields: Mapping[str, str]) -> bool:
        """Return whether a forwarder says that the page is at ``https:``."""
        return self._forwarders.is_secure(self._caller.address, fields)

    def address(self, fields: Mapping[str, str]) -> str | None:
        """Return the address that a request comes from; None if a forwarder does not say it."""
        address = self._forwarders.client(self._caller.address, fields)
        if address is None:
            told = {name: fields.get(name, "") for name in ("x-forwarded-for", "forwarded")}
            _log.warning(
                "a forwarder does not say whom a request is from: expected an address in"
                " X-Forwarded-For",
                extra={"peer": self._caller.address, **told},
            )
        return address

    def budget(self, address: str) -> TokenBucket:
        """Return the budget of requests of an address."""
        return self._budgets.of(network(address))

    def admit(self, address: str) -> str:
        """Return why the client may not come in, as a sentence; nothing if it may."""
        if refused := self._caller.assign(address):
            return refused
        self._caller = replace(self._caller, address=address)
        return ""

    def open_session(
        self, transport: asyncio.Transport, reading: Reading, screen: FrameScreen
    ) -> PlayerSession:
        """Make the session of a WebSocket."""
        self._browsing.discard(transport)
        return PlayerSession(transport, reading, screen, self._caller, self._shared)

    def gone(self, transport: asyncio.Transport) -> None:
        """Release a connection that has not become a WebSocket."""
        self._browsing.discard(transport)
        self._caller.release()
