"""The interface between a connection and its session: items, protocols and limits.

Telnet and the web's sockets share all of it apart from `TelnetReceiver` and `TelnetPolicy`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from time import thread_time
from typing import Protocol, cast

from msgspec import field

from thudmud.telnet.intake import ReadPauser, TelnetQueue
from thudmud.telnet.screen import CloseReason, Flusher, Screen
from thudmud.values import Value
from thudmud.views.view import Terminal


class Overlong(Enum):
    """Stands for a line that was too long; its text is dropped."""

    LINE = "overlong"


Line = str | Overlong


class TerminalChanged(Value):
    """A change of the client's terminal, with everything known about the terminal by now."""

    terminal: Terminal


class Mark(Value):
    """A request to send ``answer`` once everything before it has been handled."""

    answer: bytes


class Credentials(Value):
    """A name and a password that the client sends by itself, to log its player in."""

    SECRETS = frozenset({"password"})

    name: str
    password: str


class Ask(Value):
    """A question by the client's program, which its player hasn't typed.

    Attributes:
        line: the question.
        number: the program's identifier of the question, repeated in the answer; None for none.
        in_words: whether to answer in words, as if the player had typed it.
    """

    line: str
    number: int | str | None = None
    in_words: bool = False


class Watch(Value):
    """An anonymous request to watch public events; with no attribute set, the hall's.

    Attributes:
        board: words for a board.
        battle: the number of a past battle.
        explored: plies of that battle after which to show the opening explorer: the plies played
            from that position in all battles.
        question: a line with a question that anybody may ask.
    """

    board: str | None = None
    battle: int | None = None
    explored: int | None = None
    question: str | None = None


class Signal(Enum):
    """Items without data."""

    ARE_YOU_THERE = "are you there"
    END_OF_INPUT = "end of input"


Item = Line | TerminalChanged | Mark | Credentials | Ask | Watch | Signal
"""Everything that a connection passes to its session."""


class Client(Protocol):
    """The part of a connection that its session uses, apart from the screen."""

    is_hidden: bool
    """Whether the client shows nothing of the player's typing, not even the end of a line."""

    def hide(self) -> None:
        """Ask the client to hide typing, until `reveal`."""

    def reveal(self) -> None:
        """Ask the client to show typing again."""

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package with JSON data, if the client supports GMCP."""


class Receiver(Protocol):
    """The part of a session that its connection uses."""

    @property
    def screen(self) -> Screen:
        """The screen, through which all output goes."""

    def connection_made(self, client: Client) -> None:
        """Handle a new connection."""

    def items_received(self, items: Iterable[Item]) -> None:
        """Queue items, in this order."""

    def charge(self, seconds: float) -> None:
        """Charge the client for the CPU seconds that a package of its program took."""

    def input_ended(self) -> None:
        """Handle the end of the client's input."""

    def pause(self) -> None:
        """Stop handling: the client doesn't read its output."""

    def resume(self) -> None:
        """Go on handling: the client has caught up."""

    def end(self, sentence: str, why: CloseReason) -> None:
        """End the connection, after a sentence for people, "" for none; ``why`` is for programs."""

    def connection_lost(self) -> None:
        """Handle the loss of the connection."""


class TelnetReceiver(Receiver, Protocol):
    """The session of a telnet connection."""

    def tls_received(self) -> None:
        """Handle a client that begins with TLS, which the port doesn't support."""

    def budget_exceeded(self) -> None:
        """Handle a client that has exceeded its budget of telnet bytes; its input is dropped."""


FAIR_TIME = 0.001
"""CPU seconds of the event loop that a token of a budget pays for."""


def extra_cost(seconds: float) -> float:
    """Return the tokens to charge for work that took some CPU seconds, beyond the token paid.

    Few lines, requests and packages take longer than `FAIR_TIME`. Those that do cost more, so that
    slow input gives a client no larger share of the event loop.
    """
    return max(0.0, seconds / FAIR_TIME - 1)


class Budget(Protocol):
    """A token bucket for a client's input: bytes of telnet, or requests and frames.

    `thudmud.accounts.limiters.TokenBucket` implements it.
    """

    def balance(self, now: float) -> float:
        """Return the number of tokens, which is negative if some are owed."""

    def charge(self, tokens: float) -> None:
        """Take tokens out; the balance may become negative."""

    def take(self, now: float) -> float:
        """Take a token and return 0; or return the seconds until there is one."""

    def wait(self, now: float) -> float:
        """Return the seconds until a token could be taken; 0 if one can be taken now."""


class SessionConnection(asyncio.BufferedProtocol):
    """The asyncio protocol of a client's connection, with a session.

    Args:
        buffer: the buffer that asyncio receives into, shared with the loop's other connections.
            Without it asyncio may map and unmap 256 KiB of memory for each read.
    """

    session: Receiver

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Prepare to read."""
        self._transport = cast("asyncio.Transport", transport)
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._reading = ReadPauser(self._transport)

    def handle_package(self, handle: Callable[[bytes], None], package: bytes) -> None:
        """Handle a package of the client's program, and charge the client for the CPU time.

        Unlike a line, a package is handled immediately, so the charge comes afterwards.
        """
        begun = thread_time()
        handle(package)
        self.session.charge(thread_time() - begun)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  (asyncio's signature)
        """Return the shared buffer."""
        return self._buffer

    def eof_received(self) -> bool:
        """Keep the connection open until all received input is answered."""
        self._reading.end()
        self.session.input_ended()
        return not self._is_tls  # TLS cannot be closed in one direction only

    def pause_writing(self) -> None:
        """Pause the session: its client doesn't keep up."""
        self.session.pause()

    def resume_writing(self) -> None:
        """Resume the session: its client has caught up."""
        self.session.resume()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Notify the session."""
        self.session.connection_lost()


class TelnetPolicy(Value):
    """The limits and offers of all telnet connections.

    Attributes:
        max_line: the most characters of a line.
        budget: makes a connection's budget for the bytes of telnet commands.
        max_subnegotiation: the most bytes of a sub-negotiation; a longer one is dropped.
        option_changes: the most requests about options that a client may make.
        can_compress: whether MCCP2 compression is offered.
        status: returns the MSSP variables for game lists.
        gui: the JSON data of `thudmud.telnet.gmcp.GUI`, for Mudlet; "" for none.
        flusher: writes all output, once at the end of each turn of the event loop.
        queue: limits the bytes of telnet that are interpreted in each turn.
    """

    max_line: int
    budget: Callable[[], Budget]
    max_subnegotiation: int = 4096
    option_changes: int = 100
    can_compress: bool = False
    status: Callable[[], Mapping[str, str]] = dict
    gui: str = ""
    flusher: Flusher = field(default_factory=Flusher)
    queue: TelnetQueue = field(default_factory=TelnetQueue)
