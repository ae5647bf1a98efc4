"""Components of the classic and discworld rulesets: hurling dwarfs, shoving trolls, the opening.

The two rulesets differ only in the numbers given to `ShovingTrolls`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, pairwise
from math import comb

from thudmud.immutable import immutable
from thudmud.rules import checks
from thudmud.rules.board import (
    NEXT_TO,
    STEPS,
    Square,
    each_bit,
    line_length,
    neighbours_of,
    square_at,
    squares_in,
)
from thudmud.rules.generation import (
    REACH,
    PieceOnLine,
    SlideGenerator,
    count_queen_moves,
    require_queen_way,
)
from thudmud.rules.moves import (
    EVERY,
    Attempt,
    Capturing,
    Move,
    Piece,
    Side,
    Verb,
    quiet_move,
    unchecked_move,
)
from thudmud.rules.position import Position
from thudmud.rules.refusals import IllegalMoveError, Reason

INITIAL_POSITION = Position.from_diagram(
    """
    A B C D E F G H J K L M N O P
 1            d d . d d
 2          d . . . . . d
 3        d . . . . . . . d
 4      d . . . . . . . . . d
 5    d . . . . . . . . . . . d
 6  d . . . . . . . . . . . . . d
 7  d . . . . . T T T . . . . . d
 8  . . . . . . T X T . . . . . .
 9  d . . . . . T T T . . . . . d
10  d . . . . . . . . . . . . . d
11    d . . . . . . . . . . . d
12      d . . . . . . . . . d
13        d . . . . . . . d
14          d . . . . . d
15            d d . d d
""",
    Side.DWARF,
)
"""From the published Original Rules; the furniture on the Discworld MUD has the same."""


@immutable
@dataclass(frozen=True, slots=True)
class HurlingDwarfs:
    """Dwarfs that move like queens, and are hurled at trolls from the front of a line.

    Source: the published Original Rules; the Discworld MUD's furniture has the same.
    """

    pieces = frozenset({Piece.DWARF})
    verbs = frozenset({Verb.MOVE, Verb.HURL})
    captures = Capturing.HURL

    def moves(
        self, position: Position, origins: int, _most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply from ``origins``."""
        return _LINES.moves(position, origins)

    def count(self, position: Position) -> int:
        """Return the number of distinct outcomes of a ply."""
        number = count_queen_moves(position.dwarfs, position.empty)
        return number + sum(dwarfs.bit_count() for dwarfs in _hurl_sources(position))

    def can_move(self, position: Position) -> bool:
        """Return whether a dwarf can step to an empty square, or be hurled at a neighbour."""
        # Enough, since a longer move or hurl passes an empty neighbour first.
        return neighbours_of(position.dwarfs) & (position.empty | position.trolls) != 0

    def validate(self, position: Position, attempt: Attempt) -> Move:
        """Return the move or hurl that an attempt asks for, or raise IllegalMoveError."""
        if attempt.verb is Verb.HURL:
            return _validate_hurl(position, attempt)
        require_queen_way(position, attempt)
        if position.trolls & attempt.target.bit:
            raise _move_onto_troll(position, attempt)
        checks.require_empty_target(position, attempt)
        if attempt.captures is EVERY:
            raise checks.nothing_to_capture(attempt, Reason.HURL_TO_CAPTURE)
        if attempt.captures:
            raise IllegalMoveError(Reason.MOVE_CAPTURES, attempt.captures)
        return quiet_move(Piece.DWARF, attempt.origin, attempt.target)


def _hurls_along(standing: list[PieceOnLine], squares: tuple[Square, ...]) -> Iterator[Move]:
    """Yield the hurls along one line, in both directions."""
    dwarf, troll = Piece.DWARF, Piece.TROLL
    for way in (standing, standing[::-1]):
        # `length` counts the unbroken dwarfs up to and including `front`.
        length, behind = 0, 0
        for (front, piece), (ahead, next_piece) in pairwise(way):
            if piece is not dwarf:
                length = 0
            else:
                length = length + 1 if abs(front - behind) == 1 else 1
                if next_piece is troll and abs(ahead - front) <= length:
                    yield _hurl(squares[front], squares[ahead])
            behind = front


_LINES = SlideGenerator(Piece.DWARF, REACH, further=_hurls_along)


@cache
def _hurl(origin: Square, target: Square) -> Move:
    """Return the shared object of a hurl; there are a few thousand of them at most."""
    return unchecked_move(Piece.DWARF, origin, target, (target,), verb=Verb.HURL)


def _hurl_sources(position: Position) -> Iterator[int]:
    """Yield, per direction and distance, the bitboard of the dwarfs that can be hurled.

    For distance n, ``aims`` has the squares from which a troll is n steps ahead with only empty
    squares between, and ``fronts`` the dwarfs with n - 1 or more dwarfs behind them in an unbroken
    line. Their intersection is the answer: a line of n hurls its front dwarf up to n squares. A
    dwarf with another one ahead of it needs no test, as the other blocks the path.
    """
    dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
    for left, right in STEPS:
        aims, fronts = trolls << right >> left, dwarfs
        while aims and fronts:
            yield aims & fronts
            aims = (aims & empty) << right >> left
            fronts = dwarfs & fronts << left >> right


def _validate_hurl(position: Position, attempt: Attempt) -> Move:
    origin, target = attempt.origin, attempt.target
    direction = checks.require_straight(attempt)
    piece = position.piece_at(target)
    if piece is not Piece.TROLL:
        raise IllegalMoveError(Reason.LANDS_ON_NO_TROLL, (target,), target=target, piece=piece)
    checks.require_front(position, attempt, direction, Piece.DWARF, Verb.HURL)
    length = line_length(position.dwarfs, origin, direction)
    checks.require_line(attempt, Piece.DWARF, length, Verb.HURL)
    checks.require_clear_way(position, attempt, direction)
    if attempt.captures not in (None, EVERY, (target,)):
        raise IllegalMoveError(Reason.HURL_CAPTURES, (target,), target=target)
    return _hurl(origin, target)


def _move_onto_troll(position: Position, attempt: Attempt) -> IllegalMoveError:
    """Return the refusal of a plain move onto a troll; it says whether a hurl would succeed."""
    origin, target = attempt.origin, attempt.target
    is_in_reach = True
    try:
        _validate_hurl(position, Attempt(Verb.HURL, origin, target))
    except IllegalMoveError:
        is_in_reach = False
    return IllegalMoveError(
        Reason.MOVE_ONTO_TROLL, (target,), origin=origin, target=target, is_in_reach=is_in_reach
    )


ANY = 8
"""The number of neighbours of a square, so that a limit of this many captures is no limit."""

_KEPT_STEPS = 40_000
"""The most one-square moves in the cache, for all squares together: some 12 MB."""

_KEPT_SHOVES = 256
"""The most entries in the cache of shoves: sets of dwarfs per origin and target, with up to 255
moves each."""


@immutable
@dataclass(frozen=True, slots=True)
class ShovingTrolls:
    """Trolls that step one square and may then capture, or are shoved from a line and must capture.

    Source: the published Original Rules and the Discworld MUD's help page, which differ in the two
    numbers.

    Attributes:
        most_after_move: the most adjacent dwarfs that a troll may capture after a move.
        shortest_shove: the fewest trolls in a line that can be shoved.
    """

    most_after_move: int
    shortest_shove: int

    pieces = frozenset({Piece.TROLL})
    verbs = frozenset({Verb.MOVE, Verb.SHOVE})
    captures = Capturing.SHOVE

    def moves(
        self, position: Position, origins: int, _most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply from ``origins``."""
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
        """Return the number of distinct outcomes of a ply."""
        number = 0
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        beside_dwarfs = neighbours_of(dwarfs)
        for left, right in STEPS:  # all trolls step at once
            targets = trolls << left >> right & empty
            number += targets.bit_count()
            for target in each_bit(targets & beside_dwarfs):
                prey = (NEXT_TO[target] & dwarfs).bit_count()
                number += _choices(prey, 1, self.most_after_move)
        for _, target, fewest in self._shoves(position):
            number += _choices((NEXT_TO[target] & dwarfs).bit_count(), fewest, ANY)
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a troll can step to an empty square; if not, none can be shoved either."""
        return neighbours_of(position.trolls) & position.empty != 0

    def validate(self, position: Position, attempt: Attempt) -> Move:
        """Return the move or shove that an attempt asks for, or raise IllegalMoveError."""
        if attempt.verb is Verb.SHOVE:
            captures = self._validate_shove(position, attempt)
        else:
            try:
                checks.require_near(attempt, Piece.TROLL, 1)
            except IllegalMoveError as refusal:
                raise self._only_a_shove(position, attempt) or refusal from None
            checks.require_empty_target(position, attempt)
            captures = _validated_captures(position, attempt)
            if len(captures) > self.most_after_move:
                raise self._too_many(position, attempt, captures)
            if not captures:
                return quiet_move(Piece.TROLL, attempt.origin, attempt.target)
        return unchecked_move(
            Piece.TROLL, attempt.origin, attempt.target, captures, verb=attempt.verb
        )

    def _shoves(self, position: Position) -> Iterator[tuple[int, int, int]]:
        """Yield each shove as origin, target, and the fewest captures of a distinct outcome.

        For distance n, ``reached`` has the squares n steps from a troll over empty squares, and
        ``fronts`` the trolls with a line behind them that is long enough for a shove by n. Both
        advance together, in each direction.
        """
        trolls, empty = position.trolls, position.empty
        beside_dwarfs = neighbours_of(position.dwarfs)
        for left, right in STEPS:
            reached = fronts = trolls
            for _ in range(self.shortest_shove - 1):
                fronts = trolls & fronts << left >> right
            # A shove by one square with no more captures than a move allows is the move's outcome.
            distance, fewest = 1, self.most_after_move + 1
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
    ) -> IllegalMoveError:
        """Return the refusal of too many captures after a move, naming a shove as alternative."""
        direction = checks.require_straight(attempt)
        length = line_length(position.trolls, attempt.origin, direction)
        return IllegalMoveError(
            Reason.TOO_MANY_CAPTURES,
            captures,
            most=self.most_after_move,
            choices=captures,
            instead=Verb.SHOVE if length >= self.shortest_shove else None,
        )

    def _only_a_shove(self, position: Position, attempt: Attempt) -> IllegalMoveError | None:
        """Return the refusal of a move that has to be a shove; None if no shove is possible."""
        origin, target = attempt.origin, attempt.target
        try:
            prey = self._validate_shove(position, Attempt(Verb.SHOVE, origin, target, EVERY))
        except IllegalMoveError:
            return None
        squares = (origin, target)
        return IllegalMoveError(
            Reason.MUST_SHOVE, squares, origin=origin, target=target, choices=prey
        )

    def _validate_shove(self, position: Position, attempt: Attempt) -> tuple[Square, ...]:
        origin = attempt.origin
        direction = checks.require_straight(attempt)
        checks.require_front(position, attempt, direction, Piece.TROLL, Verb.SHOVE)
        length = line_length(position.trolls, origin, direction)
        if length < self.shortest_shove:
            raise IllegalMoveError(
                Reason.SHOVE_NEEDS_LINE, (origin,), origin=origin, shortest=self.shortest_shove
            )
        checks.require_line(attempt, Piece.TROLL, length, Verb.SHOVE)
        checks.require_clear_way(position, attempt, direction)
        checks.require_empty_target(position, attempt)
        captures = _validated_captures(position, attempt)
        if not captures:
            prey = _capturable(position, attempt)
            if not prey:
                raise checks.nothing_to_capture(attempt, Reason.SHOVE_CAPTURES_NOTHING)
            raise IllegalMoveError(Reason.CAPTURE_UNSAID, prey, choices=prey)
        return captures


class _Steps(dict[int, tuple[tuple[int, int, "_Options"], ...]]):
    """The one-square moves by origin: each target's bit, the target's neighbours, and the moves.

    Origins are bits of squares. The cache is emptied when the moves become too many; those in use
    are soon made again.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.kept = 0

    def __missing__(self, origin: int) -> tuple[tuple[int, int, _Options], ...]:
        """Create and cache the entry of an origin."""
        steps = self[origin] = tuple(
            (target, NEXT_TO[target], _Options(origin, target, self))
            for target in each_bit(NEXT_TO[origin])
        )
        return steps

    def keep(self, moves: int) -> None:
        """Count newly cached moves, and empty the cache at the limit.

        Threads may overwrite each other's counts, so the limit is approximate.
        """
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
        """Create and cache the moves for one set of dwarfs."""
        made = self._made
        choices = _captures(prey, 0, self._steps.most)
        moves = self[prey] = tuple(made.get(each) or self._make(each) for each in choices)
        self._steps.keep(len(moves))
        return moves

    def _make(self, captures: tuple[Square, ...]) -> Move:
        move = unchecked_move(
            Piece.TROLL, square_at(self._origin), square_at(self._target), captures
        )
        self._made[captures] = move
        return move


@cache
def _steps_capturing(most: int) -> _Steps:
    """Return the shared table of one-square moves that may capture up to ``most`` dwarfs."""
    return _Steps(most)


@lru_cache(maxsize=_KEPT_SHOVES)
def _shoves_capturing(origin: int, target: int, prey: int, fewest: int) -> tuple[Move, ...]:
    """Return the shoves between two squares, one per set of ``fewest`` or more captures."""
    start, end = square_at(origin), square_at(target)
    return tuple(
        unchecked_move(Piece.TROLL, start, end, captures, verb=Verb.SHOVE)
        for captures in _captures(prey, fewest, ANY)
    )


def _captures(prey: int, fewest: int, most: int) -> Iterator[tuple[Square, ...]]:
    """Yield the possible sets of captures from ``fewest`` to ``most``, each in board order."""
    dwarfs = squares_in(prey)
    for number in range(fewest, min(most, len(dwarfs)) + 1):
        yield from combinations(dwarfs, number)


@cache
def _choices(prey: int, fewest: int, most: int) -> int:
    """Return the number of ways to capture ``fewest`` to ``most`` of ``prey`` dwarfs."""
    return sum(comb(prey, captured) for captured in range(fewest, most + 1))


def _capturable(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    return squares_in(NEXT_TO[attempt.target.bit] & position.dwarfs)


def _validated_captures(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    """Return an attempt's captures in board order; refuse impossible ones."""
    if attempt.captures is EVERY:
        prey = _capturable(position, attempt)
        if not prey:
            raise checks.nothing_to_capture(attempt, Reason.NO_DWARF_ADJACENT)
        return prey
    for square in attempt.captures or ():
        checks.require_capturable(position, Piece.DWARF, square)
        checks.require_adjacent(attempt, Piece.TROLL, square)
    return tuple(sorted(attempt.captures or ()))
