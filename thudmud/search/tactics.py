"""The choice of tactics for a ruleset, and generic tactics for any other rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from thudmud.rules import Move, Piece, Position, Ruleset, Side
from thudmud.rules.board import BOARD
from thudmud.rules.classic import ANY, HurlingDwarfs, ShovingTrolls
from thudmud.rules.koom_valley import RockCaptured, RockEscapes, TramplingTrolls, TrappingDwarfs
from thudmud.search.koom import KoomTactics, KoomWeights
from thudmud.search.masks import Capture, Ply, Step, Tactics
from thudmud.search.thud import ThudTactics, Weights, takes_all
from thudmud.search.weights import ALL_TAKEN, ONE_TAKEN, ROCK

_MOST_TRAMPLES = 24


def masks(move: Move) -> Ply:
    """Return a move as masks: the bits to flip on the bitboards of dwarfs, trolls and the Rock."""
    if move.piece is Piece.ROCK:
        return 0, 0, move.path_bits
    if move.piece is Piece.DWARF:
        return move.path_bits, move.captured_bits, 0
    return move.captured_bits, move.path_bits, 0


class PlainTactics(Tactics[None]):
    """Generic tactics: the ruleset's own moves, and an evaluation of little but the pieces.

    Slow and weak.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        opening = ruleset.initial_position
        self._stone, self.ground = opening.stone, BOARD ^ opening.stone
        self.has_goals = bool(ruleset.goals)
        self._troll = 100 * opening.count(Piece.DWARF) // max(1, opening.count(Piece.TROLL))

    def use_weights_of(self, side: Side, gather: int, boldness: int) -> None:
        """Do nothing: both sides have the same weights."""

    def field(self, d: int, t: int, empty: int) -> None:
        """Return None: nothing is shared."""

    def winner_sign(self, d: int, t: int, r: int, *, dwarfs_to_move: bool) -> int:
        """Return 1 if the dwarfs have won, -1 if the trolls have, else 0."""
        reached = self._ruleset.goal_reached(self._position(d, t, r, dwarfs_to_move=dwarfs_to_move))
        return 0 if reached is None else 1 if reached.side is Side.DWARF else -1

    def evaluate(
        self, d: int, t: int, r: int, _empty: int, _field: None, *, dwarfs_to_move: bool
    ) -> int:
        """Return the value of the pieces and of each side's progress towards its goals."""
        value = 100 * d.bit_count() - self._troll * t.bit_count()
        if self._ruleset.goals:
            position = self._position(d, t, r, dwarfs_to_move=dwarfs_to_move)
            for goal in self._ruleset.goals:
                progress = goal.progress(position)
                value += progress if goal.side is Side.DWARF else -progress
        return value

    def dwarf_captures(self, d: int, t: int, r: int, _empty: int, _field: None) -> list[Ply]:
        """Return the dwarfs' captures."""
        return [masks(move) for move in self._moves(d, t, r, Side.DWARF) if move.captures]

    def dwarf_moves(
        self, d: int, t: int, r: int, _empty: int, _field: None, most: int
    ) -> list[Ply]:
        """Return about ``most`` of the dwarfs' quiet plies."""
        moves = [move for move in self._moves(d, t, r, Side.DWARF) if not move.captures]
        step = max(1, len(moves) // most)  # a sample from all over the board
        return [masks(move) for move in moves[::step]]

    def troll_captures(
        self,
        d: int,
        t: int,
        r: int,
        _empty: int,
        _field: None,
        *,
        least: int = 0,  # noqa: ARG002
    ) -> list[Capture]:
        """Return the trolls' captures."""
        moves = [move for move in self._moves(d, t, r, Side.TROLL) if move.captures]
        return [(len(move.captures), False, masks(move)) for move in moves]

    def troll_moves(self, d: int, t: int, r: int, _empty: int, _field: None) -> list[Step]:
        """Return the trolls' quiet plies."""
        moves = [move for move in self._moves(d, t, r, Side.TROLL) if not move.captures]
        return [(0, masks(move)) for move in moves]

    def _position(self, d: int, t: int, r: int, *, dwarfs_to_move: bool) -> Position:
        return Position(d, t, self._stone, r, Side.DWARF if dwarfs_to_move else Side.TROLL)

    def _moves(self, d: int, t: int, r: int, side: Side) -> list[Move]:
        position = self._position(d, t, r, dwarfs_to_move=side is Side.DWARF)
        return self._ruleset.legal_moves(position, _MOST_TRAMPLES)


AnyWeights = Weights | KoomWeights


def has_hurls_and_shoves(ruleset: Ruleset) -> bool:
    """Return whether `ThudTactics` supports a ruleset: it resembles classic and discworld.

    A limit between one and all of the dwarfs next to a troll isn't supported.
    """
    trolls = ruleset.trolls
    if not (isinstance(ruleset.dwarfs, HurlingDwarfs) and isinstance(trolls, ShovingTrolls)):
        return False
    is_known = trolls.shortest_shove == 1 or (
        trolls.shortest_shove == 2 and trolls.most_after_move in {1, ANY}
    )
    return is_known and not ruleset.goals


def has_traps_and_tramples(ruleset: Ruleset) -> bool:
    """Return whether `KoomTactics` supports a ruleset: it resembles Koom Valley."""
    return (
        isinstance(ruleset.dwarfs, TrappingDwarfs)
        and isinstance(ruleset.trolls, TramplingTrolls)
        and set(ruleset.goals) == {RockEscapes(), RockCaptured()}
    )


def tuned_weights(ruleset: Ruleset) -> Mapping[Side, AnyWeights]:
    """Return the tuned weights for a supported ruleset."""
    if ruleset.goals:
        return ROCK
    return ALL_TAKEN if takes_all(cast("ShovingTrolls", ruleset.trolls)) else ONE_TAKEN


def tactics_of(ruleset: Ruleset, weights: Mapping[Side, AnyWeights] | None = None) -> Tactics[Any]:
    """Return the tactics for a ruleset.

    Args:
        ruleset: the ruleset.
        weights: the weights for each side; the tuned ones by default.
    """
    if has_hurls_and_shoves(ruleset):
        trolls = cast("ShovingTrolls", ruleset.trolls)
        thud = cast("Mapping[Side, Weights]", weights or tuned_weights(ruleset))
        return ThudTactics(trolls, ruleset.initial_position.stone, thud)
    if has_traps_and_tramples(ruleset):
        return KoomTactics(cast("Mapping[Side, KoomWeights]", weights or tuned_weights(ruleset)))
    return PlainTactics(ruleset)
