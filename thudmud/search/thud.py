"""Move generation and evaluation for classic and discworld in the search.

A position is three bitboards: dwarfs, trolls, and the Rock, which these rules don't have; fixed
pieces are known from the start. A ply is a mask for each, see `thudmud.search.masks`.

Differences between the rulesets come from their components: the numbers of `ShovingTrolls`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from thudmud.immutable import immutable
from thudmud.rules.board import BOARD, CENTRE, NEXT_TO, SHIFTS, neighbours_of
from thudmud.rules.classic import ANY
from thudmud.rules.moves import Side
from thudmud.search.fields import DISCS, closeness, lines_reach, neighbour_counts
from thudmud.search.masks import (
    HANGING_PENALTY,
    WAYS,
    Capture,
    Ply,
    Step,
    Tactics,
    best_slides,
    lanes_of,
    numbers_in_lanes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thudmud.rules.classic import ShovingTrolls

_STEPS: dict[int, tuple[tuple[int, int, int], ...]] = {
    origin: tuple(
        (target, origin | target, NEXT_TO[target]) for target in NEXT_TO if NEXT_TO[origin] & target
    )
    for origin in NEXT_TO
}
"""For the bit of each square, its neighbours: bit, mask of both squares, the neighbour's
neighbours."""


@cache
def _hurls_at(target: int) -> tuple[tuple[tuple[int, int, Ply], ...], ...]:
    """Return the hurls at a troll from each direction, the shortest first.

    Each has the bit of its front dwarf, the squares of the line that it needs, and the ply.
    """
    rays = []
    for left, right in WAYS:
        ray: list[tuple[int, int, Ply]] = []
        front = target << left >> right
        while front & BOARD:
            line = at = front
            for _ in ray:
                at = at << left >> right
                line |= at
            if not at & BOARD:
                break
            ray.append((front, line, (front | target, target, 0)))
            front = front << left >> right
        rays.append(tuple(ray))
    return tuple(rays)


_ESCAPE, _THREAT, _APPROACH = 8, 4, 2
"""Ratings of a troll's step: from a square where it is exposed; to a square next to one where it
could stop and capture; to a square within two of an insecure dwarf."""


@cache
def _gathering_ratings(bit: int, *, is_dwarf: bool) -> int:
    """Return the ratings of all squares as the dwarfs' gathering square, by a single piece.

    Dwarfs should be near, and trolls far.

    Args:
        bit: the bit of the piece.
        is_dwarf: whether it is a dwarf, else it is a troll.

    Returns:
        The ratings as `lanes_of` has them.
    """
    # A square is in a disc round the piece if the piece is in that disc round the square.
    discs = DISCS[bit] if is_dwarf else DISCS[bit][1:5]
    inside = sum(map(lanes_of, discs))
    return 2 * inside if is_dwarf else 3 * (len(discs) * lanes_of(BOARD) - inside)


_REMEMBERED = 1 << 14
"""The most entries in each cache of evaluations, for sets of dwarfs, of trolls and of both: 20 MiB
at most."""


@immutable
@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of everything but the dwarfs themselves, in hundredths of a dwarf.

    Attributes:
        troll: a troll on the board.
        pair: two dwarfs beside each other.
        near: a dwarf, for each disc round the gathering square with that dwarf in it.
        commanded: an empty square that a line of dwarfs commands.
        secure: a dwarf next to which no troll can stop without risking a hurl.
        hanging: the first dwarf that could be captured without losing the troll for it.
        second: another such dwarf.
        prize: each dwarf of the most that one such troll could capture, if the dwarfs are to move;
            less than 0 where that move mostly saves the dwarf.
        exposed: the first troll that a dwarf could be hurled at, if the trolls are to move.
        another: another such troll.
        close: a troll, for each disc round the gathering square with that troll in it.
        free: a square that a troll can step to safely.
        hunted: a dwarf that is not secure, within three squares of a troll.
    """

    troll: float
    pair: float
    near: float
    commanded: float
    secure: float
    hanging: float
    second: float
    prize: float
    exposed: float
    another: float
    close: float
    free: float
    hunted: float


def takes_all(trolls: ShovingTrolls) -> bool:
    """Return whether a troll can always capture every dwarf next to its target.

    If a lone troll can be shoved, a shove captures the dwarfs that a move may not.
    """
    return trolls.most_after_move == ANY or trolls.shortest_shove == 1


Formation = tuple[int, int, int, int, int, float]
"""The field of a position: the dwarfs, and what those trolls do to them that are near enough.

In order: the squares next to dwarfs; the squares that lines of dwarfs command; the squares where a
troll can't stop without risking a hurl; the dwarfs that aren't secure; the trolls next to dwarfs or
on commanded squares, all that a dwarf could be hurled at; the value of the formation."""


class ThudTactics(Tactics[Formation]):
    """Tactics for rules with hurling dwarfs and shoving trolls.

    Evaluations are cached by parts: by the dwarfs with the trolls close to them, and by the trolls
    alone. From one node of the search to the next, one of them mostly stays the same.
    """

    has_goals = False
    troll_beam = 32

    def __init__(self, trolls: ShovingTrolls, fixed: int, weights: Mapping[Side, Weights]) -> None:
        self._takes_all = takes_all(trolls)
        if not self._takes_all:  # otherwise exchanges change scores too much for upper bounds
            self.ranked_exactly = 8
        self.ground = BOARD ^ fixed
        self._weights_of = weights
        self.use_weights_of(Side.DWARF, CENTRE.bit, 0)

    # Where the dwarfs gather.

    def use_weights_of(self, side: Side, gather: int, _boldness: int) -> None:
        """Switch to one side's weights and to a gathering square, given by its bit."""
        self._weights = self._weights_of[side]
        self._discs, self._closeness = DISCS[gather], closeness(gather)
        self._of_trolls: dict[int, tuple[int, int, int, float]] = {}
        self._shoves: dict[tuple[int, int], int] = {}
        # By the dwarfs: the last trolls that they met, the squares where trolls matter to their
        # formation, and the formation. Nearly all other trolls stand the same there.
        self._formations: dict[int, tuple[int, int, Formation]] = {}

    def rate_gathering_squares(self, dwarfs: int, trolls: int) -> dict[int, int]:
        """Return a rating of each square as the dwarfs' gathering square, by the square's bit.

        Only the differences of ratings mean anything.
        """
        # One long int has the ratings of all squares, so an addition rates them all by a piece.
        rated = 0
        for pieces, is_dwarf in ((dwarfs, True), (trolls, False)):
            left = pieces
            while left:
                bit = left & -left
                left ^= bit
                rated += _gathering_ratings(bit, is_dwarf=is_dwarf)
        lanes = numbers_in_lanes(rated)
        return {bit: lanes[bit.bit_length() - 1] for bit in DISCS}

    # The evaluation.

    def evaluate(
        self,
        dwarfs: int,
        trolls: int,
        _rock: int,
        empty: int,
        field: Formation,
        *,
        dwarfs_to_move: bool,
    ) -> int:
        """Return the static evaluation of a position for the dwarfs, in hundredths of a dwarf."""
        w = self._weights
        near, reach, unsafe, insecure, exposed, value = field
        # The look-up is inlined here, as most are hits and a method call would cost more.
        known = self._of_trolls.get(trolls)
        beside, hunters, shoves, worth_of_trolls = known or self._troll_terms(trolls)
        value += worth_of_trolls
        safe = beside & empty & ~unsafe
        # Squares next to a dwarf where a troll can stop safely: dwarfs beside one are hanging.
        landings = safe & near
        value -= w.free * (safe ^ landings).bit_count()
        if shoves & near:
            landings |= self._shove_targets(dwarfs, trolls) & near & ~reach
        value -= w.hunted * (insecure & hunters).bit_count()
        if landings:
            hanging = (dwarfs & neighbours_of(landings)).bit_count()
            value -= w.hanging + w.second * (hanging - 1)
            if dwarfs_to_move:
                takes_many = hanging > 1 and self._takes_all
                value -= w.prize * (self._most_beside(landings, dwarfs) if takes_many else 1)
        if exposed and not dwarfs_to_move:
            value += w.exposed + w.another * (exposed.bit_count() - 1)
        return int(value)

    def field(self, dwarfs: int, trolls: int, empty: int) -> Formation:
        """Return the formation of the dwarfs."""
        known = self._formations.get(dwarfs)
        if known is not None:
            others, zone, formation = known
            # Trolls elsewhere neither block a line nor stand where one commands.
            if not (trolls ^ others) & zone:
                return formation
        w, pairs = self._weights, 0
        for shift in SHIFTS:
            pairs += (dwarfs & dwarfs << shift).bit_count()
        ones, twos, fours = self._closeness
        ring = (dwarfs & ones).bit_count() + 2 * (dwarfs & twos).bit_count()
        ring += 4 * (dwarfs & fours).bit_count()
        near, reach = neighbours_of(dwarfs), lines_reach(dwarfs, empty)
        # A troll that captures one of two neighbours leaves the other beside it.
        unsafe = reach if self._takes_all else reach | neighbour_counts(dwarfs)[1]
        insecure = dwarfs & neighbours_of(empty & ~unsafe)
        value = 100.0 * dwarfs.bit_count() + w.pair * pairs + w.near * ring
        value += w.commanded * (reach & empty).bit_count()
        value += w.secure * (dwarfs ^ insecure).bit_count()
        if len(self._formations) >= _REMEMBERED:
            self._formations.clear()
        zone = near | reach
        formation = near, reach, unsafe, insecure, trolls & zone, value
        self._formations[dwarfs] = trolls, zone, formation
        return formation

    def _troll_terms(self, trolls: int) -> tuple[int, int, int, float]:
        """Return the squares next to trolls, those within three, the shoves' reach, and the value.

        The reach of shoves is computed as if no dwarf were in the way.
        """
        known = self._of_trolls.get(trolls)
        if known is None:
            beside, close = neighbours_of(trolls), 0
            for disc in self._discs[1:6:2]:
                close += (trolls & disc).bit_count()
            value = -self._weights.troll * trolls.bit_count() - self._weights.close * close
            near = neighbours_of(neighbours_of(beside & BOARD) & BOARD)
            empty = self.ground ^ trolls
            known = beside, near, lines_reach(trolls, empty) & empty, value
            if len(self._of_trolls) >= _REMEMBERED:
                self._of_trolls.clear()
            self._of_trolls[trolls] = known
        return known

    def _shove_targets(self, dwarfs: int, trolls: int) -> int:
        """Return the squares that trolls reach by a shove of two squares or more."""
        beside, _, most, _ = self._troll_terms(trolls)
        among = dwarfs & (beside | most)
        if not among:
            return most
        known = self._shoves.get((trolls, among))
        if known is None:
            empty = self.ground ^ (trolls | among)
            known = lines_reach(trolls, empty) & empty
            if len(self._shoves) >= _REMEMBERED:
                self._shoves.clear()
            self._shoves[trolls, among] = known
        return known

    def _most_beside(self, landings: int, dwarfs: int) -> int:
        """Return the largest number of dwarfs next to any of the landings."""
        ones, twos, fours = neighbour_counts(dwarfs)
        many = landings & fours
        if not many:
            return 1 if not landings & twos else 3 if landings & twos & ones else 2
        most = 4
        while many:
            bit = many & -many
            many ^= bit
            most = max(most, (NEXT_TO[bit] & dwarfs).bit_count())
        return most

    # Plies of the dwarfs.

    def dwarf_captures(
        self, dwarfs: int, _trolls: int, _rock: int, empty: int, field: Formation
    ) -> list[Ply]:
        """Return all hurls."""
        plies: list[Ply] = []
        *_, targets, _ = field
        while targets:
            target = targets & -targets
            targets ^= target
            for ray in _hurls_at(target):
                # Back from the troll over empty squares to the first piece, which has to be a dwarf
                # at the front of a line as long as the hurl.
                for front, line, ply in ray:
                    if front & empty:
                        continue
                    if dwarfs & line == line:
                        plies.append(ply)
                    break
        return plies

    def dwarf_moves(
        self, dwarfs: int, trolls: int, _rock: int, empty: int, field: Formation, most: int
    ) -> list[Ply]:
        """Return about the ``most`` best queen moves, the best first.

        Each square gets a number for how good it is to be there; a move's rating is the target's
        number minus the origin's.
        """
        ones, twos, _ = neighbour_counts(dwarfs)
        near, _, unsafe, *_ = field
        beside, _, shoves, _ = self._troll_terms(trolls)
        if shoves:
            beside |= self._shove_targets(dwarfs, trolls)
        landings = beside & empty & ~unsafe
        safe = BOARD & ~neighbours_of(landings)
        # A ripple-carry adder on bit slices, see `thudmud.search.masks`. A square's number is the
        # sum of its closeness (0 to 7), twice its neighbours (0 to 3), 4 if it is safe, and 4 if a
        # dwarf there covers another.
        c0, c1, c2 = self._closeness
        s1 = c1 ^ ones
        carry = c1 & ones
        s2 = c2 ^ twos ^ carry
        s3 = c2 & twos | carry & (c2 | twos)
        carry = s2 & safe
        s2 ^= safe
        s4 = s3 & carry
        s3 ^= carry
        covers = self._covers(landings & near, dwarfs, empty)
        carry = s2 & covers
        s2 ^= covers
        s4 |= s3 & carry
        s3 ^= carry
        if not self._takes_all:
            # Add 2 where a dwarf would form a line aimed at a troll. Only if trolls can't take all:
            # otherwise, a troll that captures several dwarfs would be the reply.
            aims = self._covers(trolls, dwarfs, empty) & ~covers
            carry = s1 & aims
            s1 ^= aims
            more = s2 & carry
            s2 ^= carry
            s4 |= s3 & more
            s3 ^= more
        slices = (c0, s1, s2, s3, s4)
        return best_slides(dwarfs, empty, slices, most)

    def _covers(self, goals: int, dwarfs: int, empty: int) -> int:
        """Return the squares from which a dwarf would form a line that commands a goal."""
        squares = 0
        for shift in SHIFTS if goals else ():
            if one := goals << shift & empty:
                two = one << shift
                squares |= two & empty & dwarfs >> shift | (two & dwarfs) << shift & empty
            if one := goals >> shift & empty:
                two = one >> shift
                squares |= two & empty & dwarfs << shift | (two & dwarfs) >> shift & empty
        return squares

    # Plies of the trolls.

    def troll_captures(
        self,
        dwarfs: int,
        trolls: int,
        _rock: int,
        empty: int,
        field: Formation,
        *,
        least: int = 0,
    ) -> list[Capture]:
        """Return the distinct captures.

        A troll that may capture all dwarfs next to it does so: one left there could be hurled at
        it.
        """
        # Long: runs at nearly every node, where calls would slow the search.
        found: list[Capture] = []
        near, reach, unsafe, *_ = field
        near &= empty
        beside, _, shoves, _ = self._troll_terms(trolls)
        steps = beside & near
        if least:  # cheap filter, for all squares at once: enough dwarfs beside
            ones, twos, fours = neighbour_counts(dwarfs)
            if least > 1:
                near &= fours if least > 3 else twos & ones if least == 3 else twos
            if self._takes_all:
                steps &= near & (~reach | fours)
            else:
                steps = 0 if least > 1 else steps & ~unsafe
            near &= ~reach | fours
        while steps:
            target = steps & -steps
            steps ^= target
            ring = NEXT_TO[target]
            prey, origins = ring & dwarfs, ring & trolls
            number, is_hit = prey.bit_count(), bool(target & unsafe)
            while origins:
                origin = origins & -origins
                origins ^= origin
                if self._takes_all or number == 1:
                    found.append((number, is_hit, (prey, origin | target, 0)))
                else:
                    left = prey
                    while left:
                        one = left & -left
                        left ^= one
                        found.append((1, is_hit, (one, origin | target, 0)))
        if not self._takes_all and (pairs := near & beside & neighbour_counts(dwarfs)[1]):
            self._add_shoves_of_one(found, dwarfs, trolls, pairs, reach)
        if shoves & near:
            targets = self._shove_targets(dwarfs, trolls) & near
            if targets:
                self._add_shoves(found, dwarfs, trolls, empty, targets, reach)
        return found

    def _add_shoves(  # noqa: PLR0917
        self, found: list[Capture], dwarfs: int, trolls: int, empty: int, targets: int, reach: int
    ) -> None:
        """Add the shoves by two squares or more that end on a target and capture."""
        for shift in SHIFTS:
            if not trolls & trolls << shift:  # no pair, neither this way nor back
                continue
            for left, right in ((shift, 0), (0, shift)):
                fronts, further = trolls & trolls << left >> right, 2
                while fronts:
                    ahead = fronts << left >> right & empty
                    for _ in range(further - 2):
                        ahead = ahead << left >> right & empty
                    ahead = ahead << left >> right & targets
                    while ahead:
                        target = ahead & -ahead
                        ahead ^= target
                        prey = NEXT_TO[target] & dwarfs
                        origin = target >> left * further << right * further
                        ply = prey, target | origin, 0
                        found.append((prey.bit_count(), bool(target & reach), ply))
                    fronts, further = trolls & fronts << left >> right, further + 1

    def _add_shoves_of_one(
        self, found: list[Capture], dwarfs: int, trolls: int, targets: int, reach: int
    ) -> None:
        """Add the shoves by one square onto targets with at least two adjacent dwarfs."""
        for left, right in WAYS:
            ahead = (trolls & trolls << left >> right) << left >> right & targets
            while ahead:
                target = ahead & -ahead
                ahead ^= target
                prey = NEXT_TO[target] & dwarfs
                ply = prey, target | target >> left << right, 0
                found.append((prey.bit_count(), bool(target & reach), ply))

    def troll_moves(
        self, _dwarfs: int, trolls: int, _rock: int, empty: int, field: Formation
    ) -> list[Step]:
        """Return all steps without a capture, rated by where the troll comes from and gets to.

        Steps to squares where it is exposed, such as those beside dwarfs, are rated lowest.
        """
        # The rating is the target's minus the origin's.
        found: list[Step] = []
        near, reach, unsafe, insecure, exposed, _ = field
        left, bad = trolls, reach | near
        threats = neighbours_of(near & empty & ~unsafe)
        close = neighbours_of(neighbours_of(insecure) & BOARD)
        while left:
            origin = left & -left
            left ^= origin
            base = _ESCAPE if origin & exposed else 0
            if origin & threats:
                base -= _THREAT
            if origin & close:
                base -= _APPROACH
            for target, mask, _ in _STEPS[origin]:
                if not target & empty:
                    continue
                gain = base
                if target & bad:
                    gain -= HANGING_PENALTY
                elif target & threats:
                    gain += _THREAT + _APPROACH if target & close else _THREAT
                elif target & close:
                    gain += _APPROACH
                found.append((gain, (0, mask, 0)))
        return found
