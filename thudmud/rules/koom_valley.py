"""Koom Valley: dwarfs that trap trolls and walk the Rock home, trolls that trample dwarfs.

Source of all of it: the published Koom Valley rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, islice

from thudmud.rules import checks
from thudmud.rules.board import (
    NEXT_TO,
    SHIFTS,
    SQUARES,
    STEPS,
    Square,
    around,
    beyond,
    bits_of,
    each_bit,
    square_at,
    squares_in,
)
from thudmud.rules.generation import (
    REACH,
    Listing,
    count_queen_moves,
    dwarfs_in_view,
    require_queen_way,
)
from thudmud.rules.moves import EVERY, Attempt, Capturing, Move, Piece, Side, Verb, listed
from thudmud.rules.position import Position
from thudmud.rules.refusals import IllegalMove, Reason
from thudmud.rules.scoring import Ending
from thudmud.rules.tramples import (
    Path,
    TooManyPathsError,
    all_paths,
    count_paths,
    fullest_paths,
    leaps,
    shortest_path,
    shortest_paths,
)

OPENING = Position.from_diagram(
    """
    A B C D E F G H J K L M N O P
 1            . . . . .
 2          . T . T . T .
 3        . T T . T . T T .
 4      . . . . . . . . . . .
 5    . . . . . . . . . . . . .
 6  . . . . . . . . . . . . . . .
 7  . . . . . . . . . . . . . . .
 8  . . . . . . . R . . . . . . .
 9  . . . . . . . d . . . . . . .
10  d . . . . . . . . . . . . . d
11    d . . . . . . . . . . . d
12      d . . . . . . . . . d
13        d . . . . . . . d
14          d . . . . . d
15            d d d d d
""",
    Side.DWARF,
)
"""The only public description of the Koom Valley opening that was found; a printed rulebook may
show that it has to be corrected here."""

HOME: int = bits_of(tuple(square for square in SQUARES if square.row == 0))
"""F1 to J1, which the Rock has to reach."""

CAPTORS = 3
"""How many trolls have to stand next to the Rock."""

_ROW_WORTH, _CAPTOR_WORTH = 10, 30
"""The worth of a row on the Rock's way and of a troll beside it, in hundredths of a dwarf: our own
guess, and no rule."""


def rock_steps(position: Position) -> int:
    """Return the bitboard of the Rock's moves: before and after, it must be next to a dwarf."""
    beside = NEXT_TO.get(position.rock, 0)
    if not beside & position.dwarfs:
        return 0
    return beside & around(position.dwarfs) & position.empty


def grant_rock_move(position: Position, attempt: Attempt) -> Move:
    """Return the move of the Rock that an attempt asks for, or raise IllegalMove."""
    checks.require_near(attempt, Piece.ROCK, 1)
    checks.require_empty_target(position, attempt)
    if attempt.captures is EVERY:
        raise checks.nothing_to_capture(attempt, Reason.ROCK_TAKES_NO_PART)
    if attempt.captures:
        raise IllegalMove(Reason.ROCK_CAPTURES, attempt.captures)
    for square in (attempt.origin, attempt.target):
        if not NEXT_TO[square.bit] & position.dwarfs:
            raise IllegalMove(Reason.ROCK_NOT_ESCORTED, (square,), square=square)
    return _rock_move(attempt.origin.bit, attempt.target.bit)


@dataclass(frozen=True, slots=True)
class RockEscapes:
    """The dwarfs win when the Rock stands at home.

    Source: the published Koom Valley rules.
    """

    side = Side.DWARF
    ending = Ending.ROCK_ESCAPED

    def is_reached(self, position: Position) -> bool:
        """Return whether the Rock stands on one of the squares of its home."""
        return position.rock & HOME != 0

    def worth(self, position: Position) -> int:
        """Return a value that falls with each row between the Rock and its home."""
        return -_ROW_WORTH * square_at(position.rock).row if position.rock else 0


@dataclass(frozen=True, slots=True)
class RockCaptured:
    """The trolls win when, after a ply of theirs, enough of them stand next to the Rock.

    Attributes:
        captors: the trolls that it takes. Source of the default: the published Koom Valley rules.
    """

    captors: int = CAPTORS

    side = Side.TROLL
    ending = Ending.ROCK_CAPTURED

    def is_reached(self, position: Position) -> bool:
        """Return whether the dwarfs are to move, and enough trolls stand next to the Rock."""
        return position.turn is Side.DWARF and _captors(position) >= self.captors

    def worth(self, position: Position) -> int:
        """Return a value that rises with each troll next to the Rock."""
        return _CAPTOR_WORTH * _captors(position)


def _captors(position: Position) -> int:
    return (NEXT_TO.get(position.rock, 0) & position.trolls).bit_count()


@cache
def _rock_move(origin: int, target: int) -> Move:
    return listed(Piece.ROCK, square_at(origin), square_at(target))


_CACHED = 4096
_QUEENS = Listing(Piece.DWARF, REACH)


@dataclass(frozen=True, slots=True)
class TrappingDwarfs:
    """Move like queens, trapping trolls against other dwarfs; or walk the Rock one square.

    Source: the published Koom Valley rules.
    """

    pieces = frozenset({Piece.DWARF, Piece.ROCK})
    verbs = frozenset({Verb.MOVE})
    captures = Capturing.TRAP

    def moves(
        self, position: Position, origins: int, _most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome from ``origins``."""
        moves = _QUEENS.moves(position, origins)
        for target in each_bit(_traps(position)):
            trapped = _trapped(position, target)
            for origin in each_bit(dwarfs_in_view(position, target) & origins):
                moves += _capturing(origin, target, trapped)
        if position.rock & origins:
            steps = each_bit(rock_steps(position))
            moves += [_rock_move(position.rock, target) for target in steps]
        return moves

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are."""
        number = count_queen_moves(position.dwarfs, position.empty)
        number += rock_steps(position).bit_count()
        for target in each_bit(_traps(position)):
            choices = 2 ** _trapped(position, target).bit_count() - 1
            number += dwarfs_in_view(position, target).bit_count() * choices
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a dwarf can step to an empty square; if not, the Rock cannot either."""
        return around(position.dwarfs) & position.empty != 0

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the move of a dwarf or the Rock that is asked for, or raise IllegalMove."""
        if position.piece_at(attempt.origin) is Piece.ROCK:
            return grant_rock_move(position, attempt)
        require_queen_way(position, attempt)
        checks.require_empty_target(position, attempt)
        return listed(Piece.DWARF, attempt.origin, attempt.target, _named(position, attempt))


def _traps(position: Position) -> int:
    """Return the bitboard of empty squares from which a dwarf would trap a troll."""
    dwarfs, trolls, traps = position.dwarfs, position.trolls, 0
    for left, right in STEPS:
        between = trolls & dwarfs << right >> left
        traps |= between << right >> left
    return traps & position.empty


def _trapped(position: Position, target: int) -> int:
    """Return the bitboard of the trolls that a dwarf on ``target`` has between it and another.

    The dwarf itself, which still stands on its origin, is never that other: the troll between would
    have been in its way.
    """
    trapped = 0
    for left, right in STEPS:
        troll = target << left >> right
        if troll & position.trolls and troll << left >> right & position.dwarfs:
            trapped |= troll
    return trapped


@lru_cache(maxsize=_CACHED)
def _capturing(origin: int, target: int, trapped: int) -> tuple[Move, ...]:
    """Return the moves between two squares, one for each set of trolls that may be captured."""
    start, end, trolls = square_at(origin), square_at(target), squares_in(trapped)
    return tuple(
        listed(Piece.DWARF, start, end, captures)
        for number in range(1, len(trolls) + 1)
        for captures in combinations(trolls, number)
    )


def _named(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    """Return the captures that were asked for, in board order; refuse untrapped ones."""
    if attempt.captures is EVERY:
        trapped = squares_in(_trapped(position, attempt.target.bit))
        if not trapped:
            raise checks.nothing_to_capture(attempt, Reason.NO_TROLL_TRAPPED)
        return trapped
    for square in attempt.captures or ():
        checks.require_prey(position, Piece.TROLL, square)
        checks.require_adjacent(attempt, Piece.DWARF, square)
        _require_trapped(position, attempt, square)
    return tuple(sorted(attempt.captures or ()))


def _require_trapped(position: Position, attempt: Attempt, troll: Square) -> None:
    behind = beyond(attempt.target, troll)
    if behind is None:
        raise IllegalMove(Reason.NOT_TRAPPED_AT_EDGE, (troll,), square=troll, target=attempt.target)
    if position.piece_at(behind) is not Piece.DWARF:
        raise IllegalMove(Reason.NOT_TRAPPED, (troll, behind), square=troll, behind=behind)


STRIDE_REACH = 3
"""The most squares that a troll goes without trampling."""

_STRIDES = Listing(Piece.TROLL, STRIDE_REACH)


@dataclass(frozen=True, slots=True)
class TramplingTrolls:
    """Stride one to three squares over empty squares, or trample one dwarf after another.

    A trampled dwarf leaves the board at once, so it cannot be trampled twice. The troll's origin is
    empty while it is on its way, so a trample may pass it and even end there. Source: the published
    Koom Valley rules.
    """

    pieces = frozenset({Piece.TROLL})
    verbs = frozenset({Verb.MOVE})
    captures = Capturing.TRAMPLE

    def moves(
        self, position: Position, origins: int, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome from ``origins``, or only a troll's shortest tramples."""
        moves = _STRIDES.moves(position, origins)
        for bit in each_bit(position.trolls & origins & around(position.dwarfs)):
            origin, ground = square_at(bit), (bit, position.dwarfs, position.empty | bit)
            if most_tramples is None:
                paths = all_paths(*ground)
            else:
                paths = islice(shortest_paths(*ground), most_tramples)
            moves += [_trample(origin, square_at(target), path) for target, path in paths]
        return moves

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are."""
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        number = _count_strides(trolls, empty)
        for bit in each_bit(trolls & around(dwarfs)):
            number += count_paths(bit, dwarfs, empty | bit)
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a troll can step to an empty square or trample a dwarf."""
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        if around(trolls) & empty:
            return True
        return any(
            over & dwarfs and landing & empty
            for bit in each_bit(trolls)
            for over, landing, _ in leaps(bit)
        )

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the stride or trample asked for, or raise IllegalMove."""
        if attempt.captures is EVERY:
            path = _fullest_path(position, attempt)
        elif attempt.captures:
            path = _named_path(position, attempt, attempt.captures)
        else:
            _require_stride(position, attempt)
            return listed(Piece.TROLL, attempt.origin, attempt.target)
        return _trample(attempt.origin, attempt.target, path)


def _trample(origin: Square, target: Square, path: Path) -> Move:
    return listed(Piece.TROLL, origin, target, path, trample=True)


def _count_strides(trolls: int, empty: int) -> int:
    number = 0
    for shift in SHIFTS:
        forth = back = trolls
        for _ in range(STRIDE_REACH):
            forth = forth << shift & empty
            back = back >> shift & empty
            number += forth.bit_count() + back.bit_count()
    return number


def _require_stride(position: Position, attempt: Attempt) -> None:
    """Refuse an attempt that is no stride, with the path of a trample if one leads there."""
    try:
        direction = checks.require_straight(attempt)
        checks.require_near(attempt, Piece.TROLL, STRIDE_REACH)
        checks.require_clear_way(position, attempt, direction)
        checks.require_empty_target(position, attempt)
    except IllegalMove:
        path = _shortest(position, attempt, position.dwarfs)
        if path is None:
            raise
        raise IllegalMove(
            Reason.MUST_TRAMPLE,
            path,
            origin=attempt.origin,
            target=attempt.target,
            path=path,
        ) from None


def _shortest(position: Position, attempt: Attempt, prey: int) -> Path | None:
    """Return the shortest path over ``prey`` to an attempt's target."""
    origin = attempt.origin.bit
    return shortest_path(origin, attempt.target.bit, prey, position.empty | origin)


def _fullest(position: Position, attempt: Attempt, prey: int) -> tuple[Path, ...]:
    """Return the fullest path over ``prey`` to an attempt's target, or two if there are several.

    Empty if no trample leads there. If there are too many to compare, the player has to name the
    path.
    """
    shortest = _shortest(position, attempt, prey)
    if shortest is None:
        return ()
    origin, target = attempt.origin, attempt.target
    try:
        return fullest_paths(origin.bit, target.bit, prey, position.empty | origin.bit)
    except TooManyPathsError:
        raise IllegalMove(
            Reason.TRAMPLES_TOO_MANY, (target,), target=target, path=shortest
        ) from None


def _fullest_path(position: Position, attempt: Attempt) -> Path:
    """Return the only path that tramples most; refuse if there are several."""
    paths = _fullest(position, attempt, position.dwarfs)
    if not paths:
        _require_stride(position, attempt)
        raise checks.nothing_to_capture(attempt, Reason.NO_TRAMPLE)
    return _only(paths)


def _named_path(position: Position, attempt: Attempt, named: Path) -> Path:
    """Return the named path, in that order or in the only possible one."""
    broken = _broken(position, attempt, named)
    if broken is None:
        return named
    paths = _fullest(position, attempt, bits_of(named))
    if not paths or len(paths[0]) < len(named):
        raise broken
    return _only(paths)


def _only(paths: tuple[Path, ...]) -> Path:
    if len(paths) > 1:
        one, other, *_ = paths
        squares = tuple(sorted(set(one + other)))
        raise IllegalMove(Reason.TRAMPLE_AMBIGUOUS, squares, one=one, other=other)
    return paths[0]


def _broken(position: Position, attempt: Attempt, named: Path) -> IllegalMove | None:
    """Return why a trample in the named order fails, or ends on another square, if it does.

    A named square without a dwarf is refused at once: no order will do.
    """
    for dwarf in named:
        checks.require_prey(position, Piece.DWARF, dwarf)
    at, empty = attempt.origin, position.empty | attempt.origin.bit
    for dwarf in named:
        if not NEXT_TO[at.bit] & dwarf.bit:
            return IllegalMove(Reason.TRAMPLE_NOT_NEXT, (dwarf, at), square=dwarf, at=at)
        landing = beyond(at, dwarf)
        if landing is None:
            return IllegalMove(Reason.TRAMPLE_AT_EDGE, (dwarf,), square=dwarf, at=at)
        if not landing.bit & empty:
            return IllegalMove(
                Reason.TRAMPLE_NO_LANDING, (landing,), square=dwarf, at=at, landing=landing
            )
        at = landing
    if at is attempt.target:
        return None
    return IllegalMove(
        Reason.TRAMPLE_ENDS_ELSEWHERE, (at, attempt.target), end=at, target=attempt.target
    )
