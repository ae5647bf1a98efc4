"""The commands about battles that were played, and what came of them.

Owns the same as `thudmud.commands.model`, for those. Must never know how a line is read, nor what
a command does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Games:
    """List one's own matches, running and adjourned."""

    def __str__(self) -> str:
        return "games"


@dataclass(frozen=True, slots=True)
class History:
    """List the battles that were played, the last one first: all of them, or a player's."""

    player: str | None = None
    page: int = 1

    def __str__(self) -> str:
        player = "" if self.player is None else f" {self.player}"
        return f"history{player}" + ("" if self.page == 1 else f" page {self.page}")


@dataclass(frozen=True, slots=True)
class Replay:
    """Go through a battle again, from its beginning."""

    number: int

    def __str__(self) -> str:
        return f"replay {self.number}"


class Way(Enum):
    """Where to go in a battle that is replayed."""

    NEXT = "next"
    BACK = "back"
    FIRST = "first"
    LAST = "last"
    PLAY = "play"
    """On to the end by itself, ply by ply."""


@dataclass(frozen=True, slots=True)
class Step:
    """See another ply of the battle that one is replaying."""

    way: Way

    def __str__(self) -> str:
        return self.way.value


@dataclass(frozen=True, slots=True)
class Record:
    """See a battle in record notation."""

    number: int

    def __str__(self) -> str:
        return f"record {self.number}"


@dataclass(frozen=True, slots=True)
class ViewScore:
    """See what a player has won and lost; oneself if ``player`` is None."""

    player: str | None = None

    def __str__(self) -> str:
        return "score" if self.player is None else f"score {self.player}"


@dataclass(frozen=True, slots=True)
class Standings:
    """List the players by their ratings."""

    def __str__(self) -> str:
        return "standings"


ArchiveCommand = Games | History | Replay | Step | Record | ViewScore | Standings
