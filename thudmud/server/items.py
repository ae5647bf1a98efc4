"""What a connection and its session say to each other.

Owns these values and nothing else. Must never know how telnet spells them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from thudmud.server.lines import Line


@dataclass(frozen=True, slots=True)
class Resized:
    """The terminal is so many columns wide now."""

    columns: int


@dataclass(frozen=True, slots=True)
class Mark:
    """The client asks to be sent ``answer`` once everything before it has been handled."""

    answer: bytes


class Signal(Enum):
    """What a client can say without a word."""

    ARE_YOU_THERE = "are you there"
    END_OF_INPUT = "end of input"


Item = Line | Resized | Mark | Signal
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
