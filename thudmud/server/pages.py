"""The web side of the server: HTTP connections, WebSockets and the pages of features.

This module is imported lazily, with the first web connection or shortly after the server is ready,
so that it doesn't delay the start.
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
from thudmud.server.gallery import PictureCache
from thudmud.server.inbox import FairScheduler
from thudmud.server.proxies import Proxies
from thudmud.server.session import AcceptedConnection, PlayerSession, SessionPolicy
from thudmud.server.session_registry import Sessions
from thudmud.store import StoreError
from thudmud.telnet.intake import ReadPauser
from thudmud.values import replace
from thudmud.web.connection import HttpPolicy
from thudmud.web.frames import FrameScreen
from thudmud.web.http import HttpRequest, HttpResponse, plain
from thudmud.web.pictures import Preview, PreviewUnavailableError, Site
from thudmud.web.routes import Route, site_routes
from thudmud.web.sockets import SocketPolicy, WebConnection

PER_HOUR, AT_ONCE = 120, 30
"""Requests for pages of features from one address: per hour, and in a burst."""

PAGE_COST = 8
"""The cost of such a page in ordinary requests: it needs a look-up in the store."""

_HOUR = 3_600.0

_log = logging.getLogger(__name__)


def _site_features(settings: Settings) -> tuple[str, ...]:
    """Return the names of what the page offers: the enabled features, and parts of them."""
    enabled = tuple(name for name in NAMES if name not in settings.features.off)
    tournaments = dict(settings).get("tournaments")  # a section of the feature
    may_guests_announce = tournaments is not None and tournaments.by == "everybody"
    return (*enabled, "guest-tournaments") if may_guests_announce else enabled


class Pages:
    """Factory of web connections, which share their rate limits and cached pictures."""

    def __init__(self, sessions: Sessions, buffer: memoryview) -> None:
        self._sessions, self._buffer = sessions, buffer
        self._gallery = PictureCache(sessions.service.hall, sessions.store)
        limiter = RateLimiter(PER_HOUR / _HOUR, AT_ONCE)
        self._pages = tuple(
            Route(each.path, FeaturePage(each.answer, limiter).respond, each.methods)
            for each in sessions.pages()
        )
        self._turns = FairScheduler()
        self._browsing: set[asyncio.Transport] = set()
        """Transports of the connections that haven't become WebSockets."""

    def adopt(self, settings: Settings, shared: SessionPolicy, forwarders: Proxies) -> None:
        """Apply settings to future connections."""
        server, web = settings.server, settings.web
        self._shared, self._forwarders = shared, forwarders
        self._budgets = RateLimiter(web.requests_per_second, web.requests_at_once)
        site = Site(
            find=self._preview,
            pictures=self._gallery,
            public_url=web.public_url,
            embed=frozenset(web.embed),
            features=_site_features(settings),
        )
        routes = site_routes(site, self._pages)
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

    def connection(self, caller: AcceptedConnection) -> WebConnection:
        """Return the protocol for an accepted connection."""
        peer = _WebPeer(caller, self._forwarders, self._budgets, self._shared, self._browsing)
        return WebConnection(peer, self._policy, self._sockets, self._buffer)

    def abort(self) -> None:
        """Abort all connections that haven't become WebSockets."""
        for transport in self._browsing:
            transport.abort()

    async def close(self) -> None:
        """Stop drawing pictures."""
        await self._gallery.close()

    async def _preview(self, kind: str, name: str) -> Preview | None:
        try:
            if kind == "board":
                told = self._sessions.board_preview(name)
            elif kind == "game":
                told = await self._sessions.battle_preview(int(name))
            else:
                told = await self._sessions.service.preview(kind, name)
        except StoreError as error:
            _log.error("could not read the preview of a link: %s", error)
            raise PreviewUnavailableError from error
        return told and Preview(*told)


class FeaturePage:
    """A page of a feature; the rate limit of an address covers all such pages."""

    def __init__(self, answer: AnswerPage, limiter: RateLimiter) -> None:
        self._answer, self._limiter = answer, limiter

    async def respond(self, request: HttpRequest, **variables: str) -> HttpResponse:
        """Return the page, or a 429 response if the address has used up its rate."""
        if not is_local(request.address):
            bucket = self._limiter.bucket_for(network(request.address))
            if wait := bucket.take(asyncio.get_running_loop().time()):
                later = {"Retry-After": str(math.ceil(wait))}
                return plain(
                    429, "Too many requests from your address. Please try again later.", later
                )
        status, fields, text = await self._answer(**variables)
        if "Content-Type" not in fields:
            return plain(status, text, fields, cost=PAGE_COST)
        return HttpResponse(status, fields, text.encode(), cost=PAGE_COST)


class _WebPeer:
    """The client of a web connection: an `HttpPeer`."""

    def __init__(
        self,
        caller: AcceptedConnection,
        forwarders: Proxies,
        budgets: RateLimiter,
        shared: SessionPolicy,
        browsing: set[asyncio.Transport],
    ) -> None:
        self._caller, self._forwarders, self._shared = caller, forwarders, shared
        self._budgets, self._browsing = budgets, browsing
        self.is_forwarder = caller.address in forwarders
        self.source = network(caller.address)
        if self.is_forwarder:  # its requests come from different clients
            self.source += f" {caller.port}"

    def connection_opened(self, transport: asyncio.Transport) -> None:
        """Register the connection."""
        self._browsing.add(transport)

    def is_secure(self, fields: Mapping[str, str]) -> bool:
        """Return whether the forwarder received the request over ``https:``."""
        return self._forwarders.is_secure(self._caller.address, fields)

    def address(self, fields: Mapping[str, str]) -> str | None:
        """Return the client's address; None if the forwarder names none."""
        address = self._forwarders.client(self._caller.address, fields)
        if address is None:
            told = {name: fields.get(name, "") for name in ("x-forwarded-for", "forwarded")}
            _log.warning(
                "expected an address in X-Forwarded-For from a forwarder",
                extra={"peer": self._caller.address, **told},
            )
        return address

    def budget(self, address: str) -> TokenBucket:
        """Return the request budget of an address's network."""
        return self._budgets.bucket_for(network(address))

    def admit(self, address: str) -> str:
        """Count the connection for its client, by address.

        Returns:
            The reason for a rejection, as a sentence; empty if the client is admitted.
        """
        if refused := self._caller.assign(address):
            return refused
        self._caller = replace(self._caller, address=address)
        return ""

    def open_session(
        self, transport: asyncio.Transport, reading: ReadPauser, screen: FrameScreen
    ) -> PlayerSession:
        """Create the session of a connection that has become a WebSocket."""
        self._browsing.discard(transport)
        return PlayerSession(transport, reading, screen, self._caller, self._shared)

    def connection_closed(self, transport: asyncio.Transport) -> None:
        """Unregister a closed connection that hasn't become a WebSocket."""
        self._browsing.discard(transport)
        self._caller.release()
