"""What happens at a board, as data.

Owns the events that a table is folded from; nothing else about a table is ever stored. Must never
hold a sentence: words, boards and machine lines are renderings of these, made for one viewer in
`thudmud.text`.

Every event says when it was decided (``at``, seconds since the epoch) and whose command brought it
about (``player``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from thudmud.engine import Move, Outcome, Side


class Parting(Enum):
    """How a player came to leave a seat, or the server."""

    LEFT = "left"
    QUIT = "quit"
    LOST = "lost"


class Offer(Enum):
    """What needs both players' word."""

    END = "end"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Joined:
    """A player took a free seat."""

    at: float
    player: str
    side: Side


@dataclass(frozen=True, slots=True)
class Left:
    """A player gave a seat up; a battle that was running waits for somebody to sit down."""

    at: float
    player: str
    side: Side
    parting: Parting


@dataclass(frozen=True, slots=True)
class Cleared:
    """The last player left: the board is as new."""

    at: float
    player: str


@dataclass(frozen=True, slots=True)
class RulesSet:
    """The board's ruleset for the next match was chosen, by the ruleset's name."""

    at: float
    player: str
    rules: str


@dataclass(frozen=True, slots=True)
class BattleStarted:
    """A battle began: ``number`` 1 opens a new match, 2 is played with the seats swapped.

    ``dwarf`` and ``troll`` are who sits where from now on.
    """

    at: float
    player: str
    number: int
    rules: str
    dwarf: str
    troll: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A ply was played; ``ply`` counts from 1 within the battle."""

    at: float
    player: str
    side: Side
    move: Move
    ply: int


@dataclass(frozen=True, slots=True)
class Offered:
    """A player offers what the other may agree to by saying the same."""

    at: float
    player: str
    offer: Offer


@dataclass(frozen=True, slots=True)
class OfferLapsed:
    """An offer no longer stands, because a ply was played."""

    at: float
    player: str
    offer: Offer


@dataclass(frozen=True, slots=True)
class BattleEnded:
    """The battle is over; its points are added to the match."""

    at: float
    player: str
    outcome: Outcome


TableEvent = (
    Joined | Left | Cleared | RulesSet | BattleStarted | Moved | Offered | OfferLapsed | BattleEnded
)
