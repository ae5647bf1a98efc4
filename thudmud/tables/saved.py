"""A match by itself, away from any board.

Owns the value that a match is put away as, and what tells one battle from all others. Must never
know a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from thudmud.rules import Move, Outcome


class BattleId(NamedTuple):
    """What no two battles share: the board that one began at, and its first event's version there.

    A battle that was imported has another stream of events in the place of a board.
    """

    board: str
    version: int


@dataclass(frozen=True, slots=True)
class SavedMatch:
    """A match as it stands, by itself: all that it takes to go on with it at any board.

    Attributes:
        began: which battle it has come to.
        battle: 1 or 2, which of the two of the match.
        rules: its ruleset's name.
        before: the points of the battles before this one, of who has the dwarfs and of who has the
            trolls in it.
        dwarf: who plays the dwarfs.
        troll: who plays the trolls.
        rated: whether this battle may count for ratings.
        moves: its plies so far.
        outcome: how it ended; None while it goes on.
    """

    began: BattleId
    battle: int
    rules: str
    before: tuple[int, int]
    dwarf: str
    troll: str
    rated: bool
    moves: tuple[Move, ...]
    outcome: Outcome | None
