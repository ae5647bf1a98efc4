"""Reasons for and against a suggested ply, as data.

The reasons follow from the rules alone: from the captures of the ply, and from the possible
captures before and after it. `thudmud.views.reasons` has the words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from thudmud.game.evaluation import Variation
from thudmud.rules import Ending, Game, Move, Position, Ruleset, Side
from thudmud.rules.board import NEXT_TO
from thudmud.rules.rulesets import Goal
from thudmud.values import Value

MOST_TRAMPLES = 64
"""The maximum number of tramples considered for each troll, the shortest first."""


class Merit(Enum):
    """A kind of reason for or against a ply; the values are stable for client programs."""

    WINS = "wins"
    """It wins the battle."""
    STOPS = "stops"
    """It stops the other side from winning next."""
    CAPTURES = "captures"
    """It captures pieces."""
    SAVES = "saves"
    """It saves a number of pieces from capture by the next ply."""
    WINS_NEXT = "wins_next"
    """It threatens to win by the next ply."""
    THREATENS = "threatens"
    """It threatens to capture a number of pieces, more than before."""
    NEARS = "nears"
    """It makes progress towards a goal of its side."""
    BLOCKS = "blocks"
    """It limits the other side's possible progress towards a goal."""
    GATHERS = "gathers"
    """The piece gains neighbours of its kind; the number is that of all neighbours."""
    SAFE = "safe"
    """The other side has no capture next."""
    LOSES = "loses"
    """The other side can capture a number of pieces next."""
    REGAINS = "regains"
    """The loss is probably followed by a recapture of a number of pieces."""


class Because(Value):
    """A reason for or against a ply.

    Attributes:
        merit: the kind of reason.
        number: the number of pieces concerned; 0 for none.
        goal: the ending of the goal concerned, if any.
        capture: the capture that is stopped, threatened, allowed or regained, if any.
    """

    merit: Merit
    number: int = 0
    goal: Ending | None = None
    capture: Move | None = None


class Advice(Value):
    """A suggested ply with its reasons.

    Attributes:
        side: the player's side.
        move: the ply.
        reasons: the reasons for the ply, then those against it, the weightiest first.
        reply: the other side's expected reply; None if unknown.
    """

    side: Side
    move: Move
    reasons: tuple[Because, ...]
    reply: Move | None = None


def build_advice(game: Game, line: Variation) -> Advice:
    """Build the advice to play the first ply of an adviser's line, with its reasons."""
    reply = line[1] if len(line) > 1 else None
    return Advice(game.turn, line[0], tuple(_reasons(game, line)), reply)


def _reasons(game: Game, line: Variation) -> Iterator[Because]:
    """Yield the reasons for and against a ply, in the order of `Merit`."""
    move, side, rules = line[0], game.turn, game.ruleset
    after = game.play(move)
    if after.outcome:
        if after.outcome.winner is side:
            yield Because(Merit.WINS)
        return
    # A null-move comparison. For the other side: its options if this side passed, against its
    # options after the ply. For this side: its options now, against those after the ply and a pass.
    before, then = game.position.passed(), after.position
    could, can = _Prospect(rules, before), _Prospect(rules, then)
    next_could, next_can = _Prospect(rules, game.position), _Prospect(rules, then.passed())
    if could.can_win and not can.can_win:
        yield Because(Merit.STOPS)
    if move.captures:
        yield Because(Merit.CAPTURES, len(move.captures))
    if could.captures > can.captures:
        yield Because(Merit.SAVES, could.captures - can.captures, capture=could.best_capture)
    if next_can.can_win:
        yield Because(Merit.WINS_NEXT)
    elif next_can.captures > next_could.captures:
        yield Because(Merit.THREATENS, next_can.captures, capture=next_can.best_capture)
    for goal in rules.goals:
        if goal.side is side and goal.progress(then) > goal.progress(game.position):
            yield Because(Merit.NEARS, goal=goal.ending)
        if goal.side is not side and could.best_progress(goal) > can.best_progress(goal):
            yield Because(Merit.BLOCKS, goal=goal.ending)
    beside = _beside(then, move, move.target.bit)
    if beside > _beside(game.position, move, move.origin.bit):
        yield Because(Merit.GATHERS, beside)
    if not can.captures:
        yield Because(Merit.SAFE)
        return
    _, *rest = line
    capture = can.best_capture
    if rest and len(rest[0].captures) == can.captures:
        capture = rest[0]  # of captures of the same number, the one that is expected
    yield Because(Merit.LOSES, can.captures, capture=capture)
    if len(rest) > 1 and rest[0].captures and rest[1].captures:
        yield Because(Merit.REGAINS, len(rest[1].captures), capture=rest[1])


def _beside(position: Position, move: Move, square: int) -> int:
    """Count the pieces of the same kind next to a square; 0 for the Rock."""
    if move.piece.side is None:
        return 0
    return (NEXT_TO[square] & position.bits(move.piece)).bit_count()


class _Prospect:
    """The best results that the side to move can reach in one ply."""

    def __init__(self, rules: Ruleset, position: Position) -> None:
        self._rules, self._position = rules, position
        self._moves = rules.legal_moves(position, MOST_TRAMPLES)
        best = max(self._moves, key=lambda move: len(move.captures), default=None)
        self.captures = len(best.captures) if best else 0
        """The largest number of pieces that a single ply captures."""
        self.best_capture = best if self.captures else None
        """A ply that captures as many; None if none captures."""

    @cached_property
    def can_win(self) -> bool:
        """Whether a ply reaches a goal of that side."""
        goals = [goal for goal in self._rules.goals if goal.side is self._position.turn]
        return any(goal.is_reached(each) for goal in goals for each in self._then)

    def best_progress(self, goal: Goal) -> float:
        """Return the best progress towards a goal after one ply, in the goal's own measure."""
        return max(map(goal.progress, self._then), default=-math.inf)

    @cached_property
    def _then(self) -> list[Position]:
        return [self._position.after(move) for move in self._moves]
