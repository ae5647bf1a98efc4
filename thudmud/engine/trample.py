"""The trolls of Koom Valley: they stride up to three squares, or trample dwarfs.

Owns how they move and what they capture. Must never look at the dwarf side's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from thudmud.engine import checks
from thudmud.engine.attempt import EVERY, Attempt, Verb
from thudmud.engine.lines import NEXT_TO, SHIFTS, around, beyond
from thudmud.engine.listing import Listing
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.squares import Square, bits_of, each_bit, square_at, squares_in

Path = tuple[Square, ...]
"""The dwarfs of a trample in the order trampled; with the origin it settles where a troll goes."""

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

    def moves(self, position: Position, origins: int) -> list[Move]:
        """Return every distinct outcome from ``origins``."""
        trolls = position.trolls & origins
        moves = _STRIDES.moves(position, origins)
        for bit in each_bit(trolls & around(position.dwarfs)):
            origin = square_at(bit)
            for target, path in _tramples(bit, position.dwarfs, position.empty | bit):
                moves.append(_trample(origin, square_at(target), path))
        return moves

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes there are."""
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        number = _count_strides(trolls, empty)
        for bit in each_bit(trolls & around(dwarfs)):
            number += _count_tramples(bit, dwarfs, empty | bit)
        return number

    def can_move(self, position: Position) -> bool:
        """Return whether a troll can step aside or trample a dwarf."""
        dwarfs, trolls, empty = position.dwarfs, position.trolls, position.empty
        if around(trolls) & empty:
            return True
        return any(
            over & dwarfs and landing & empty
            for bit in each_bit(trolls)
            for over, landing, _ in _leaps(bit)
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


@cache
def _leaps(bit: int) -> tuple[tuple[int, int, Square], ...]:
    """Return what can be trampled from a square: its bit, the landing's bit, and its square."""
    origin = square_at(bit)
    overs = [(over, beyond(origin, over)) for over in squares_in(NEXT_TO[bit])]
    return tuple((over.bit, landing.bit, over) for over, landing in overs if landing is not None)


def _tramples(at: int, prey: int, empty: int, path: Path = ()) -> Iterator[tuple[int, Path]]:
    """Yield every trample as the bit of its end and its path.

    Args:
        at: the bit of the square that the troll has come to.
        prey: bitboard of the dwarfs that it may still trample.
        empty: bitboard of the squares that it may land on. What it tramples need not be added: it
            lands an even number of columns and rows from where it began, and tramples between.
        path: the dwarfs that it has trampled.
    """
    for over, landing, dwarf in _leaps(at):
        if over & prey and landing & empty:
            longer = (*path, dwarf)
            yield landing, longer
            yield from _tramples(landing, prey ^ over, empty, longer)


def _count_tramples(at: int, prey: int, empty: int) -> int:
    number = 0
    for over, landing, _ in _leaps(at):
        if over & prey and landing & empty:
            number += 1 + _count_tramples(landing, prey ^ over, empty)
    return number


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
        path = min(_paths(position, attempt, position.dwarfs), key=len, default=None)
        if path is None:
            raise
        raise IllegalMove(
            Reason.MUST_TRAMPLE,
            path,
            origin=attempt.origin,
            target=attempt.target,
            path=path,
        ) from None


def _paths(position: Position, attempt: Attempt, prey: int) -> Iterator[Path]:
    """Yield the paths over ``prey`` that lead from an attempt's origin to its target."""
    origin, target = attempt.origin.bit, attempt.target.bit
    for end, path in _tramples(origin, prey, position.empty | origin):
        if end == target:
            yield path


def _fullest_path(position: Position, attempt: Attempt) -> Path:
    """Return the one path that tramples most; refuse to choose between several."""
    paths = list(_paths(position, attempt, position.dwarfs))
    if not paths:
        _require_stride(position, attempt)
        raise checks.nothing_to_capture(attempt, "no trample leads there")
    most = max(map(len, paths))
    return _only([path for path in paths if len(path) == most])


def _named_path(position: Position, attempt: Attempt, named: Path) -> Path:
    """Return the path that was named, in the order named or in the only one that is possible."""
    prey = bits_of(named) & position.dwarfs
    paths = [path for path in _paths(position, attempt, prey) if len(path) == len(named)]
    if named in paths:
        return named
    if not paths:
        raise _broken(position, attempt, named)
    return _only(paths)


def _only(paths: list[Path]) -> Path:
    if len(paths) > 1:
        one, other, *_ = paths
        squares = tuple(sorted(set(one + other)))
        raise IllegalMove(Reason.TRAMPLE_AMBIGUOUS, squares, one=one, other=other)
    return paths[0]


def _broken(position: Position, attempt: Attempt, named: Path) -> IllegalMove:
    """Return why a trample in the order named comes to a halt, or to another square."""
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
    return IllegalMove(
        Reason.TRAMPLE_ENDS_ELSEWHERE, (at, attempt.target), end=at, target=attempt.target
    )
