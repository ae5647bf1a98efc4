"""Puzzles have one best move, tempting moves that fail, and an order from easy to hard."""

from __future__ import annotations

from importlib.resources import files

import pytest

from tests.conftest import SOAKING
from tests.search.puzzles import (
    DEPTH,
    GAIN,
    SHOWN,
    WIDE,
    candidate,
    chosen,
    gained,
    is_like,
    is_sure,
    order,
    tempting,
)
from thudmud.features.exercises.model import Puzzle, puzzles
from thudmud.rules import RULESETS, Side

PUZZLES = puzzles()
EVERY = pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=lambda puzzle: str(puzzle.number))
SEARCHED = pytest.mark.parametrize(
    "puzzle",
    list(PUZZLES.values())[:: 1 if SOAKING else 4],  # each takes more than a second
    ids=lambda puzzle: str(puzzle.number),
)


def test_puzzle_file_has_fifty_puzzles_and_covers_all_rulesets() -> None:
    assert len({each.key for each in PUZZLES.values()}) == len(PUZZLES) >= 50
    assert {each.game.ruleset.name for each in PUZZLES.values()} == set(RULESETS)


def test_first_twenty_puzzles_are_half_for_the_dwarfs() -> None:
    sides = [PUZZLES[number].game.turn for number in range(1, 21)]
    assert sides.count(Side.DWARF) == 10


@pytest.mark.parametrize("side", Side)
def test_puzzles_for_a_side_are_ordered_from_easy_to_hard(side: Side) -> None:
    orders = [order(each) for each in PUZZLES.values() if each.game.turn is side]
    assert orders == sorted(orders)


@EVERY
def test_tempting_moves_gain_less_than_the_solution(puzzle: Puzzle) -> None:
    game, gain = puzzle.game, gained(puzzle.game, puzzle.line)
    assert gain >= GAIN
    tempts = tempting(game, puzzle.solution)
    assert tempts
    for move in tempts:
        assert gain - gained(game, puzzle.refuted(move)) >= SHOWN
    for way in puzzle.tries:
        move = next(
            move
            for move in sorted(game.legal_moves(), key=lambda move: -len(move.captures))
            if (move.origin, move.target) == way
        )
        assert gained(game, puzzle.refuted(move)) < gain


def assert_one_move_is_best(puzzle: Puzzle) -> None:
    found = candidate(puzzle.game, DEPTH)
    assert is_like(found.move, puzzle.solution)
    assert is_sure(found)
    deeper = candidate(puzzle.game, DEPTH + 2, WIDE)
    assert is_like(deeper.move, puzzle.solution)
    assert is_sure(deeper)


def test_first_puzzle_has_one_best_move_two_plies_deeper() -> None:
    assert_one_move_is_best(PUZZLES[1])


@pytest.mark.slow
@SEARCHED
def test_puzzle_has_one_best_move_two_plies_deeper(puzzle: Puzzle) -> None:
    assert_one_move_is_best(puzzle)


def test_puzzle_file_is_in_the_order_of_the_tool() -> None:
    lines = (
        (files("thudmud.features.exercises") / "puzzles.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    assert chosen(sorted(lines)) == lines
