"""Reference implementation of the rules, as plain as possible, to check the engine against.

Shares no code and no representation with the engine: a square is a pair (column, row), pieces are
sets of squares, and nothing is clever. Also the yardstick of ``benchmarks/engine.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from typing import NamedTuple

Place = tuple[int, int]
Places = frozenset[Place]

BOARD: Places = frozenset(
    (column, row)
    for column in range(15)
    for row in range(15)
    if column + row >= 5
    and (14 - column) + row >= 5
    and column + (14 - row) >= 5
    and (14 - column) + (14 - row) >= 5
)
DIRECTIONS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]


class State(NamedTuple):
    """A position; ``stones`` holds the Thudstone or the Rock, and ``turn`` is "d" or "T"."""

    dwarfs: Places
    trolls: Places
    stones: Places
    turn: str


class Ply(NamedTuple):
    """A verb and its outcome; captures are sorted by row, those of a trample in path order."""

    verb: str
    origin: Place
    target: Place
    captures: tuple[Place, ...] = ()


Outcome = tuple[Place, Place, tuple[Place, ...]]


def outcomes(rules: str, state: State) -> set[Outcome]:
    """Return the distinct outcomes: origin, target, captures."""
    return {(ply.origin, ply.target, ply.captures) for ply in plies(rules, state)}


def plies(rules: str, state: State) -> Iterator[Ply]:
    """Yield every legal ply, once for each verb that allows it."""
    if won(rules, state):
        return iter(())
    return PLIES[rules, state.turn](state)


def after(state: State, outcome: Outcome) -> State:
    """Return the state after a legal ply with the given outcome."""
    origin, target, captures = outcome
    gone = {origin, *captures}
    dwarfs, trolls, stones, _ = state
    if origin in dwarfs:
        return State((dwarfs - gone) | {target}, trolls - gone, stones, "T")
    if origin in trolls:
        return State(dwarfs - gone, (trolls - gone) | {target}, stones, "d")
    return State(dwarfs, trolls, frozenset({target}), "T")


def perft(rules: str, state: State, depth: int) -> int:
    """Count the sequences of distinct outcomes."""
    if depth == 0:
        return 1
    found = outcomes(rules, state)
    if depth == 1:
        return len(found)
    return sum(perft(rules, after(state, each), depth - 1) for each in found)


def won(rules: str, state: State) -> bool:
    """Whether a side has reached its goal; only koom valley has goals."""
    if rules != "koom valley":
        return False
    for rock in state.stones:
        if rock[1] == 0:
            return True
        captors = [place for place in neighbours(rock) if place in state.trolls]
        if state.turn == "d" and len(captors) >= 3:
            return True
    return False


def neighbours(place: Place) -> list[Place]:
    around = [step(place, direction) for direction in DIRECTIONS]
    return [each for each in around if each in BOARD]


def step(place: Place, direction: tuple[int, int], times: int = 1) -> Place:
    return (place[0] + direction[0] * times, place[1] + direction[1] * times)


def is_empty(state: State, place: Place) -> bool:
    return (
        place in BOARD
        and place not in state.dwarfs
        and place not in state.trolls
        and place not in state.stones
    )


def slide(state: State, origin: Place, direction: tuple[int, int], most: int) -> Iterator[Place]:
    """Yield at most ``most`` empty squares in a line from the origin."""
    place = step(origin, direction)
    while most > 0 and is_empty(state, place):
        yield place
        place = step(place, direction)
        most -= 1


def line(fighters: Places, front: Place, direction: tuple[int, int]) -> int:
    """Return the length of the unbroken line of fighters that ends with ``front``."""
    length = 0
    while step(front, direction, -length) in fighters:
        length += 1
    return length


def choices(prey: list[Place], fewest: int, most: int) -> Iterator[tuple[Place, ...]]:
    """Yield the subsets of ``prey`` within the given sizes, each sorted by row."""
    ordered = sorted(prey, key=lambda place: (place[1], place[0]))
    sizes = range(fewest, min(most, len(ordered)) + 1)
    return chain.from_iterable(combinations(ordered, size) for size in sizes)


def hurling_dwarfs(state: State) -> Iterator[Ply]:
    """Plies of the dwarfs in classic and discworld."""
    for origin in state.dwarfs:
        for direction in DIRECTIONS:
            for target in slide(state, origin, direction, 99):
                yield Ply("move", origin, target)
            for distance in range(1, line(state.dwarfs, origin, direction) + 1):
                target = step(origin, direction, distance)
                if target in state.trolls:
                    yield Ply("hurl", origin, target, (target,))
                if not is_empty(state, target):
                    break


def shoving_trolls(state: State, most_after_move: int, shortest_shove: int) -> Iterator[Ply]:
    """Plies of the trolls in classic and discworld."""
    for origin in state.trolls:
        for direction in DIRECTIONS:
            for target in slide(state, origin, direction, 1):
                for captures in choices(prey_around(state, target), 0, most_after_move):
                    yield Ply("move", origin, target, captures)
            length = line(state.trolls, origin, direction)
            if length >= shortest_shove:
                for target in slide(state, origin, direction, length):
                    for captures in choices(prey_around(state, target), 1, 8):
                        yield Ply("shove", origin, target, captures)


def prey_around(state: State, place: Place) -> list[Place]:
    return [each for each in neighbours(place) if each in state.dwarfs]


def trapping_dwarfs(state: State) -> Iterator[Ply]:
    """Plies of the dwarfs and the Rock in koom valley."""
    for origin in state.dwarfs:
        others = state.dwarfs - {origin}
        for direction in DIRECTIONS:
            for target in slide(state, origin, direction, 99):
                trapped = [
                    step(target, way)
                    for way in DIRECTIONS
                    if step(target, way) in state.trolls and step(target, way, 2) in others
                ]
                for captures in choices(trapped, 0, 8):
                    yield Ply("move", origin, target, captures)
    for rock in state.stones:
        if prey_around(state, rock):
            for target in neighbours(rock):
                if is_empty(state, target) and prey_around(state, target):
                    yield Ply("move", rock, target)


def trampling_trolls(state: State) -> Iterator[Ply]:
    """Plies of the trolls in koom valley."""
    for origin in state.trolls:
        for direction in DIRECTIONS:
            for target in slide(state, origin, direction, 3):
                yield Ply("move", origin, target)
        gone = State(state.dwarfs, state.trolls - {origin}, state.stones, state.turn)
        for target, path in tramples(gone, origin):
            yield Ply("move", origin, target, path)


def tramples(state: State, place: Place) -> Iterator[tuple[Place, tuple[Place, ...]]]:
    """Yield the ends and paths of the tramples of a troll that has reached ``place``."""
    for direction in DIRECTIONS:
        over, landing = step(place, direction), step(place, direction, 2)
        if over in state.dwarfs and is_empty(state, landing):
            yield landing, (over,)
            gone = State(state.dwarfs - {over}, state.trolls, state.stones, state.turn)
            for target, path in tramples(gone, landing):
                yield target, (over, *path)


PLIES = {
    ("classic", "d"): hurling_dwarfs,
    ("classic", "T"): lambda state: shoving_trolls(state, 1, 2),
    ("discworld", "d"): hurling_dwarfs,
    ("discworld", "T"): lambda state: shoving_trolls(state, 8, 1),
    ("koom valley", "d"): trapping_dwarfs,
    ("koom valley", "T"): trampling_trolls,
}
