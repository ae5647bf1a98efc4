"""A match: two battles, with the seats swapped for the second.

Owns the points of the two contestants. A contestant is not a name: whoever sits down in a seat
that was given up plays on with that seat's points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from thudmud.engine import Game, Ruleset, Side

BATTLES = 2


@dataclass(frozen=True, slots=True)
class Match:
    """The battle on the board, which of the two it is, and the points of the battles before it.

    ``before`` holds the points of the contestant who has the dwarfs, and of the one who has the
    trolls, in the battle on the board now.
    """

    game: Game
    battle: int = 1
    before: tuple[int, int] = (0, 0)

    @classmethod
    def start(cls, ruleset: Ruleset) -> Match:
        """Return a match at the opening of its first battle."""
        return cls(Game.start(ruleset))

    def second_battle(self) -> Match:
        """Return the match at the opening of its second battle, the points with swapped seats."""
        return Match(
            Game.start(self.game.ruleset), 2, (self.points(Side.TROLL), self.points(Side.DWARF))
        )

    def with_game(self, game: Game) -> Match:
        """Return the match with the battle on the board gone on to ``game``."""
        return replace(self, game=game)

    def points(self, side: Side) -> int:
        """Return the match points, finished battles only, of who now sits at ``side``."""
        outcome = self.game.outcome
        return self.before[side is Side.TROLL] + (outcome.score.of(side) if outcome else 0)

    @property
    def running(self) -> bool:
        """Whether a battle is being played."""
        return self.game.outcome is None

    @property
    def over(self) -> bool:
        """Whether both battles have ended."""
        return not self.running and self.battle == BATTLES
