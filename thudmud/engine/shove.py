"""The trolls of classic and discworld: slow ones that capture after a move, and are shoved.

Owns how they move and what they capture. Must never look at the dwarf side's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt, Verb
from thudmud.engine.lines import NEXT_TO, STEPS, around, line_length
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason, counted
from thudmud.engine.squares import Square, each_bit, square_at, squares_in

ANY = 8
"""As many captures as a square has neighbours."""

_CACHED = 4096


@dataclass(frozen=True, slots=True)
class ShovingTrolls:
    """Move one square and then may capture; the front troll of a line is shoved and must capture.

    Source: the published Original Rules and the Discworld MUD's help page, which differ in the two
    numbers.

    Attributes:
        most_after_move: how many adjacent dwarfs a troll may capture after a move.
        shortest_shove: how many trolls a line needs to be shoved.
    """

    most_after_move: int
    shortest_shove: int

    @property
    def verbs(self) -> frozenset[Verb]:
        """Trolls are moved and shoved."""
        return frozenset({Verb.MOVE, Verb.SHOVE})

    def moves(self, position: Position, origins: int) -> list[Move]:
        """Return every distinct outcome from ``origins``."""
        moves: list[Move] = []
        dwarfs = position.dwarfs
        by_move = range(self.most_after_move + 1)
        by_short_shove = range(by_move.stop, ANY + 1)  # fewer are the outcome of a move
        by_shove = range(1, ANY + 1)
        for origin, target, step, shove in self._ways(position, origins):
            prey = NEXT_TO[target] & dwarfs
            if step:
                moves += _capturing(origin, target, prey, Verb.MOVE, by_move)
            if shove and prey:
                numbers = by_short_shove if step else by_shove
                moves += _capturing(origin, target, prey, Verb.SHOVE, numbers)
        return moves

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are."""
        number = 0
        dwarfs, most = position.dwarfs, self.most_after_move
        for _, target, step, shove in self._ways(position, position.trolls):
            prey = (NEXT_TO[target] & dwarfs).bit_count()
            if shove:
                number += 2**prey if step else 2**prey - 1
            else:
                number += sum(comb(prey, captured) for captured in range(most + 1))
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a troll can step aside; without that there is no shove either."""
        return around(position.trolls) & position.empty != 0

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the move or shove asked for, or raise IllegalMove."""
        if attempt.verb is Verb.SHOVE:
            captures = self._grant_shove(position, attempt)
        else:
            checks.require_near(attempt, Piece.TROLL, 1)
            checks.require_empty_target(position, attempt)
            captures = _named(position, attempt)
            if len(captures) > self.most_after_move:
                most = counted(self.most_after_move, "dwarf")
                raise IllegalMove(Reason.TOO_MANY_CAPTURES, captures, most=most, choices=captures)
        return Move(Piece.TROLL, attempt.origin, attempt.target, captures, verb=attempt.verb)

    def _ways(self, position: Position, origins: int) -> Iterator[tuple[int, int, bool, bool]]:
        """Yield the ways trolls can go: origin, target, whether by a move, whether by a shove."""
        trolls, empty, shortest = position.trolls, position.empty, self.shortest_shove
        for bit in each_bit(trolls & origins):
            for left, right in STEPS:
                target = bit << left >> right
                if not target & empty:
                    continue
                line, behind = 1, bit << right >> left
                while behind & trolls:
                    line += 1
                    behind = behind << right >> left
                shove = line >= shortest
                yield bit, target, True, shove
                while shove and line > 1 and (target := target << left >> right) & empty:
                    line -= 1
                    yield bit, target, False, True

    def _grant_shove(self, position: Position, attempt: Attempt) -> tuple[Square, ...]:
        origin = attempt.origin
        direction = checks.require_straight(attempt)
        length = line_length(position.trolls, origin, direction)
        if length < self.shortest_shove:
            raise IllegalMove(
                Reason.SHOVE_NEEDS_LINE, (origin,), origin=origin, shortest=self.shortest_shove
            )
        checks.require_line(attempt, Piece.TROLL, length, "shoved")
        checks.require_clear_way(position, attempt, direction)
        checks.require_empty_target(position, attempt)
        captures = _named(position, attempt)
        if not captures:
            prey = _prey(position, attempt)
            if not prey:
                raise _no_prey(attempt)
            raise IllegalMove(Reason.CAPTURE_UNSAID, prey, choices=prey)
        return captures


@lru_cache(maxsize=_CACHED)
def _capturing(origin: int, target: int, prey: int, verb: Verb, numbers: range) -> tuple[Move, ...]:
    """Return the moves between two squares, one per set of prey of any of the ``numbers``."""
    start, end, dwarfs = square_at(origin), square_at(target), squares_in(prey)
    return tuple(
        Move(Piece.TROLL, start, end, captures, verb=verb)
        for number in numbers
        for captures in combinations(dwarfs, number)
    )


def _prey(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    return squares_in(NEXT_TO[attempt.target.bit] & position.dwarfs)


def _no_prey(attempt: Attempt) -> IllegalMove:
    return checks.nothing_to_capture(attempt, "no dwarf stands next to it")


def _named(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    """Return the captures that were asked for, in board order; refuse what is no prey."""
    if attempt.captures is EVERY:
        prey = _prey(position, attempt)
        if not prey:
            raise _no_prey(attempt)
        return prey
    for square in attempt.captures or ():
        checks.require_prey(position, Piece.DWARF, square)
        checks.require_adjacent(attempt, Piece.TROLL, square)
    return tuple(sorted(attempt.captures or ()))
