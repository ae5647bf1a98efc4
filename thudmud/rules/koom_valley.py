"""Components of the Koom Valley ruleset: trapping dwarfs, trampling trolls, the Rock and the goals.

Source of all of it: the published Koom Valley rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, islice

from thudmud.immutable import immutable
from thudmud.rules import checks
from thudmud.rules.board import (
    NEXT_TO,
    SHIFTS,
    SQUARES,
    STEPS,
    Square,
    beyond,
    bits_of,
    each_bit,
    neighbours_of,
    square_at,
    squares_in,
)
from thudmud.rules.generation import (
    REACH,
    SlideGenerator,
    count_queen_moves,
    dwarfs_in_view,
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
from thudmud.rules.scoring import Ending
from thudmud.rules.tramples import (
    Path,
    TooManyPathsError,
    all_paths,
    count_paths,
    fullest_paths,
    shortest_path,
    shortest_paths,
    trample_steps,
)

INITIAL_POSITION = Position.from_diagram(
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
"""The only public description of the Koom Valley opening that could be found. A printed rulebook
may show that it has to be corrected here."""

HOME: int = bits_of(tuple(square for square in SQUARES if square.row == 0))
"""F1 to J1, the Rock's destination."""

CAPTORS = 3
"""The number of trolls next to the Rock that win the battle."""

_ROW_WORTH, _CAPTOR_WORTH = 10, 30
"""The value of a row on the Rock's way, and of a troll beside the Rock, in hundredths of a dwarf:
an estimate of ours, not a rule."""


def rock_steps(position: Position) -> int:
    """Return the bitboard of the Rock's moves; a dwarf must be next to it before and after."""
    beside = NEXT_TO.get(position.rock, 0)
    if not beside & position.dwarfs:
        return 0
    return beside & neighbours_of(position.dwarfs) & position.empty


def validate_rock_move(position: Position, attempt: Attempt) -> Move:
    """Return the move of the Rock that an attempt asks for, or raise IllegalMoveError."""
    checks.require_near(attempt, Piece.ROCK, 1)
    checks.require_empty_target(position, attempt)
    if attempt.captures is EVERY:
        raise checks.nothing_to_capture(attempt, Reason.ROCK_TAKES_NO_PART)
    if attempt.captures:
        raise IllegalMoveError(Reason.ROCK_CAPTURES, attempt.captures)
    for square in (attempt.origin, attempt.target):
        if not NEXT_TO[square.bit] & position.dwarfs:
            raise IllegalMoveError(Reason.ROCK_NOT_ESCORTED, (square,), square=square)
    return _rock_move(attempt.origin.bit, attempt.target.bit)


@immutable
@dataclass(frozen=True, slots=True)
class RockEscapes:
    """The dwarfs' goal: the Rock at home.

    Source: the published Koom Valley rules.
    """

    side = Side.DWARF
    ending = Ending.ROCK_ESCAPED

    def is_reached(self, position: Position) -> bool:
        """Return whether the Rock is on one of its home squares."""
        return position.rock & HOME != 0

    def progress(self, position: Position) -> int:
        """Return a value that falls with each row between the Rock and its home."""
        return -_ROW_WORTH * square_at(position.rock).row if position.rock else 0


@immutable
@dataclass(frozen=True, slots=True)
class RockCaptured:
    """The trolls' goal: enough of them next to the Rock after a ply of theirs.

    Attributes:
        captors: the number of trolls needed. Source of the default: the published Koom Valley
            rules.
    """

    captors: int = CAPTORS

    side = Side.TROLL
    ending = Ending.ROCK_CAPTURED

    def is_reached(self, position: Position) -> bool:
        """Return whether the dwarfs are to move and enough trolls are next to the Rock."""
        return position.turn is Side.DWARF and _captors(position) >= self.captors

    def progress(self, position: Position) -> int:
        """Return a value that rises with each troll next to the Rock."""
        return _CAPTOR_WORTH * _captors(position)


def _captors(position: Position) -> int:
    return (NEXT_TO.get(position.rock, 0) & position.trolls).bit_count()


@cache
def _rock_move(origin: int, target: int) -> Move:
    return unchecked_move(Piece.ROCK, square_at(origin), square_at(target))


_CACHED = 4096
_QUEENS = SlideGenerator(Piece.DWARF, REACH)


@immutable
@dataclass(frozen=True, slots=True)
class TrappingDwarfs:
    """Dwarfs that move like queens, trapping trolls against other dwarfs, or walk the Rock.

    The Rock moves one square. Source: the published Koom Valley rules.
    """

    pieces = frozenset({Piece.DWARF, Piece.ROCK})
    verbs = frozenset({Verb.MOVE})
    captures = Capturing.TRAP

    def moves(
        self, position: Position, origins: int, _most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply from ``origins``."""
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
        """Return the number of distinct outcomes of a ply."""
        number = count_queen_moves(position.dwarfs, position.empty)
        number += rock_steps(position).bit_count()
        for target in each_bit(_traps(position)):
            choices = 2 ** _trapped(position, target).bit_count() - 1  # non-empty sets of captures
            number += dwarfs_in_view(position, target).bit_count() * choices
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a dwarf can step to an empty square; if not, the Rock can't move."""
        return neighbours_of(position.dwarfs) & position.empty != 0

    def validate(self, position: Position, attempt: Attempt) -> Move:
        """Return the move of a dwarf or the Rock for an attempt, or raise IllegalMoveError."""
        if position.piece_at(attempt.origin) is Piece.ROCK:
            return validate_rock_move(position, attempt)
        require_queen_way(position, attempt)
        checks.require_empty_target(position, attempt)
        origin, target = attempt.origin, attempt.target
        captures = _validated_captures(position, attempt)
        if not captures:
            return quiet_move(Piece.DWARF, origin, target)
        return unchecked_move(Piece.DWARF, origin, target, captures)


def _traps(position: Position) -> int:
    """Return the bitboard of empty squares from which a dwarf would trap a troll."""
    dwarfs, trolls, traps = position.dwarfs, position.trolls, 0
    for left, right in STEPS:
        between = trolls & dwarfs << right >> left  # trolls with a dwarf one step ahead
        traps |= between << right >> left
    return traps & position.empty


def _trapped(position: Position, target: int) -> int:
    """Return the bitboard of the trolls directly between ``target`` and a dwarf on the far side.

    The moving dwarf, still on its origin here, is never that dwarf: the troll between would have
    blocked its path to ``target``.
    """
    trapped = 0
    for left, right in STEPS:
        troll = target << left >> right
        if troll & position.trolls and troll << left >> right & position.dwarfs:
            trapped |= troll
    return trapped


@lru_cache(maxsize=_CACHED)
def _capturing(origin: int, target: int, trapped: int) -> tuple[Move, ...]:
    """Return the moves between two squares, one per non-empty set of captured trolls."""
    start, end, trolls = square_at(origin), square_at(target), squares_in(trapped)
    return tuple(
        unchecked_move(Piece.DWARF, start, end, captures)
        for number in range(1, len(trolls) + 1)
        for captures in combinations(trolls, number)
    )


def _validated_captures(position: Position, attempt: Attempt) -> tuple[Square, ...]:
    """Return an attempt's captures in board order; refuse trolls that aren't trapped."""
    if attempt.captures is EVERY:
        trapped = squares_in(_trapped(position, attempt.target.bit))
        if not trapped:
            raise checks.nothing_to_capture(attempt, Reason.NO_TROLL_TRAPPED)
        return trapped
    for square in attempt.captures or ():
        checks.require_capturable(position, Piece.TROLL, square)
        checks.require_adjacent(attempt, Piece.DWARF, square)
        _require_trapped(position, attempt, square)
    return tuple(sorted(attempt.captures or ()))


def _require_trapped(position: Position, attempt: Attempt, troll: Square) -> None:
    behind = beyond(attempt.target, troll)
    if behind is None:
        raise IllegalMoveError(
            Reason.NOT_TRAPPED_AT_EDGE, (troll,), square=troll, target=attempt.target
        )
    if position.piece_at(behind) is not Piece.DWARF:
        raise IllegalMoveError(Reason.NOT_TRAPPED, (troll, behind), square=troll, behind=behind)


STRIDE_REACH = 3
"""The most squares that a troll moves without trampling."""

_STRIDES = SlideGenerator(Piece.TROLL, STRIDE_REACH)


@immutable
@dataclass(frozen=True, slots=True)
class TramplingTrolls:
    """Trolls that stride up to three empty squares, or trample one dwarf after another.

    A trampled dwarf leaves the board at once, so it can't be trampled twice. The troll's origin is
    empty during its move, so a trample may pass that square and even end there. See
    `thudmud.rules.tramples`. Source: the published Koom Valley rules.
    """

    pieces = frozenset({Piece.TROLL})
    verbs = frozenset({Verb.MOVE})
    captures = Capturing.TRAMPLE

    def moves(
        self, position: Position, origins: int, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome from ``origins``, or of tramples only the shortest."""
        moves = _STRIDES.moves(position, origins)
        for bit in each_bit(position.trolls & origins & neighbours_of(position.dwarfs)):
            origin, ground = square_at(bit), (bit, position.dwarfs, position.empty | bit)
            if most_tramples is None:
                paths = all_paths(*ground)
            else:
                paths = islice(shortest_paths(*ground), most_tramples)
            moves += [_trample(origin, square_at(target), path) for target, path in paths]
        return moves

    def count(self, position: Position) -> int:
        """Return the number of distinct outcomes of a ply."""
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        number = _count_strides(trolls, empty)
        for bit in each_bit(trolls & neighbours_of(dwarfs)):
            number += count_paths(bit, dwarfs, empty | bit)
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a troll can step to an empty square or trample a dwarf."""
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        if neighbours_of(trolls) & empty:
            return True
        return any(
            over & dwarfs and landing & empty
            for bit in each_bit(trolls)
            for over, landing, _ in trample_steps(bit)
        )

    def validate(self, position: Position, attempt: Attempt) -> Move:
        """Return the stride or trample that an attempt asks for, or raise IllegalMoveError."""
        if attempt.captures is EVERY:
            path = _fullest_path(position, attempt)
        elif attempt.captures:
            path = _named_path(position, attempt, attempt.captures)
        else:
            _require_stride(position, attempt)
            return quiet_move(Piece.TROLL, attempt.origin, attempt.target)
        return _trample(attempt.origin, attempt.target, path)


def _trample(origin: Square, target: Square, path: Path) -> Move:
    return unchecked_move(Piece.TROLL, origin, target, path, trample=True)


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
    """Refuse an illegal stride; the refusal has the path of a trample if one reaches the target."""
    try:
        direction = checks.require_straight(attempt)
        checks.require_near(attempt, Piece.TROLL, STRIDE_REACH)
        checks.require_clear_way(position, attempt, direction)
        checks.require_empty_target(position, attempt)
    except IllegalMoveError:
        path = _shortest(position, attempt, position.dwarfs)
        if path is None:
            raise
        raise IllegalMoveError(
            Reason.MUST_TRAMPLE,
            path,
            origin=attempt.origin,
            target=attempt.target,
            path=path,
        ) from None


def _shortest(position: Position, attempt: Attempt, prey: int) -> Path | None:
    """Return the shortest path over ``prey`` to an attempt's target; None if there is none."""
    origin = attempt.origin.bit
    return shortest_path(origin, attempt.target.bit, prey, position.empty | origin)


def _fullest(position: Position, attempt: Attempt, prey: int) -> tuple[Path, ...]:
    """Return the path over ``prey`` that captures most, two if several do, or none.

    Raises:
        IllegalMoveError: there are too many paths to compare, so that the player has to name one.
    """
    shortest = _shortest(position, attempt, prey)  # cheap, and an example for the refusal
    if shortest is None:
        return ()
    origin, target = attempt.origin, attempt.target
    try:
        return fullest_paths(origin.bit, target.bit, prey, position.empty | origin.bit)
    except TooManyPathsError:
        raise IllegalMoveError(
            Reason.TRAMPLES_TOO_MANY, (target,), target=target, path=shortest
        ) from None


def _fullest_path(position: Position, attempt: Attempt) -> Path:
    """Return the path that captures most; refuse if several do, or if there is none."""
    paths = _fullest(position, attempt, position.dwarfs)
    if not paths:
        _require_stride(position, attempt)
        raise checks.nothing_to_capture(attempt, Reason.NO_TRAMPLE)
    return _only(paths)


def _named_path(position: Position, attempt: Attempt, named: Path) -> Path:
    """Return the named path, in the given order or in the only possible one."""
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
        raise IllegalMoveError(Reason.TRAMPLE_AMBIGUOUS, squares, one=one, other=other)
    return paths[0]


def _broken(position: Position, attempt: Attempt, named: Path) -> IllegalMoveError | None:
    """Return the refusal of a trample in the named order; None if it is possible.

    Raises:
        IllegalMoveError: a named square has no dwarf, so that no other order would do either.
    """
    for dwarf in named:
        checks.require_capturable(position, Piece.DWARF, dwarf)
    at, empty = attempt.origin, position.empty | attempt.origin.bit
    for dwarf in named:
        if not NEXT_TO[at.bit] & dwarf.bit:
            return IllegalMoveError(Reason.TRAMPLE_NOT_NEXT, (dwarf, at), square=dwarf, at=at)
        landing = beyond(at, dwarf)
        if landing is None:
            return IllegalMoveError(Reason.TRAMPLE_AT_EDGE, (dwarf,), square=dwarf, at=at)
        if not landing.bit & empty:
            return IllegalMoveError(
                Reason.TRAMPLE_NO_LANDING, (landing,), square=dwarf, at=at, landing=landing
            )
        at = landing
    if at is attempt.target:
        return None
    return IllegalMoveError(
        Reason.TRAMPLE_ENDS_ELSEWHERE, (at, attempt.target), end=at, target=attempt.target
    )
