"""Alpha-beta with an evaluation based on a list of another program's features.

Iterative deepening with a transposition table, null windows, late move reductions, a beam for the
dwarfs' queen moves, and quiescence search. Scores are in hundredths of a dwarf. Weights are the
list's where it gives any, and first guesses elsewhere: nothing is tuned, nor should it ever be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from benchmarks.strangers import IsLate
from thudmud.rules import Game, Move, Piece, Ruleset, Side
from thudmud.rules.board import (
    BOARD,
    DIRECTIONS,
    NEXT_TO,
    SHIFTS,
    SQUARES,
    STEPS,
    distance,
    each_bit,
    neighbours_of,
    walk,
)
from thudmud.rules.classic import ShovingTrolls

RAYS = {
    square.bit: tuple(tuple(each.bit for each in walk(square, way)) for way in DIRECTIONS)
    for square in SQUARES
}
"""By square, the squares in each direction, nearest first; all as single bits."""

UP, DOWN = (
    {
        square: tuple(sum(ray) for ray in rays if (sum(ray) > square) is is_up)
        for square, rays in RAYS.items()
    }
    for is_up in (True, False)
)
"""By square, the bitboards of its rays towards higher bits, and towards lower bits."""

CLOSE = {
    centre.bit: {each.bit: max(0, 8 - distance(centre, each)) for each in SQUARES}
    for centre in SQUARES
}

TROLL, TROLL_WHERE_ALL_ARE_TAKEN = 600, 700
PAIR, NEAR, SECURE, ALONE = 3, 6, 20, 25
LINES = (2, 10, 15)
"""Weights of a square commanded by a line of two, of three, and of four or more."""
REACHED = (12, 8, 5, 3)
"""Weights of a dwarf that a troll can safely stand next to in one to four steps."""
HANGING, SECOND_HANGING, MORE_HANGING = 50, 80, 30
EXPOSED, SECOND_EXPOSED = 30, 250
FREE, MOST_FREE = 4, 12
REPEATED = 25

BEAM, ROOT_BEAM, LATE, CALM, FUTILE = 14, 60, 6, 6, 200
STEADY = 6
INFINITE = 1 << 30
MOST_KEPT = 300_000
LOOK = 64

Ply = tuple[int, int]
"""Bits to flip on the bitboards of dwarfs and trolls."""


@dataclass(slots=True)
class Crowd:
    """Cached features of a formation of dwarfs, irrespective of the trolls.

    Attributes:
        near: squares next to a dwarf.
        two: squares next to two dwarfs or more.
        lines: result of `_commanded` without trolls.
        worth: score of the formation.
        goals: empty squares next to dwarfs as destinations, with their values, best first.
        costs: values of the squares of dwarfs as origins, computed lazily.
    """

    near: int
    two: int
    lines: tuple[int, int, int, int]
    worth: int
    goals: list[tuple[int, int]]
    costs: dict[int, int]


class _LateError(Exception):
    pass


class Checklist:
    """An alpha-beta player."""

    def __init__(self, ruleset: Ruleset) -> None:
        trolls = cast("ShovingTrolls", ruleset.trolls)
        self._takes_all = trolls.most_after_move != 1 or trolls.shortest_shove == 1
        self._shortest = trolls.shortest_shove
        self._troll = TROLL_WHERE_ALL_ARE_TAKEN if self._takes_all else TROLL
        self._ground = BOARD ^ ruleset.initial_position.stone
        self._ruleset = ruleset
        self._gather = 0
        self._table: dict[tuple[int, int, int], tuple[int, int, int, Ply | None]] = {}
        self._worths: dict[Ply, int] = {}
        self._lines: dict[Ply, tuple[int, int, int, int]] = {}
        self._shoves: dict[Ply, int] = {}
        self._crowds: dict[int, Crowd] = {}
        self._walkers: dict[int, Ply] = {}
        self._history: dict[int, int] = {}
        self._seen: set[tuple[int, int]] = set()
        self._nodes = 0

    def choose(self, game: Game, is_late: IsLate) -> Move:
        """Return the best ply found in time."""
        position = game.position
        d, t, side = position.dwarfs, position.trolls, int(game.turn is Side.TROLL)
        moves = {_flips(move): move for move in self._ruleset.legal_moves(position)}
        self._gather_at(d, t)
        self._seen, at = set(), position
        for move in reversed(game.moves[len(game.moves) - game.quiet_plies :]):
            at = at.before(move)
            self._seen.add((at.dwarfs, at.trolls))
        self._is_late, self._nodes = is_late, 0
        self._history = {each: count // 4 for each, count in self._history.items() if count > 3}
        if side:
            captures = self._troll_captures(d, t)
            plies = [ply for _, _, ply in captures] + self._troll_moves(d, t)
        else:
            plies = self._dwarf_captures(d, t) + self._dwarf_moves(d, t, 3 * ROOT_BEAM)
        plies = [ply for ply in dict.fromkeys(plies) if ply in moves] or list(moves)
        best = plies[0]
        try:
            ranked = [(self._after(d, t, side, ply, 0, -INFINITE, INFINITE), ply) for ply in plies]
            ranked.sort(reverse=True)
            plies = [ply for _, ply in ranked[:ROOT_BEAM]]
            best = plies[0]
            for depth in range(1, 40):
                alpha = -INFINITE
                for number, ply in enumerate(tuple(plies)):
                    value = alpha + 1
                    if number:
                        less = int(depth > 2 and number > LATE and not ply[1 - side])
                        value = self._after(d, t, side, ply, depth - less, alpha, alpha + 1)
                        if less and value > alpha:
                            value = self._after(d, t, side, ply, depth, alpha, alpha + 1)
                    if value > alpha:
                        value = self._after(d, t, side, ply, depth, alpha, INFINITE)
                    if value > alpha:
                        alpha, best = value, ply
                        plies.remove(ply)
                        plies.insert(0, ply)
        except _LateError:
            pass
        return moves[best]

    def _after(self, d: int, t: int, side: int, ply: Ply, depth: int, low: int, high: int) -> int:  # noqa: PLR0917
        d, t = d ^ ply[0], t ^ ply[1]
        value = -self._value(d, t, 1 - side, depth, -high, -low)
        return value - REPEATED if (d, t) in self._seen else value

    def _gather_at(self, d: int, t: int) -> None:
        """Update the square where the dwarfs gather, with hysteresis."""

        def good(square: int) -> int:
            close = CLOSE[square]
            ours = sum(close[each] for each in each_bit(d))
            return 2 * ours - 3 * sum(max(0, close[each] - 3) for each in each_bit(t))

        best = max(CLOSE, key=good)
        if not self._gather or good(best) > good(self._gather) + 2 * STEADY:
            self._gather = best
            self._table.clear()
            self._worths.clear()
            self._crowds.clear()
        self._close = CLOSE[self._gather]
        self._discs = [
            sum(each for each, close in self._close.items() if close > ring) for ring in range(8)
        ]

    # The tree.

    def _value(self, d: int, t: int, side: int, depth: int, alpha: int, beta: int) -> int:  # noqa: PLR0917
        if depth <= 0:
            return self._calm(d, t, side, alpha, beta, CALM)
        self._count()
        key = d, t, side
        first: Ply | None = None
        if known := self._table.get(key):
            deep, value, bound, first = known
            if deep >= depth and (not bound or (value >= beta if bound > 0 else value <= alpha)):
                return value
        loud, best, start, chosen = False, -INFINITE, alpha, first
        if depth == 1:
            still = self._worth(d, t, side)
            if still + FUTILE <= alpha:
                loud, best = True, still
        plies = self._plies(d, t, side, first, is_loud=loud)
        for number, (ply, is_quiet) in enumerate(plies):
            d2, t2 = d ^ ply[0], t ^ ply[1]
            if not number:
                value = -self._value(d2, t2, 1 - side, depth - 1, -beta, -alpha)
            else:
                less = int(is_quiet and depth > 2 and number >= LATE)
                value = -self._value(d2, t2, 1 - side, depth - 1 - less, -alpha - 1, -alpha)
                if value > alpha and (less or value < beta):
                    value = -self._value(d2, t2, 1 - side, depth - 1, -beta, -alpha)
            if value > best:
                best, chosen = value, ply
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        if is_quiet:
                            self._history[ply[side]] = (
                                self._history.get(ply[side], 0) + depth * depth
                            )
                        break
        if best == -INFINITE:
            return self._worth(d, t, side)
        if len(self._table) > MOST_KEPT:
            self._table.clear()
        self._table[key] = depth, best, 1 if best >= beta else 0 if best > start else -1, chosen
        return best

    def _plies(
        self, d: int, t: int, side: int, first: Ply | None, *, is_loud: bool
    ) -> Iterator[tuple[Ply, bool]]:
        if first is not None:
            yield first, False
        if side:
            captures = self._troll_captures(d, t)
            captures.sort(key=lambda each: (not each[1], each[0]), reverse=True)
            loud = [ply for _, _, ply in captures]
        else:
            loud = self._dwarf_captures(d, t)
        for ply in loud:
            if ply != first:
                yield ply, False
        if is_loud:
            return
        history = self._history
        quiet = self._troll_moves(d, t) if side else self._dwarf_moves(d, t, BEAM)
        quiet.sort(key=lambda ply: -history.get(ply[side], 0))
        for ply in quiet:
            if ply != first:
                yield ply, True

    def _calm(self, d: int, t: int, side: int, alpha: int, beta: int, left: int) -> int:  # noqa: PLR0917
        self._count()
        still = best = self._worth(d, t, side)
        if best >= beta or not left:
            return best
        alpha = max(alpha, best)
        if side:
            captures = self._troll_captures(d, t)
            captures.sort(key=lambda each: each[0], reverse=True)
        else:
            captures = [(99, False, ply) for ply in self._dwarf_captures(d, t)]
        for number, is_hit, (dx, tx) in captures:
            if still + 100 * number + FUTILE <= alpha:
                break
            if is_hit and number < 4:
                continue
            value = -self._calm(d ^ dx, t ^ tx, 1 - side, -beta, -alpha, left - 1)
            if value > best:
                best = value
                alpha = max(alpha, value)
                if value >= beta:
                    break
        return best

    def _count(self) -> None:
        self._nodes += 1
        if not self._nodes % LOOK and self._is_late():
            raise _LateError

    # The plies.

    def _dwarf_captures(self, d: int, t: int) -> list[Ply]:
        found = []
        empty = self._ground & ~(d | t)
        for troll in each_bit(t & (self._crowd(d).near | self._commanded(d, t)[0])):
            for ray in RAYS[troll]:
                for far, square in enumerate(ray, 1):
                    if square & empty:
                        continue
                    if square & d:
                        line = ray[far - 1 : far - 1 + far]
                        if len(line) == far and all(each & d for each in line):
                            found.append((square | troll, troll))
                    break
        return found

    def _dwarf_moves(self, d: int, t: int, most: int) -> list[Ply]:
        """Return the most promising moves without captures, by destination, origin and history."""
        empty = self._ground & ~(d | t)
        taken, crowd, history = BOARD & ~empty, self._crowd(d), self._history
        beside = self._beside(t)[0] & empty
        hit = self._commanded(d, t)[0] | (0 if self._takes_all else crowd.two)
        threatened = neighbours_of(beside & ~hit)
        goals = crowd.goals or self._rate(d, crowd)
        best = [
            (value - 5 if square & threatened else value, square)
            for value, square in goals[: most + 8]
            if square & empty
        ]
        best.sort(reverse=True)
        found = []
        for gain, square in best[:most]:
            origins = [ahead & -ahead for ray in UP[square] if (ahead := ray & taken)] + [
                1 << ahead.bit_length() - 1 for ray in DOWN[square] if (ahead := ray & taken)
            ]
            beside = NEXT_TO[square]
            for origin in origins:
                if origin & d:
                    cost = crowd.costs.get(origin)
                    if cost is None:
                        cost = crowd.costs[origin] = self._place(d, origin)
                    if origin & threatened:
                        cost -= 9
                    mask = origin | square
                    less = 3 if origin & beside else 0
                    found.append((gain - less - cost, history.get(mask, 0), mask))
        found.sort(reverse=True)
        return [(mask, 0) for _, _, mask in found[:most]]

    def _rate(self, d: int, crowd: Crowd) -> list[tuple[int, int]]:
        """Return the empty squares next to dwarfs with their values, best first."""
        squares = each_bit(crowd.near & self._ground & ~d)
        crowd.goals = sorted(((self._place(d, each), each) for each in squares), reverse=True)
        return crowd.goals

    def _place(self, d: int, square: int) -> int:
        """Return the value of a square for a dwarf, by its neighbours and closeness."""
        return 3 * min(3, (NEXT_TO[square] & d).bit_count()) + self._close[square]

    def _troll_captures(self, d: int, t: int) -> list[tuple[int, bool, Ply]]:
        """Return captures: the number of dwarfs, whether a hurl can answer, and the ply."""
        found: list[tuple[int, bool, Ply]] = []
        empty = self._ground & ~(d | t)
        near = self._crowd(d).near & empty
        lines = self._commanded(d, t)[0]
        for target in each_bit(self._beside(t)[0] & near):
            prey, is_hit = NEXT_TO[target] & d, bool(target & lines)
            number = prey.bit_count()
            for troll in each_bit(NEXT_TO[target] & t):
                mask = troll | target
                if self._takes_all or number == 1:
                    found.append((number, is_hit, (prey, mask)))
                else:
                    found.extend((1, True, (each, mask)) for each in each_bit(prey))
        # Shoves: the front troll of a line moves up to as many squares as the line has trolls.
        for left, right in STEPS:
            fronts, length = t, 1
            while fronts := t & fronts << left >> right:
                length += 1
                if length < self._shortest:
                    continue
                for troll in each_bit(fronts):
                    at = troll
                    for far in range(1, length + 1):
                        at = at << left >> right & empty
                        if not at:
                            break
                        # Nearer squares were covered by shorter lines; one square away, a shove is
                        # only worthwhile where a step captures fewer.
                        is_new = far == length or (length == 2 and not self._takes_all)
                        if at & near and is_new:
                            prey = NEXT_TO[at] & d
                            number = prey.bit_count()
                            if far > 1 or number > 1:
                                found.append((number, bool(at & lines), (prey, troll | at)))
        return found

    def _troll_moves(self, d: int, t: int) -> list[Ply]:
        """Return the steps without captures, safe ones first."""
        empty = self._ground & ~(d | t)
        bad = self._crowd(d).near | self._commanded(d, t)[0]
        good: list[Ply] = []
        rest: list[Ply] = []
        for troll in each_bit(t):
            left = NEXT_TO[troll] & empty
            while left:
                target = left & -left
                left ^= target
                (rest if target & bad else good).append((0, troll | target))
        return good + rest

    # Evaluation.

    def _crowd(self, d: int) -> Crowd:
        """Return the cached features of a formation of dwarfs."""
        known = self._crowds.get(d)
        if known is None:
            near, pairs, rings = neighbours_of(d), 0, 0
            for shift in SHIFTS:
                pairs += (d & d << shift).bit_count()
            for disc in self._discs:
                rings += (d & disc).bit_count()
            worth = 100 * d.bit_count() + PAIR * pairs + NEAR * rings
            worth -= ALONE * (d & ~near).bit_count()
            lines = _commanded(d, self._ground & ~d)
            if len(self._crowds) > MOST_KEPT // 8:
                self._crowds.clear()
            self._crowds[d] = known = Crowd(near, _beside_two(d), lines, worth, [], {})
        return known

    def _beside(self, t: int) -> Ply:
        """Return the squares next to trolls, and their shove targets, ignoring dwarfs."""
        known = self._walkers.get(t)
        if known is None:
            if len(self._walkers) > MOST_KEPT // 8:
                self._walkers.clear()
            self._walkers[t] = known = neighbours_of(t), _shoved(t, self._ground & ~t)
        return known

    def _commanded(self, d: int, t: int) -> tuple[int, int, int, int]:
        """Return the squares commanded by lines: by any, by two, by three, by four or more."""
        crowd = self._crowd(d)
        among = t & (crowd.near | crowd.lines[0])
        if not among:
            return crowd.lines
        known = self._lines.get((d, among))
        if known is None:
            if len(self._lines) > MOST_KEPT:
                self._lines.clear()
            self._lines[d, among] = known = _commanded(d, self._ground & ~(d | among))
        return known

    def _shoved(self, d: int, t: int) -> int:
        """Return the squares that shoves by two squares or more can reach."""
        beside, most = self._beside(t)
        among = d & (beside | most)
        if not (among and most):
            return most
        known = self._shoves.get((among, t))
        if known is None:
            if len(self._shoves) > MOST_KEPT:
                self._shoves.clear()
            self._shoves[among, t] = known = _shoved(t, self._ground & ~(among | t))
        return known

    def _worth(self, d: int, t: int, side: int) -> int:
        known = self._worths.get((d, t))
        if known is None:
            known = self._weighed(d, t)
            if len(self._worths) > MOST_KEPT:
                self._worths.clear()
            self._worths[d, t] = known
        return -known if side else known

    def _weighed(self, d: int, t: int) -> int:
        empty = self._ground & ~(d | t)
        crowd = self._crowd(d)
        near = crowd.near
        value = crowd.worth - self._troll * t.bit_count()
        lines, *by_length = self._commanded(d, t)
        for weight, squares in zip(LINES, by_length, strict=True):
            value += weight * (squares & empty).bit_count()
        hit = lines if self._takes_all else lines | crowd.two
        safe = empty & ~hit
        value += SECURE * (d & ~neighbours_of(safe)).bit_count()
        beside, shoved = self._beside(t)
        steps = beside & safe
        landings = steps & near
        if shoved & near:
            landings |= self._shoved(d, t) & near & ~lines
        if landings:
            number = (d & neighbours_of(landings)).bit_count()
            value -= HANGING
            if number > 1:
                value -= SECOND_HANGING
            if self._takes_all:
                value -= MORE_HANGING * max(0, number - 2)
        if exposed := t & (near | lines):
            value += EXPOSED + (SECOND_EXPOSED if exposed.bit_count() > 1 else 0)
        if (safe | t) & near:
            reached, seen = t, 0
            for weight in REACHED:
                reached |= neighbours_of(reached) & safe
                if arrived := reached & near:
                    touched = d & neighbours_of(arrived) & ~seen
                    value -= weight * touched.bit_count()
                    seen |= touched
                    reached ^= arrived
        value -= FREE * min(MOST_FREE, (steps & ~near).bit_count())
        return value


def _flips(move: Move) -> Ply:
    ours, others = move.path_bits, move.captured_bits
    return (others, ours) if move.piece is Piece.TROLL else (ours, others)


def _commanded(d: int, empty: int) -> tuple[int, int, int, int]:
    """Return the squares commanded by lines: by any, by two, by three, by four or more."""
    two = three = four = 0
    for left, right in STEPS:
        fronts = d & d << left >> right
        ahead = fronts << left >> right & empty
        if not ahead:
            continue
        two |= ahead << left >> right
        fronts &= fronts << left >> right
        ahead = (fronts << left >> right & empty) << left >> right & empty
        three |= ahead << left >> right
        far = 3
        while ahead:
            fronts &= fronts << left >> right
            ahead = fronts
            for _ in range(far):
                ahead = ahead << left >> right & empty
            four |= ahead << left >> right
            far += 1
    return (two | three | four) & BOARD, two & BOARD, three & BOARD, four & BOARD


def _shoved(t: int, empty: int) -> int:
    """Return the squares that shoves by two squares or more can reach."""
    reached = 0
    for left, right in STEPS:
        fronts, far = t & t << left >> right, 2
        while fronts:
            ahead = fronts
            for _ in range(far):
                ahead = ahead << left >> right & empty
            reached |= ahead
            fronts, far = t & fronts << left >> right, far + 1
    return reached


def _beside_two(d: int) -> int:
    """Return the squares next to two dwarfs or more."""
    one = more = 0
    for left, right in STEPS:
        beside = d << left >> right
        more |= one & beside
        one |= beside
    return more & BOARD
