"""Connections to an HTTP port, as asyncio drives them: h11 reads requests and writes responses.

Only this module drives h11. It has been given what limits a stranger: how much is read ahead, how
much a client may ask for, how long it may take, and when it is whose turn.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from time import thread_time
from typing import Protocol, cast

import h11
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date

from thudmud.telnet.intake import Reading, notice_dead_links
from thudmud.telnet.interface import Budget, extra_cost
from thudmud.values import Value
from thudmud.web.http import (
    Answer,
    HttpRequest,
    HttpResponse,
    finish,
    plain,
    read_request,
    refusal,
    require_strict_head,
    serialize,
)

MAX_HEAD = 8192
"""The most bytes of a request's head; browsers send about one thousand."""

MAX_BODY = 8192
"""The most bytes of a body that is waited for. It means nothing to us, but a client that still
sends would not read the answer."""

KEPT = 5.0
"""Seconds for which a connection is kept open after an answer: browsers open six to load the page,
and each counts for their address."""

LINGERING = 2.0
"""Seconds for a client to read why it is refused, while it still sends, and to close."""

FILE_PIECE = 16_384
"""Bytes of an answer that count as one more request."""

MOST_WAIT = 1.0
"""Seconds that a forwarded request may wait for its client's budget: it holds one of the server's
connections meanwhile, and counts for nobody else's limit."""

WRITTEN_AT_ONCE = 65_536
"""Bytes of an answer that are handed over at once: the rest waits where others may have it, too."""

_TOO_OFTEN = "You have asked for too much at once. Please try again in a while."
_NO_CLIENT = (
    "The proxy in front of this server does not say whom it asks for: it should send an address in"
    " X-Forwarded-For, such as 203.0.113.9."
)

_log = logging.getLogger(__name__)


class RunQueue(Protocol):
    """Shares each turn of the event loop among those that wait for one."""

    def wait(self, source: str, take: Callable[[], None], *, again: bool = False) -> None:
        """Call ``take`` in one of the next turns; if it comes ``again``, after all others.

        Those of one source share its turns.
        """


class HttpPolicy(Value):
    """What holds for all connections of a port.

    Attributes:
        turns: shares each turn of the event loop among the connections that have to answer.
        patience: seconds that a client may take for a request, and to read the answer.
        respond: answers a request; it returns None if the connection is to be upgraded.
    """

    turns: RunQueue
    patience: float
    respond: Callable[[HttpRequest], Answer | None]


class HttpPeer(Protocol):
    """The peer of a connection; its requests may tell more, if it is a proxy.

    Attributes:
        is_forwarder: whether it is a trusted proxy, whose requests are those of others.
        source: what it shares its turns with, see `RunQueue`: its network, as a rule.
    """

    is_forwarder: bool
    source: str

    def budget(self, address: str) -> Budget:
        """Return the budget of requests of an address."""

    def is_secure(self, fields: Mapping[str, str]) -> bool:
        """Return whether a proxy says that the page is at ``https:``."""

    def address(self, fields: Mapping[str, str]) -> str | None:
        """Return the address that a request comes from; None if a forwarder does not say it."""

    def came(self, transport: asyncio.Transport) -> None:
        """Note that the connection is open."""

    def gone(self, transport: asyncio.Transport) -> None:
        """Note that the connection is gone, and was not upgraded."""


def rejection(reason: str) -> bytes:
    """Return the response to a connection that is not accepted, whatever it would ask for."""
    return _rejection(reason, http_date())


@lru_cache(maxsize=8)  # thousands may be told the same in a second
def _rejection(reason: str, _: str) -> bytes:
    http = h11.Connection(h11.SERVER)
    response = plain(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": "60"})
    finish(response, None)
    events = serialize(response, keeps=False), h11.Data(data=response.body), h11.EndOfMessage()
    return b"".join(http.send(each) or b"" for each in events)


class HttpConnection(asyncio.BufferedProtocol):
    """A connection that answers requests, one after the other.

    Each turn of the event loop (see `RunQueue`) answers one request, or writes one more piece of a
    response: whoever has sent many requests at once waits for all others.
    """

    def __init__(self, peer: HttpPeer, policy: HttpPolicy, buffer: memoryview) -> None:
        self._peer, self._policy, self._buffer = peer, policy, buffer
        self._unread = bytearray()
        """Received bytes that h11 has not been given: it gets as many as a request may have."""
        self._tail = b""
        """The end of what h11 was given of a request's head."""
        self._http: h11.Connection | None = None
        """Reads a request, and writes the response; None between requests."""
        self._event: h11.Request | None = None
        """The head of a request whose body is waited for."""
        self._request: HttpRequest | None = None
        """The request that is being answered."""
        self._budget: Budget | None = None
        """The budget of its client."""
        self._rest: memoryview | None = None
        """What is not written yet of the response."""
        self._has_more = False
        """Whether there may be a request in what has been received."""
        self._is_choked = self._is_over = False
        self._is_queued = False
        """Whether it waits for a turn."""
        self._delay: asyncio.TimerHandle | None = None
        """Ends when the request, which has been charged for, may be answered."""
        self._work: asyncio.Task[None] | None = None
        """Makes a response that takes a while. Later requests wait for it."""
        self._patience: asyncio.TimerHandle | None = None
        self._has_ended = False
        """Whether the client sends nothing more."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request."""
        notice_dead_links(transport)
        self._transport = cast("asyncio.Transport", transport)
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._reading = Reading(self._transport)
        self._peer.came(self._transport)
        self._limit_time()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return where to put what has been received."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Answer complete requests."""
        if not self._is_over:  # else it is read so that the end of the connection is noticed
            self._unread += self._buffer[:nbytes]
            self._has_more = True
            self._go_on()

    def eof_received(self) -> bool:
        """Close the connection after the answers, but for those that wait for a budget."""
        self._reading.end()
        self._has_ended = True
        if self._delay or self._is_tls:  # TLS cannot be closed at one end only
            self._finish()
        else:
            self._go_on()
        return not self._is_over

    def pause_writing(self) -> None:
        """Stop answering: the client does not read its answers."""
        self._is_choked = True
        self._reading.hold(self)

    def resume_writing(self) -> None:
        """Go on answering: the client has caught up."""
        self._is_choked = False
        self._reading.let_go(self)
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Note that the connection is gone."""
        self._is_over = True
        for each in (self._patience, self._work, self._delay):
            if each:
                each.cancel()
        self._peer.gone(self._transport)

    def upgrade(self, request: HttpRequest) -> None:
        """Make another protocol of the connection, for a request that `HttpPolicy` says so of."""
        raise NotImplementedError

    def _limit_time(self) -> None:
        """Abort the connection if the client takes too long to ask, or to read the answer."""
        self._call_later(self._policy.patience, self._transport.abort)

    def _call_later(self, seconds: float, end: Callable[[], None]) -> None:
        if self._patience:
            self._patience.cancel()
        self._patience = asyncio.get_running_loop().call_later(seconds, end)

    def _end_idle(self) -> None:
        """Close an idle connection, once the last answer has been read."""
        if self._delay or self._is_queued or self._transport.get_write_buffer_size():
            self._limit_time()
        else:
            self._finish()

    def _finish(self, *, lingers: bool = False) -> None:
        """Close the connection once everything has been sent, within the client's patience.

        With ``lingers`` the client may close first: if we did while it still sends, it might never
        see the answer (RFC 9112, section 9.6).
        """
        if self._is_over:  # TLS reports an end while it closes, which would close it again
            return
        self._is_over = True
        if lingers and self._transport.can_write_eof():
            self._reading.let_go("backlog")
            self._call_later(LINGERING, self._transport.abort)
            with suppress(OSError):  # the client has gone already
                self._transport.write_eof()
        else:
            self._transport.close()

    def _go_on(self, *, again: bool = False) -> None:
        """Wait for a turn, if there is something to do, and nothing else to wait for.

        Some bytes are read ahead, since only reading shows that a client has hung up.
        """
        is_busy = self._delay is not None or self._work is not None
        if not (self._is_queued or self._is_choked or self._is_over or is_busy):
            if self._has_more or self._request:
                self._is_queued = True
                self._policy.turns.wait(self._peer.source, self._take_turn, again=again)
            elif self._has_ended:
                self._finish()
        if len(self._unread) > MAX_HEAD and (self._is_queued or is_busy):
            self._reading.hold("backlog")
        else:
            self._reading.let_go("backlog")

    def _take_turn(self) -> None:
        self._is_queued = False
        if self._is_choked or self._is_over:
            return
        begun = thread_time()
        try:
            if self._rest is not None:
                self._write_on()
            elif self._request:  # its client's budget has been waited for
                self._answer(self._request)
            else:
                self._read_on()
        except Exception:  # noqa: BLE001  (whatever we get wrong, the others go on)
            self._fail()
        if self._budget:
            self._budget.charge(extra_cost(thread_time() - begun))
        self._go_on(again=True)

    def _fail(self) -> None:
        # The rest of the path may be a secret, such as the address of a calendar.
        request = self._request
        what = request and f"{request.method} {'/'.join(request.path.split('/', 2)[:2])}"
        _log.exception("no answer to a request", extra={"request": what})
        self._is_over = True
        self._transport.abort()

    def _read_on(self) -> None:
        """Read a request; answer it if it is complete, and its client has a budget for it."""
        try:
            event = self._read_event()
            if event is None:
                self._has_more = False
                return
            request = read_request(event, lambda: self._has_ended)
        except (h11.RemoteProtocolError, HTTPException) as error:
            self._write(refusal(error), None)
            return
        address = self._peer.address(request.fields)
        if address is None:
            self._write(plain(HTTPStatus.BAD_REQUEST, _NO_CLIENT), None)
            return
        request.remote_addr = address
        request.scheme = "https" if self._is_tls or self._peer.is_secure(request.fields) else "http"
        self._request, self._budget = request, self._peer.budget(address)
        loop = asyncio.get_running_loop()
        wait = self._budget.wait(loop.time())
        if wait > MOST_WAIT and self._peer.is_forwarder:
            later = {"Retry-After": str(math.ceil(wait))}
            self._write(plain(HTTPStatus.TOO_MANY_REQUESTS, _TOO_OFTEN, later), request)
            return
        self._budget.charge(1)
        if wait:
            self._delay = loop.call_later(wait, self._end_delay)
        else:
            self._answer(request)

    def _read_event(self) -> h11.Request | None:
        """Return the head of a request that can be answered; None if there are more bytes to come.

        Only a short body is waited for, and none if the client asks whether to send it (RFC 9110,
        section 10.1.1): it is answered without.
        """
        while (event := self._next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.EndOfMessage):
                return self._event
            if isinstance(event, h11.Request):
                if not self._is_body_short(event):
                    return event
                self._event = event
        return None

    def _is_body_short(self, event: h11.Request) -> bool:
        fields = dict(event.headers)
        length = fields.get(b"content-length", b"0")
        if b"transfer-encoding" in fields or len(length) > len(str(MAX_BODY)):
            return False
        is_held = self._http is not None and self._http.they_are_waiting_for_100_continue
        return int(length) <= MAX_BODY and not is_held

    def _next_event(self) -> object:
        if self._http is None:
            if self._unread.startswith((b"\r", b"\n")):  # RFC 9112, section 2.2
                self._unread = self._unread.lstrip(b"\r\n")
            if not self._unread:
                return h11.NEED_DATA
            self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        event = self._http.next_event()
        if event is h11.NEED_DATA and self._unread:
            size = MAX_HEAD + 1 - len(self._http.trailing_data[0])
            piece = bytes(self._unread[:size])
            del self._unread[:size]
            if self._event is None:
                require_strict_head(self._tail + piece)
                self._tail = (self._tail + piece)[-3:].lstrip(b"\n")
            self._http.receive_data(piece)
            event = self._http.next_event()
        return event

    def _end_delay(self) -> None:
        self._delay = None
        self._go_on()

    def _answer(self, request: HttpRequest) -> None:
        answer = self._policy.respond(request)
        if answer is None:
            self.upgrade(request)
        elif isinstance(answer, HttpResponse):
            self._write(answer, request)
        else:
            self._limit_time()
            self._work = asyncio.create_task(self._wait_for(answer, request))

    async def _wait_for(self, answer: Awaitable[HttpResponse], request: HttpRequest) -> None:
        """Write a response that takes a while; requests behind it wait."""
        try:
            response = await answer
            self._work = None
            self._write(response, request)
        except Exception:  # noqa: BLE001  (the same)
            self._fail()
        self._go_on(again=True)

    def _write(self, response: HttpResponse, request: HttpRequest | None) -> None:
        """Begin to write a response; without a valid request the connection ends with it."""
        http = self._http
        if http is None:
            raise RuntimeError("expected a request before its response")
        finish(response, request)
        keeps = request is not None and not request.has_body
        head = http.send(serialize(response, keeps=keeps)) or b""
        has_none = response.status_code == HTTPStatus.NOT_MODIFIED
        has_none |= request is not None and request.method == "HEAD"
        self._rest = memoryview(b"" if has_none else response.body)
        if self._budget:
            self._budget.charge(response.cost + len(self._rest) // FILE_PIECE)
        self._write_on(head)

    def _write_on(self, head: bytes = b"") -> None:
        """Write a piece of a response."""
        rest, http = self._rest, self._http
        if rest is None or http is None:
            return
        piece, self._rest = rest[:WRITTEN_AT_ONCE], rest[WRITTEN_AT_ONCE:]
        written = [head, http.send(h11.Data(data=bytes(piece))) or b"" if piece else b""]
        if not self._rest:
            written.append(http.send(h11.EndOfMessage()) or b"")
        self._transport.write(b"".join(written))
        if not self._rest:
            self._end_response(http)

    def _end_response(self, http: h11.Connection) -> None:
        self._request = self._rest = self._http = self._event = None
        self._tail = b""
        if http.our_state is not h11.DONE:
            self._finish(lingers=http.their_state in {h11.SEND_BODY, h11.ERROR, h11.IDLE})
            return
        self._unread[:0] = http.trailing_data[0]
        self._has_more = bool(self._unread)
        self._call_later(min(KEPT, self._policy.patience), self._end_idle)
