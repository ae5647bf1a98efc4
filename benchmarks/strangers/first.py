"""The first version of the player's search, of November 22, 2026, with the weights that it had.

Minimax with both windows in the dwarfs' view, down to the last ply of the depth, and from there as
long as something is captured. It is kept as it was but for what classic and discworld do not need,
so it is no example of how anything is to be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import cast

from benchmarks.strangers import IsLate
from thudmud.rules import Game, Move, Piece, Position, Ruleset, Side
from thudmud.rules.board import BOARD, CENTRE, NEXT_TO, SHIFTS, SQUARES, distance, neighbours_of
from thudmud.rules.classic import ShovingTrolls

RADII = range(1, 8)
"""The radii of the discs by which nearness is counted."""

DISCS: dict[int, tuple[int, ...]] = {
    centre.bit: tuple(
        sum(each.bit for each in SQUARES if distance(centre, each) <= radius) for radius in RADII
    )
    for centre in SQUARES
}
"""For the bit of each square the squares that are no further from it than each of the radii."""


def lines_reach(fighters: int, empty: int) -> int:
    """Return the squares that lines of two or more can go to, two squares ahead or more.

    A line of n goes up to n squares ahead, over empty squares; what stands where it arrives is not
    asked. Whoever captures all that is next to them has only these to fear.
    """
    reach = 0
    for shift in SHIFTS:
        pairs = fighters & fighters << shift  # the fronts of lines of two or more that go up
        if not pairs:
            continue
        fronts, squares = pairs, 1
        while fronts and (ahead := fronts << shift & empty):
            for _ in range(squares - 1):
                ahead = ahead << shift & empty
            reach |= ahead << shift
            fronts &= fronts << shift
            squares += 1
        fronts, squares = pairs >> shift, 1
        while fronts and (ahead := fronts >> shift & empty):
            for _ in range(squares - 1):
                ahead = ahead >> shift & empty
            reach |= ahead >> shift
            fronts &= fronts >> shift
            squares += 1
    return reach & BOARD


def neighbour_counts(fighters: int) -> tuple[int, int]:
    """Return how many fighters are next to each square, 3 for more, as two bits of a number."""
    ones = twos = more = 0
    for shift in SHIFTS:
        for beside in (fighters << shift, fighters >> shift):
            carry = ones & beside
            ones ^= beside
            more |= twos & carry
            twos ^= carry
    return (ones | more) & BOARD, (twos | more) & BOARD


def closeness(centre: int) -> tuple[int, int, int]:
    """Return how near each square is to a centre, 7 to 0, as three bits of a number.

    Args:
        centre: the bit of a square; with 0 nothing is near.
    """
    ones = twos = fours = 0
    for disc in DISCS.get(centre, ()):
        carry = ones & disc
        ones ^= disc
        fours ^= twos & carry
        twos ^= carry
    return ones, twos, fours


Ply = tuple[int, int]
"""What to flip on the bitboards of the dwarfs and of the trolls."""

Capture = tuple[int, int, Ply]
"""How many it takes, the bit of the square where it ends, and the ply."""

Step = tuple[int, int, Ply]
"""How promising a troll's step is, the bit of the square where it ends, and the ply."""

Slices = tuple[int, ...]
"""A number for each square: the bitboards of its bits, the lowest first."""


def number_at(bit: int, slices: Slices) -> int:
    """Return the number of the square with a bit."""
    number, value = 0, 1
    for each in slices:
        if each & bit:
            number += value
        value += value
    return number


def top(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the highest numbers, ``most`` at least if there are so many."""
    kept, rest = 0, squares
    for each in reversed(slices):
        higher = rest & each
        if (kept | higher).bit_count() >= most:
            rest = higher
        else:
            kept |= higher
            rest &= ~each
    return kept | rest


def bottom(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the lowest numbers, ``most`` at least if there are so many."""
    kept, rest = 0, squares
    for each in reversed(slices):
        lower = rest & ~each
        if (kept | lower).bit_count() >= most:
            rest = lower
        else:
            kept |= lower
            rest &= each
    return kept | rest


def best_slides(dwarfs: int, empty: int, slices: Slices, most: int) -> list[Ply]:
    """Return about the ``most`` best queen moves, the best first.

    A move is worth the number of where it goes less that of where it comes from. Of all squares
    only those with the highest numbers are gone to, and of all dwarfs only those on the lowest go:
    all of them slide at once, a step at a time.
    """
    targets, origins = top(empty, slices, most), bottom(dwarfs, slices, most)
    found: list[tuple[int, Ply]] = []
    for shift in SHIFTS:
        at, back = origins << shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                origin = bit >> back
                gain = number_at(bit, slices) - number_at(origin, slices)
                found.append((gain, (bit | origin, 0)))
            at, back = at << shift & empty, back + shift
        at, back = origins >> shift & empty, shift
        while at:
            hits = at & targets
            while hits:
                bit = hits & -hits
                hits ^= bit
                origin = bit << back
                gain = number_at(bit, slices) - number_at(origin, slices)
                found.append((gain, (bit | origin, 0)))
            at, back = at >> shift & empty, back + shift
    found.sort(reverse=True)
    return [ply for _, ply in found[:most]]


def _masks(move: Move) -> Ply:
    ours, others = move.path_bits, move.captured_bits
    return (ours, others) if move.piece is Piece.DWARF else (others, ours)


_STEPS: dict[int, tuple[tuple[int, int, int], ...]] = {
    origin: tuple(
        (target, origin | target, NEXT_TO[target]) for target in NEXT_TO if NEXT_TO[origin] & target
    )
    for origin in NEXT_TO
}
"""For the bit of a square: each next to it, both as a mask, and what is next to that."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts besides the pieces, in hundredths of a dwarf.

    Attributes:
        troll: a troll on the board.
        pair: two dwarfs beside each other.
        near: a dwarf, for each of the discs round the gathering square in which it stands.
        commanded: an empty square that a line of dwarfs commands.
        secure: a dwarf next to which no troll can stop without being hurled at.
        hanging: a dwarf that could be captured by a troll that would not be captured for it.
        prize: each dwarf of the most that one such troll could capture, the dwarfs being to move.
        exposed: a troll that a dwarf could be hurled at, the trolls being to move.
        close: a troll, for each of the discs round the gathering square in which it stands.
        free: a square that a troll can step to safely.
    """

    troll: int = 400
    pair: int = 2
    near: int = 8
    commanded: int = 12
    secure: int = 35
    hanging: int = 35
    prize: int = 45
    exposed: int = 125
    close: int = 2
    free: int = 2


class ThudTactics:
    """Plies and worth where dwarfs are hurled and trolls shoved.

    Args:
        trolls: how trolls move and capture.
        fixed: the bitboard of what never moves.
    """

    def __init__(self, trolls: ShovingTrolls, fixed: int) -> None:
        self._takes_all = trolls.most_after_move > 1
        self._ground = BOARD ^ fixed
        self._weights = Weights()
        self.weigh_for(CENTRE.bit)

    # Where the dwarfs gather.

    def weigh_for(self, gather: int) -> None:
        """Weigh by a gathering square, the bit of it, from now on."""
        self._discs, self._closeness = DISCS[gather], closeness(gather)

    def gathering(self, dwarfs: int, trolls: int) -> dict[int, int]:
        """Return how well each square would do for the dwarfs to gather at, by its bit."""
        worth = {}
        for square, discs in DISCS.items():
            value = 0
            for disc in discs:
                value += 2 * (dwarfs & disc).bit_count()
            for disc in discs[1:5]:
                value -= 3 * (trolls & disc).bit_count()
            worth[square] = value
        return worth

    # What a position is worth.

    def empty(self, dwarfs: int, trolls: int) -> int:
        """Return the squares on which nothing stands."""
        return self._ground ^ (dwarfs | trolls)

    def field(self, dwarfs: int, _trolls: int, empty: int) -> int:
        """Return what lines of dwarfs command."""
        return lines_reach(dwarfs, empty)

    def worth(
        self, dwarfs: int, trolls: int, empty: int, reach: int, *, dwarfs_to_move: bool
    ) -> int:
        """Return what a position is worth to the dwarfs, in hundredths of one.

        Args:
            dwarfs: where they stand.
            trolls: where they stand.
            empty: where nothing stands.
            reach: what lines of dwarfs command, as `field` has it.
            dwarfs_to_move: whether the dwarfs are to move.
        """
        w = self._weights
        near = neighbours_of(dwarfs)
        value = 100 * dwarfs.bit_count() - w.troll * trolls.bit_count()
        pairs = 0
        for shift in SHIFTS:
            pairs += (dwarfs & dwarfs << shift).bit_count()
        value += w.pair * pairs
        ring = close = 0
        for disc in self._discs:
            ring += (dwarfs & disc).bit_count()
        value += w.near * ring
        for disc in self._discs[1:6:2]:
            close += (trolls & disc).bit_count()
        value -= w.close * close
        value += w.commanded * (reach & empty).bit_count()
        steps = neighbours_of(trolls) & empty
        unsafe = reach if self._takes_all else reach | self._defended(dwarfs)
        safe = steps & ~unsafe
        value -= w.free * (safe & ~near).bit_count()
        landings = (safe | self._shoved(trolls, empty) & ~reach) & near
        open_squares = empty & ~unsafe
        value += w.secure * (dwarfs & ~neighbours_of(open_squares)).bit_count()
        if landings:
            hanging = dwarfs & neighbours_of(landings)
            value -= w.hanging * hanging.bit_count()
            if dwarfs_to_move:
                value -= w.prize * self._most_beside(landings, dwarfs)
        if not dwarfs_to_move and (exposed := trolls & (reach | near)):
            value += w.exposed * exposed.bit_count()
        return value

    def _defended(self, dwarfs: int) -> int:
        """Return the squares with two dwarfs beside them: one is left to be hurled."""
        _ones, twos = neighbour_counts(dwarfs)
        return twos

    def _most_beside(self, landings: int, dwarfs: int) -> int:
        most = 0
        while landings:
            bit = landings & -landings
            landings ^= bit
            number = (NEXT_TO[bit] & dwarfs).bit_count()
            most = max(most, number)
        return most if self._takes_all else min(most, 1)

    def _shoved(self, trolls: int, empty: int) -> int:
        """Return the squares that trolls reach by a shove of two squares or more."""
        reached = 0
        for shift in SHIFTS:
            pairs = trolls & trolls << shift
            if not pairs:
                continue
            fronts, further = pairs, 1
            while fronts and (ahead := fronts << shift & empty):
                for _ in range(further):
                    ahead = ahead << shift & empty
                reached |= ahead
                fronts &= fronts << shift
                further += 1
            fronts, further = pairs >> shift, 1
            while fronts and (ahead := fronts >> shift & empty):
                for _ in range(further):
                    ahead = ahead >> shift & empty
                reached |= ahead
                fronts &= fronts >> shift
                further += 1
        return reached

    # Plies of the dwarfs.

    def dwarf_captures(self, dwarfs: int, trolls: int, empty: int, reach: int) -> list[Ply]:
        """Return all hurls."""
        plies: list[Ply] = []
        targets = trolls & (reach | neighbours_of(dwarfs))
        while targets:
            target = targets & -targets
            targets ^= target
            for shift in SHIFTS:
                at, far = target << shift, 1
                while at & empty:
                    at, far = at << shift, far + 1
                if at & dwarfs:
                    line, length = at, 0
                    while length < far and line & dwarfs:
                        line, length = line << shift, length + 1
                    if length == far:
                        plies.append((at | target, target))
                at, far = target >> shift, 1
                while at & empty:
                    at, far = at >> shift, far + 1
                if at & dwarfs:
                    line, length = at, 0
                    while length < far and line & dwarfs:
                        line, length = line >> shift, length + 1
                    if length == far:
                        plies.append((at | target, target))
        return plies

    def dwarf_moves(self, dwarfs: int, trolls: int, empty: int, reach: int, most: int) -> list[Ply]:
        """Return about the ``most`` best queen moves, the best first.

        Each square is given a number by what is good about standing there; a move is worth the
        number of where it goes less that of where it comes from.
        """
        ones, twos = neighbour_counts(dwarfs)
        unsafe = reach if self._takes_all else reach | twos
        landings = (neighbours_of(trolls) & empty | self._shoved(trolls, empty)) & ~unsafe
        safe = BOARD & ~neighbours_of(landings)
        # Closeness, 0 to 7, and twice the neighbours, 0 to 3, and 4 for a safe square, added bit
        # by bit for all squares at once.
        c0, c1, c2 = self._closeness
        s1 = c1 ^ ones
        carry = c1 & ones
        s2 = c2 ^ twos ^ carry
        s3 = c2 & twos | carry & (c2 | twos)
        carry = s2 & safe
        s2 ^= safe
        s4 = s3 & carry
        s3 ^= carry
        covers = self._covers(landings & neighbours_of(dwarfs), dwarfs, empty)
        carry = s2 & covers
        s2 ^= covers
        s4 |= s3 & carry
        s3 ^= carry
        slices = (c0, s1, s2, s3, s4)
        return best_slides(dwarfs, empty, slices, most)

    def _covers(self, landings: int, dwarfs: int, empty: int) -> int:
        """Return the squares from which a dwarf would make a line that commands a landing."""
        squares = 0
        if not landings:
            return 0
        for shift in SHIFTS:
            one = landings << shift & empty
            if one:
                two = one << shift
                squares |= two & empty & dwarfs >> shift | (two & dwarfs) << shift & empty
            one = landings >> shift & empty
            if one:
                two = one >> shift
                squares |= two & empty & dwarfs << shift | (two & dwarfs) >> shift & empty
        return squares

    # Plies of the trolls.

    def troll_captures(self, dwarfs: int, trolls: int, empty: int) -> list[Capture]:
        """Return the captures that differ: how many are taken, where it lands, and the ply.

        Where a troll takes all that it likes, it takes all: a dwarf that is left beside it could
        be hurled at it at once.
        """
        found: list[Capture] = []
        near = neighbours_of(dwarfs) & empty
        steps = neighbours_of(trolls) & near
        while steps:
            target = steps & -steps
            steps ^= target
            prey = NEXT_TO[target] & dwarfs
            origins = NEXT_TO[target] & trolls
            number = prey.bit_count()
            while origins:
                origin = origins & -origins
                origins ^= origin
                if self._takes_all or number == 1:
                    found.append((number, target, (prey, origin | target)))
                else:
                    left = prey
                    while left:
                        one = left & -left
                        left ^= one
                        found.append((1, target, (one, origin | target)))
        if not self._takes_all:
            self._add_shoves_of_one(found, dwarfs, trolls, empty, near)
        for shift in SHIFTS:
            fronts, further = trolls & trolls << shift, 2
            while fronts:
                ahead = fronts
                for _ in range(further - 1):
                    ahead = ahead << shift & empty
                back = shift * further
                ahead = ahead << shift & near
                while ahead:
                    target = ahead & -ahead
                    ahead ^= target
                    prey = NEXT_TO[target] & dwarfs
                    found.append((prey.bit_count(), target, (prey, target | target >> back)))
                fronts, further = trolls & fronts << shift, further + 1
            fronts, further = trolls & trolls >> shift, 2
            while fronts:
                ahead = fronts
                for _ in range(further - 1):
                    ahead = ahead >> shift & empty
                back = shift * further
                ahead = ahead >> shift & near
                while ahead:
                    target = ahead & -ahead
                    ahead ^= target
                    prey = NEXT_TO[target] & dwarfs
                    found.append((prey.bit_count(), target, (prey, target | target << back)))
                fronts, further = trolls & fronts >> shift, further + 1
        return found

    def _add_shoves_of_one(
        self,
        found: list[Capture],
        dwarfs: int,
        trolls: int,
        empty: int,
        near: int,
    ) -> None:
        """Add the shoves by one square, which take more than a move does where that takes one."""
        for shift in SHIFTS:
            for back, fronts in (
                (shift, trolls & trolls << shift),
                (-shift, trolls & trolls >> shift),
            ):
                ahead = (fronts << shift if back > 0 else fronts >> shift) & near & empty
                while ahead:
                    target = ahead & -ahead
                    ahead ^= target
                    prey = NEXT_TO[target] & dwarfs
                    if prey & (prey - 1):
                        origin = target >> back if back > 0 else target << -back
                        found.append((prey.bit_count(), target, (prey, target | origin)))

    def troll_moves(self, _dwarfs: int, trolls: int, empty: int) -> list[Step]:
        """Return all steps that capture nothing."""
        found: list[Step] = []
        left = trolls
        while left:
            origin = left & -left
            left ^= origin
            for target, mask, _ in _STEPS[origin]:
                if target & empty:
                    found.append((0, target, (0, mask)))
        return found


_ENDLESS = 1_000_000
_DEEPEST = 60
_CALM = 8  # plies of an exchange that are followed at most
_CALM_FIRST = 2  # where each ply at the root is weighed by itself
_LOOK = 128  # nodes between two questions whether it is time to stop
_REPEATED = (0, 25, 100)  # what it costs to come to a position for the second time, the third
_KEPT = 400_000  # positions in the transposition table, some 150 MB
_STEADY = 12  # by how much another gathering square has to be better before it is taken

_LATE, _VERY_LATE = 6, 24  # how many plies come before those that are looked at less deeply
_HANGS = 1 << 30  # what a troll's step loses in order that would have it captured
_FUTILE = 200  # the most that a last ply without a capture is thought to gain
_NEVER = 1 << 62

_EXACT, _LOWER, _UPPER = 0, 1, 2

_Table = dict[Ply, tuple[int, int, int, Ply | None]]
"""By position: to which depth it was looked at, what it is worth, which bound that is, the best."""


BEAM, ROOT_BEAM, TROLL_BEAM = 14, 60, 64


def _is_bound_sufficient(bound: int, value: int, alpha: int, beta: int) -> bool:
    """Whether what is known of a position is enough for a window."""
    if bound == _EXACT:
        return True
    return value >= beta if bound == _LOWER else value <= alpha


class _StopError(Exception):
    """The limit is reached."""


class First:
    """The player."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        trolls = cast("ShovingTrolls", ruleset.trolls)
        self._tactics = ThudTactics(trolls, ruleset.initial_position.stone)
        self._known: tuple[_Table, _Table] = {}, {}
        self._history: dict[int, int] = {}
        self._nodes = 0
        self.gather = 0
        self._followed: tuple[Move, ...] = ()
        self._seen: tuple[dict[Ply, int], dict[Ply, int]] = {}, {}
        self._sign = 1

    def choose(self, game: Game, is_late: IsLate) -> Move:
        """Return the best ply that it finds."""
        position = game.position
        self._prepare(game)
        self._is_late, self._nodes, self._next_look = is_late, 0, _NEVER
        self._best: tuple[Ply, int, int] | None = None
        moves, ranked = self._ranked(position)
        plies = [ply for _, ply in ranked]
        chosen = plies[0]
        self._next_look = self._nodes + 1
        try:
            for depth in range(1, _DEEPEST + 1):
                plies, _ = self._root(position, plies, depth)
                chosen = plies[0]
                if len(plies) == 1:
                    break
        except _StopError:
            if self._best is not None:
                chosen = self._best[0]
        return moves[chosen]

    # The root.

    def _plies(self, position: Position) -> dict[Ply, Move]:
        """Return the plies to choose from, by their masks."""
        moves = {_masks(move): move for move in self._ruleset.legal_moves(position, 64)}
        d, t, empty = position.dwarfs, position.trolls, position.empty
        if position.turn is Side.TROLL:
            kept = [ply for _, _, ply in self._tactics.troll_captures(d, t, empty)]
            kept += [ply for _, _, ply in self._tactics.troll_moves(d, t, empty)]
        else:
            reach = self._tactics.field(d, t, empty)
            kept = self._tactics.dwarf_captures(d, t, empty, reach)
            kept += self._tactics.dwarf_moves(d, t, empty, reach, 2 * ROOT_BEAM)
        return {ply: moves[ply] for ply in dict.fromkeys(kept) if ply in moves} or moves

    def _prepare(self, game: Game) -> None:
        """Learn where the dwarfs gather, and which positions have been there already."""
        seen: tuple[dict[Ply, int], dict[Ply, int]] = {}, {}
        count = len(self._followed)
        if self._followed != game.moves[:count]:
            self.gather, count = 0, 0
        for ply in range(count, len(game.moves) + 1):
            position = game.after(ply).position
            self._settle(position)
        self._followed = game.moves
        then = game
        while then.moves and then.quiet_plies:
            then = then.undo()
            at = then.position
            counts = seen[at.turn is Side.TROLL]
            key = (at.dwarfs, at.trolls)
            counts[key] = counts.get(key, 0) + 1
        self._seen = seen
        self._known[0].clear()
        self._known[1].clear()
        self._history = {mask: count // 8 for mask, count in self._history.items() if count >= 8}
        self._tactics.weigh_for(self.gather or CENTRE.bit)
        self._sign = 1 if game.turn is Side.DWARF else -1

    def _settle(self, position: Position) -> None:
        """Keep the gathering square, unless another has become clearly better."""
        worth = self._tactics.gathering(position.dwarfs, position.trolls)
        if not worth:
            return
        best = max(worth, key=worth.__getitem__)
        if not self.gather or worth[best] > worth[self.gather] + _STEADY:
            self.gather = best

    def _ranked(self, position: Position) -> tuple[dict[Ply, Move], list[tuple[int, Ply]]]:
        """Return the plies to choose from, and what each is worth by itself, the best first."""
        d, t = position.dwarfs, position.trolls
        dwarfs_move = position.turn is Side.DWARF
        moves = self._plies(position)
        ranked = []
        for ply in moves:
            dx, tx = ply
            d2, t2 = d ^ dx, t ^ tx
            if dwarfs_move:
                value = self._calm_trolls(d2, t2, -_ENDLESS, _ENDLESS, _CALM_FIRST)
            else:
                value = self._calm_dwarfs(d2, t2, -_ENDLESS, _ENDLESS, _CALM_FIRST)
            if count := self._seen[dwarfs_move].get((d2, t2), 0):
                value -= self._sign * _REPEATED[min(count, 2)]
            ranked.append((value, ply))
        ranked.sort(reverse=dwarfs_move, key=itemgetter(0))
        return moves, ranked[:ROOT_BEAM] if dwarfs_move else ranked

    def _root(self, position: Position, plies: list[Ply], depth: int) -> tuple[list[Ply], int]:
        """Return the plies with the best in front after looking so deep, and its worth."""
        d, t = position.dwarfs, position.trolls
        self._best = None
        alpha, beta = -_ENDLESS, _ENDLESS
        order: list[tuple[int, Ply]] = []
        dwarfs_move = position.turn is Side.DWARF
        for number, ply in enumerate(plies):
            dx, tx = ply
            d2, t2 = d ^ dx, t ^ tx
            if dwarfs_move:
                value = alpha + 1
                if number:
                    value = self._trolls(d2, t2, depth - 1, alpha, alpha + 1)
                if value > alpha:
                    value = self._trolls(d2, t2, depth - 1, alpha, beta)
                better = value > alpha
                alpha = max(alpha, value)
            else:
                value = beta - 1
                if number:
                    value = self._dwarfs(d2, t2, depth - 1, beta - 1, beta)
                if value < beta:
                    value = self._dwarfs(d2, t2, depth - 1, alpha, beta)
                better = value < beta
                beta = min(beta, value)
            if better:
                self._best = ply, value, depth
                order.insert(0, (value, ply))
            else:
                order.append((value, ply))
        return [ply for _, ply in order], alpha if dwarfs_move else beta

    def _look(self) -> None:
        if self._is_late():
            raise _StopError
        self._next_look = self._nodes + _LOOK

    # The tree.

    def _dwarfs(self, d: int, t: int, depth: int, alpha: int, beta: int) -> int:
        """Return what a position is worth where the dwarfs are to move."""
        key = d, t
        if count := self._seen[0].get(key, 0):
            still = self._still(d, t, dwarfs_to_move=True)
            return still - self._sign * _REPEATED[min(count, 2)]
        if depth <= 0:
            return self._calm_dwarfs(d, t, alpha, beta, _CALM)
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._look()
        first = None
        known = self._known[0].get(key)
        if known is not None:
            known_depth, value, bound, first = known
            if known_depth >= depth and _is_bound_sufficient(bound, value, alpha, beta):
                return value
        best, best_ply, start = -_ENDLESS, None, alpha
        only_loud = False
        if depth == 1:
            still = self._still(d, t, dwarfs_to_move=True)
            if still + _FUTILE <= alpha:
                best, only_loud = still, True
        plies = self._dwarf_plies(d, t, first, only_loud=only_loud)
        for number, (ply, is_quiet) in enumerate(plies):
            dx, tx = ply
            if not number:
                value = self._trolls(d ^ dx, t ^ tx, depth - 1, alpha, beta)
            else:
                late = is_quiet and number >= _LATE and depth > 2
                value = self._trolls(d ^ dx, t ^ tx, depth - 1 - late, alpha, alpha + 1)
                if value > alpha and (late or value < beta):
                    value = self._trolls(d ^ dx, t ^ tx, depth - 1, alpha, beta)
            if value > best:
                best, best_ply = value, ply
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        if best_ply is None:
            return best if only_loud else self._still(d, t, dwarfs_to_move=True)
        bound = _LOWER if best >= beta else _EXACT if best > start else _UPPER
        self._keep(0, key, (depth, best, bound, best_ply))
        return best

    def _trolls(self, d: int, t: int, depth: int, alpha: int, beta: int) -> int:
        """Return what a position is worth where the trolls are to move."""
        key = d, t
        if count := self._seen[1].get(key, 0):
            still = self._still(d, t, dwarfs_to_move=False)
            return still - self._sign * _REPEATED[min(count, 2)]
        if depth <= 0:
            return self._calm_trolls(d, t, alpha, beta, _CALM)
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._look()
        first = None
        known = self._known[1].get(key)
        if known is not None:
            known_depth, value, bound, first = known
            if known_depth >= depth and _is_bound_sufficient(bound, value, alpha, beta):
                return value
        best, best_ply, start = _ENDLESS, None, beta
        only_loud = False
        if depth == 1:
            still = self._still(d, t, dwarfs_to_move=False)
            if still - _FUTILE >= beta:
                best, only_loud = still, True
        plies = self._troll_plies(d, t, first, only_loud=only_loud)
        for number, (ply, is_quiet) in enumerate(plies):
            dx, tx = ply
            if not number:
                value = self._dwarfs(d ^ dx, t ^ tx, depth - 1, alpha, beta)
            else:
                late = 0
                if is_quiet and number >= _LATE and depth > 2:
                    late = 1 + (number >= _VERY_LATE)
                value = self._dwarfs(d ^ dx, t ^ tx, depth - 1 - late, beta - 1, beta)
                if value < beta and (late or value > alpha):
                    value = self._dwarfs(d ^ dx, t ^ tx, depth - 1, alpha, beta)
            if value < best:
                best, best_ply = value, ply
                if value < beta:
                    beta = value
                    if value <= alpha:
                        if is_quiet:
                            self._history[tx] = self._history.get(tx, 0) + depth * depth
                        break
        if best_ply is None:
            return best if only_loud else self._still(d, t, dwarfs_to_move=False)
        bound = _UPPER if best <= alpha else _EXACT if best < start else _LOWER
        self._keep(1, key, (depth, best, bound, best_ply))
        return best

    def _dwarf_plies(
        self, d: int, t: int, first: Ply | None, *, only_loud: bool
    ) -> Iterator[tuple[Ply, bool]]:
        """Yield the dwarfs' plies, and whether each captures nothing, the best first.

        Nothing is generated before it is needed: most positions are settled by their first ply.
        """
        if first is not None:
            yield first, False
        tactics = self._tactics
        empty = tactics.empty(d, t)
        field = tactics.field(d, t, empty)
        for ply in tactics.dwarf_captures(d, t, empty, field):
            if ply != first:
                yield ply, False
        if not only_loud:
            for ply in tactics.dwarf_moves(d, t, empty, field, BEAM):
                if ply != first:
                    yield ply, True

    def _troll_plies(
        self, d: int, t: int, first: Ply | None, *, only_loud: bool
    ) -> Iterator[tuple[Ply, bool]]:
        """Yield the trolls' plies, as `_dwarf_plies` does the dwarfs'."""
        if first is not None:
            yield first, False
        tactics = self._tactics
        empty = tactics.empty(d, t)
        field = tactics.field(d, t, empty)
        captures = tactics.troll_captures(d, t, empty)
        captures.sort(key=lambda each: each[0] - (4 if each[1] & field else 0), reverse=True)
        for _, _, ply in captures:
            if ply != first:
                yield ply, False
        if not only_loud:
            history = self._history
            moves = [
                (history.get(ply[1], 0) + gain - (_HANGS if target & field else 0), ply)
                for gain, target, ply in tactics.troll_moves(d, t, empty)
            ]
            moves.sort(reverse=True)
            for _, ply in moves[:TROLL_BEAM]:
                if ply != first:
                    yield ply, True

    def _still(self, d: int, t: int, *, dwarfs_to_move: bool) -> int:
        """Return what a position is worth as it stands."""
        tactics = self._tactics
        empty = tactics.empty(d, t)
        field = tactics.field(d, t, empty)
        return tactics.worth(d, t, empty, field, dwarfs_to_move=dwarfs_to_move)

    def _keep(self, side: int, key: Ply, known: tuple[int, int, int, Ply | None]) -> None:
        table = self._known[side]
        if len(table) >= _KEPT:
            table.clear()
        table[key] = known

    # Exchanges.

    def _calm_dwarfs(self, d: int, t: int, alpha: int, beta: int, left: int) -> int:
        """Return what a position is worth, the dwarfs to move, after their best exchange if any."""
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._look()
        empty = self._tactics.empty(d, t)
        reach = self._tactics.field(d, t, empty)
        best = self._tactics.worth(d, t, empty, reach, dwarfs_to_move=True)
        if best >= beta or not left:
            return best
        alpha = max(alpha, best)
        for dx, tx in self._tactics.dwarf_captures(d, t, empty, reach):
            value = self._calm_trolls(d ^ dx, t ^ tx, alpha, beta, left - 1)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        return best

    def _calm_trolls(self, d: int, t: int, alpha: int, beta: int, left: int) -> int:
        """Return what a position is worth, the trolls to move, after their best exchange if any."""
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._look()
        empty = self._tactics.empty(d, t)
        reach = self._tactics.field(d, t, empty)
        still = best = self._tactics.worth(d, t, empty, reach, dwarfs_to_move=False)
        if best <= alpha or not left:
            return best
        beta = min(beta, best)
        captures = self._tactics.troll_captures(d, t, empty)
        captures.sort(key=lambda each: each[0], reverse=True)
        for number, target, (dx, tx) in captures:
            if still - 100 * number - 200 >= beta:
                break
            if number < 4 and target & reach:
                continue
            value = self._calm_dwarfs(d ^ dx, t ^ tx, alpha, beta, left - 1)
            if value < best:
                best = value
                if value < beta:
                    beta = value
                    if value <= alpha:
                        break
        return best
