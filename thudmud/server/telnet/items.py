"""What a connection and its session say to each other.

Owns these values and nothing else. Must never know how telnet spells them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from thudmud.server.telnet.lines import Line
from thudmud.text.display import Terminal


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
