"""Puzzles that the player solves."""

from __future__ import annotations

import pytest

from tests.search.puzzles import DEPTH, is_like, puzzles
from thudmud.rules import Game
from thudmud.search.search import Limit, Search

PUZZLES = list(puzzles())


def test_there_are_fifty_puzzles_of_all_rules() -> None:
    assert len({game.position for game, _ in PUZZLES}) == len(PUZZLES) == 50
    assert {game.ruleset.name for game, _ in PUZZLES} == {"discworld", "classic", "koom valley"}


@pytest.mark.parametrize(("game", "solution"), PUZZLES, ids=range(1, len(PUZZLES) + 1))
def test_it_finds_the_capture_that_is_worth_most(game: Game, solution: str) -> None:
    found = Search(game.ruleset).think(game, Limit(depth=DEPTH)).move
    assert is_like(found, game.push(solution).moves[-1])
