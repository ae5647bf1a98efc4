"""Fighters: what a ruleset needs of each side.

Owns the interface between a ruleset and the two sides' ways of moving. Must never hold a rule.
"""

from __future__ import annotations

from typing import Protocol

from thudmud.engine.attempt import Attempt, Verb
from thudmud.engine.move import Move
from thudmud.engine.position import Position


class Fighters(Protocol):
    """How one side moves and captures: a frozen value, made once per ruleset."""

    @property
    def verbs(self) -> frozenset[Verb]:
        """The verbs by which this side is asked to go."""

    def moves(
        self, position: Position, origins: int, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply of this side from a square in ``origins``.

        If ``most_tramples`` is given, of each piece's tramples only so many, the shortest first;
        sides that do not trample pay no heed to it.
        """

    def count(self, position: Position) -> int:
        """Return how many distinct outcomes a ply of this side has, without listing them."""

    def can_move(self, position: Position) -> bool:
        """Return whether a ply of this side has any outcome."""

    def grant(self, position: Position, attempt: Attempt) -> Move:
        """Return the move that an attempt asks for.

        Args:
            position: this side is to move.
            attempt: its squares are on the board, a piece that this side moves stands on its
                origin, its verb is one of ``verbs``, and no capture is named twice.

        Raises:
            IllegalMove: with the exact reason, if the rules refuse it.
        """
