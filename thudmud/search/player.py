"""Players of several strengths.

Limits are in positions and errors are drawn from a seed, nothing depends on time: a level plays the
same on every machine.
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
    """A player of one level.

    Args:
        ruleset: the rules.
        level: its level.
        seed: the seed of its errors; the same seed plays the same.
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
        """Return the ply that a player of this level chooses.

        Args:
            game: a running battle.
            limit: when to stop, in place of the level's nodes; its depth still holds.
            report: called after each depth with what was found.

        Raises:
            ValueError: the battle is over.
        """
        level = self._level
        own = limit or Limit(nodes=level.nodes)
        own = replace(own, depth=min(own.depth, level.depth))
        return self._search.think(game, own, report, self._blunders(game))

    def _blunders(self, game: Game) -> Blunders:
        """Return its blunders this time, which depend on the seed and the position alone."""
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
