"""The trolls of classic and discworld: slow ones that capture after a move, and are shoved.

Owns how they move and what they capture. Must never look at the dwarf side's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from math import comb

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt, Verb
from thudmud.engine.english import counted
from thudmud.engine.lines import NEXT_TO, STEPS, around, line_length
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.squares import Square, each_bit, square_at, squares_in

ANY = 8
"""As many captures as a square has neighbours."""

_KEPT_STEPS = 40_000
"""How many moves of one square are kept at most, for all squares together: some 12 MB."""

_KEPT_SHOVES = 256
"""For how many ways to shove a troll past dwarfs the moves are kept: 255 of them at most each."""


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

    def moves(
        self, position: Position, origins: int, _most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome from ``origins``."""
        moves: list[Move] = []
        dwarfs, empty = position.dwarfs, position.empty
        steps = _steps_capturing(self.most_after_move)
        for origin in each_bit(position.trolls & origins):
            for target, near, by_prey in steps[origin]:
                if target & empty:
                    moves += by_prey[near & dwarfs]
        for origin, target, fewest in self._shoves(position):
            if origin & origins:
                moves += _shoves_capturing(origin, target, NEXT_TO[target] & dwarfs, fewest)
        return moves

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are: all trolls step at once, each way."""
        number = 0
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        beside_dwarfs = around(dwarfs)
        for left, right in STEPS:
            targets = trolls << left >> right & empty
            number += targets.bit_count()
            for target in each_bit(targets & beside_dwarfs):
                prey = (NEXT_TO[target] & dwarfs).bit_count()
                number += _choices(prey, 1, self.most_after_move)
        for _, target, fewest in self._shoves(position):
            number += _choices((NEXT_TO[target] & dwarfs).bit_count(), fewest, ANY)
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
                raise self._too_many(position, attempt, captures)
        return Move(Piece.TROLL, attempt.origin, attempt.target, captures, verb=attempt.verb)

    def _shoves(self, position: Position) -> Iterator[tuple[int, int, int]]:
        """Yield the shoves: origin, target, and how few captures make an outcome of their own.

        Per direction two bitboards go along: the squares that trolls reach over empty squares, and
        the fronts of the lines that are long enough to be shoved that far.
        """
        trolls, empty = position.trolls, position.empty
        beside_dwarfs = around(position.dwarfs)
        for left, right in STEPS:
            reached = fronts = trolls
            for _ in range(self.shortest_shove - 1):
                fronts = trolls & fronts << left >> right
            distance, fewest = 1, self.most_after_move + 1  # fewer are the outcome of a move
            while fronts and (reached := reached << left >> right & empty):
                if fewest <= ANY:
                    there, back = left * distance, right * distance
                    for target in each_bit(reached & fronts << there >> back & beside_dwarfs):
                        yield target >> there << back, target, fewest
                distance, fewest = distance + 1, 1
                if distance > self.shortest_shove:
                    fronts = trolls & fronts << left >> right

    def _too_many(
        self, position: Position, attempt: Attempt, captures: tuple[Square, ...]
    ) -> IllegalMove:
        """Return the refusal of a move's captures, with the shove that would take them if any."""
        direction = checks.require_straight(attempt)
        length = line_length(position.trolls, attempt.origin, direction)
        return IllegalMove(
            Reason.TOO_MANY_CAPTURES,
            captures,
            most=counted(self.most_after_move, "dwarf"),
            choices=captures,
            instead=", or shove there instead" if length >= self.shortest_shove else "",
        )

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
                why = "a shove has to capture, and no dwarf stands next to it"
                raise checks.nothing_to_capture(attempt, why)
            raise IllegalMove(Reason.CAPTURE_UNSAID, prey, choices=prey)
        return captures


class _Steps(dict[int, tuple[tuple[int, int, "_Options"], ...]]):
    """By the bit of a square: the squares next to it, what is next to those, and the moves.

    All is forgotten when too many moves have been kept; a few keep coming back and are soon made
    again.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.kept = 0

    def __missing__(self, origin: int) -> tuple[tuple[int, int, _Options], ...]:
        """Make the steps of a square when they are first asked for."""
        steps = self[origin] = tuple(
            (target, NEXT_TO[target], _Options(origin, target, self))
            for target in each_bit(NEXT_TO[origin])
        )
        return steps

    def keep(self, moves: int) -> None:
        """Count moves that are to be kept; forget the others if they are too many together."""
        if self.kept + moves > _KEPT_STEPS:
            self.clear()
            self.kept = 0
        self.kept += moves


class _Options(dict[int, tuple[Move, ...]]):
    """The moves between two squares, by the bitboard of the dwarfs that could be captured."""

    def __init__(self, origin: int, target: int, steps: _Steps) -> None:
        super().__init__()
        self._origin = origin
        self._target = target
        self._steps = steps
        self._made: dict[tuple[Square, ...], Move] = {}

    def __missing__(self, prey: int) -> tuple[Move, ...]:
        """Gather the moves, and remember them."""
        made = self._made
        choices = _captures(prey, 0, self._steps.most)
        moves = self[prey] = tuple(made.get(each) or self._make(each) for each in choices)
        self._steps.keep(len(moves))
        return moves

    def _make(self, captures: tuple[Square, ...]) -> Move:
        move = Move(Piece.TROLL, square_at(self._origin), square_at(self._target), captures)
        self._made[captures] = move
        return move


@cache
def _steps_capturing(most: int) -> _Steps:
    """Return the one table of steps after which so many dwarfs may be captured."""
    return _Steps(most)


@lru_cache(maxsize=_KEPT_SHOVES)
def _shoves_capturing(origin: int, target: int, prey: int, fewest: int) -> tuple[Move, ...]:
    """Return the shoves between two squares, one per set of at least so many captures."""
    start, end = square_at(origin), square_at(target)
    return tuple(
        Move(Piece.TROLL, start, end, captures, verb=Verb.SHOVE)
        for captures in _captures(prey, fewest, ANY)
    )


def _captures(prey: int, fewest: int, most: int) -> Iterator[tuple[Square, ...]]:
    """Yield the sets of dwarfs that can be captured, each in board order."""
    dwarfs = squares_in(prey)
    for number in range(fewest, min(most, len(dwarfs)) + 1):
        yield from combinations(dwarfs, number)


@cache
def _choices(prey: int, fewest: int, most: int) -> int:
    """Return in how many ways ``fewest`` to ``most`` of a number of dwarfs can be captured."""
    return sum(comb(prey, captured) for captured in range(fewest, most + 1))


def _prey(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    return squares_in(NEXT_TO[attempt.target.bit] & position.dwarfs)


def _named(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    """Return the captures that were asked for, in board order; refuse what is no prey."""
    if attempt.captures is EVERY:
        prey = _prey(position, attempt)
        if not prey:
            raise checks.nothing_to_capture(attempt, "no dwarf stands next to it")
        return prey
    for square in attempt.captures or ():
        checks.require_prey(position, Piece.DWARF, square)
        checks.require_adjacent(attempt, Piece.TROLL, square)
    return tuple(sorted(attempt.captures or ()))
