"""What a connection and its session say to each other, whatever the protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from thudmud.views.view import Terminal

_log = logging.getLogger(__name__)


class Overlong(Enum):
    """Stands in for a line that was longer than allowed; nothing of it was kept."""

    LINE = "overlong"


Line = str | Overlong


class Due(Protocol):
    """Somebody who has something to do when a turn ends."""

    def flush(self) -> None:
        """Do it."""


class Flusher:
    """Calls everybody who has asked for it, once each, when the turn ends."""

    def __init__(self) -> None:
        self._due: list[Due] = []
        self._pieces: list[bytes] = []
        self._joined = b""

    def at_end(self, due: Due) -> None:
        """Call ``due.flush`` at the end of this turn."""
        if not self._due:
            asyncio.get_running_loop().call_soon(self._end)
        self._due.append(due)

    def joined(self, pieces: list[bytes]) -> bytes:
        """Return pieces in one; the same bytes for all whose pieces are the same in this turn."""
        if pieces != self._pieces:  # which is quick to see, since nearly all are the same objects
            self._pieces, self._joined = pieces.copy(), b"".join(pieces)
        return self._joined

    def _end(self) -> None:
        due, self._due = self._due, []
        for each in due:
            try:
                each.flush()
            except Exception:  # noqa: BLE001  (it is logged, and nobody else has to wait for it)
                _log.exception("failed at the end of a turn")
        self._pieces, self._joined = [], b""


@dataclass(frozen=True, slots=True)
class Fitted:
    """This is what is known of the client now."""

    terminal: Terminal


@dataclass(frozen=True, slots=True)
class Mark:
    """The client asks to be sent ``answer`` once everything before it has been handled."""

    answer: bytes


@dataclass(frozen=True, slots=True)
class Credentials:
    """The client itself says who its player is."""

    name: str
    password: str = field(repr=False)


class Signal(Enum):
    """What a client can say without a word."""

    ARE_YOU_THERE = "are you there"
    END_OF_INPUT = "end of input"
    SPEAKS_TLS = "speaks TLS"


Item = Line | Fitted | Mark | Credentials | Signal
"""What a connection reports."""


class Typing(Protocol):
    """What a session asks of its connection: that a password is not seen."""

    @property
    def is_hidden(self) -> bool:
        """Whether the client does not show what is typed, not even the end of a line."""

    def hide(self) -> None:
        """Ask the client not to show what is typed, until `reveal`."""

    def reveal(self) -> None:
        """Let the client show what is typed."""


class Client(Typing, Protocol):
    """What a session asks of its connection."""

    def data(self, package: str, text: str) -> None:
        """Send a package, its data as JSON, if the client takes any."""


class Output(Protocol):
    """Where a connection sends what belongs to telnet, in order with the text."""

    def command(self, sequence: bytes) -> None:
        """Send telnet bytes."""

    def end_prompts(self, sequence: bytes) -> None:
        """Send telnet bytes behind every prompt, the one that is shown included."""

    def compress(self, sequence: bytes) -> None:
        """Send telnet bytes, and compress everything behind them."""

    def decompress(self) -> None:
        """Compress nothing any more."""


class Receiver(Protocol):
    """What a connection tells its session."""

    @property
    def screen(self) -> Output:
        """Where everything goes that is sent."""

    def opened(self, client: Client) -> None:
        """The connection stands."""

    def received(self, items: Iterable[Item]) -> None:
        """These have come in, in this order."""

    def input_ended(self) -> None:
        """Nothing more will come."""

    def choke(self) -> None:
        """The client is not reading what it has been sent."""

    def resume(self) -> None:
        """The client has caught up."""

    def lost(self) -> None:
        """The connection is gone."""


def _nothing() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class TelnetPolicy:
    """How much a telnet client may send of each thing, and what it is offered.

    Attributes:
        max_line: the most characters that a line may have.
        max_subnegotiation: the most bytes that telnet may carry between the lines at once; more is
            dropped without being kept.
        option_changes: how many wishes about options a client has; no more are listened to.
        compress: whether to offer MCCP2.
        status: returns what a list of games wants to know, by the names of MSSP.
        turn: at whose end everybody is sent what they have been shown.
    """

    max_line: int
    max_subnegotiation: int = 4096
    option_changes: int = 100
    compress: bool = False
    status: Callable[[], Mapping[str, str]] = field(default=_nothing)
    flusher: Flusher = field(default_factory=Flusher)
