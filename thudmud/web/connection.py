"""HTTP/1.1 connections as an asyncio protocol around h11.

No other module drives h11. h11 does no I/O and sets few limits, so the limits on untrusted clients
are here: bytes read ahead, the request budget, time-outs, and fair turns between connections.
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

from thudmud.telnet.intake import ReadPauser, notice_dead_links
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
"""Maximum size of a request head, in bytes; browsers send about one thousand."""

MAX_BODY = 8192
"""Maximum size of a request body to wait for, in bytes. Bodies are ignored, but a client that is
still sending one would not read the response."""

KEPT = 5.0
"""Keep-alive time-out in seconds. It is short because browsers open six connections to load the
page, and all of them count towards the limit of their address."""

LINGERING = 2.0
"""Seconds that a refused client gets to read the response and close, while it may still send."""

FILE_PIECE = 16_384
"""Bytes of a response body that are charged as one additional request."""

MOST_WAIT = 1.0
"""Seconds that a forwarded request may wait for its client's budget. While it waits, it occupies
one of the server's connections, which counts towards no client's limit."""

WRITTEN_AT_ONCE = 65_536
"""Bytes of a response written in one turn. The rest stays a view of the body, which other responses
may share, and is not copied into the transport's buffer."""

_TOO_OFTEN = "Too many requests. Please try again in a while."
_NO_CLIENT = (
    "The proxy in front of this server doesn't name its client: expected an address in "
    "X-Forwarded-For, such as 203.0.113.9."
)

_log = logging.getLogger(__name__)


class RunQueue(Protocol):
    """Fair scheduler: shares each turn of the event loop among the waiting callbacks."""

    def schedule(self, source: str, take: Callable[[], None], *, again: bool = False) -> None:
        """Schedule a callback for one of the next turns.

        Args:
            source: the callbacks of one source share its turns.
            take: the callback.
            again: whether to run after all others, because the caller has just had a turn.
        """


class HttpPolicy(Value):
    """Settings and request handler shared by all connections of a port.

    Attributes:
        turns: scheduler of the connections that have a request to answer.
        patience: seconds that a client may take to send a request or to read the response.
        respond: request handler; returns None if the connection should be upgraded.
    """

    turns: RunQueue
    patience: float
    respond: Callable[[HttpRequest], Answer | None]


class HttpPeer(Protocol):
    """Peer of a connection: a client, or a proxy that forwards the requests of clients.

    Attributes:
        is_forwarder: whether the peer is a trusted proxy, which sends requests for others.
        source: key by which `RunQueue` shares turns: the peer's network, as a rule.
    """

    is_forwarder: bool
    source: str

    def budget(self, address: str) -> Budget:
        """Return the request budget of an address."""

    def is_secure(self, fields: Mapping[str, str]) -> bool:
        """Return whether a trusted proxy reports that the client uses ``https:``."""

    def address(self, fields: Mapping[str, str]) -> str | None:
        """Return the client address of a request; None if a forwarder doesn't name one."""

    def connection_opened(self, transport: asyncio.Transport) -> None:
        """Record that the connection has opened."""

    def connection_closed(self, transport: asyncio.Transport) -> None:
        """Record that the connection has closed without having been upgraded."""


def rejection(reason: str) -> bytes:
    """Return a complete 503 response for a connection that is refused before its request."""
    return _rejection(reason, http_date())


@lru_cache(maxsize=8)  # a flood may need thousands of the same response within a second
def _rejection(reason: str, _: str) -> bytes:
    http = h11.Connection(h11.SERVER)
    response = plain(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": "60"})
    finish(response, None)
    events = serialize(response, keep_alive=False), h11.Data(data=response.body), h11.EndOfMessage()
    return b"".join(http.send(each) or b"" for each in events)


class HttpConnection(asyncio.BufferedProtocol):
    """HTTP/1.1 server connection; answers its requests in order, one at a time.

    Theory of operation: no request is answered on receipt. `_queue_turn` queues the
    connection for a turn (see `RunQueue`), and a turn answers one request or writes one piece of a
    response. So a client that pipelines many requests waits for everybody else between two of them.
    """

    def __init__(self, peer: HttpPeer, policy: HttpPolicy, buffer: memoryview) -> None:
        self._peer, self._policy, self._buffer = peer, policy, buffer
        self._unread = bytearray()
        """Received bytes not yet passed to h11, which gets at most one maximal head at a time."""
        self._tail = b""
        """The last bytes of the request head that were passed to h11."""
        self._http: h11.Connection | None = None
        """Parser and serializer of one request and its response; None between requests."""
        self._event: h11.Request | None = None
        """Request head whose body is still being received."""
        self._request: HttpRequest | None = None
        """The request being answered."""
        self._budget: Budget | None = None
        """Request budget of the current client, which is charged for CPU time and bytes too."""
        self._unwritten: memoryview | None = None
        """Unwritten part of the response body; None if no response is being written."""
        self._has_more = False
        """Whether the received bytes may contain another request."""
        self._is_choked = self._is_over = False
        self._is_queued = False
        """Whether the connection is waiting for a turn."""
        self._delay: asyncio.TimerHandle | None = None
        """Timer until the current request, already charged for, may be answered."""
        self._work: asyncio.Task[None] | None = None
        """Task that computes a slow response. Later requests wait for it."""
        self._patience: asyncio.TimerHandle | None = None
        self._has_ended = False
        """Whether the client has shut down its sending side."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to wait for a request."""
        notice_dead_links(transport)
        self._transport = cast("asyncio.Transport", transport)
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._reading = ReadPauser(self._transport)
        self._peer.connection_opened(self._transport)
        self._limit_time()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return the buffer to receive into."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Store received bytes and queue the connection for a turn."""
        if not self._is_over:  # bytes after the end are only read to notice that it has closed
            self._unread += self._buffer[:nbytes]
            self._has_more = True
            self._queue_turn()

    def eof_received(self) -> bool:
        """Close after the pending responses, or at once if the next one waits for a budget."""
        self._reading.end()
        self._has_ended = True
        if self._delay or self._is_tls:  # asyncio's TLS transports cannot be half-closed
            self._finish()
        else:
            self._queue_turn()
        return not self._is_over

    def pause_writing(self) -> None:
        """Stop answering, because the client does not read the responses."""
        self._is_choked = True
        self._reading.hold(self)

    def resume_writing(self) -> None:
        """Resume answering, because the client has caught up."""
        self._is_choked = False
        self._reading.release(self)
        self._queue_turn()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Cancel all pending work and inform the peer object."""
        self._is_over = True
        for each in (self._patience, self._work, self._delay):
            if each:
                each.cancel()
        self._peer.connection_closed(self._transport)

    def upgrade(self, request: HttpRequest) -> None:
        """Switch protocols, for a request to which `HttpPolicy.respond` returned None."""
        raise NotImplementedError

    def _limit_time(self) -> None:
        """Start the time-out for sending a request or reading a response."""
        self._call_later(self._policy.patience, self._transport.abort)

    def _call_later(self, seconds: float, end: Callable[[], None]) -> None:
        if self._patience:
            self._patience.cancel()
        self._patience = asyncio.get_running_loop().call_later(seconds, end)

    def _end_idle(self) -> None:
        """Close an idle connection, unless a request is pending or a response is unread."""
        if self._delay or self._is_queued or self._transport.get_write_buffer_size():
            self._limit_time()
        else:
            self._finish()

    def _finish(self, *, lingers: bool = False) -> None:
        """Close the connection once all output has been sent, or the time-out has passed.

        Args:
            lingers: whether to shut down only the sending side and let the client close first. If
                the server closed while the client still sends, a TCP reset might destroy the
                response before the client reads it (RFC 9112, section 9.6).
        """
        if self._is_over:  # TLS reports EOF while closing, which would close it a second time
            return
        self._is_over = True
        if lingers and self._transport.can_write_eof():
            self._reading.release("backlog")
            self._call_later(LINGERING, self._transport.abort)
            with suppress(OSError):  # the client has already disconnected
                self._transport.write_eof()
        else:
            self._transport.close()

    def _queue_turn(self, *, again: bool = False) -> None:
        """Queue for a turn if there is work to do and nothing else to wait for.

        Meanwhile up to `MAX_HEAD` bytes are read ahead, because only reading reveals that a client
        has hung up.
        """
        is_busy = self._delay is not None or self._work is not None
        if not (self._is_queued or self._is_choked or self._is_over or is_busy):
            if self._has_more or self._request:
                self._is_queued = True
                self._policy.turns.schedule(self._peer.source, self._take_turn, again=again)
            elif self._has_ended:
                self._finish()
        if len(self._unread) > MAX_HEAD and (self._is_queued or is_busy):
            self._reading.hold("backlog")
        else:
            self._reading.release("backlog")

    def _take_turn(self) -> None:
        self._is_queued = False
        if self._is_choked or self._is_over:
            return
        begun = thread_time()
        try:
            if self._unwritten is not None:
                self._write_next_piece()
            elif self._request:  # it was delayed until its client's budget allowed it
                self._answer(self._request)
            else:
                self._read_request()
        except Exception:  # noqa: BLE001  (a bug must not stop the other connections)
            self._fail()
        if self._budget:
            self._budget.charge(extra_cost(thread_time() - begun))
        self._queue_turn(again=True)

    def _fail(self) -> None:
        # Log only the first segment: the rest may be a secret, such as a calendar's address.
        request = self._request
        what = request and f"{request.method} {'/'.join(request.path.split('/', 2)[:2])}"
        _log.exception("failed to answer a request", extra={"request": what})
        self._is_over = True
        self._transport.abort()

    def _read_request(self) -> None:
        """Parse a request, and answer once complete and within the client's budget."""
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
        """Return the head of a request that is ready to be answered; None if it is incomplete.

        The body is awaited only if it is short and the client doesn't expect ``100 Continue``
        (RFC 9110, section 10.1.1). Otherwise the request is answered without it.
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
            # Ignore empty lines before a request line (RFC 9112, section 2.2).
            if self._unread.startswith((b"\r", b"\n")):
                self._unread = self._unread.lstrip(b"\r\n")
            if not self._unread:
                return h11.NEED_DATA
            self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        event = self._http.next_event()
        if event is h11.NEED_DATA and self._unread:
            # One byte above the limit, so that h11 itself reports a head that is too long.
            size = MAX_HEAD + 1 - len(self._http.trailing_data[0])
            piece = bytes(self._unread[:size])
            del self._unread[:size]
            if self._event is None:
                require_strict_head(self._tail + piece)
                # Three bytes suffice to recognise a CRLF CRLF that is split between two pieces.
                self._tail = (self._tail + piece)[-3:].lstrip(b"\n")
            self._http.receive_data(piece)
            event = self._http.next_event()
        return event

    def _end_delay(self) -> None:
        self._delay = None
        self._queue_turn()

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
        """Await and write a slow response; later requests wait meanwhile."""
        try:
            response = await answer
            self._work = None
            self._write(response, request)
        except Exception:  # noqa: BLE001  (as in `_take_turn`)
            self._fail()
        self._queue_turn(again=True)

    def _write(self, response: HttpResponse, request: HttpRequest | None) -> None:
        """Start writing a response.

        Args:
            response: the response, which `finish` completes first.
            request: None if the request was invalid; then the connection ends with this response.
        """
        http = self._http
        if http is None:
            raise RuntimeError("expected a request before its response")
        finish(response, request)
        keeps = request is not None and not request.has_body
        head = http.send(serialize(response, keep_alive=keeps)) or b""
        has_none = response.status_code == HTTPStatus.NOT_MODIFIED
        has_none |= request is not None and request.method == "HEAD"
        self._unwritten = memoryview(b"" if has_none else response.body)
        if self._budget:
            self._budget.charge(response.cost + len(self._unwritten) // FILE_PIECE)
        self._write_next_piece(head)

    def _write_next_piece(self, head: bytes = b"") -> None:
        """Write the next piece of the response, and end it after the last one."""
        rest, http = self._unwritten, self._http
        if rest is None or http is None:
            return
        piece, self._unwritten = rest[:WRITTEN_AT_ONCE], rest[WRITTEN_AT_ONCE:]
        written = [head, http.send(h11.Data(data=bytes(piece))) or b"" if piece else b""]
        if not self._unwritten:
            written.append(http.send(h11.EndOfMessage()) or b"")
        self._transport.write(b"".join(written))
        if not self._unwritten:
            self._end_response(http)

    def _end_response(self, http: h11.Connection) -> None:
        self._request = self._unwritten = self._http = self._event = None
        self._tail = b""
        if http.our_state is not h11.DONE:  # no keep-alive; linger if the client may still send
            self._finish(lingers=http.their_state in {h11.SEND_BODY, h11.ERROR, h11.IDLE})
            return
        self._unread[:0] = http.trailing_data[0]
        self._has_more = bool(self._unread)
        self._call_later(min(KEPT, self._policy.patience), self._end_idle)
