"""Tramples in crowded positions: exact while cheap, and always of bounded cost."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.rules.looks import Looks, looks_of
from tests.rules.shorthand import T, ask, board, random_positions, scattered, seeded, squares
from thudmud.rules import (
    EVERY,
    KOOM_VALLEY,
    RULESETS,
    SQUARES,
    Attempt,
    IllegalMoveError,
    Move,
    Piece,
    Position,
    Reason,
    Ruleset,
    Square,
    Verb,
    tramples,
)

LATTICE = board("d G10 I10 F11 G11 H11 I11 J11 G12 I12 F13 G13 H13 I13 J13 G14 I14 T H12 R H8", T)
"""Sixteen dwarfs around the nine squares on which a troll among them can land."""

H12 = Square.parse("H12")
DWARFS = LATTICE.squares(Piece.DWARF)

seeds = st.integers(0, 2**32 - 1).map(seeded)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return looks_of(monkeypatch)


def resolved(position: Position, attempt: Attempt) -> Move | IllegalMoveError:
    try:
        return KOOM_VALLEY.resolve(position, attempt, T)
    except IllegalMoveError as refusal:
        return refusal


def cluster(random: Random) -> tuple[int, int, int]:
    """Return a troll among up to nine dwarfs: its bit, theirs, and the empty squares."""
    box = [each for each in SQUARES if 4 <= each.column <= 10 and 4 <= each.row <= 10]
    origin, *rest = random.sample(box, random.randint(4, 14))
    between = [
        each for each in rest if (each.column - origin.column) % 2 or (each.row - origin.row) % 2
    ]
    dwarfs, others = between[:9], between[9:] + [each for each in rest if each not in between]
    occupied = sum(each.bit for each in dwarfs + others)
    board_bits = sum(each.bit for each in SQUARES)
    return origin.bit, sum(each.bit for each in dwarfs), board_bits & ~occupied


def test_move_count_of_the_lattice_is_exact() -> None:
    assert KOOM_VALLEY.count_moves(LATTICE) == 317_896


@examples(150)
@given(seeds)
def test_path_searches_agree_with_full_enumeration(random: Random) -> None:
    origin, prey, empty = cluster(random)
    everything = list(tramples.all_paths(origin, prey, empty))
    assert len(everything) == tramples.count_paths(origin, prey, empty)
    by_length = sorted(everything, key=lambda each: len(each[1]))
    assert list(tramples.shortest_paths(origin, prey, empty)) == by_length
    for target in SQUARES:
        there = [path for end, path in everything if end == target.bit]
        shortest = tramples.shortest_path(origin, target.bit, prey, empty)
        assert shortest == min(there, key=len, default=None)
        most = max(map(len, there), default=0)
        fullest = [path for path in there if len(path) == most]
        found = tramples.fullest_paths(origin, target.bit, prey, empty)
        assert [path for path in found if path] == fullest[:2]


def test_trample_crosses_a_dwarf_only_once() -> None:
    position = board("d F6 G6 T E5 E6 R H8", T)
    refused = resolved(position, ask("move E5 E7"))
    assert isinstance(refused, IllegalMoveError)
    assert refused.code is Reason.BLOCKED
    longer = board("d F6 G6 G8 F8 T E5 E6 R H9", T)
    refused = resolved(longer, ask("move E5 E7"))
    assert isinstance(refused, IllegalMoveError)
    assert refused.code is Reason.MUST_TRAMPLE
    assert refused.squares == squares("F6 G8 F8")
    assert isinstance(resolved(longer, ask("move E5 E7 capturing F6, G8, F8")), Move)


@pytest.mark.parametrize("said", [None, (), EVERY, DWARFS, DWARFS[:9], DWARFS[::-1]], ids=str)
def test_attempts_on_the_lattice_take_bounded_work(
    looks: Looks, said: tuple[Square, ...] | None
) -> None:
    worst = 0
    for target in SQUARES:
        looks.clear()
        answer = resolved(LATTICE, Attempt(Verb.MOVE, H12, target, said))
        assert isinstance(answer, IllegalMoveError)
        worst = max(worst, len(looks))
    silent = not said
    assert 0 < worst <= (100 if silent else tramples.MOST_STATES + 100)


@pytest.mark.parametrize("target", ["F10", "H10", "J14", "F12", "H12"])
def test_offered_path_is_shortest_and_legal(target: str) -> None:
    refused = resolved(LATTICE, ask(f"move H12 {target} capturing all"))
    assert isinstance(refused, IllegalMoveError)
    assert refused.code is Reason.TRAMPLES_TOO_MANY
    offered = ", ".join(map(str, refused.details["path"]))
    granted = resolved(LATTICE, ask(f"move H12 {target} capturing {offered}"))
    assert isinstance(granted, Move)
    assert len(granted.captures) == (3 if target == "H12" else 1)


def test_long_path_is_granted_in_its_order_without_a_search(looks: Looks) -> None:
    everything = tramples.all_paths(H12.bit, LATTICE.dwarfs, LATTICE.empty | H12.bit)
    end, path = max(islice(everything, 5_000), key=lambda each: len(each[1]))
    assert len(path) > 12
    (target,) = [each for each in SQUARES if each.bit == end]
    looks.clear()
    granted = resolved(LATTICE, Attempt(Verb.MOVE, H12, target, path))
    assert isinstance(granted, Move)
    assert granted.captures == path
    assert not looks


@pytest.mark.parametrize("most", [0, 1, 13, 200])
def test_bounded_list_takes_work_proportional_to_its_length(looks: Looks, most: int) -> None:
    moves = KOOM_VALLEY.moves_from(LATTICE, H12, most)
    assert len(moves) == most
    lengths = [len(move.captures) for move in moves]
    assert lengths == sorted(lengths)
    assert len(looks) <= most
    assert len(set(moves)) == most
    for move in moves:
        assert resolved(LATTICE, move.attempt()) == move


@examples(40)
@given(st.sampled_from(list(RULESETS.values())), seeds, st.integers(0, 20))
def test_bounded_list_has_the_shortest_tramples_and_all_other_moves(
    ruleset: Ruleset, random: Random, most: int
) -> None:
    position = random.choice([scattered(ruleset, random), *random_positions(ruleset, random, 60)])
    for square in SQUARES:
        moves = ruleset.moves_from(position, square)
        tramples = sorted(
            (move for move in moves if move.is_trample), key=lambda move: len(move.captures)
        )
        others = [move for move in moves if not move.is_trample]
        assert ruleset.moves_from(position, square, most) == others + tramples[:most]
        assert ruleset.moves_from(position, square, len(tramples)) == others + tramples
