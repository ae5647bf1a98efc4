"""Exhaustive attempts in a position: granted or refused exactly as by the reference rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from random import Random
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SOAKING, examples
from tests.rules import reference_rules
from tests.rules.shorthand import (
    ask,
    board,
    random_positions,
    reference_outcome,
    reference_state,
    scattered,
    seeded,
)
from thudmud.rules import (
    EVERY,
    RULESETS,
    Attempt,
    Every,
    IllegalMoveError,
    Move,
    Piece,
    Position,
    Reason,
    Ruleset,
    Side,
    Square,
    Verb,
)

GRID = [Square(column, row) for row in range(15) for column in range(15)]
EDGE = Square.parse("F1")
PART = 1 if SOAKING else 50
"""One attempt in so many is tested in a position; `make soak` tests all."""

T = TypeVar("T")
Said = tuple[Square, ...] | Every | None
Captures = tuple[reference_rules.Place, ...]


class Book:
    """Answers of the reference rules to all attempts in one position."""

    def __init__(self, ruleset: Ruleset, position: Position) -> None:
        self.in_order = bool(ruleset.goals) and position.turn is Side.TROLL
        self.options: dict[tuple[str, Square, Square], set[Captures]] = defaultdict(set)
        for ply in reference_rules.plies(ruleset.name, reference_state(position)):
            key = ply.verb, Square(*ply.origin), Square(*ply.target)
            self.options[key].add(ply.captures)

    def answer(self, attempt: Attempt) -> Captures | None:
        """Return the captures of the requested move, or None if the attempt is to be refused."""
        options = self.options.get((attempt.verb.value, attempt.origin, attempt.target), set())
        said = attempt.captures
        if isinstance(said, Every):
            return self._all(options)
        if said is None and attempt.verb is Verb.HURL:
            return next(iter(options), None)
        return self._named(options, tuple((each.column, each.row) for each in said or ()))

    def _all(self, options: set[Captures]) -> Captures | None:
        if self.in_order:
            most = max(map(len, options), default=0)
            fullest = [each for each in options if len(each) == most]
            return fullest[0] if most and len(fullest) == 1 else None
        everything = in_rows({place for each in options for place in each})
        return everything if everything and everything in options else None

    def _named(self, options: set[Captures], named: Captures) -> Captures | None:
        if named in options:
            return named
        fitting = [each for each in options if sorted(each) == sorted(named)]
        return fitting[0] if len(fitting) == 1 else None


def in_rows(places: Iterable[reference_rules.Place]) -> Captures:
    return tuple(sorted(places, key=lambda place: (place[1], place[0])))


def assert_answered_as_in(
    book: Book, ruleset: Ruleset, position: Position, attempt: Attempt
) -> None:
    expected, answer = book.answer(attempt), resolve(ruleset, position, attempt)
    if isinstance(answer, Move):
        assert reference_outcome(answer)[2] == expected, f"{attempt} is granted as {answer}"
        assert (answer.origin, answer.target) == (attempt.origin, attempt.target)
        assert answer.verb is attempt.verb
    else:
        assert expected is None, f"{attempt} is refused as {answer.code}"


def resolve(ruleset: Ruleset, position: Position, attempt: Attempt) -> Move | IllegalMoveError:
    try:
        return ruleset.resolve(position, attempt, position.turn)
    except IllegalMoveError as refusal:
        return refusal


def silent_attempts(random: Random, part: int) -> Iterator[Attempt]:
    """Yield a sample of one in ``part`` attempts: every verb from every square to every other.

    Captures are not specified. Squares off the board are only combined with a single square.
    """
    for verb, origin, target in some(random, part, product(Verb, GRID, GRID)):
        if (origin.is_on_board and target.is_on_board) or EDGE in (origin, target):
            yield Attempt(verb, origin, target)


def capturing_attempts(position: Position, random: Random, part: int) -> Iterator[Attempt]:
    """Yield a sample of one in ``part`` attempts: every verb from every piece to every square.

    Each attempt is made with plausible and with silly captures.
    """
    pieces = [each for piece in Piece for each in position.squares(piece)]
    for verb, origin, target in some(random, part, product(Verb, pieces, GRID)):
        for said in captures_to_say(position, target, random):
            yield Attempt(verb, origin, target, said)


def some(random: Random, part: int, all_of_them: Iterable[T]) -> list[T]:
    """Return a random sample of one item in ``part``."""
    listed = list(all_of_them)
    return random.sample(listed, len(listed) // part)


def captures_to_say(position: Position, target: Square, random: Random) -> Iterator[Said]:
    yield EVERY
    yield ()
    enemy = Piece.of(position.turn.other)
    near = [each for each in position.squares(enemy) if distance(each, target) == 1]
    if near:
        yield (random.choice(near),)
        yield tuple(near)
        yield tuple(random.sample(near, random.randint(1, len(near))))
        yield (near[0], near[0])
    yield (random.choice(GRID),)
    yield (*near[:1], *random.sample(GRID, 2))


def distance(one: Square, other: Square) -> int:
    return max(abs(one.column - other.column), abs(one.row - other.row))


def attempts_like(move: Move, random: Random) -> Iterator[Attempt]:
    """Yield attempts at a legal move and near misses."""
    shuffled = tuple(random.sample(move.captures, len(move.captures)))
    for verb in Verb:
        for captures in (move.captures, move.captures[::-1], shuffled, move.captures[1:]):
            yield Attempt(verb, move.origin, move.target, captures)
        yield Attempt(verb, move.origin, move.target, EVERY)
        yield Attempt(verb, move.target, move.origin, move.captures)
        yield Attempt(verb, move.origin, random.choice(GRID), move.captures)


@cache
def fierce(ruleset: Ruleset, side: Side) -> Position:
    """Return the position with the most kinds of captures for a side from some random battles."""
    positions = [
        position
        for seed in range(4)
        for position in random_positions(ruleset, seeded(seed), 50)
        if position.turn is side
    ]
    return max(
        positions,
        key=lambda each: sum(bool(move.captures) for move in ruleset.legal_moves(each)),
    )


SIDES = pytest.mark.parametrize("side", Side)
NAMES = pytest.mark.parametrize("name", RULESETS)


@NAMES
@SIDES
def test_resolution_of_attempts_matches_the_reference_rules(name: str, side: Side) -> None:
    ruleset, random = RULESETS[name], seeded(name)
    position = fierce(ruleset, side)
    book = Book(ruleset, position)
    for attempt in silent_attempts(random, PART):
        assert_answered_as_in(book, ruleset, position, attempt)
    for attempt in capturing_attempts(position, random, PART):
        assert_answered_as_in(book, ruleset, position, attempt)
        if isinstance(answer := resolve(ruleset, position, attempt), IllegalMoveError):
            assert isinstance(answer.code, Reason)
            assert str(answer).startswith(answer.code.value)


@examples(25)
@given(st.sampled_from(list(RULESETS.values())), st.integers(0, 2**32 - 1).map(seeded))
def test_resolution_of_near_legal_attempts_matches_the_reference_rules(
    ruleset: Ruleset, random: Random
) -> None:
    position = random.choice(
        [scattered(ruleset, random), *random_positions(ruleset, random, 60)[-20:]]
    )
    book = Book(ruleset, position)
    moves = ruleset.legal_moves(position)
    for move in random.sample(moves, min(len(moves), 60)):
        for attempt in attempts_like(move, random):
            assert_answered_as_in(book, ruleset, position, attempt)


@examples(25)
@given(st.sampled_from(list(RULESETS.values())), st.integers(0, 2**32 - 1).map(seeded))
def test_legal_moves_are_granted_as_attempts(ruleset: Ruleset, random: Random) -> None:
    position = random.choice(
        [scattered(ruleset, random), *random_positions(ruleset, random, 60)[-20:]]
    )
    for move in ruleset.legal_moves(position):
        granted = ruleset.resolve(position, move.attempt(), position.turn)
        assert granted == move
        assert granted.verb is move.verb


def test_shove_equals_the_same_move_but_keeps_its_verb() -> None:
    ruleset = RULESETS["discworld"]
    position = board("d E7 T G7 X H8", Side.TROLL)
    moved, shoved = (
        ruleset.resolve(position, ask(f"{verb} G7 F7 capturing E7"), Side.TROLL)
        for verb in ("move", "shove")
    )
    assert moved == shoved
    assert (moved.verb, shoved.verb) == (Verb.MOVE, Verb.SHOVE)


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
@pytest.mark.parametrize("side", Side)
def test_battles_share_the_objects_of_quiet_moves(rules: Ruleset, side: Side) -> None:
    position = replace(rules.initial_position, turn=side)
    quiet = next(each for each in rules.legal_moves(position) if not each.captures)
    asked = [rules.resolve(position, quiet.attempt(), side) for _ in range(2)]
    assert asked[0] is asked[1]
    assert asked[0] == quiet
