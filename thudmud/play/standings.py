"""What players have won and lost, and how good that makes them.

`thudmud.play.projections` works it out, event by event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from thudmud.rules import Side


class Count(NamedTuple):
    """How often a player won, drew and lost."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    def and_one(self, *, mine: bool, theirs: bool) -> Count:
        """Return it with one more, that the player, the opponent or neither has won."""
        return Count(self.won + mine, self.drawn + (not (mine or theirs)), self.lost + theirs)


@dataclass(frozen=True, slots=True)
class Rating:
    """How good a player is.

    Attributes:
        points: the rating, as a chess player would read it.
        uncertainty: one standard deviation of it, in points: it is as likely as two to one that the
            player is that near.
        battles: how many battles it rests on.
    """

    points: int
    uncertainty: int
    battles: int

    @property
    def proven(self) -> int:
        """What the player is good for, as good as certainly: players are ranked by that."""
        return self.points - 2 * self.uncertainty


@dataclass(frozen=True, slots=True)
class PlayerScore:
    """All that a player has won and lost.

    Attributes:
        name: what they are called now.
        battles: by ruleset's name and side.
        matches: by ruleset's name.
        rating: how good that makes them, if any of it was rated.
    """

    name: str
    battles: Mapping[tuple[str, Side], Count]
    matches: Mapping[str, Count]
    rating: Rating | None
