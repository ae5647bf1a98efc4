"""The trolls of Koom Valley: they stride up to three squares, or trample dwarfs.

Owns how they move and what they capture. Must never look at the dwarf side's rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt, Verb
from thudmud.engine.lines import NEXT_TO, SHIFTS, around, beyond
from thudmud.engine.listing import Listing
from thudmud.engine.move import Move
from thudmud.engine.paths import (
    Path,
    TooManyPathsError,
    all_paths,
    count_paths,
    fullest_paths,
    leaps,
    shortest_path,
    shortest_paths,
)
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.squares import Square, bits_of, each_bit, square_at

STRIDE_REACH = 3
"""How many squares a troll goes at most when it does not trample."""

_STRIDES = Listing(Piece.TROLL, STRIDE_REACH)


@dataclass(frozen=True, slots=True)
class TramplingTrolls:
    """Stride one to three squares over empty squares, or trample one dwarf after another.

    A trampled dwarf leaves the board at once, so it is not trampled twice. The troll's own square
    is empty while it is on its way, so a trample may pass it and even end there. Source: the
    published Koom Valley rules.
    """

    @property
    def verbs(self) -> frozenset[Verb]:
        """Trolls are moved, over dwarfs or not, and nothing else."""
        return frozenset({Verb.MOVE})

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
        """Return whether a troll can step aside or trample a dwarf."""
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
            return Move(Piece.TROLL, attempt.origin, attempt.target)
        return _trample(attempt.origin, attempt.target, path)


def _trample(origin: Square, target: Square, path: Path) -> Move:
    return Move(Piece.TROLL, origin, target, path, trample=True)


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
    """Refuse what is no stride, with the words for a trample if one leads there."""
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

    None at all if no trample leads there. Where there are too many to compare, the player has to
    name the path.
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
    """Return the one path that tramples most; refuse to choose between several."""
    paths = _fullest(position, attempt, position.dwarfs)
    if not paths:
        _require_stride(position, attempt)
        raise checks.nothing_to_capture(attempt, "no trample leads there")
    return _only(paths)


def _named_path(position: Position, attempt: Attempt, named: Path) -> Path:
    """Return the path that was named, in the order named or in the only one that is possible."""
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
    """Return why a trample in the order named comes to a halt, or to another square, if it does.

    What was named and is no dwarf is refused at once: no order will do.
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
