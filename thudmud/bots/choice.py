"""A modest player, who looks at each ply and at what the best answer to it takes.

Pure: the clock and the random numbers come in as arguments.
"""

from __future__ import annotations

from collections.abc import Callable

from thudmud.rules import Move, Piece, Position, Ruleset, Side
from thudmud.rules.board import around

MOST_TRAMPLES = 64
"""How many tramples of each troll are looked at, the shortest first. There may be hundreds of
thousands."""

_MOST_ANSWERED = 16
"""How many of them are looked at among the answers to a ply."""

_DWARF = 100
_WON = 1_000_000
_TOGETHER = 4  # for each dwarf with another one beside it
_CLOSE = 3  # for each troll with a dwarf no further than two squares away


def choose(
    ruleset: Ruleset,
    position: Position,
    shuffle: Callable[[list[Move]], None],
    is_late: Callable[[], bool],
) -> Move:
    """Return the ply that seems best.

    Args:
        ruleset: the rules.
        position: where the side to move has a ply.
        shuffle: puts the plies in another order, so that of equal ones any may be chosen.
        is_late: whether it is time to answer; asked after each ply that was looked at.

    Raises:
        ValueError: there is no ply to choose.
    """
    moves = ruleset.legal_moves(position, MOST_TRAMPLES)
    if not moves:
        raise ValueError("there is no ply to choose")
    shuffle(moves)
    evaluation = _Evaluation(ruleset)
    side = position.turn
    seen = {move: evaluation.of(ruleset.after(position, move), side) for move in moves}
    moves.sort(key=seen.__getitem__, reverse=True)  # what looks best is looked at first
    best, most = moves[0], -3 * _WON
    for move in moves:
        if seen[move] <= most:
            break  # an answer only ever makes it worse
        value = seen[move] - evaluation.lost(ruleset.after(position, move))
        if value > most:
            best, most = move, value
        if is_late():
            break
    return best


class _Evaluation:
    """What positions are worth by one ruleset.

    A troll counts as many dwarfs as there are for each troll in the opening.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        opening = ruleset.opening
        self._troll = _DWARF * opening.count(Piece.DWARF) // opening.count(Piece.TROLL)

    def of(self, position: Position, side: Side) -> int:
        """Return what a position is worth to a side."""
        dwarfs, trolls = position.dwarfs, position.trolls
        value = _DWARF * dwarfs.bit_count() - self._troll * trolls.bit_count()
        value += _TOGETHER * (dwarfs & around(dwarfs)).bit_count()
        value -= _CLOSE * (trolls & around(around(dwarfs))).bit_count()
        for goal in self._ruleset.goals:
            worth = goal.worth(position)
            value += worth if goal.side is Side.DWARF else -worth
        if reached := self._ruleset.reached(position):
            value += _WON if reached.side is Side.DWARF else -_WON
        return value if side is Side.DWARF else -value

    def lost(self, position: Position) -> int:
        """Return how much the best answer in a position takes at once."""
        prey = self._troll if position.turn is Side.DWARF else _DWARF
        most = 0
        for answer in self._ruleset.legal_moves(position, _MOST_ANSWERED):
            most = max(most, prey * len(answer.captures))
            if self._ruleset.goals:
                reached = self._ruleset.reached(self._ruleset.after(position, answer))
                if reached and reached.side is position.turn:
                    return _WON
        return most
