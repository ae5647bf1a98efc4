"""What a line comes to, and what people are told of it.

Owns the values that the house hands out. Must never make a word of text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from thudmud.play.commands import Command
from thudmud.play.hall import Decision


@dataclass(frozen=True, slots=True)
class Message:
    """Something that players are told.

    Attributes:
        to: the names of those who are told just that.
        text: lines joined by line feeds; or, for their programs, the JSON of a GMCP package.
        package: the name of that package; empty for what they read.
    """

    to: tuple[str, ...]
    text: str
    package: str = ""

    @property
    def data(self) -> Any:
        """What a package holds: numbers, strings, lists and dicts; None for what is read."""
        return json.loads(self.text) if self.package else None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a line comes to: decisions to be carried out in this order, or why nothing happens.

    Attributes:
        command: what was asked for; None if the line could not be read, or was blank.
        decisions: what would happen.
        messages: what is told at once, without anything happening that others could notice.
    """

    command: Command | None = None
    decisions: tuple[Decision, ...] = ()
    messages: tuple[Message, ...] = ()
