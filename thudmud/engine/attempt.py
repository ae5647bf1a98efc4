"""Attempts: what a player asks for, before the rules have said anything about it.

Owns the verbs and the ways to speak of captures. Must never judge: only a ruleset turns an attempt
into a move.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from thudmud.engine.squares import Square


class Verb(Enum):
    """The three ways to ask for a ply."""

    MOVE = "move"
    SHOVE = "shove"
    HURL = "hurl"


class Every(Enum):
    """The type of ``EVERY``."""

    EVERY = "all"


EVERY: Final[Literal[Every.EVERY]] = Every.EVERY
"""Said in place of a list of captures: everything that can be captured."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a player asked for.

    Attributes:
        verb: how the piece is to go.
        origin: where it stands.
        target: where it is to go.
        captures: what it is to capture, in the order said; ``()`` if "none" was said, ``EVERY`` for
            "all", None if nothing was said about captures.
    """

    verb: Verb
    origin: Square
    target: Square
    captures: tuple[Square, ...] | Every | None = None
