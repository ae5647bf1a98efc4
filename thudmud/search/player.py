"""Players of several strengths.

Nothing depends on time: limits are numbers of positions, and errors are drawn from a seed. So a
level plays the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from thudmud.rules import Game, Move, Ruleset
from thudmud.rules.board import distance
from thudmud.search.levels import STRONGEST, Level
from thudmud.search.search import Blunders, Limit, Search, SearchResult

_OVERLOOKED = 1 / 3


class Player:
    """A computer player at a fixed level.

    Args:
        ruleset: the rules.
        level: the level.
        seed: seeds the deliberate errors; the same seed gives the same plies.
    """

    def __init__(self, ruleset: Ruleset, level: Level = STRONGEST, seed: int = 0) -> None:
        self._search, self._level = Search(ruleset), level
        self._seed = seed

    def think(
        self,
        game: Game,
        limit: Limit | None = None,
        report: Callable[[SearchResult], None] | None = None,
    ) -> SearchResult:
        """Choose a ply at this player's level.

        Args:
            game: a running battle.
            limit: when to stop, in place of the level's number of nodes; the level's depth still
                applies.
            report: called after each depth with the result so far.

        Raises:
            InvalidValueError: the battle is over.
        """
        level = self._level
        own = limit or Limit(nodes=level.nodes)
        own = replace(own, depth=min(own.depth, level.depth))
        return self._search.think(game, own, report, self._blunders(game))

    def _blunders(self, game: Game) -> Blunders:
        """Return this ply's blunders, which depend only on the seed and the position."""
        level, at = self._level, game.position
        random = Random(f"{self._seed} {at.dwarfs} {at.trolls} {at.rock}")  # noqa: S311  (no secret)

        def is_overlooked(move: Move) -> bool:
            is_far = move.captures and distance(move.origin, move.target) > level.far
            return bool(is_far) and random.random() < _OVERLOOKED

        return Blunders(
            is_overlooked,
            lambda _: random.random() >= level.sees,
            lambda _: round(random.gauss(0, level.error)) if level.error else 0,
        )
