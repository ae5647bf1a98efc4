"""Each level is stronger than the one below; only the lower four are fast enough to test."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.conftest import SOAKING
from thudmud.bots.referee import random_opening
from thudmud.rules import DISCWORLD, KOOM_VALLEY, Game, Side
from thudmud.search.levels import LEVELS, Level
from thudmud.search.player import Player

LOWER = LEVELS[:4]
MATCHES = 3 if SOAKING else 1


def margin(dwarfs: Level, trolls: Level, seed: int) -> int:
    """Return the dwarfs' winning margin in a battle that is cut off after a run of quiet plies."""
    game = random_opening(DISCWORLD, 4, str(seed))
    players = {
        Side.DWARF: Player(DISCWORLD, dwarfs, seed),
        Side.TROLL: Player(DISCWORLD, trolls, seed),
    }
    while not game.outcome and len(game.moves) < 160 and game.quiet_plies < 30:
        game = game.play(players[game.turn].think(game).move)
    return game.score.dwarf - game.score.troll


@pytest.mark.slow
@pytest.mark.parametrize(("lower", "upper"), list(pairwise(LOWER)), ids=lambda level: level.name)
def test_level_wins_most_matches_against_the_level_below(lower: Level, upper: Level) -> None:
    won = sum(
        margin(upper, lower, seed) > margin(lower, upper, seed) for seed in range(1, MATCHES + 1)
    )
    assert won > MATCHES / 2


@pytest.mark.parametrize("level", LEVELS[:-1], ids=lambda level: level.name)
def test_level_is_deterministic_for_a_seed(level: Level) -> None:
    game = Game.start(KOOM_VALLEY)
    first, again = (Player(KOOM_VALLEY, level, seed=7).think(game) for _ in range(2))
    assert first == again
    assert first.nodes <= max(level.nodes, Player(KOOM_VALLEY, LOWER[0]).think(game).nodes)
