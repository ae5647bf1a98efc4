"""The first version of the search, of November 22, 2026, with its weights.

Minimax with alpha-beta windows from the dwarfs' point of view, and quiescence search. The code is
frozen, minus everything that classic and discworld don't need. Don't take it as an example.
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
"""Radii of the discs that measure closeness."""

DISCS: dict[int, tuple[int, ...]] = {
    centre.bit: tuple(
        sum(each.bit for each in SQUARES if distance(centre, each) <= radius) for radius in RADII
    )
    for centre in SQUARES
}
"""By square, the bitboards of the squares within each of the radii."""


def lines_reach(fighters: int, empty: int) -> int:
    """Return the squares that lines of dwarfs command at a distance of two or more.

    A line of n commands up to n squares ahead, across empty squares; the contents of the last
    square don't matter. Pieces that capture all their neighbours on arrival need to fear only
    these.
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
    """Return the number of fighters next to each square, capped at 3, as two bit slices."""
    ones = twos = more = 0
    for shift in SHIFTS:
        for beside in (fighters << shift, fighters >> shift):
            carry = ones & beside
            ones ^= beside
            more |= twos & carry
            twos ^= carry
    return (ones | more) & BOARD, (twos | more) & BOARD


def closeness(centre: int) -> tuple[int, int, int]:
    """Return the closeness of each square to a centre, 7 to 0, as three bit slices.

    Args:
        centre: bit of a square; 0 for a closeness of 0 everywhere.
    """
    ones = twos = fours = 0
    for disc in DISCS.get(centre, ()):
        carry = ones & disc
        ones ^= disc
        fours ^= twos & carry
        twos ^= carry
    return ones, twos, fours


Ply = tuple[int, int]
"""Bits to flip on the bitboards of dwarfs and trolls."""

Capture = tuple[int, int, Ply]
"""Number of captured pieces, bit of the target square, and the ply."""

Step = tuple[int, int, Ply]
"""Ordering value of a troll's step, bit of the target square, and the ply."""

Slices = tuple[int, ...]
"""A number for each square as bit slices: one bitboard for each bit, lowest first."""


def number_at(bit: int, slices: Slices) -> int:
    """Return the number at a square."""
    number, value = 0, 1
    for each in slices:
        if each & bit:
            number += value
        value += value
    return number


def top(squares: int, slices: Slices, most: int) -> int:
    """Return the squares with the highest numbers: ``most`` or a few more, if available."""
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
    """Return the squares with the lowest numbers: ``most`` or a few more, if available."""
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
    """Return about ``most`` queen moves, best first.

    The value of a move is the number at its target minus the number at its origin. Only targets
    with the highest numbers and origins with the lowest are considered. All dwarfs slide in
    parallel, one square at a time.
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
"""By square: each neighbour, the mask of both, and the neighbours of that neighbour."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the evaluation, in hundredths of a dwarf.

    Attributes:
        troll: a troll on the board.
        pair: two adjacent dwarfs.
        near: a dwarf, for each disc around the gathering square that contains it.
        commanded: an empty square that a line of dwarfs commands.
        secure: a dwarf with no adjacent empty square where a troll is safe from hurls.
        hanging: a dwarf that a troll could capture without being captured in return.
        prize: a dwarf in the largest capture of that kind, with the dwarfs to move.
        exposed: a troll that could be captured by a hurl, with the trolls to move.
        close: a troll, for each disc around the gathering square that contains it.
        free: a square that a troll can safely step to.
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
    """Generation of plies, and evaluation, for rules with hurls and shoves.

    Args:
        trolls: moves and captures of trolls.
        fixed: bitboard of immovable pieces.
    """

    def __init__(self, trolls: ShovingTrolls, fixed: int) -> None:
        self._takes_all = trolls.most_after_move > 1
        self._ground = BOARD ^ fixed
        self._weights = Weights()
        self.weigh_for(CENTRE.bit)

    # Where the dwarfs gather.

    def weigh_for(self, gather: int) -> None:
        """Set the gathering square, given as a bit."""
        self._discs, self._closeness = DISCS[gather], closeness(gather)

    def gathering(self, dwarfs: int, trolls: int) -> dict[int, int]:
        """Return the value of each square as a gathering square, keyed by its bit."""
        worth = {}
        for square, discs in DISCS.items():
            value = 0
            for disc in discs:
                value += 2 * (dwarfs & disc).bit_count()
            for disc in discs[1:5]:
                value -= 3 * (trolls & disc).bit_count()
            worth[square] = value
        return worth

    # Evaluation.

    def empty(self, dwarfs: int, trolls: int) -> int:
        """Return the empty squares."""
        return self._ground ^ (dwarfs | trolls)

    def field(self, dwarfs: int, _trolls: int, empty: int) -> int:
        """Return the squares that lines of dwarfs command."""
        return lines_reach(dwarfs, empty)

    def worth(
        self, dwarfs: int, trolls: int, empty: int, reach: int, *, dwarfs_to_move: bool
    ) -> int:
        """Evaluate a position for the dwarfs, in hundredths of a dwarf.

        Args:
            dwarfs: bitboard of dwarfs.
            trolls: bitboard of trolls.
            empty: bitboard of empty squares.
            reach: squares that lines of dwarfs command, as returned by `field`.
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
        """Return the squares next to two dwarfs or more, where a capture leaves one to hurl."""
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
        """Return the squares that shoves by two squares or more can reach."""
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
        """Return about ``most`` queen moves, best first.

        Each square gets a positional value; the value of a move is the difference between its
        target and its origin.
        """
        ones, twos = neighbour_counts(dwarfs)
        unsafe = reach if self._takes_all else reach | twos
        landings = (neighbours_of(trolls) & empty | self._shoved(trolls, empty)) & ~unsafe
        safe = BOARD & ~neighbours_of(landings)
        # A bit-sliced sum for all squares at once: closeness, 0 to 7, plus twice the number of
        # neighbours, 0 to 3, plus 4 for a safe square.
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
        """Return the squares from which a dwarf would form a line that commands a landing."""
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
        """Return the relevant captures: the number of dwarfs, the target, and the ply.

        Under rules that let trolls capture any neighbours, only capturing all is relevant: a
        remaining dwarf could be hurled at the troll at once.
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
        """Add shoves by one square where a shove captures several dwarfs but a step only one."""
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
        """Return all steps without captures."""
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
_CALM = 8  # maximum depth of quiescence search
_CALM_FIRST = 2  # the same for the initial ordering of root plies
_LOOK = 128  # nodes between checks of the time
_REPEATED = (0, 25, 100)  # penalties for repeating a position once, and more often
_KEPT = 400_000  # positions in the transposition table, some 150 MB
_STEADY = 12  # hysteresis of the gathering square

_LATE, _VERY_LATE = 6, 24  # indices from which late plies are reduced by one, by two
_HANGS = 1 << 30  # ordering penalty of a step onto a commanded square
_FUTILE = 200  # futility margin of quiet plies at depth 1
_NEVER = 1 << 62

_EXACT, _LOWER, _UPPER = 0, 1, 2

_Table = dict[Ply, tuple[int, int, int, Ply | None]]
"""By position: search depth, score, kind of bound, and best ply."""


BEAM, ROOT_BEAM, TROLL_BEAM = 14, 60, 64


def _is_bound_sufficient(bound: int, value: int, alpha: int, beta: int) -> bool:
    """Whether a stored score decides the current window."""
    if bound == _EXACT:
        return True
    return value >= beta if bound == _LOWER else value <= alpha


class _StopError(Exception):
    """Raised when time is up."""


class First:
    """A minimax player."""

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
        """Return the best ply found in time."""
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
        """Return the candidate plies with their moves."""
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
        """Follow the gathering square through the battle, and count earlier positions."""
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
        """Update the gathering square, with hysteresis."""
        worth = self._tactics.gathering(position.dwarfs, position.trolls)
        if not worth:
            return
        best = max(worth, key=worth.__getitem__)
        if not self.gather or worth[best] > worth[self.gather] + _STEADY:
            self.gather = best

    def _ranked(self, position: Position) -> tuple[dict[Ply, Move], list[tuple[int, Ply]]]:
        """Return candidate plies with their moves, and with their quiescence scores, best first."""
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
        """Search root plies to a depth; return the plies, best first, and the best score."""
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
        """Return the minimax score of a position with the dwarfs to move."""
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
        """Return the minimax score of a position with the trolls to move."""
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
        """Yield the dwarfs' plies, best first, each with whether it is quiet.

        Plies are generated lazily, since most positions are cut off by their first ply.
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
        """Yield the trolls' plies, best first, each with whether it is quiet."""
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
        """Return the static evaluation of a position."""
        tactics = self._tactics
        empty = tactics.empty(d, t)
        field = tactics.field(d, t, empty)
        return tactics.worth(d, t, empty, field, dwarfs_to_move=dwarfs_to_move)

    def _keep(self, side: int, key: Ply, known: tuple[int, int, int, Ply | None]) -> None:
        table = self._known[side]
        if len(table) >= _KEPT:
            table.clear()
        table[key] = known

    # Quiescence search.

    def _calm_dwarfs(self, d: int, t: int, alpha: int, beta: int, left: int) -> int:
        """Return the quiescence score of a position with the dwarfs to move."""
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
        """Return the quiescence score of a position with the trolls to move."""
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
