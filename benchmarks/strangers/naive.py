"""Two naive players: greedy, which maximises the captured material, and random."""

from __future__ import annotations

import random

from benchmarks.strangers import IsLate
from thudmud.rules import Game, Move, Ruleset


class Random:
    """Plays any legal ply."""

    def __init__(self, _ruleset: Ruleset) -> None:
        self._chance = random.Random(1)

    def choose(self, game: Game, _is_late: IsLate) -> Move:
        """Return a random choice of the candidate plies."""
        return self._chance.choice(self._best(game, game.ruleset.legal_moves(game.position, 64)))

    def _best(self, _game: Game, plies: list[Move]) -> list[Move]:
        return plies


class Greedy(Random):
    """Maximises the captured material, with a troll counted as four dwarfs."""

    def _best(self, game: Game, plies: list[Move]) -> list[Move]:
        def gain_of(ply: Move) -> int:
            trolls = (ply.captured_bits & game.position.trolls).bit_count()
            return len(ply.captures) + 3 * trolls

        most = max(map(gain_of, plies))
        return [ply for ply in plies if gain_of(ply) == most]
