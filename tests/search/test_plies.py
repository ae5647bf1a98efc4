"""The search's move generator agrees with the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.cases import cases
from thudmud.rules import DISCWORLD, RULESETS, Capturing, Position, Ruleset, Side
from thudmud.rules.board import BOARD, squares_in
from thudmud.rules.classic import ANY, ShovingTrolls
from thudmud.search.masks import Ply, Tactics
from thudmud.search.tactics import masks, tactics_of

ALL = 10_000

OTHERS = [
    replace(DISCWORLD, name=name, trolls=ShovingTrolls(most, shortest))
    for name, most, shortest in [
        ("one by one", 1, 1),
        ("two by one", 2, 1),
        ("any by two", ANY, 2),
        ("two by two", 2, 2),
        ("any by three", ANY, 3),
    ]
]
"""Made-up rulesets that vary the captures after a troll's move and the minimum shove."""


def positions(ruleset: Ruleset, seed: int, plies: int = 120) -> Iterator[Position]:
    """Yield the positions of a random battle that favours captures and close contact."""
    random = Random(seed)  # noqa: S311  (no secret)
    position = ruleset.initial_position
    for _ in range(plies):
        moves = ruleset.legal_moves(position, 64)
        if not moves:
            return
        yield position
        captures = [move for move in moves if move.captures]
        few = captures and random.random() < 0.3
        position = position.after(random.choice(captures if few else moves))


def generated(tactics: Tactics[Any], position: Position) -> tuple[set[Ply], set[Ply]]:
    """Return the generated plies: captures first, then the others."""
    d, t, r = position.dwarfs, position.trolls, position.rock
    empty = position.empty
    field = tactics.field(d, t, empty)
    if position.turn is Side.DWARF:
        captures = tactics.dwarf_captures(d, t, r, empty, field)
        return set(captures), set(tactics.dwarf_moves(d, t, r, empty, field, ALL))
    found = tactics.troll_captures(d, t, r, empty, field)
    moves = tactics.troll_moves(d, t, r, empty, field)
    return {ply for _, _, ply in found}, {ply for _, ply in moves}


@pytest.mark.parametrize("ruleset", [*RULESETS.values(), *OTHERS], ids=str)
def test_least_filter_drops_only_small_captures_that_lose_the_troll(ruleset: Ruleset) -> None:
    random, tactics = Random(7), tactics_of(ruleset)  # noqa: S311  (no secret)
    squares = sorted(squares_in(BOARD ^ ruleset.initial_position.stone))
    for _ in range(100):
        bits = [each.bit for each in random.sample(squares, 60)]
        d, t = sum(bits[:50]), sum(bits[50:])
        empty = tactics.ground & ~(d | t)
        field = tactics.field(d, t, empty)
        captures = tactics.troll_captures(d, t, 0, empty, field)
        for least in range(1, 8):
            wanted = [each for each in captures if each[0] >= (4 if each[1] else least)]
            found = tactics.troll_captures(d, t, 0, empty, field, least=least)
            assert [each for each in found if each in wanted] == wanted
            assert set(found) <= set(captures)
        for _, is_hit, (taken, path, _) in captures:
            if is_hit:
                d2, t2 = d ^ taken, t ^ path
                then = tactics.ground & ~(d2 | t2)
                hurls = tactics.dwarf_captures(d2, t2, 0, then, tactics.field(d2, t2, then))
                assert any(hit & path & empty for _, hit, _ in hurls)


@cases("ruleset", [*RULESETS.values(), *OTHERS])
@cases("seed", range(6))
def test_generated_plies_agree_with_the_rules(ruleset: Ruleset, seed: int) -> None:
    tactics = tactics_of(ruleset)
    seen = 0
    for position in positions(ruleset, seed):
        moves = ruleset.legal_moves(position)
        captures, others = generated(tactics, position)
        legal = {masks(move) for move in moves if move.captures}
        assert others == {masks(move) for move in moves if not move.captures}
        assert captures <= legal
        # An omitted capture takes a subset of what a generated one takes, with the same piece on
        # the same square. It is never better: see `thudmud.search.thud`.
        for ply in legal - captures:
            assert any(is_less(ply, other, ruleset, position.turn) for other in captures)
        seen += len(captures)
    assert seen > 10


def is_less(ply: Ply, other: Ply, ruleset: Ruleset, side: Side) -> bool:
    """Whether a ply takes a subset of what another takes, with the same piece and target."""
    if side is Side.DWARF:
        return ply[0] == other[0] and ply[1] | other[1] == other[1]
    if ruleset.trolls.captures is Capturing.TRAMPLE:
        return ply[0].bit_count() >= 1
    return ply[1] == other[1] and ply[0] | other[0] == other[0]
