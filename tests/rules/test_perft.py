"""Perft: a table of known counts, and positions counted by the reference rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.cases import cases
from tests.rules import reference_rules
from tests.rules.shorthand import reference_state
from thudmud.rules import RULESETS, Position, Ruleset, Side, divide, perft, read_record

TABLE = {
    ("classic", 1): 656,
    ("classic", 2): 22_624,
    ("classic", 3): 14_142_624,
    ("discworld", 1): 656,
    ("discworld", 2): 22_624,
    ("discworld", 3): 14_142_624,
    ("koom valley", 1): 388,
    ("koom valley", 2): 33_974,
    ("koom valley", 3): 12_977_012,
}
QUICK = 3_000
"""The largest count that the reference rules verify in the default run."""


@dataclass
class Case:
    """A block of positions.perft."""

    id: str
    ruleset: Ruleset
    record: list[str] = field(default_factory=list)
    turn: Side | None = None
    counts: dict[int, int] = field(default_factory=dict)

    @property
    def position(self) -> Position:
        position = read_record("\n".join(self.record), self.ruleset).game.position
        return position if self.turn is None else replace(position, turn=self.turn)


def read_cases() -> Iterator[Case]:
    """Read positions.perft; its first lines explain the format."""
    case = None
    text = Path(__file__).with_name("positions.perft").read_text(encoding="utf-8")
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "id":
            name, _, title = rest.partition(": ")
            case = Case(f"{name}: {title}", RULESETS[name])
            yield case
        elif case and word in {"setup", "ply"}:
            case.record.append(rest)
        elif case and word == "turn":
            case.turn = Side(rest)
        elif case and word == "perft":
            depth, count = map(int, rest.split())
            case.counts[depth] = count


CASES = list(read_cases())
COUNTS = [
    pytest.param(
        case,
        depth,
        count,
        marks=[pytest.mark.slow] if count > QUICK else [],
        id=f"{case.id}, {depth}",
    )
    for case in CASES
    for depth, count in case.counts.items()
]


def test_positions_cover_every_ruleset() -> None:
    assert {case.ruleset.name for case in CASES} == set(RULESETS)


@pytest.mark.parametrize("depth", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", RULESETS)
def test_perft_of_the_opening_matches_the_table(name: str, depth: int) -> None:
    ruleset = RULESETS[name]
    assert perft(ruleset, ruleset.initial_position, depth) == TABLE[name, depth]


@pytest.mark.parametrize("name", RULESETS)
def test_reference_rules_perft_matches_the_table(name: str) -> None:
    state = reference_state(RULESETS[name].initial_position)
    assert reference_rules.perft(name, state, 1) == TABLE[name, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", RULESETS)
def test_reference_rules_perft_matches_the_table_two_plies_deep(name: str) -> None:
    state = reference_state(RULESETS[name].initial_position)
    assert reference_rules.perft(name, state, 2) == TABLE[name, 2]


@cases("case", CASES)
def test_perft_of_positions_matches_their_counts(case: Case) -> None:
    counted = {depth: perft(case.ruleset, case.position, depth) for depth in case.counts}
    assert counted == case.counts


@pytest.mark.parametrize(("case", "depth", "count"), COUNTS)
def test_reference_rules_perft_of_positions_matches_their_counts(
    case: Case, depth: int, count: int
) -> None:
    assert reference_rules.perft(case.ruleset.name, reference_state(case.position), depth) == count


@pytest.mark.parametrize("name", RULESETS)
def test_divide_adds_up_to_perft(name: str) -> None:
    ruleset = RULESETS[name]
    divided = divide(ruleset, ruleset.initial_position, 2)
    assert len(divided) == TABLE[name, 1]
    assert sum(count for _, count in divided) == TABLE[name, 2]
    assert {count for _, count in divide(ruleset, ruleset.initial_position, 1)} == {1}


def test_perft_at_depth_zero_is_one() -> None:
    assert all(perft(rules, rules.initial_position, 0) == 1 for rules in RULESETS.values())
