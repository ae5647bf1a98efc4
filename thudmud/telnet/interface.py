"""What a connection and its session are to each other: items, signals, the session's methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import Protocol, cast

from thudmud.telnet.intake import Reading, TelnetQueue
from thudmud.telnet.screen import Flusher, Screen
from thudmud.values import value
from thudmud.views.view import Terminal


class Overlong(Enum):
    """Stands in for a line that was longer than allowed; nothing of it was kept."""

    LINE = "overlong"


Line = str | Overlong


@value
class Fitted:
    """The client has told something of itself; this is all that is known of it now."""

    terminal: Terminal


@value
class Mark:
    """The client asks to be sent ``answer`` once everything before it has been handled."""

    answer: bytes


@value
class Credentials:
    """The client logs its player in by itself."""

    name: str
    password: str = field(repr=False)


@value
class Ask:
    """The client asks something that its player has not typed."""

    line: str


@value
class Watch:
    """The client wants to see what anybody may, without a name.

    Attributes:
        board: words for a board; None for the hall.
        battle: the number of a battle that was played, if it is about that.
    """

    board: str | None = None
    battle: int | None = None


class Signal(Enum):
    """What a client can say without a word."""

    ARE_YOU_THERE = "are you there"
    END_OF_INPUT = "end of input"
    SPEAKS_TLS = "speaks TLS"


Item = Line | Fitted | Mark | Credentials | Ask | Watch | Signal
"""What a connection reports."""


class Client(Protocol):
    """The other end of a connection, as the session sees it, but for its screen."""

    @property
    def is_hidden(self) -> bool:
        """Whether it shows nothing of what is typed, not even the end of a line."""

    def hide(self) -> None:
        """Ask it not to show what is typed, until `reveal`."""

    def reveal(self) -> None:
        """Let it show what is typed."""

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package, its data as JSON, if it takes any."""


class Receiver(Protocol):
    """The session of a connection, as the connection sees it."""

    @property
    def screen(self) -> Screen:
        """Where everything goes that is sent."""

    def opened(self, client: Client) -> None:
        """The connection stands."""

    def received(self, items: Iterable[Item]) -> None:
        """These have come in, in this order."""

    def input_ended(self) -> None:
        """Nothing more will come."""

    def pause(self) -> None:
        """The client is not reading what it has been sent."""

    def resume(self) -> None:
        """The client has caught up."""

    def end(self, sentence: str) -> None:
        """Tell them a sentence, if there is one, and end the connection."""

    def lost(self) -> None:
        """The connection is gone."""


class TelnetReceiver(Receiver, Protocol):
    """The session of a telnet connection."""

    def overspent(self) -> None:
        """The client has sent more telnet than its budget allows; no more is taken of it."""


class Budget(Protocol):
    """How much a client may send: bytes of telnet, or requests and frames. It fills up again."""

    def left(self, now: float) -> float:
        """Return how much it may send now."""

    def charge(self, tokens: float) -> None:
        """Note that so much has come."""

    def take(self, now: float) -> float:
        """Count one and return 0; or return the seconds until it may send it."""

    def wait(self, now: float) -> float:
        """Return the seconds until it may send another; 0 if it may now."""


class SessionConnection(asyncio.BufferedProtocol):
    """A client's connection that has a session, as asyncio drives it.

    Args:
        buffer: where asyncio puts what it receives; shared with the loop's other connections.
    """

    session: Receiver

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to read."""
        self._transport = cast("asyncio.Transport", transport)
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._reading = Reading(self._transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return where to put what has been received."""
        return self._buffer

    def eof_received(self) -> bool:
        """Keep the connection open until what has been received is answered."""
        self._reading.end()
        self.session.input_ended()
        return not self._is_tls  # TLS cannot be closed at one end only

    def pause_writing(self) -> None:
        """Tell the session that its client does not keep up."""
        self.session.pause()

    def resume_writing(self) -> None:
        """Tell the session that its client has caught up."""
        self.session.resume()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Tell the session."""
        self.session.lost()


@value
class TelnetPolicy:
    """What holds for all connections: how much a client may send, and what it is offered.

    Attributes:
        max_line: the most characters that a line may have.
        budget: makes the budget of a connection, for all the bytes of its telnet commands.
        max_subnegotiation: the most bytes that a sub-negotiation may have; a longer one is dropped.
        option_changes: how many requests about options a client has; no more are listened to.
        compress: whether to offer MCCP2.
        status: returns what lists of games are told, by the names of MSSP.
        gui: what Mudlet is told of its package, as JSON; "" for nothing.
        flusher: writes what everybody is sent, once at the end of each turn of the event loop.
        queue: shares out how much telnet is interpreted in each.
    """

    max_line: int
    budget: Callable[[], Budget]
    max_subnegotiation: int = 4096
    option_changes: int = 100
    compress: bool = False
    status: Callable[[], Mapping[str, str]] = dict
    gui: str = ""
    flusher: Flusher = field(default_factory=Flusher)
    queue: TelnetQueue = field(default_factory=TelnetQueue)
