"""The paths that a troll can trample: all of them, the shortest, the fullest.

The board is given by ``prey``, the bitboard of the dwarfs that may be trampled, and ``empty``, the
bitboard of the squares to land on, the troll's own among them. Trampled squares need not be added
to those: a troll lands an even number of columns and rows from its origin, and tramples in between.

Dwarfs that stand close together can be trampled in hundreds of thousands of ways. Only `all_paths`
and `count_paths` go through them all; the other functions have limits, which are documented with
them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from functools import cache

from thudmud.errors import ThudmudError
from thudmud.rules.board import NEXT_TO, SQUARES, Square, beyond, bits_of, square_at, squares_in

Path = tuple[Square, ...]
"""The dwarfs of a trample in the order trampled, which determines where a troll goes."""

MOST_STATES = 1_000
"""The most states of the board that the search for the fullest path examines, once each, before it
gives up: some milliseconds. Random battles come nowhere near it, with 68 tramples for a troll at
most."""

_MOST_ARRIVALS = 32
"""The most ways to come to one square that the search for the shortest path follows. Needed only
where many more dwarfs stand than Koom Valley has."""


class TooManyPathsError(ThudmudError):
    """The fullest path cannot be found within ``MOST_STATES``."""


@cache
def leaps(bit: int) -> tuple[tuple[int, int, Square], ...]:
    """Return the tramples from a square: the bits of dwarf and landing, the dwarf's square."""
    origin = square_at(bit)
    overs = [(over, beyond(origin, over)) for over in squares_in(NEXT_TO[bit])]
    return tuple((over.bit, landing.bit, over) for over, landing in overs if landing is not None)


def all_paths(at: int, prey: int, empty: int, path: Path = ()) -> Iterator[tuple[int, Path]]:
    """Yield every trample as the bit of its end and its path.

    Args:
        at: the bit of the troll's current square.
        prey: the bitboard of the dwarfs that it may still trample.
        empty: the bitboard of the squares that it may land on.
        path: the dwarfs that it has trampled already.
    """
    for over, landing, dwarf in leaps(at):
        if over & prey and landing & empty:
            longer = (*path, dwarf)
            yield landing, longer
            yield from all_paths(landing, prey ^ over, empty, longer)


def count_paths(at: int, prey: int, empty: int) -> int:
    """Return the number of tramples that ``all_paths`` yields."""
    number = 0
    for over, landing, _ in leaps(at):
        if over & prey and landing & empty:
            number += 1 + count_paths(landing, prey ^ over, empty)
    return number


def shortest_paths(origin: int, prey: int, empty: int) -> Iterator[tuple[int, Path]]:
    """Yield the same as ``all_paths``, the shortest first, without work for later ones."""
    reached: deque[tuple[int, int, Path]] = deque([(origin, prey, ())])
    while reached:
        at, left, path = reached.popleft()
        for over, landing, dwarf in leaps(at):
            if over & left and landing & empty:
                longer = (*path, dwarf)
                yield landing, longer
                reached.append((landing, left ^ over, longer))


def shortest_path(origin: int, target: int, prey: int, empty: int) -> Path | None:
    """Return the first shortest path to a square; None if no trample leads there.

    The shortest path comes to no square twice, so the only dwarfs that it could trample twice are
    those diagonally between landings, over which it can go both ways. A search that remembers
    those, and comes to a square again only where fewer of them are used up, finds the path exactly
    without trying all paths.
    """
    if origin == target:
        return _shortest_round(origin, prey, empty)
    crossings = prey & _crossings(origin)
    arrivals: defaultdict[int, list[int]] = defaultdict(list, {origin: [0]})
    reached: deque[tuple[int, int, Path]] = deque([(origin, 0, ())])
    while reached:
        at, spent, path = reached.popleft()
        for over, landing, dwarf in leaps(at):
            if not over & prey & ~spent or not landing & empty:
                continue
            longer, spending = (*path, dwarf), spent | over & crossings
            if landing == target:
                return longer
            earlier = arrivals[landing]
            if len(earlier) < _MOST_ARRIVALS and all(each & ~spending for each in earlier):
                earlier.append(spending)
                reached.append((landing, spending, longer))
    return None


def fullest_paths(origin: int, target: int, prey: int, empty: int) -> tuple[Path, ...]:
    """Return the path to a square that tramples most, or the first two if there are several.

    Raises:
        TooManyPathsError: that would take more than ``MOST_STATES``.
    """
    states = 0

    # How a troll goes on from a square depends on the dwarfs that are left, not on the order in
    # which the others were trampled; so each such state is examined once.
    @cache
    def paths(at: int, left: int) -> tuple[Path, ...]:
        nonlocal states
        states += 1
        if states > MOST_STATES:
            raise TooManyPathsError
        fullest: tuple[Path, ...] = ((),) if at == target else ()
        for over, landing, dwarf in leaps(at):
            if over & left and landing & empty:
                if len(fullest) > 1 and len(fullest[0]) == left.bit_count():
                    break  # nothing is left to trample, and two are enough
                rests = paths(landing, left ^ over)
                fullest = _fuller(fullest, tuple((dwarf, *rest) for rest in rests))
        return fullest

    return paths(origin, prey & _tramplable(origin, prey, empty))


def _shortest_round(origin: int, prey: int, empty: int) -> Path | None:
    """Return the shortest path back to the origin."""
    rounds = [
        (dwarf, *rest)
        for over, landing, dwarf in leaps(origin)
        if over & prey and landing & empty
        if (rest := shortest_path(landing, origin, prey ^ over, empty)) is not None
    ]
    return min(rounds, key=len, default=None)


@cache
def _crossings(origin: int) -> int:
    """Return the bitboard of the squares diagonally between a troll's possible landings."""
    start = square_at(origin)
    return bits_of(
        tuple(
            each
            for each in SQUARES
            if (each.column - start.column) % 2 and (each.row - start.row) % 2
        )
    )


def _tramplable(origin: int, prey: int, empty: int) -> int:
    """Return the bitboard of the dwarfs that some trample can reach."""
    seen, tramplable, reached = origin, 0, [origin]
    while reached:
        for over, landing, _ in leaps(reached.pop()):
            if over & prey and landing & empty:
                tramplable |= over
                if not landing & seen:
                    seen |= landing
                    reached.append(landing)
    return tramplable


def _fuller(some: tuple[Path, ...], others: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the longer ones of two groups of paths of equal length each; two at most."""
    if not some or not others:
        return some or others
    if len(some[0]) == len(others[0]):
        return (some + others)[:2]
    return max(some, others, key=lambda paths: len(paths[0]))
