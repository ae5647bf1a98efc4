"""Connections to the web port: requests for files, then perhaps frames of a WebSocket.

Only this module drives websockets, without any of its I/O.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from http import HTTPStatus
from time import thread_time
from typing import Protocol, cast

from msgspec import field
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as Handshake
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from thudmud.telnet import gmcp
from thudmud.telnet.capabilities import Capabilities
from thudmud.telnet.intake import Reading, notice_dead_links
from thudmud.telnet.interface import (
    Budget,
    Client,
    Fitted,
    Receiver,
    SessionConnection,
    extra_cost,
)
from thudmud.telnet.lines import LineSplitter
from thudmud.telnet.screen import Flusher, Goodbye
from thudmud.values import Value
from thudmud.web.frames import PING, SUBPROTOCOL, FrameScreen, text_frame
from thudmud.web.http import (
    END,
    FindText,
    HttpRequest,
    normalized_origin,
    plain,
    read_request,
    text_answer,
)
from thudmud.web.pictures import COSTS, Asker, PictureRequest, Pictures, answered, wanted_by
from thudmud.web.sharing import Preview, base_of, battle_asked
from thudmud.web.site import SOCKET, answer, files

MAX_HEAD = 8192
"""The most bytes of a request; browsers send about one thousand."""

KEPT = 5.0
"""Seconds for which a connection is kept open after an answer: browsers open six to load the page,
and each counts for their address."""

FILE_PIECE = 16_384
"""Bytes of an answer that count as one more request."""

PAGE_COST = 8
"""What a request for a page of a feature counts for, in requests: it is looked up."""

MOST_WAIT = 1.0
"""Seconds that a forwarded request may wait for its client's budget: it holds one of the server's
connections meanwhile, and counts for nobody else's limit."""

WRITTEN_AT_ONCE = 65_536
"""Bytes of an answer that are handed over at once: the rest waits where others may have it, too."""

READ_AT_ONCE = 1024
"""Bytes of frames that are handled before it is the others' turn: at most 170 frames, which take a
few milliseconds."""

_TOO_MANY = b"HTTP/1.1 429 "
_NO_REQUEST = "That is no request of HTTP/1.1."
_NO_CLIENT = (
    "The proxy in front of this server does not say whom it asks for: it should send an address in"
    " X-Forwarded-For, such as 203.0.113.9."
)

_log = logging.getLogger(__name__)
_of_strangers = logging.getLogger("thudmud.strangers")


_POSTED = re.compile(
    rb"POST .*\r\ncontent-length:[ \t]*([0-9]{1,4})[ \t]*(?:\r\n|$)", re.DOTALL | re.IGNORECASE
)
_EXPECTING = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*(?:\r\n|$)", re.IGNORECASE)


def _body_length(head: bytes | bytearray) -> int:
    """Return how long the body of a request is, if it is a short one that is posted; else 0.

    It means nothing to us, but a client that still sends would not read the answer. One that asks
    first whether to send it (RFC 9110, section 10.1.1) is answered without it.
    """
    found = _POSTED.match(head) if head.startswith(b"POST ") else None
    return int(found[1]) if found and not _EXPECTING.search(head) else 0


class RunQueue(Protocol):
    """Shares each turn of the event loop among those that wait for one."""

    def wait(self, source: str, take: Callable[[], None], *, again: bool = False) -> None:
        """Call ``take`` in one of the next turns; if it comes ``again``, after all others.

        Those of one source share its turns.
        """


class WebPolicy(Value):
    """What holds for all web connections: limits, and what clients get.

    Attributes:
        max_line: the most characters of a line.
        outbox_bytes: the most bytes that may wait to be sent to a client.
        max_frame: the most bytes of a message, in one frame or several.
        rate: makes the budget of a WebSocket for all its frames.
        turns: shares each turn of the event loop among the connections that have to answer.
        patience: seconds that a client may take for a request, and to read the answer.
        ping: seconds between two pings; proxies close silent connections.
        origins: the origins of other pages that may connect.
        find_board: returns the preview of a link to a board, if there is one of that name.
        find_battle: returns that of a battle, by its number. It never fails.
        pictures: returns pictures of boards and battles.
        find_page: returns what answers a request with a method for a path from an address, if it
            is for a page of a feature: with its status, header fields and text.
        features: the names of the features that players have.
        public_url: where the page is for players; "" if that is not known.
        embed: the origins of pages that may show boards and battles in a frame; "*" is all.
        flusher: writes all output, once at the end of each turn of the event loop.
    """

    max_line: int
    outbox_bytes: int
    max_frame: int
    rate: Callable[[], Budget]
    turns: RunQueue
    patience: float
    ping: float
    origins: frozenset[str]
    find_board: Callable[[str], Preview | None]
    find_battle: Callable[[int], Coroutine[None, None, Preview | None]]
    pictures: Pictures
    find_page: Callable[[str, str, str], FindText | None]
    features: tuple[str, ...]
    public_url: str = ""
    embed: frozenset[str] = frozenset()
    flusher: Flusher = field(default_factory=Flusher)


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

    def admit(self, address: str) -> str:
        """Return why the client may not come in, as a sentence; nothing if it may."""

    def open_session(
        self, transport: asyncio.Transport, reading: Reading, screen: FrameScreen
    ) -> Receiver:
        """Make the session of a WebSocket."""

    def came(self, transport: asyncio.Transport) -> None:
        """Note that the connection is open."""

    def gone(self, transport: asyncio.Transport) -> None:
        """Note that the connection is gone, and has not become a WebSocket."""


class WebClient(Client):
    """The client of a WebSocket, as its session sees it."""

    def __init__(self, session: Receiver) -> None:
        self._session = session
        self._known = Capabilities()
        self._known.utf8 = True  # by the standard
        self._packages = gmcp.Packages(session, self._known, text_frame)
        self._is_hidden = False

    @property
    def is_hidden(self) -> bool:
        """Whether typing is hidden, even the end of a line."""
        return self._is_hidden

    def hide(self) -> None:
        """Hide what is typed, until `reveal`."""
        self._is_hidden = True

    def reveal(self) -> None:
        """Show what is typed."""
        self._is_hidden = False

    def data(self, package: str, text: str) -> None:
        """Send a package with data in JSON."""
        self._packages.send(package, text)

    def hear(self, package: bytes) -> None:
        """Take a package of the client's."""
        before = self._known.terminal
        self._packages.hear(package)
        if self._known.terminal != before:
            self.tell()

    def tell(self) -> None:
        """Tell the session what is known about the client."""
        self._session.received([Fitted(self._known.terminal)])


class HttpConnection(asyncio.BufferedProtocol):
    """A connection to the web port: it serves files, until it becomes a WebSocket."""

    def __init__(
        self,
        peer: HttpPeer,
        policy: WebPolicy,
        buffer: memoryview,
    ) -> None:
        self._peer, self._policy, self._buffer = peer, policy, buffer
        self._waiting = bytearray()
        """Received bytes that are not answered yet."""
        self._is_choked = self._is_over = False
        self._is_queued = False
        """Whether it waits for a turn."""
        self._delay: asyncio.TimerHandle | None = None
        """Ends when the next request, which has been charged for, may be answered."""
        self._is_paid = False
        """Whether the next request has been charged for."""
        self._work: asyncio.Task[None] | None = None
        """Draws a picture, or looks up a battle. Later requests wait for it."""
        self._rest: memoryview = memoryview(b"")
        """What is not written yet of an answer."""
        self._keeps = True
        """Whether another request may follow that answer."""
        self._has_ended = False
        """Whether the client sends nothing more."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request."""
        notice_dead_links(transport)
        self._transport = cast("asyncio.Transport", transport)
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._reading = Reading(self._transport)
        self._peer.came(self._transport)
        self._be_patient()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return where to put what has been received."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Answer complete requests."""
        if not self._is_over:  # else it is read so that the end of the connection is noticed
            self._waiting += self._buffer[:nbytes]
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
        self._patience.cancel()
        if self._work:
            self._work.cancel()
        if self._delay:
            self._delay.cancel()
        self._peer.gone(self._transport)

    def _be_patient(self) -> None:
        loop = asyncio.get_running_loop()
        self._patience = loop.call_later(self._policy.patience, self._transport.abort)

    def _wait_for_more(self) -> None:
        self._patience.cancel()
        loop = asyncio.get_running_loop()
        self._patience = loop.call_later(min(KEPT, self._policy.patience), self._no_more)

    def _no_more(self) -> None:
        """Close an idle connection, once the last answer has been read."""
        if self._delay or self._is_queued or self._transport.get_write_buffer_size():
            self._be_patient()
        else:
            self._finish()

    def _finish(self) -> None:
        """Close the connection once everything has been sent, within the client's patience."""
        if not self._is_over:  # TLS reports an end while it closes, which would close it again
            self._is_over = True
            self._transport.close()

    def _go_on(self, *, again: bool = False) -> None:
        """Wait for a turn to answer in, if there is a request, and nothing else to wait for.

        Each turn has one answer: whoever has sent many requests at once waits for all others. Some
        bytes are read ahead, since only reading shows that a client has hung up.
        """
        if not (self._is_queued or self._is_choked or self._is_over or self._is_busy):
            if self._rest or self._request_size():
                self._is_queued = True
                self._policy.turns.wait(self._peer.source, self._take_turn, again=again)
            elif self._has_ended:
                self._finish()
        if len(self._waiting) > MAX_HEAD and (self._is_queued or self._is_busy):
            self._reading.hold("backlog")
        else:
            self._reading.let_go("backlog")

    @property
    def _is_busy(self) -> bool:
        """Whether it waits for its client's budget, or for a picture or the store."""
        return self._delay is not None or self._work is not None

    def _request_size(self) -> int:
        """Return how many bytes the next request has; 0 if it is not complete.

        One whose head is too long is complete.
        """
        if self._waiting.startswith(b"\r\n"):  # RFC 9112, section 2.2
            del self._waiting[:2]
        end = self._waiting.find(END, 0, MAX_HEAD + len(END))
        if end < 0:
            return len(self._waiting) if len(self._waiting) > MAX_HEAD else 0
        size = end + len(END) + _body_length(self._waiting[:end])
        return size if size <= len(self._waiting) else 0

    def _take_turn(self) -> None:
        self._is_queued = False
        if self._is_choked or self._is_over:
            return
        if self._rest:
            self._write_on()
        else:
            self._take_request()
        self._go_on(again=True)

    def _take_request(self) -> None:
        """Answer the next request, or wait until its client has a budget for it."""
        size = self._request_size()
        head = bytes(self._waiting[:size]).partition(END)[0]
        if len(head) > MAX_HEAD:
            sentence = "That request is longer than this server reads."
            self._end(plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, sentence))
            return
        begun = thread_time()
        request = read_request(head)
        address = self._peer.address(request.fields) if request else None
        if request is None or address is None:
            self._end(plain(HTTPStatus.BAD_REQUEST, _NO_REQUEST if request is None else _NO_CLIENT))
            return
        self._address, self._budget = address, self._peer.budget(address)
        wait = 0.0 if self._is_paid else self._budget.wait(asyncio.get_running_loop().time())
        if wait > MOST_WAIT and self._peer.is_forwarder:
            del self._waiting[:size]
            self._refuse(request, wait)
            return
        if not self._is_paid:
            self._budget.charge(1)
        self._is_paid = wait > 0
        if wait:
            self._choke(wait)
            return
        del self._waiting[:size]
        self._answer_one(request, head)
        self._budget.charge(extra_cost(thread_time() - begun))

    def _refuse(self, request: HttpRequest, wait: float) -> None:
        sentence = "You have asked for too much at once. Please try again in a while."
        later = {"Retry-After": str(math.ceil(wait))}
        refusal = plain(HTTPStatus.TOO_MANY_REQUESTS, sentence, later, keeps=request.keeps)
        self._write_whole(refusal, request)

    def _choke(self, seconds: float) -> None:
        """Answer nothing for some seconds: the client asks too often."""
        self._delay = asyncio.get_running_loop().call_later(seconds, self._unchoke)

    def _unchoke(self) -> None:
        self._delay = None
        self._go_on()

    def _answer_one(self, request: HttpRequest, head: bytes) -> None:
        if request.path == SOCKET and request.method == "GET":
            self._upgrade(request, head)
        elif find := self._policy.find_page(request.method, request.path, self._address):
            later = partial(text_answer, request, find)
            self._keeps = request.keeps
            self._begin(self._send(later, PAGE_COST, "what is published"))
        elif wanted := wanted_by(request):
            policy = self._policy
            asker = Asker(self._address, lambda: self._has_ended)
            later = partial(answered, wanted, request, policy.pictures, policy.embed, asker)
            cost = COSTS[wanted.kind] if isinstance(wanted, PictureRequest) else 0
            self._keeps = request.keeps
            self._begin(self._send(later, cost, "a picture"))
        elif (number := battle_asked(request)) is not None:
            self._begin(self._look_up(number, request))
        else:
            self._respond(request)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        """Begin what takes a while; nothing else is answered until it has ended."""
        self._patience.cancel()
        self._be_patient()
        self._work = asyncio.create_task(work)

    async def _look_up(self, number: int, request: HttpRequest) -> None:
        """Respond once it is known who played a battle."""
        preview = await self._policy.find_battle(number)
        self._work = None
        begun = thread_time()
        self._respond(request, preview)
        self._budget.charge(extra_cost(thread_time() - begun))
        self._go_on(again=True)

    def _respond(self, request: HttpRequest, battle: Preview | None = None) -> None:
        policy, is_secure = self._policy, self._is_tls or self._peer.is_secure(request.fields)

        def find(kind: str, name: str) -> Preview | None:
            return battle if kind == "game" else policy.find_board(name)

        base = base_of(request, policy.public_url, is_secure=is_secure)
        site = files(policy.features)
        self._write_whole(answer(request, site, find, base, policy.embed), request)

    def _write_whole(self, response: bytes, request: HttpRequest) -> None:
        self._budget.charge(len(response) // FILE_PIECE)
        self._transport.write(response)
        self._wait_for_more()
        if not request.keeps:
            self._finish()

    async def _send(
        self, answer: Callable[[], Awaitable[tuple[bytes, bytes]]], cost: int, what: str
    ) -> None:
        """Send an answer that takes a while, its head and its body; requests behind it wait.

        ``cost`` is what it counts for, in requests, besides its bytes.
        """
        try:
            head, body = await answer()
        except Exception:  # noqa: BLE001  (whatever we get wrong, the others go on)
            _log.exception("no answer to a request for %s", what)
            self._transport.abort()
            return
        self._work = None
        if not head.startswith(_TOO_MANY):  # then nothing was drawn
            self._budget.charge(cost + (len(head) + len(body)) // FILE_PIECE)
        self._transport.write(head)
        self._rest = memoryview(body)
        if not body:
            self._has_answered()
        self._go_on(again=True)

    def _write_on(self) -> None:
        """Write a piece of an answer that is large."""
        piece, self._rest = self._rest[:WRITTEN_AT_ONCE], self._rest[WRITTEN_AT_ONCE:]
        self._transport.write(piece)
        if not self._rest:
            self._has_answered()

    def _has_answered(self) -> None:
        self._wait_for_more()
        if not self._keeps:
            self._finish()

    def _end(self, response: bytes) -> None:
        self._transport.write(response)
        self._finish()

    def _upgrade(self, request: HttpRequest, head: bytes) -> None:
        """Make the connection a WebSocket, if the request is a valid handshake."""
        if request.has_body:
            self._end(
                plain(HTTPStatus.BAD_REQUEST, "A WebSocket begins with a request without a body.")
            )
            return
        if not self._is_welcome(request):
            _of_strangers.info("foreign origin", extra={"origin": request.fields.get("origin", "")})
            sentence = "Pages from elsewhere cannot play here: web.origins would have to name them."
            self._end(plain(HTTPStatus.FORBIDDEN, sentence))
            return
        protocol = ServerProtocol(
            subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=self._policy.max_frame
        )
        protocol.receive_data(head + END)
        for event in protocol.events_received():
            if isinstance(event, Handshake):
                protocol.send_response(protocol.accept(event))
        if protocol.state is State.OPEN and (refused := self._peer.admit(self._address)):
            self._end(plain(HTTPStatus.SERVICE_UNAVAILABLE, refused))
            return
        self._transport.write(b"".join(protocol.data_to_send()))
        if protocol.state is not State.OPEN:
            self._finish()
            return
        self._is_over = True
        self._patience.cancel()
        self._reading.let_go("backlog")  # later it would lift what the WebSocket's own limit holds
        frames = FrameConnection(protocol, self._peer, self._policy, self._buffer)
        self._transport.set_protocol(frames)
        frames.connection_made(self._transport)
        frames.take(bytes(self._waiting))

    def _is_welcome(self, request: HttpRequest) -> bool:
        """Return whether the origin is our page, or in the settings. Programs have none.

        Where the page is known, it is nowhere else: whoever may choose what a name resolves to has
        a page of theirs ask us under that name (DNS rebinding).
        """
        origin = request.fields.get("origin")
        if origin is None:
            return True
        page = self._policy.public_url
        if not page:
            is_secure = self._is_tls or self._peer.is_secure(request.fields)
            page = f"http{'s' * is_secure}://{request.fields.get('host', '')}"
        allowed = map(normalized_origin, (page, *self._policy.origins))
        return normalized_origin(origin) in allowed


class FrameConnection(SessionConnection):
    """A WebSocket."""

    def __init__(
        self,
        protocol: ServerProtocol,
        peer: HttpPeer,
        policy: WebPolicy,
        buffer: memoryview,
    ) -> None:
        super().__init__(buffer[:READ_AT_ONCE])
        self._protocol, self._peer, self._rate = protocol, peer, policy.rate()
        self._outbox_bytes, self._flusher = policy.outbox_bytes, policy.flusher
        self._splitter = LineSplitter(policy.max_line)
        self._message: list[bytes] = []
        """The fragments of an incomplete message."""
        self._is_text = False
        """Whether it is a package."""
        self._unchoking: asyncio.TimerHandle | None = None
        self._interval = policy.ping
        self._is_alive = True
        """Whether anything has come since the last ping."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make the session, and greet."""
        super().connection_made(transport)
        self._screen = FrameScreen(self._transport, self._outbox_bytes, self._flusher)
        self.session = self._peer.open_session(self._transport, self._reading, self._screen)
        self.client = WebClient(self.session)
        self.session.opened(self.client)
        self.client.tell()
        self._ping_later()

    def buffer_updated(self, nbytes: int) -> None:
        """Take received bytes."""
        self.take(bytes(self._buffer[:nbytes]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the session."""
        self._pinging.cancel()
        if self._unchoking:
            self._unchoking.cancel()
        super().connection_lost(exc)

    def take(self, data: bytes) -> None:
        """Take bytes of frames."""
        self._is_alive = True
        if self._screen.closed or self._protocol.close_expected() or not data:
            return  # it is read so that the end of the connection is noticed
        self._protocol.receive_data(data)
        events = self._protocol.events_received()
        for event in events:
            if isinstance(event, Frame):
                self._take_frame(event)
        replies = self._protocol.data_to_send()
        if self._protocol.close_expected():
            *replies, self._screen.farewell, _ = replies  # after it comes the end of the stream
        for pong in replies:
            self._screen.command(pong)
        if self._protocol.parser_exc:
            _of_strangers.info("bad frame", extra={"why": str(self._protocol.parser_exc)})
            self.session.end("", Goodbye.REJECTED)
        elif self._protocol.close_expected():
            self.session.input_ended()
        else:
            self._charge(len(events))

    def _take_frame(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.TEXT | Opcode.BINARY:
                self._is_text = frame.opcode is Opcode.TEXT
            case Opcode.CONT:
                pass
            case _:
                return
        if frame.data:  # else empty fragments would take memory without limit
            self._message.append(bytes(frame.data))
        if not frame.fin:
            return
        message = b"".join(self._message)
        self._message.clear()
        if self._is_text:
            self.handle_package(self.client.hear, message)
        else:
            # A message is a line, whether or not the client ends it.
            end = b"" if message.endswith((b"\r", b"\n")) else b"\n"
            self.session.received(self._splitter.feed(message + end))

    def _charge(self, frames: int) -> None:
        """Count frames; if the client sends too many, stop reading until it may again."""
        self._rate.charge(frames)
        loop = asyncio.get_running_loop()
        if (wait := self._rate.wait(loop.time())) and not self._unchoking:
            self._reading.hold(self)
            self._unchoking = loop.call_later(wait, self._unchoke)

    def _unchoke(self) -> None:
        self._unchoking = None
        self._reading.let_go(self)

    def _ping_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._pinging = loop.call_later(self._interval, self._ping)

    def _ping(self) -> None:
        """Ping the client; abort the connection if the last ping was not answered."""
        if not self._is_alive and self._transport.is_reading():
            _of_strangers.info("no answer to a ping")
            self._transport.abort()
            return
        self._is_alive = False
        self._screen.command(PING)
        self._ping_later()
