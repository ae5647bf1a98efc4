"""The interfaces between a connection and its session: items, signals, methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from time import thread_time
from typing import Protocol, cast

from msgspec import field

from thudmud.telnet.intake import Reading, TelnetQueue
from thudmud.telnet.screen import Flusher, Goodbye, Screen
from thudmud.values import Value
from thudmud.views.view import Terminal


class Overlong(Enum):
    """In place of a line that was too long; nothing of it was kept."""

    LINE = "overlong"


Line = str | Overlong


class Fitted(Value):
    """The client has told something about itself; this is all that is known by now."""

    terminal: Terminal


class Mark(Value):
    """The client asks for ``answer`` once everything before it has been handled."""

    answer: bytes


class Credentials(Value):
    """The client logs its player in by itself."""

    SECRETS = frozenset({"password"})

    name: str
    password: str


class Ask(Value):
    """A question of the client's own, which its player has not typed.

    The answer repeats the number or the name that the client gives it, if any.
    """

    line: str
    number: int | str | None = None


class Watch(Value):
    """The client wants to watch, without a name, what everybody may see.

    That is a board, the hall if no words name one, or a past battle by its number; or what was
    played in all battles from the position after so many plies of that battle.
    """

    board: str | None = None
    battle: int | None = None
    explored: int | None = None


class Signal(Enum):
    """Items without contents."""

    ARE_YOU_THERE = "are you there"
    END_OF_INPUT = "end of input"
    SPEAKS_TLS = "speaks TLS"


Item = Line | Fitted | Mark | Credentials | Ask | Watch | Signal
"""What a connection passes to its session."""


class Client(Protocol):
    """The client of a connection, as its session sees it, apart from the screen."""

    @property
    def is_hidden(self) -> bool:
        """Whether typing is hidden, even the end of a line."""

    def hide(self) -> None:
        """Hide what is typed, until `reveal`."""

    def reveal(self) -> None:
        """Show what is typed."""

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package with data in JSON, if the client takes any."""


class Receiver(Protocol):
    """The session of a connection, as the connection sees it."""

    @property
    def screen(self) -> Screen:
        """The screen, which sends everything."""

    def opened(self, client: Client) -> None:
        """Note that the connection is open."""

    def received(self, items: Iterable[Item]) -> None:
        """Take items that have come in, in this order."""

    def charge(self, seconds: float) -> None:
        """Charge the client for the CPU seconds that a package of its program took."""

    def input_ended(self) -> None:
        """Note that nothing more will come."""

    def pause(self) -> None:
        """Note that the client does not read its output."""

    def resume(self) -> None:
        """Note that the client has caught up."""

    def end(self, sentence: str, why: Goodbye) -> None:
        """Show a sentence, if there is one, and end the connection; programs are told why."""

    def lost(self) -> None:
        """Note that the connection is gone."""


class TelnetReceiver(Receiver, Protocol):
    """The session of a telnet connection."""

    def overspent(self) -> None:
        """Note that the client has sent more telnet than its budget allows; the rest is dropped."""


FAIR_TIME = 0.001
"""CPU seconds of the event loop that a token of a budget pays for."""


def extra_cost(seconds: float) -> float:
    """Return the tokens that something owes which took this long and has paid for one token.

    Few lines, requests and packages take longer than `FAIR_TIME`. Those that do cost more, so that
    nobody gets more of everybody's time by sending what is slow to answer.
    """
    return max(0.0, seconds / FAIR_TIME - 1)


class Budget(Protocol):
    """Limits how much a client may send, bytes of telnet or requests and frames; it refills."""

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

    asyncio receives into the buffer, which the loop's other connections share.
    """

    session: Receiver

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to read."""
        self._transport = cast("asyncio.Transport", transport)
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._reading = Reading(self._transport)

    def handle_package(self, handle: Callable[[bytes], None], package: bytes) -> None:
        """Handle what a client's program has sent, and charge the client for its CPU time.

        Unlike a line it is handled as soon as it has been read, so it is charged afterwards.
        """
        begun = thread_time()
        handle(package)
        self.session.charge(thread_time() - begun)

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


class TelnetPolicy(Value):
    """What holds for all telnet connections: limits, and what clients are offered.

    Attributes:
        max_line: the most characters of a line.
        budget: makes a connection's budget for all bytes of telnet commands.
        max_subnegotiation: the most bytes of a sub-negotiation; a longer one is dropped.
        option_changes: the most requests about options that are listened to.
        status: returns the MSSP variables for game lists.
        gui: the JSON that tells Mudlet of its package; "" for none.
        flusher: writes all output, once at the end of each turn of the event loop.
        queue: limits how much telnet is interpreted in each turn.
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
