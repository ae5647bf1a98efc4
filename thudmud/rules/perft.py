"""Perft: how many sequences of so many plies follow a position, by which rules are proven right."""

from __future__ import annotations

from thudmud.rules.moves import Move
from thudmud.rules.position import Position
from thudmud.rules.rulesets import Ruleset


def perft(ruleset: Ruleset, position: Position, depth: int) -> int:
    """Return how many sequences of ``depth`` distinct outcomes follow a position."""
    if depth == 0:
        return 1
    if depth == 1:
        return ruleset.count_moves(position)
    return sum(
        perft(ruleset, ruleset.after(position, move), depth - 1)
        for move in ruleset.legal_moves(position)
    )


def divide(ruleset: Ruleset, position: Position, depth: int) -> list[tuple[Move, int]]:
    """Return each legal move with the ``perft`` of the rest; ``depth`` is 1 or more."""
    return [
        (move, perft(ruleset, ruleset.after(position, move), depth - 1))
        for move in ruleset.legal_moves(position)
    ]
