"""Properties of positions from random play and of artificial ones."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.rules import reference_rules
from tests.rules.shorthand import (
    T,
    random_positions,
    reference_outcome,
    reference_state,
    scattered,
    seeded,
)
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    SQUARES,
    Game,
    Move,
    Piece,
    Position,
    Ruleset,
    Square,
)

seeds = st.integers(0, 2**32 - 1).map(seeded)
rulesets = st.sampled_from(list(RULESETS.values()))
few = examples(25)
PLIES = 60


@dataclass(frozen=True)
class Turning:
    """One of the eight symmetries of the board."""

    quarters: int
    mirrored: bool

    def __call__(self, square: Square) -> Square:
        column, row = square.column, square.row
        if self.mirrored:
            column = 14 - column
        for _ in range(self.quarters):
            column, row = 14 - row, column
        return Square(column, row)


SYMMETRIES = [Turning(quarters, mirrored) for quarters in range(4) for mirrored in (False, True)]
LEFT_TO_RIGHT = Turning(0, mirrored=True)


def turn_position(position: Position, turning: Turning) -> Position:
    pieces = {turning(each): piece for piece in Piece for each in position.squares(piece)}
    return Position.of(pieces, position.turn)


def turn_move(move: Move, turning: Turning) -> Move:
    captures = tuple(turning(each) for each in move.captures)
    return Move(
        move.piece,
        turning(move.origin),
        turning(move.target),
        captures if move.is_trample else tuple(sorted(captures)),
        is_trample=move.is_trample,
    )


def assert_agrees_with_reference_rules(ruleset: Ruleset, position: Position) -> None:
    moves = ruleset.legal_moves(position)
    found = [reference_outcome(move) for move in moves]
    assert len(found) == len(set(found)), "an outcome is listed twice"
    assert set(found) == reference_rules.outcomes(ruleset.name, reference_state(position))
    assert ruleset.count_moves(position) == len(moves)
    ended = ruleset.outcome(position) is not None
    assert ended == (not moves)


@few
@given(rulesets, seeds)
def test_generators_agree_in_random_play(ruleset: Ruleset, random: Random) -> None:
    for position in random_positions(ruleset, random, PLIES)[::3]:
        assert_agrees_with_reference_rules(ruleset, position)


@examples(300)
@given(rulesets, seeds)
def test_generators_agree_in_artificial_positions(ruleset: Ruleset, random: Random) -> None:
    assert_agrees_with_reference_rules(ruleset, scattered(ruleset, random))


@few
@given(rulesets, seeds)
def test_engine_and_reference_rules_apply_moves_alike(ruleset: Ruleset, random: Random) -> None:
    position = scattered(ruleset, random)
    moves = ruleset.legal_moves(position)
    for move in random.sample(moves, min(len(moves), 50)):
        state = reference_rules.after(reference_state(position), reference_outcome(move))
        assert reference_state(position.after(move)) == state


@few
@given(rulesets, seeds)
def test_piece_counts_never_grow_and_pieces_stay_on_the_board(
    ruleset: Ruleset, random: Random
) -> None:
    positions = random_positions(ruleset, random, PLIES)
    for before, after in pairwise(positions):
        for piece in Piece:
            assert after.count(piece) <= before.count(piece)
            assert set(after.squares(piece)) <= set(SQUARES)
        standing = [each for piece in Piece for each in after.squares(piece)]
        assert len(standing) == len(set(standing)), "two pieces on one square"
        assert after.bits(Piece.STONE) == before.bits(Piece.STONE)
        assert after.count(Piece.ROCK) == before.count(Piece.ROCK)
        own, other = Piece.of(before.turn), Piece.of(after.turn)
        assert after.count(own) == before.count(own), "a side captured its own"
        assert after.turn is before.turn.other
        assert before.count(other) - after.count(other) <= 13


@few
@given(rulesets, seeds)
def test_undo_restores_an_equal_battle(ruleset: Ruleset, random: Random) -> None:
    games = [Game.start(ruleset)]
    while games[-1].outcome is None and len(games) <= PLIES:
        games.append(games[-1].play(random.choice(games[-1].legal_moves())))
    game = games.pop()
    while games:
        game = game.undo()
        assert game == games.pop()
        assert hash(game.position) == hash(copy(game.position))


@few
@given(st.sampled_from([CLASSIC, DISCWORLD]), seeds, st.sampled_from(SYMMETRIES))
def test_symmetries_commute_with_move_generation(
    ruleset: Ruleset, random: Random, turning: Turning
) -> None:
    played = random_positions(ruleset, random, PLIES)
    for position in (random.choice(played), scattered(ruleset, random)):
        turned_moves = {turn_move(move, turning) for move in ruleset.legal_moves(position)}
        assert turned_moves == set(ruleset.legal_moves(turn_position(position, turning)))


@few
@given(seeds)
def test_koom_valley_moves_are_mirror_symmetric(random: Random) -> None:
    for position in (
        random.choice(random_positions(KOOM_VALLEY, random, PLIES)),
        scattered(KOOM_VALLEY, random),
    ):
        mirrored = turn_position(position, LEFT_TO_RIGHT)
        moves = {turn_move(move, LEFT_TO_RIGHT) for move in KOOM_VALLEY.legal_moves(position)}
        assert moves == set(KOOM_VALLEY.legal_moves(mirrored))


@few
@given(rulesets, seeds)
def test_moves_from_each_square_add_up_to_all_moves(ruleset: Ruleset, random: Random) -> None:
    position = random.choice(
        [scattered(ruleset, random), *random_positions(ruleset, random, PLIES)]
    )
    moves = [move for square in SQUARES for move in ruleset.moves_from(position, square)]
    assert sorted(moves, key=repr) == sorted(ruleset.legal_moves(position), key=repr)
    for square in SQUARES:
        assert all(move.origin is square for move in ruleset.moves_from(position, square))


def test_symmetries_number_eight() -> None:
    corners = [
        tuple(turning(Square.parse(name)) for name in ("F1", "A6")) for turning in SYMMETRIES
    ]
    assert len(set(corners)) == 8


@pytest.mark.parametrize("name", RULESETS)
def test_random_battles_cover_every_kind_of_move(name: str) -> None:
    """The property tests above are only as good as their positions."""
    ruleset = RULESETS[name]
    kinds = {
        (move.piece, move.verb, move.is_trample, min(len(move.captures), 2))
        for seed in range(12)
        for position in random_positions(ruleset, seeded(seed), PLIES)
        for move in ruleset.legal_moves(position)
    }
    captures = {number for _, _, _, number in kinds}
    assert captures == {0, 1, 2}
    assert {verb for _, verb, _, _ in kinds} == ruleset.verbs
    assert (Piece.ROCK in {piece for piece, _, _, _ in kinds}) == bool(
        ruleset.initial_position.rock
    )
    assert any(trample for _, _, trample, _ in kinds) == bool(ruleset.goals)
    assert any(piece is Piece.of(T) for piece, _, _, _ in kinds)
