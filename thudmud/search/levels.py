"""Players of several strengths, from one that a child beats to the strongest there is.

What makes a level weaker is what makes people weaker: it looks less far ahead, it does not see all
answers, it overlooks long hurls and shoves, and it is not sure what a position is worth. All of it
is counted in positions and drawn from a seed, never measured in time: a level plays the same on
every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from thudmud.errors import InvalidValueError
from thudmud.rules import Game, Move, Ruleset
from thudmud.rules.board import distance
from thudmud.search.search import Blunders, Limit, Search, Thought


@dataclass(frozen=True, slots=True)
class Level:
    """How strong a player is.

    Attributes:
        number: 1 for the weakest.
        name: what it is called: a stone, the harder the stronger.
        sentence: what can be expected of it, for whoever chooses an opponent.
        nodes: how many positions it looks at for a ply.
        depth: how many plies it looks ahead at most; 0 for each of its own by itself.
        error: by about how many hundredths of a dwarf it misjudges each ply.
        sees: how likely it is to see the answer to a ply.
        far: how far it sees hurls and shoves; one in three of those that go further it overlooks.
    """

    number: int
    name: str
    sentence: str
    nodes: int
    depth: int
    error: int = 0
    sees: float = 1.0
    far: int = 15

    def __str__(self) -> str:
        """Return its number and its name, ``3 Marble``: either can be typed."""
        return f"{self.number} {self.name}"


LEVELS: tuple[Level, ...] = (
    Level(1, "Chalk", "Plays almost anything, and takes what is in its way.", 0, 0, 400, 0.0, 1),
    Level(2, "Slate", "Knows what is worth taking, and walks into most traps.", 0, 0, 90, 0.0, 2),
    Level(3, "Marble", "Often sees what you can take next.", 0, 0, 30, 0.6, 3),
    Level(4, "Granite", "Always sees what you can take next, and keeps together.", 0, 0, 15),
    Level(5, "Flint", "Looks two plies ahead, and through every exchange.", 2_000, 2, 6),
    Level(6, "Quartz", "Plans a few plies ahead. Few people beat it.", 5_000, 60),
    Level(7, "Diamond", "Looks as far as it can.", 30_000, 60),
)
"""All levels, the weakest first."""

STRONGEST = LEVELS[-1]

_OVERLOOKED = 1 / 3
_LONGEST_QUOTE = 40


def level_called(words: str) -> Level:
    """Return the level of a number, or of a name in any case.

    Raises:
        InvalidValueError: there is none.
    """
    for level in LEVELS:
        if words.lower() in {level.name.lower(), str(level.number)}:
            return level
    known = ", ".join(map(str, LEVELS))
    raise InvalidValueError(f"there is no level {words[:_LONGEST_QUOTE]!a}; there are {known}")


class Player:
    """A player of a level.

    Args:
        ruleset: the rules.
        level: how strong.
        seed: what its errors are drawn from; the same seed plays the same.
    """

    def __init__(self, ruleset: Ruleset, level: Level = STRONGEST, seed: int = 0) -> None:
        self._search, self._level = Search(ruleset), level
        self._seed = seed

    def think(
        self,
        game: Game,
        limit: Limit | None = None,
        report: Callable[[Thought], None] | None = None,
    ) -> Thought:
        """Return the ply that a player of this level plays.

        Args:
            game: a battle that goes on.
            limit: when to stop instead of at the level's own nodes and depth.
            report: told after each depth what has been found.

        Raises:
            ValueError: the battle is over.
        """
        level = self._level
        own = limit or Limit(nodes=level.nodes)
        own = replace(own, depth=min(own.depth, level.depth))
        return self._search.think(game, own, report, self._blunders(game))

    def _blunders(self, game: Game) -> Blunders:
        """Return what it gets wrong this time: by the seed and the position, and nothing else."""
        level, at = self._level, game.position
        random = Random(f"{self._seed} {at.dwarfs} {at.trolls} {at.rock}")  # noqa: S311  (no secret)

        def overlooks(move: Move) -> bool:
            is_far = move.captures and distance(move.origin, move.target) > level.far
            return bool(is_far) and random.random() < _OVERLOOKED

        return Blunders(
            overlooks,
            lambda _: random.random() >= level.sees,
            lambda _: round(random.gauss(0, level.error)) if level.error else 0,
        )
