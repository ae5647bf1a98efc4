"""Move generation and evaluation for Koom Valley in the search.

The counterpart of `thudmud.search.thud`. The Rock decides the battle here: the dwarfs walk it home,
and three trolls beside it win.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

from thudmud.immutable import immutable
from thudmud.rules.board import BOARD, NEXT_TO, SHIFTS, SQUARES, neighbours_of, square_at
from thudmud.rules.koom_valley import CAPTORS, HOME, STRIDE_REACH
from thudmud.rules.moves import Side
from thudmud.rules.tramples import trample_steps
from thudmud.search.fields import closeness, neighbour_counts
from thudmud.search.masks import (
    BITS,
    HANGING_PENALTY,
    WAYS,
    Capture,
    Ply,
    Step,
    Tactics,
    best_slides,
    numbers_of,
)

_MOST_TRAMPLES = 24
"""The most tramples of a troll that are searched, the shortest first."""

_NEAR_HOME = (0, 420, 260, 170, 110, 70, 40, 20, 0, 0, 0, 0, 0, 0, 0)
"""An additional value for the Rock on each row, beginning with its home."""

_LED_BY = 2
"""The distance in rows ahead of the Rock, on its way home, at which the dwarfs gather."""

_BOLDER, _BOLDEST = 0.2, 4
"""How fear fades: the share of its fear of being trampled or trapped that a side loses per dozen
plies without a capture, and the number of dozens after which it loses no more. A side that takes no
risks doesn't win."""

_SURROUNDED = 400
"""The value, to the trolls, of enough trolls beside the Rock where that doesn't end the battle at
once."""


@immutable
@dataclass(frozen=True, slots=True)
class KoomWeights:
    """The weights of everything but the dwarfs themselves, in hundredths of a dwarf.

    Attributes:
        troll: a troll on the board.
        row: each row between the Rock and home.
        home: the factor of the additional values by row.
        one: one troll beside the Rock.
        two: two trolls beside the Rock.
        escort: a dwarf beside the Rock.
        near: a dwarf, for each disc round the square ahead of the Rock with that dwarf in it.
        close: a troll, for each disc round the Rock with that troll in it.
        ways: a free square beside the Rock.
        exposed: a dwarf that a troll could trample at once.
        trapped: a troll that a dwarf could trap at once.
    """

    troll: float
    row: float
    home: float
    one: float
    two: float
    escort: float
    near: float
    close: float
    ways: float
    exposed: float
    trapped: float


Threats = tuple[int, int]
"""The field of a position: the squares where a dwarf could be trampled at once, and the trolls that
a dwarf could trap."""


class KoomTactics(Tactics[Threats]):
    """Tactics for rules with trapping dwarfs, trampling trolls and a Rock to walk home."""

    ground = BOARD
    has_goals = True

    def __init__(self, weights: Mapping[Side, KoomWeights]) -> None:
        self._weights_of = weights
        self.use_weights_of(Side.DWARF, 0, 0)

    def boldness(self, quiet_plies: int) -> int:
        """Return the dozens of plies since the last capture, at most `_BOLDEST`."""
        return min(quiet_plies // 12, _BOLDEST)

    def use_weights_of(self, side: Side, _gather: int, boldness: int) -> None:
        """Switch to one side's weights, with its fear reduced by its boldness."""
        weights, left = self._weights_of[side], 1 - _BOLDER * boldness
        if side is Side.DWARF:
            self._weights = replace(weights, exposed=weights.exposed * left)
        else:
            self._weights = replace(weights, trapped=weights.trapped * left)
        self._worth_by_rock = {
            square.bit: weights.home * _NEAR_HOME[square.row] - weights.row * square.row
            for square in SQUARES
        }

    def field(self, d: int, t: int, empty: int) -> Threats:
        """Return what each side threatens to capture."""
        trampled = trapped = 0
        for shift in SHIFTS:  # an enemy on one side and an empty square on the opposite one
            above, below = empty >> shift, empty << shift
            trampled |= t << shift & above | t >> shift & below
            trapped |= d << shift & above | d >> shift & below
        return trampled, trapped & t

    def winner_sign(self, d: int, t: int, r: int, *, dwarfs_to_move: bool) -> int:
        """Return 1 if the dwarfs have won or win with the next ply, -1 if the trolls do, else 0."""
        if not r:
            return 0
        if r & HOME:
            return 1
        beside, empty = NEXT_TO[r], BOARD ^ (d | t | r)
        captors = (beside & t).bit_count()
        if dwarfs_to_move:
            if captors >= CAPTORS:
                return -1
            ways = beside & HOME & empty
            return 1 if ways and beside & d and ways & neighbours_of(d) else 0
        if captors >= CAPTORS - 1:
            goals, others = beside & empty, t & ~beside
            if captors >= CAPTORS:  # one of them may stride to another square beside the Rock
                others = t
            if goals and self._strides(others, empty) & goals:
                return -1
        return 0

    def _strides(self, trolls: int, empty: int) -> int:
        reached = 0
        for shift in SHIFTS:
            forth = back = trolls
            for _ in range(STRIDE_REACH):
                forth = forth << shift & empty
                back = back >> shift & empty
                reached |= forth | back
        return reached

    def evaluate(
        self, d: int, t: int, r: int, empty: int, field: Threats, *, dwarfs_to_move: bool
    ) -> int:
        """Return the static evaluation of a position for the dwarfs, in hundredths of a dwarf."""
        w = self._weights
        value = 100.0 * d.bit_count() - w.troll * t.bit_count()
        trampled, trapped = field
        if exposed := d & trampled:
            number = exposed.bit_count()
            value -= w.exposed * number if dwarfs_to_move else 60 + w.exposed * number
        if trapped:
            value += w.trapped / (1 if dwarfs_to_move else 2) * min(trapped.bit_count(), 3)
        if not r:
            return int(value)
        beside = NEXT_TO[r]
        value += self._worth_by_rock[r]
        captors = (beside & t).bit_count()
        if captors:
            value -= w.one if captors == 1 else w.two if captors == 2 else _SURROUNDED
        value += w.escort * min((beside & d).bit_count(), 5)
        value -= w.ways * (beside & empty).bit_count()
        ones, twos, fours = _closeness_ahead_of(r)
        near = (d & ones).bit_count() + 2 * (d & twos).bit_count() + 4 * (d & fours).bit_count()
        ones, twos, fours = closeness(r)
        close = (t & ones).bit_count() + 2 * (t & twos).bit_count() + 4 * (t & fours).bit_count()
        value += w.near * near - w.close * close
        return int(value)

    # Plies of the dwarfs.

    def dwarf_captures(self, d: int, t: int, _r: int, empty: int, field: Threats) -> list[Ply]:
        """Return the traps, each capturing as many trolls as possible."""
        if not field[1]:
            return []
        traps = 0
        for left, right in WAYS:
            traps |= (t & d << left >> right) << left >> right & empty
        plies: list[Ply] = []
        while traps:
            target = traps & -traps
            traps ^= target
            taken = 0
            for left, right in WAYS:
                troll = target << left >> right & t
                if troll << left >> right & d:
                    taken |= troll
            for left, right in WAYS:
                at = target << left >> right
                while at & empty:
                    at = at << left >> right
                if at & d:
                    plies.append((at | target, taken, 0))
        return plies

    def dwarf_moves(
        self, d: int, _t: int, r: int, empty: int, field: Threats, most: int
    ) -> list[Ply]:
        """Return the Rock's moves, then about the ``most`` best queen moves, the best first."""
        plies: list[Ply] = []
        beside = NEXT_TO[r] if r else 0
        if beside & d:
            ways = beside & neighbours_of(d) & empty
            while ways:
                target = ways & -ways
                ways ^= target
                plies.append((0, 0, target | r))
        ones, twos, _ = neighbour_counts(d)
        safe = BOARD & ~field[0]
        c0, c1, c2 = closeness(r)
        # An adder on bit slices, see `thudmud.search.masks`: closeness to the Rock (0 to 7), plus 4
        # for a safe square, plus 4 beside the Rock. A square with a neighbour gets the lowest bit,
        # without a carry: that makes a difference where closeness is even.
        carry = c2 & safe
        s2, s3 = c2 ^ safe, carry
        carry = s2 & beside
        s2 ^= beside
        s3, s4 = s3 ^ carry, s3 & carry
        slices = (c0 | ones | twos, c1, s2, s3, s4)
        return plies + best_slides(d, empty, slices, most)

    # Plies of the trolls.

    def troll_captures(
        self,
        d: int,
        t: int,
        r: int,
        empty: int,
        field: Threats,
        *,
        least: int = 0,  # noqa: ARG002
    ) -> list[Capture]:
        """Return the tramples, one per distinct target and set of captures."""
        found: list[Capture] = []
        left = t & neighbours_of(d & field[0])
        beside = NEXT_TO[r] if r else 0
        while left:
            origin = left & -left
            left ^= origin
            seen: set[tuple[int, int]] = set()
            for at, taken in islice(_tramples(origin, d, empty | origin), _MOST_TRAMPLES):
                if (at, taken) not in seen:
                    seen.add((at, taken))
                    number = taken.bit_count() + (1 if at & beside else 0)
                    found.append((number, False, (taken, origin ^ at, 0)))
        return found

    def troll_moves(self, _d: int, t: int, r: int, empty: int, field: Threats) -> list[Step]:
        """Return all strides, rated by their approach to the Rock.

        Strides to a square where a dwarf could be trampled come last: a troll, perhaps the moving
        one, already threatens it.
        """
        trampled, _ = field
        draw = _rock_attraction(r)
        found: list[Step] = []
        # All loops run backwards, since the highest bit of a bitboard is found faster than the
        # lowest, and the list is reversed at last.
        for left, right in reversed(WAYS):
            at, strides = t, []
            for far in range(1, STRIDE_REACH + 1):
                at = at << left >> right & empty
                strides.append((at, (right - left) * far))
            for targets, back in reversed(strides):
                rest = targets
                while rest:
                    target = rest.bit_length() - 1
                    bit = BITS[target]
                    rest ^= bit
                    origin = target + back
                    gain = draw[target] - draw[origin]
                    if bit & trampled:
                        gain -= HANGING_PENALTY
                    found.append((gain, (0, bit | BITS[origin], 0)))
        found.reverse()
        return found


@cache
def _closeness_ahead_of(rock: int) -> tuple[int, int, int]:
    """Return the closeness to the gathering square ahead of the Rock, or at the edge if nearer."""
    square = square_at(rock)
    ahead = [
        each
        for each in SQUARES
        if each.column == square.column and square.row - _LED_BY <= each.row <= square.row
    ]
    return closeness(min(ahead, key=lambda each: each.row).bit)


@cache
def _rock_attraction(rock: int) -> bytes:
    """Return a rating of each square for trolls by bit number: its nearness to the Rock."""
    return numbers_of((*closeness(rock), NEXT_TO.get(rock, 0)))


def _tramples(origin: int, prey: int, empty: int) -> Iterator[tuple[int, int]]:
    """Yield the targets and the captures of tramples, the shortest first.

    Unlike `thudmud.rules.tramples`, the search needs only the set of captures, not their order, and
    continues at most `_MOST_TRAMPLES` paths of each length.
    """
    reached = [(origin, 0)]
    while reached:
        further: list[tuple[int, int]] = []
        for at, taken in reached:
            for over, landing, _ in trample_steps(at):
                if over & prey & ~taken and landing & empty:
                    yield landing, taken | over
                    further.append((landing, taken | over))
        reached = further[:_MOST_TRAMPLES]
