"""Paths of trampling trolls: all of them, the shortest, the fullest.

The rule (Koom Valley): a troll next to a dwarf may go straight over it to the empty square beyond,
and captures it. From there it may go on in any direction, as often as it likes. A trampled dwarf
leaves the board at once; the troll's own square is empty while the troll is on its way. A path is
thus a walk over landing squares in which every step crosses a different dwarf.

The board is given as two bitboards: ``prey``, the dwarfs that may be trampled, and ``empty``, the
squares to land on, including the troll's own. Captures never change ``empty``. Each step goes two
columns, two rows, or both, so the troll only lands on squares an even number of columns and rows
from its origin, and a dwarf crossed lies on none of them.

That parity also makes the search for a shortest path exact and fast. A shortest path lands on no
square twice, as the steps between two landings on one square can be left out. So the same dwarf can
only be crossed twice in different directions. A dwarf an odd number of columns and an even number
of rows away (or the reverse) lies between just two landing squares, and crossing it twice means
landing twice on the same square. Only a dwarf an odd number of both away lies between four, on two
diagonals. So a breadth-first search needs no complete set of trampled dwarfs, just the set of these
crossings.

For the fullest path no such shortcut is known, just as for longest trails in graphs: the search
examines every combination of a square and the remaining dwarfs, up to a limit. Dwarfs close
together can be trampled in hundreds of thousands of ways. Only `all_paths` and `count_paths` go
through them all; the other functions have documented limits.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from functools import cache

from thudmud.errors import ThudmudError
from thudmud.rules.board import NEXT_TO, SQUARES, Square, beyond, bits_of, square_at, squares_in

Path = tuple[Square, ...]
"""The trampled dwarfs in order, which determine the troll's way."""

MOST_STATES = 1_000
"""The most states that the search for the fullest path examines before it gives up: some
milliseconds of work. Random battles come nowhere near: no troll in them has more than 68
tramples."""

_MOST_ARRIVALS = 32
"""The most arrivals at one square that the search for the shortest path keeps. The limit is only
reached with many more dwarfs than Koom Valley has."""


class TooManyPathsError(ThudmudError):
    """Raised when ``MOST_STATES`` are too few to find the fullest path."""


@cache
def trample_steps(bit: int) -> tuple[tuple[int, int, Square], ...]:
    """Return the steps from a square: bit of the dwarf, bit of the landing, the dwarf's square."""
    origin = square_at(bit)
    overs = [(over, beyond(origin, over)) for over in squares_in(NEXT_TO[bit])]
    return tuple((over.bit, landing.bit, over) for over, landing in overs if landing is not None)


def all_paths(at: int, prey: int, empty: int, path: Path = ()) -> Iterator[tuple[int, Path]]:
    """Yield every trample as the bit of its last landing and its path.

    Args:
        at: the bit of the troll's current square.
        prey: the bitboard of the dwarfs not yet trampled.
        empty: the bitboard of the squares to land on.
        path: the dwarfs trampled so far.
    """
    for over, landing, dwarf in trample_steps(at):
        if over & prey and landing & empty:
            longer = (*path, dwarf)
            yield landing, longer
            yield from all_paths(landing, prey ^ over, empty, longer)


def count_paths(at: int, prey: int, empty: int) -> int:
    """Return the number of paths yielded by ``all_paths``, without building any."""
    number = 0
    for over, landing, _ in trample_steps(at):
        if over & prey and landing & empty:
            number += 1 + count_paths(landing, prey ^ over, empty)
    return number


def shortest_paths(origin: int, prey: int, empty: int) -> Iterator[tuple[int, Path]]:
    """Yield the tramples of ``all_paths``, shortest first, generating each only on demand."""
    reached: deque[tuple[int, int, Path]] = deque([(origin, prey, ())])
    while reached:
        at, left, path = reached.popleft()
        for over, landing, dwarf in trample_steps(at):
            if over & left and landing & empty:
                longer = (*path, dwarf)
                yield landing, longer
                reached.append((landing, left ^ over, longer))


def shortest_path(origin: int, target: int, prey: int, empty: int) -> Path | None:
    """Return the first shortest path to a square; None if no trample ends there.

    A breadth-first search; see the module on why it only records crossings. An arrival is dropped
    if an earlier one at the same square has spent a subset of its crossings: the earlier path,
    which is no longer, can go on in the same ways, or shorter where a loop can be cut out.
    """
    if origin == target:
        return _shortest_round(origin, prey, empty)
    crossings = prey & _crossings(origin)
    arrivals: defaultdict[int, list[int]] = defaultdict(list, {origin: [0]})
    reached: deque[tuple[int, int, Path]] = deque([(origin, 0, ())])
    while reached:
        at, spent, path = reached.popleft()
        for over, landing, dwarf in trample_steps(at):
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
    """Return the path to a square that tramples most, or the first two if several do.

    Raises:
        TooManyPathsError: the search would take more than ``MOST_STATES``.
    """
    states = 0

    # Memoized depth-first search: the continuations depend on the square and the remaining dwarfs,
    # not on the order in which the others were trampled.
    @cache
    def paths(at: int, left: int) -> tuple[Path, ...]:
        nonlocal states
        states += 1
        if states > MOST_STATES:
            raise TooManyPathsError
        fullest: tuple[Path, ...] = ((),) if at == target else ()
        for over, landing, dwarf in trample_steps(at):
            if over & left and landing & empty:
                if len(fullest) > 1 and len(fullest[0]) == left.bit_count():
                    break  # both trample all that's left, and a third would change nothing
                rests = paths(landing, left ^ over)
                fullest = _longer_paths(fullest, tuple((dwarf, *rest) for rest in rests))
        return fullest

    # Dwarfs out of reach would only make states differ that have the same continuations.
    return paths(origin, prey & _tramplable(origin, prey, empty))


def _shortest_round(origin: int, prey: int, empty: int) -> Path | None:
    """Return the shortest path back to the origin: a step, then the shortest path from there.

    `shortest_path` can't search for its own origin: a step over a dwarf and back again lands on no
    square twice, but crosses that dwarf twice.
    """
    rounds = [
        (dwarf, *rest)
        for over, landing, dwarf in trample_steps(origin)
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
    """Return the bitboard of the dwarfs within reach, ignoring that each is trampled only once."""
    seen, tramplable, reached = origin, 0, [origin]
    while reached:
        for over, landing, _ in trample_steps(reached.pop()):
            if over & prey and landing & empty:
                tramplable |= over
                if not landing & seen:
                    seen |= landing
                    reached.append(landing)
    return tramplable


def _longer_paths(some: tuple[Path, ...], others: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the longer of two groups of paths, or up to two paths of both if equally long.

    All paths in a group have the same length.
    """
    if not some or not others:
        return some or others
    if len(some[0]) == len(others[0]):
        return (some + others)[:2]
    return max(some, others, key=lambda paths: len(paths[0]))
