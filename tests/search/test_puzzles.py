"""Puzzles that the player solves."""

from __future__ import annotations

import pytest

from tests.search.puzzles import DEPTH
from thudmud.play.exercises import Puzzle, puzzles
from thudmud.rules import RULESETS
from thudmud.search.search import Limit, Search

PUZZLES = puzzles()


def test_there_are_fifty_puzzles_and_more_of_all_rules() -> None:
    assert len({each.game.position for each in PUZZLES.values()}) == len(PUZZLES) >= 50
    assert {each.game.ruleset.name for each in PUZZLES.values()} == set(RULESETS)


@pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=lambda puzzle: str(puzzle.number))
def test_it_finds_the_capture_that_is_worth_most(puzzle: Puzzle) -> None:
    found = Search(puzzle.game.ruleset).think(puzzle.game, Limit(depth=DEPTH)).move
    assert puzzle.goes_like(found)
