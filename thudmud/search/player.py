"""Players of several strengths.

What they get wrong is counted in positions and drawn from a seed, never measured in time: a level
plays the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from thudmud.rules import Game, Move, Ruleset
from thudmud.rules.board import distance
from thudmud.search.levels import STRONGEST, Level
from thudmud.search.search import Blunders, Limit, Search, Thought

_OVERLOOKED = 1 / 3


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
