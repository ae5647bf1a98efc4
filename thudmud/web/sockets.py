"""WebSocket connections: the opening handshake, then frames of text and GMCP packages.

No other module drives the `websockets` library, of which only the sans-I/O layer is used.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Protocol as Interface

import h11
from msgspec import field
from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as Handshake
from websockets.protocol import SERVER, Protocol
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from thudmud.telnet import gmcp
from thudmud.telnet.capabilities import Capabilities
from thudmud.telnet.intake import ReadPauser
from thudmud.telnet.interface import Budget, Client, Receiver, SessionConnection, TerminalChanged
from thudmud.telnet.lines import LineSplitter
from thudmud.telnet.screen import CloseReason, Flusher
from thudmud.values import Value
from thudmud.web.connection import HttpConnection, HttpPeer, HttpPolicy
from thudmud.web.frames import PING, SUBPROTOCOL, FrameScreen, text_frame
from thudmud.web.http import HttpRequest, normalized_origin, plain

READ_AT_ONCE = 1024
"""Maximum bytes of frames handled in one turn of the event loop: at most 170 frames, which take a
few milliseconds."""

_FOREIGN = "Pages from other sites can't play here, unless the operator adds them to web.origins."
_WITH_BODY = "Expected a WebSocket request without a body."

_of_strangers = logging.getLogger("thudmud.strangers")


class SocketPolicy(Value):
    """Limits and allowed origins, shared by all WebSockets.

    Attributes:
        max_line: maximum length of a line, in characters.
        outbox_bytes: maximum size of a client's unsent output, in bytes.
        max_frame: maximum size of a message, in bytes, whether fragmented or not.
        rate: factory of a WebSocket's budget for frames.
        ping: seconds between two pings; proxies close silent connections.
        origins: origins of other pages that may connect.
        public_url: base URL of the page for players; "" if unknown.
        flusher: writes all output once, at the end of each turn of the event loop.
    """

    max_line: int
    outbox_bytes: int
    max_frame: int
    rate: Callable[[], Budget]
    ping: float
    origins: frozenset[str]
    public_url: str = ""
    flusher: Flusher = field(default_factory=Flusher)


class WebPeer(HttpPeer, Interface):
    """Peer of a connection that may be upgraded to a WebSocket."""

    def admit(self, address: str) -> str:
        """Return the reason for refusing a client, as a sentence; "" to admit the client."""

    def open_session(
        self, transport: asyncio.Transport, reading: ReadPauser, screen: FrameScreen
    ) -> Receiver:
        """Create the session of a WebSocket."""


class WebConnection(HttpConnection):
    """HTTP connection that can be upgraded to a WebSocket."""

    _peer: WebPeer

    def __init__(
        self, peer: WebPeer, policy: HttpPolicy, sockets: SocketPolicy, buffer: memoryview
    ) -> None:
        super().__init__(peer, policy, buffer)
        self._sockets = sockets

    def upgrade(self, request: HttpRequest) -> None:
        """Upgrade to a WebSocket if the handshake, its origin and its client are acceptable."""
        if request.has_body:
            self._write(plain(HTTPStatus.BAD_REQUEST, _WITH_BODY), request)
            return
        if not self._is_welcome(request):
            origin = request.fields.get("origin", "")
            _of_strangers.info("foreign origin", extra={"origin": origin})
            self._write(plain(HTTPStatus.FORBIDDEN, _FOREIGN), request)
            return
        headers = Headers(request.fields)
        if request.version == "1.0":  # Upgrade must be ignored there: RFC 9110, section 7.8
            headers.pop("Upgrade", None)
        answer = ServerProtocol(subprotocols=[Subprotocol(SUBPROTOCOL)]).accept(
            Handshake(request.path, headers)
        )
        if answer.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            known = {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            sentence = (answer.body or b"").decode().strip()
            self._write(plain(answer.status_code, sentence, known), request)
        elif refused := self._peer.admit(request.address):
            known = {"Connection": "close"}
            self._write(plain(HTTPStatus.SERVICE_UNAVAILABLE, refused, known), request)
        elif self._http:
            fields = [*answer.headers.raw_items()]
            opening = h11.InformationalResponse(
                status_code=answer.status_code, headers=fields, reason=answer.reason_phrase
            )
            self._transport.write(self._http.send(opening) or b"")
            self._become_socket(self._http.trailing_data[0] + bytes(self._unread))

    def _become_socket(self, received: bytes) -> None:
        self._is_over = True
        if self._patience:
            self._patience.cancel()
        # Both protocols pause the same transport by a `ReadPauser` of their own: releasing this one
        # later would resume reading although the WebSocket's rate limit has paused it.
        self._reading.release("backlog")
        frames = FrameConnection(self._peer, self._sockets, self._buffer)
        self._transport.set_protocol(frames)
        frames.connection_made(self._transport)
        frames.take(received)

    def _is_welcome(self, request: HttpRequest) -> bool:
        """Return whether the request's origin is allowed; clients outside browsers send none.

        If the public URL is configured, ``Host`` is not trusted: in a DNS rebinding attack, a
        foreign page connects under a name that its owner has resolved to this server.
        """
        origin = request.fields.get("origin")
        if origin is None:
            return True
        page = self._sockets.public_url
        page = page or f"{request.scheme}://{request.fields.get('host', '')}"
        allowed = map(normalized_origin, (page, *self._sockets.origins))
        return normalized_origin(origin) in allowed


class WebClient(Client):
    """Client interface of a WebSocket, used by its session."""

    def __init__(self, session: Receiver) -> None:
        self._session = session
        self._known = Capabilities()
        self._known.utf8 = True  # required by the subprotocol
        self._packages = gmcp.Packages(session, self._known, text_frame)
        self.is_hidden = False

    def hide(self) -> None:
        """Suppress the echo of input until `reveal`, as for a password."""
        self.is_hidden = True

    def reveal(self) -> None:
        """Restore the echo of input."""
        self.is_hidden = False

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package.

        Args:
            package: name of the package.
            text: its data, encoded as JSON.
        """
        self._packages.send(package, text)

    def receive_package(self, package: bytes) -> None:
        """Process a GMCP package sent by the client."""
        before = self._known.terminal
        self._packages.receive_package(package)
        if self._known.terminal != before:
            self.report_terminal()

    def report_terminal(self) -> None:
        """Inform the session about the client's terminal."""
        self._session.items_received([TerminalChanged(self._known.terminal)])


class FrameConnection(SessionConnection):
    """WebSocket connection of a session."""

    def __init__(self, peer: WebPeer, policy: SocketPolicy, buffer: memoryview) -> None:
        super().__init__(buffer[:READ_AT_ONCE])
        self._protocol = Protocol(SERVER, max_size=policy.max_frame)
        self._peer, self._rate = peer, policy.rate()
        self._outbox_bytes, self._flusher = policy.outbox_bytes, policy.flusher
        self._splitter = LineSplitter(policy.max_line)
        self._message: list[bytes] = []
        """The fragments of an incomplete message."""
        self._is_text = False
        """Whether the incomplete message is text, which carries a GMCP package."""
        self._unchoking: asyncio.TimerHandle | None = None
        self._interval = policy.ping
        self._is_alive = True
        """Whether any bytes have been received since the last ping."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open the session and start to send pings."""
        super().connection_made(transport)
        self._screen = FrameScreen(self._transport, self._outbox_bytes, self._flusher)
        self.session = self._peer.open_session(self._transport, self._reading, self._screen)
        self.client = WebClient(self.session)
        self.session.connection_made(self.client)
        self.client.report_terminal()
        self._ping_later()

    def buffer_updated(self, nbytes: int) -> None:
        """Process received bytes."""
        self.take(bytes(self._buffer[:nbytes]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers and inform the session."""
        self._pinging.cancel()
        if self._unchoking:
            self._unchoking.cancel()
        super().connection_lost(exc)

    def take(self, data: bytes) -> None:
        """Parse frames, pass their messages to the session and send the replies."""
        self._is_alive = True
        if self._screen.closed or self._protocol.close_expected() or not data:
            return  # bytes after the end are only read to notice that the connection has closed
        self._protocol.receive_data(data)
        events = self._protocol.events_received()
        for event in events:
            if isinstance(event, Frame):
                self._take_frame(event)
        replies = self._protocol.data_to_send()
        if self._protocol.close_expected():
            # The last two items are the close frame and b"", which signals the end of the stream.
            *replies, self._screen.farewell, _ = replies
        for pong in replies:
            self._screen.command(pong)
        if self._protocol.parser_exc:
            _of_strangers.info("bad frame", extra={"why": str(self._protocol.parser_exc)})
            self.session.end("", CloseReason.REJECTED)
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
        if frame.data:  # max_size doesn't bound the number of empty fragments
            self._message.append(bytes(frame.data))
        if not frame.fin:
            return
        message = b"".join(self._message)
        self._message.clear()
        if self._is_text:
            self.handle_package(self.client.receive_package, message)
        else:
            # A message is a line, whether or not the client ends it.
            end = b"" if message.endswith((b"\r", b"\n")) else b"\n"
            self.session.items_received(self._splitter.feed(message + end))

    def _charge(self, frames: int) -> None:
        """Charge frames to the rate limit, and pause reading while the budget is exceeded."""
        self._rate.charge(frames)
        loop = asyncio.get_running_loop()
        if (wait := self._rate.wait(loop.time())) and not self._unchoking:
            self._reading.hold(self)
            self._unchoking = loop.call_later(wait, self._unchoke)

    def _unchoke(self) -> None:
        self._unchoking = None
        self._reading.release(self)

    def _ping_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._pinging = loop.call_later(self._interval, self._ping)

    def _ping(self) -> None:
        """Send a ping; abort the connection if nothing has been received since the last one."""
        if not self._is_alive and self._transport.is_reading():
            _of_strangers.info("no answer to a ping")
            self._transport.abort()
            return
        self._is_alive = False
        self._screen.command(PING)
        self._ping_later()
