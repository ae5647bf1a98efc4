"""Sides, pieces, attempts and moves.

An `Attempt` is a player's request; a `Move` is one distinct outcome of a ply. Only a ruleset turns
an attempt into a move, or refuses it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable
from thudmud.rules.board import BOARD, Square, bits_of, distance


class Side(Enum):
    """One of the two sides of a battle."""

    DWARF = "dwarf"
    TROLL = "troll"

    __hash__ = object.__hash__  # members are singletons; Enum's hash takes ten times as long

    def __init__(self, value: str) -> None:
        self.plural = f"{value}s"
        """The side's plural noun: ``dwarfs`` or ``trolls``."""

    @property
    def other(self) -> Side:
        """The opposing side."""
        return Side.TROLL if self is Side.DWARF else Side.DWARF

    def __str__(self) -> str:
        return self.value


_NOUNS = {"d": "dwarf", "T": "troll", "X": "Thudstone", "R": "Rock"}


class Piece(Enum):
    """A kind of piece. The value is its letter on boards and in diagrams."""

    DWARF = "d"
    TROLL = "T"
    STONE = "X"
    ROCK = "R"

    __hash__ = object.__hash__

    def __init__(self, letter: str) -> None:
        self.noun = _NOUNS[letter]
        """The noun without an article: ``dwarf``, ``troll``, ``Thudstone``."""
        self.side = {"d": Side.DWARF, "T": Side.TROLL}.get(letter)
        """The side that has such fighters; None for the Thudstone and the Rock."""

    @property
    def phrase(self) -> str:
        """The noun with its article: ``a dwarf``, ``the Rock``."""
        return f"{'a' if self.side else 'the'} {self.noun}"

    @property
    def mark(self) -> str:
        """The letter in game records, which have R for both the Thudstone and the Rock."""
        return "R" if self is Piece.STONE else self.value

    @staticmethod
    def of(side: Side) -> Piece:
        """Return the kind of piece that a side fights with."""
        return Piece.DWARF if side is Side.DWARF else Piece.TROLL

    def __str__(self) -> str:
        return self.noun


class Verb(Enum):
    """The three verbs of plies."""

    MOVE = "move"
    SHOVE = "shove"
    HURL = "hurl"

    __hash__ = object.__hash__

    def __init__(self, word: str) -> None:
        self.word = word
        """The verb as players type it: the enumeration's value, cached because ``value`` takes two
        calls."""

    def __str__(self) -> str:
        return self.word


class Capturing(Enum):
    """The ways in which a side captures."""

    HURL = "hurl"
    """The front dwarf of a line is hurled onto a troll ahead of the line."""
    SHOVE = "shove"
    """The front troll of a line is shoved to a square next to dwarfs."""
    TRAP = "trap"
    """A dwarf moves so that a troll is directly between it and another dwarf."""
    TRAMPLE = "trample"
    """A troll goes straight over a dwarf to the square beyond."""


class Every(Enum):
    """The type of ``EVERY``."""

    EVERY = "all"


EVERY: Final[Literal[Every.EVERY]] = Every.EVERY
"""Stands for all possible captures, in place of a list."""


@immutable
@dataclass(frozen=True, slots=True)
class Attempt:
    """A player's request for a ply, legal or not; a ruleset decides.

    Attributes:
        verb: the verb of the request.
        origin: the square of the piece.
        target: the square to go to.
        captures: the squares to capture on, in the order given; ``()`` for "none", ``EVERY`` for
            "all", None if the player didn't mention captures.
    """

    verb: Verb
    origin: Square
    target: Square
    captures: tuple[Square, ...] | Every | None = None

    def __str__(self) -> str:
        """Return the attempt as typed: ``shove from C5 to C7 capturing D8, E8``."""
        way = f"{self.verb.value} from {self.origin} to {self.target}"
        if self.captures is None:
            return way
        captures = self.captures
        every = "all" if captures is EVERY else ", ".join(map(str, captures))
        return f"{way} capturing {every or 'none'}"


@immutable
@dataclass(frozen=True, slots=True)
class Move:
    """A ply that a ruleset allows: one distinct outcome.

    ``str(move)`` is the ply as written in game records, which skip the letter I: ``TG7-F7xE7``.
    `Move.parse` reads it.

    Attributes:
        piece: the moving piece.
        origin: the square before the move.
        target: the square after the move; the origin itself if a trample comes full circle.
        captures: the captured squares, in board order; in a trample, in the order trampled.
        is_trample: whether the piece goes over its captures (Koom Valley).
        verb: the verb of the request. Excluded from comparison: a shove and a move with the same
            squares and captures are one outcome.
        path_bits: bitboard of origin and target, empty if they are the same square. The move XORs
            the piece's bitboard with these bits.
        captured_bits: bitboard of the captures.

    Raises:
        InvalidValueError: no piece can make such a move under any rules.
    """

    piece: Piece
    origin: Square
    target: Square
    captures: tuple[Square, ...] = ()
    is_trample: bool = False
    verb: Verb = field(default=Verb.MOVE, compare=False)
    path_bits: int = field(init=False, repr=False, compare=False)
    captured_bits: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path_bits", self.origin.bit ^ self.target.bit)
        object.__setattr__(self, "captured_bits", bits_of(self.captures))
        problem = self._problem()
        if problem is not None:
            raise InvalidValueError(f"invalid move {self!r}: {problem}")

    def _problem(self) -> str | None:
        piece, captures = self.piece, self.captures
        if (self.origin.bit | self.target.bit | self.captured_bits) & ~BOARD:
            return "a square is off the board"
        if self.origin is self.target and not self.is_trample:
            return "origin and target are the same"
        if self.is_trample and (piece is not Piece.TROLL or self.verb is not Verb.MOVE):
            return "only a moving troll can trample"
        if self.verb is Verb.HURL and (piece is not Piece.DWARF or captures != (self.target,)):
            return "a hurl needs a dwarf, and captures exactly on its target"
        if self.verb is Verb.SHOVE and piece is not Piece.TROLL:
            return "a shove needs a troll"
        if not captures:
            if self.is_trample or self.verb is Verb.SHOVE:
                return "tramples and shoves have to capture"
            return "the Thudstone can't move" if piece is Piece.STONE else None
        if piece is Piece.STONE or piece is Piece.ROCK:
            return "only dwarfs and trolls capture"
        if len(captures) > 1:
            if self.captured_bits.bit_count() != len(captures):
                return "a square is captured twice"
            if not self.is_trample and list(captures) != sorted(captures):
                return "the captures aren't in board order"
        if self.captured_bits & self.origin.bit:
            return "the origin is captured"
        return None

    @staticmethod
    def parse(text: str, *, tramples: bool = False) -> Move:
        """Parse a ply of a record, such as ``TG7-F7xE7``, without a position.

        No rules are applied: whether the move is legal, only `thudmud.rules.read_ply` and
        `Game.push` know.

        Args:
            text: the ply.
            tramples: whether a troll's captures are trampled in the order given, as in Koom Valley.

        Raises:
            InvalidValueError: the string isn't a ply, or no piece can make such a move.
        """
        mark, origin, target, captures = split_ply(text)
        piece = {"d": Piece.DWARF, "T": Piece.TROLL, "R": Piece.ROCK}[mark]
        is_trample = tramples and piece is Piece.TROLL and bool(captures)
        verb = Verb.MOVE
        if piece is Piece.DWARF and captures == (target,):
            verb = Verb.HURL
        elif piece is Piece.TROLL and captures and not is_trample and distance(origin, target) > 1:
            verb = Verb.SHOVE
        if not is_trample:
            captures = tuple(sorted(captures))
        return Move(piece, origin, target, captures, is_trample, verb)

    def attempt(self) -> Attempt:
        """Return the attempt that asks for exactly this move, with its captures listed."""
        return Attempt(self.verb, self.origin, self.target, self.captures)

    def __str__(self) -> str:
        captures = "".join([f"x{square.record_name}" for square in self.captures])
        return f"{self.piece.mark}{self.origin.record_name}-{self.target.record_name}{captures}"


_PLY = re.compile(r"([dTR]) ?([A-Za-z][0-9]+)-([A-Za-z][0-9]+)((?:x[A-Za-z][0-9]+)*)", re.ASCII)


def split_ply(text: str) -> tuple[str, Square, Square, tuple[Square, ...]]:
    """Split a ply of a record into the piece's letter, the origin, the target and the captures.

    Raises:
        InvalidValueError: the string isn't a ply.
    """
    match = _PLY.fullmatch(text.strip())
    if match is None:
        raise InvalidValueError(f"expected a ply such as dA6-B6 or TG7-F7xE7, got {text.strip()!r}")
    origin, target = Square.from_record(match[2]), Square.from_record(match[3])
    captures = tuple(Square.from_record(name) for name in match[4].split("x")[1:])
    return match[1], origin, target, captures


# Move generation creates moves by the thousand, all of them possible, so that a check would only
# cost time. Setting the fields by their slot descriptors bypasses the frozen dataclass's own
# `__setattr__`, and takes half the time of its constructor.
_new = object.__new__
_setters = tuple(
    vars(Move)[name].__set__
    for name in ("piece", "origin", "target", "captures", "is_trample", "verb")
)
_set_piece, _set_origin, _set_target, _set_captures, _set_trample, _set_verb = _setters
_set_path, _set_captured = (vars(Move)[f"{name}_bits"].__set__ for name in ("path", "captured"))


def unchecked_move(
    piece: Piece,
    origin: Square,
    target: Square,
    captures: tuple[Square, ...] = (),
    verb: Verb = Verb.MOVE,
    *,
    trample: bool = False,
) -> Move:
    """Return a move without validation, for move generation: it makes possible moves only."""
    move = _new(Move)
    _set_piece(move, piece)
    _set_origin(move, origin)
    _set_target(move, target)
    _set_captures(move, captures)
    _set_trample(move, trample)
    _set_verb(move, verb)
    _set_path(move, origin.bit ^ target.bit)
    _set_captured(move, bits_of(captures) if captures else 0)
    return move


_QUIET: dict[tuple[Piece, str, str], Move] = {}
"""By the names of the squares, since strings keep their hashes."""


def quiet_move(piece: Piece, origin: Square, target: Square) -> Move:
    """Return the shared object of a move without captures, of which there are some ten thousand.

    Most plies of a battle are such moves, and each would take 150 bytes of its own.
    """
    key = piece, origin.name, target.name
    move = _QUIET.get(key)
    if move is None:
        move = _QUIET[key] = Move(piece, origin, target)
    return move
