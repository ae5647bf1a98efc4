"""Positions: the pieces on the board and the side to move. Bitboards inside, squares outside.

No rules are applied here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable
from thudmud.rules.board import BOARD, RECORD_LETTERS, SQUARES, WIDTH, Square, squares_in
from thudmud.rules.moves import Move, Piece, Side

PICTURES: dict[type[Any], Callable[[Any], str]] = {}
"""SVG renderers for notebooks, by class; `thudmud.pictures` registers them."""


@immutable
@dataclass(frozen=True, slots=True)
class Position:
    """The pieces on the board and the side to move. The first four attributes are bitboards.

    ``print(position)`` draws the board in the form that `from_diagram` parses. Its column letters
    are those of game records, so that squares named after the drawing can be given to `Game.push`.

    ``hash(position)`` is the same in every process of one Python version. For files that others
    read, `thudmud.rules.write_position` makes a key that never changes.

    Raises:
        InvalidValueError: two pieces share a square, a piece is off the board, or there is more
            than one Thudstone or more than one Rock.
    """

    dwarfs: int
    trolls: int
    stone: int
    rock: int
    turn: Side

    def __post_init__(self) -> None:
        dwarfs, trolls, stone, rock = self.dwarfs, self.trolls, self.stone, self.rock
        occupied = dwarfs | trolls | stone | rock
        if occupied & ~BOARD:
            raise InvalidValueError("a piece is off the board")
        if occupied.bit_count() != sum(map(int.bit_count, (dwarfs, trolls, stone, rock))):
            raise InvalidValueError("two pieces are on the same square")
        if stone & (stone - 1) or rock & (rock - 1):  # clears the lowest bit: is there a second?
            raise InvalidValueError(
                "expected at most one Thudstone and one Rock,"
                f" got {stone.bit_count()} and {rock.bit_count()}"
            )
        if not isinstance(self.turn, Side):
            raise InvalidValueError(f"expected a Side to move, got {self.turn!r}")

    def __hash__(self) -> int:
        # Unlike the dataclass's own, without the hash of `turn`, which is its address.
        is_troll = self.turn is Side.TROLL
        return hash((self.dwarfs, self.trolls, self.stone, self.rock, is_troll))

    @staticmethod
    def of(pieces: Mapping[Square, Piece], turn: Side) -> Position:
        """Return the position with the given pieces; raise InvalidValueError if impossible."""
        bits = dict.fromkeys(Piece, 0)
        for square, piece in pieces.items():
            if not square.is_on_board:
                raise InvalidValueError(f"{square} is off the board")
            bits[piece] |= square.bit
        return Position(
            bits[Piece.DWARF], bits[Piece.TROLL], bits[Piece.STONE], bits[Piece.ROCK], turn
        )

    @staticmethod
    def from_diagram(diagram: str, turn: Side) -> Position:
        """Parse a diagram into a position.

        Args:
            diagram: a line of letters, then fifteen numbered rows, as in ``str(position)``.
            turn: the side to move.

        Raises:
            InvalidValueError: the diagram is invalid.
        """
        rows = diagram.strip("\n").splitlines()[1:]
        pieces: dict[Square, Piece] = {}
        if len(rows) < WIDTH:
            raise InvalidValueError(f"expected {WIDTH} rows below the letters, got {len(rows)}")
        for square in SQUARES:
            place = _MARGIN + _CELL * square.column
            mark = rows[square.row][place : place + 1]
            if mark != _EMPTY:
                try:
                    pieces[square] = Piece(mark)
                except ValueError:
                    raise InvalidValueError(f"unknown piece {mark!r} on {square}") from None
        return Position.of(pieces, turn)

    @property
    def occupied(self) -> int:
        """The bitboard of all pieces."""
        return self.dwarfs | self.trolls | self.stone | self.rock

    @property
    def empty(self) -> int:
        """The bitboard of the empty squares."""
        return BOARD ^ (self.dwarfs | self.trolls | self.stone | self.rock)

    def bits(self, piece: Piece) -> int:
        """Return the bitboard of one kind of piece."""
        if piece is Piece.DWARF:
            return self.dwarfs
        if piece is Piece.TROLL:
            return self.trolls
        return self.stone if piece is Piece.STONE else self.rock

    def piece_at(self, square: Square) -> Piece | None:
        """Return the piece on a square; None if the square is empty."""
        bit = square.bit
        if self.dwarfs & bit:
            return Piece.DWARF
        if self.trolls & bit:
            return Piece.TROLL
        if self.stone & bit:
            return Piece.STONE
        return Piece.ROCK if self.rock & bit else None

    def squares(self, piece: Piece) -> tuple[Square, ...]:
        """Return the squares of one kind of piece, row by row."""
        return squares_in(self.bits(piece))

    def count(self, piece: Piece) -> int:
        """Return the number of pieces of one kind."""
        return self.bits(piece).bit_count()

    def passed(self) -> Position:
        """Return the position after a pass, which no rules allow: the null move of comparisons."""
        return Position(self.dwarfs, self.trolls, self.stone, self.rock, self.turn.other)

    def after(self, move: Move) -> Position:
        """Return the position after a legal move; legality isn't checked.

        Raises:
            InvalidValueError: the argument isn't a `Move`; `Move.parse` makes one of text.
        """
        # Flipping a move's bits moves the piece and removes its captures in one XOR per bitboard.
        # Fighters capture only fighters of the other side, and the Rock captures nothing.
        turn = Side.TROLL if self.turn is Side.DWARF else Side.DWARF
        try:  # costs nothing where nothing is raised
            path, captured = move.path_bits, move.captured_bits
        except AttributeError:
            raise InvalidValueError(
                f"expected a Move, got {move!r:.50}; Move.parse reads text"
            ) from None
        if move.piece is Piece.DWARF:
            return _unchecked_position(
                self.dwarfs ^ path, self.trolls ^ captured, self.stone, self.rock, turn
            )
        if move.piece is Piece.TROLL:
            return _unchecked_position(
                self.dwarfs ^ captured, self.trolls ^ path, self.stone, self.rock, turn
            )
        return _unchecked_position(self.dwarfs, self.trolls, self.stone, self.rock ^ path, turn)

    before = after
    """Return the position before a move that led here: XOR with the same bits undoes the move."""

    def _repr_svg_(self) -> str | None:
        """Return an SVG picture for notebooks; None if `thudmud.pictures` isn't imported."""
        return PICTURES[Position](self) if PICTURES else None

    def __str__(self) -> str:
        lines = [" " * _MARGIN + " ".join(RECORD_LETTERS)]
        marks = {square: piece.value for piece in Piece for square in self.squares(piece)}
        for row in range(WIDTH):
            cells = [
                marks.get(square, _EMPTY) if square.is_on_board else " "
                for square in (Square(column, row) for column in range(WIDTH))
            ]
            lines.append(f"{row + 1:2}  {' '.join(cells)}".rstrip())
        return "\n".join(lines)


_MARGIN = 4
_CELL = 2
_EMPTY = "."

# A search makes positions by the million. A legal move leads from a valid position to a valid one,
# so that checking it again would only cost time. Setting the fields by their slot descriptors takes
# half the time of the dataclass's own constructor.
_new = object.__new__
_set_dwarfs, _set_trolls, _set_stone, _set_rock, _set_turn = (
    vars(Position)[name].__set__ for name in ("dwarfs", "trolls", "stone", "rock", "turn")
)


def _unchecked_position(dwarfs: int, trolls: int, stone: int, rock: int, turn: Side) -> Position:
    """Return a position without validation."""
    position = _new(Position)
    _set_dwarfs(position, dwarfs)
    _set_trolls(position, trolls)
    _set_stone(position, stone)
    _set_rock(position, rock)
    _set_turn(position, turn)
    return position
