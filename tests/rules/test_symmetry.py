"""Symmetric positions share a position number, which is stable for ever."""

from __future__ import annotations

import subprocess
import sys
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.rules.shorthand import seeded
from tests.rules.test_random_play import LEFT_TO_RIGHT, SYMMETRIES, turn_position
from thudmud.rules import CLASSIC, DISCWORLD, KOOM_VALLEY, RULESETS, Game, Ruleset, Side
from thudmud.rules import symmetry as of_symmetry
from thudmud.rules.symmetry import canonical_record, hasher_of, symmetries_of

few = examples(25)
rulesets = st.sampled_from(list(RULESETS.values()))
seeds = st.integers(0, 2**32 - 1).map(seeded)


def played(ruleset: Ruleset, dice: Random, plies: int) -> Game:
    game = Game.start(ruleset)
    while len(game.moves) < plies and (moves := game.listed_moves()[0]):
        game = game.play(dice.choice(moves))
    return game


def number(game: Game) -> int:
    fingerprints = hasher_of(game.ruleset)
    return fingerprints.canonical_key(fingerprints.hash_of(game.position))[0]


def test_koom_valley_has_one_reflection() -> None:
    assert len(symmetries_of(DISCWORLD)) == len(symmetries_of(CLASSIC)) == 8
    kept = symmetries_of(KOOM_VALLEY)
    images = [
        turn_position(KOOM_VALLEY.initial_position, each) for each in (SYMMETRIES[0], LEFT_TO_RIGHT)
    ]
    assert [each.map_position(KOOM_VALLEY.initial_position) for each in kept] == images


@few
@given(rulesets, seeds, st.integers(0, 30))
def test_inverse_undoes_a_symmetry(ruleset: Ruleset, dice: Random, plies: int) -> None:
    position = played(ruleset, dice, plies).position
    for each in of_symmetry.SYMMETRIES:
        assert each.inverse.map_position(each.map_position(position)) == position


@few
@given(rulesets, seeds, st.integers(0, 30))
def test_symmetric_images_share_number_and_moves(
    ruleset: Ruleset, dice: Random, plies: int
) -> None:
    game = played(ruleset, dice, plies)
    fingerprints = hasher_of(ruleset)
    turnings = SYMMETRIES if len(fingerprints.symmetries) == 8 else [SYMMETRIES[0], LEFT_TO_RIGHT]
    known, some = fingerprints.canonical_key(fingerprints.hash_of(game.position))
    moves = game.listed_moves()[0][:40]
    plies_seen = {canonical_record(move, some) for move in moves}
    for each in turnings:
        image = turn_position(game.position, each)
        same, others = fingerprints.canonical_key(fingerprints.hash_of(image))
        assert same == known
        assert -(2**63) <= same < 2**63
        assert others[0].map_position(image) == some[0].map_position(game.position)
        turned = [next(s for s in of_symmetry.SYMMETRIES if s.map_position(game.position) == image)]
        assert plies_seen == {canonical_record(turned[0].map_move(move), others) for move in moves}


@few
@given(rulesets, seeds)
def test_fingerprint_is_updated_incrementally_by_moves(ruleset: Ruleset, dice: Random) -> None:
    fingerprints, game = hasher_of(ruleset), Game.start(ruleset)
    known = fingerprints.hash_of(game.position)
    for move in played(ruleset, dice, 40).moves:
        game, known = game.play(move), fingerprints.hash_after(known, move)
        assert known == fingerprints.hash_of(game.position)


@few
@given(seeds)
def test_different_positions_have_different_numbers(dice: Random) -> None:
    seen: dict[int, Game] = {}
    for ruleset in RULESETS.values():
        game = played(ruleset, dice, 30)
        for ply in range(len(game.moves) + 1):
            then = game.after(ply)
            other = seen.setdefault(number(then), then)
            if other.ruleset is then.ruleset and other.position != then.position:
                images = [each.map_position(other.position) for each in symmetries_of(ruleset)]
                assert then.position in images
            else:
                assert other.ruleset is then.ruleset


def test_side_to_move_changes_the_number() -> None:
    position = DISCWORLD.initial_position
    other = type(position)(
        position.dwarfs, position.trolls, position.stone, position.rock, Side.TROLL
    )
    assert number(Game.start(DISCWORLD)) != number(Game.start(DISCWORLD, other))


NUMBERS = {
    "discworld": -7984506568813386262,
    "classic": -7089825696325435989,
    "koom valley": 2208290884593424764,
}
"""Position numbers of the openings. They are stored: if they change, increase `PROJECTION`."""


def test_position_numbers_are_stable_across_processes() -> None:
    assert {name: number(Game.start(rules)) for name, rules in RULESETS.items()} == NUMBERS
    script = (
        "from thudmud.rules import DISCWORLD\n"
        "from thudmud.rules.symmetry import hasher_of\n"
        "hasher = hasher_of(DISCWORLD)\n"
        "print(hasher.canonical_key(hasher.hash_of(DISCWORLD.initial_position))[0])\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert int(said) == NUMBERS["discworld"]
