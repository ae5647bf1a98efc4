"""Rays: ready-made moves over empty squares, waiting to be listed.

Owns one table per kind of piece: for every square and direction the moves along that ray, cut
short before each square that could block it. Listing the moves of a piece is then a look-up per
ray, and no move is ever made twice. Must never know why a piece may go that far.
"""

from __future__ import annotations

from typing import NamedTuple

from thudmud.engine.lines import DIRECTIONS, Direction, walk
from thudmud.engine.move import Move
from thudmud.engine.pieces import Piece
from thudmud.engine.squares import Square, square_at


class Ray(NamedTuple):
    """The moves from one square in one direction.

    Attributes:
        squares: bitboard of the squares along the ray.
        before: the moves to the squares before the first blocker. Its key is, for directions in
            which bits grow, the bit of that blocker; for the others the ``bit_length`` of the
            blockers. Either is 0 if nothing blocks the ray.
    """

    squares: int
    before: dict[int, list[Move]]


class Rays(dict[int, tuple[tuple[Ray, ...], tuple[Ray, ...]]]):
    """The rays of a kind of piece by the bit of the square it stands on, made when first asked for.

    Each value is a pair: the rays on which bits grow, nearest blocker lowest, and the others.
    """

    def __init__(self, piece: Piece, reach: int) -> None:
        super().__init__()
        self._piece = piece
        self._reach = reach

    def __missing__(self, bit: int) -> tuple[tuple[Ray, ...], tuple[Ray, ...]]:
        """Make the rays of a square; making all at import would slow every start."""
        origin = square_at(bit)
        growing = tuple(self._ray(origin, each) for each in DIRECTIONS if each.shift > 0)
        falling = tuple(self._ray(origin, each) for each in DIRECTIONS if each.shift < 0)
        rays = tuple(filter(_any, growing)), tuple(filter(_any, falling))
        self[bit] = rays
        return rays

    def _ray(self, origin: Square, direction: Direction) -> Ray:
        squares = 0
        moves: list[Move] = []
        before: dict[int, list[Move]] = {}
        for square in list(walk(origin, direction))[: self._reach]:
            key = square.bit if direction.shift > 0 else square.bit.bit_length()
            before[key] = moves[:]
            moves.append(Move(self._piece, origin, square))
            squares |= square.bit
        before[0] = moves
        return Ray(squares, before)

    def list_from(self, origins: int, occupied: int) -> list[Move]:
        """Return the moves of the pieces on ``origins``, up to what stands in their way."""
        moves: list[Move] = []
        while origins:
            bit = origins & -origins
            origins ^= bit
            growing, falling = self[bit]
            for squares, before in growing:
                near = occupied & squares
                moves += before[near & -near]
            for squares, before in falling:
                moves += before[(occupied & squares).bit_length()]
        return moves


def _any(ray: Ray) -> bool:
    return ray.squares != 0
