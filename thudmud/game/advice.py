"""Reasons for a ply that a player is advised to play, as data.

They are found by the rules alone: what the ply captures, what could be captured after it, and what
could have been captured before. `thudmud.views.reasons` has the words.
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
from thudmud.values import Value, replace

MOST_TRAMPLES = 64
"""How many tramples of each troll are considered, the shortest first."""


class Merit(Enum):
    """A kind of reason for a ply, or against it. The values are stable, for programs."""

    WINS = "wins"
    """It wins the battle."""
    STOPS = "stops"
    """It stops the other side from winning next."""
    CAPTURES = "captures"
    """It captures some pieces."""
    SAVES = "saves"
    """It saves so many pieces from capture by the next ply."""
    WINS_NEXT = "wins_next"
    """It threatens to win by the next ply."""
    THREATENS = "threatens"
    """It threatens to capture so many pieces, which was not threatened before."""
    NEARS = "nears"
    """It comes nearer to a goal of its side."""
    BLOCKS = "blocks"
    """It keeps the other side from coming as near to a goal as it could have."""
    GATHERS = "gathers"
    """The piece gets more neighbours of its side, so many."""
    SAFE = "safe"
    """The other side can capture nothing next."""
    LOSES = "loses"
    """The other side can capture so many pieces next."""
    REGAINS = "regains"
    """After that, so many of its pieces can probably be captured in return."""


class Because(Value):
    """A reason for a ply, or against it.

    Attributes:
        merit: what it is.
        number: how many pieces it is about; 0 for none.
        goal: the ending of the goal it is about, if any.
    """

    merit: Merit
    number: int = 0
    goal: Ending | None = None


class Advice(Value):
    """A ply that a player is advised to play.

    Attributes:
        side: the player's side.
        move: the ply.
        reasons: the reasons for it and then those against it, the weightiest first.
    """

    side: Side
    move: Move
    reasons: tuple[Because, ...]


def advice(game: Game, line: Variation) -> Advice:
    """Return the advice, with its reasons, in a battle for which an adviser expects a line."""
    return Advice(game.turn, line[0], tuple(_reasons(game, line)))


def _reasons(game: Game, line: Variation) -> Iterator[Because]:
    """Yield the reasons for and against a ply, in the order of `Merit`."""
    move, side, rules = line[0], game.turn, game.ruleset
    after = game.play(move)
    if after.outcome:
        if after.outcome.winner is side:
            yield Because(Merit.WINS)
        return
    # Compare what the other side could do now if it were its turn with what it can do after the
    # ply; and what this side could do now with what it could do next if the other side passed.
    before, then = _passed(game.position), after.position
    could, can = _Prospect(rules, before), _Prospect(rules, then)
    next_could, next_can = _Prospect(rules, game.position), _Prospect(rules, _passed(then))
    if could.wins and not can.wins:
        yield Because(Merit.STOPS)
    if move.captures:
        yield Because(Merit.CAPTURES, len(move.captures))
    if could.captures > can.captures:
        yield Because(Merit.SAVES, could.captures - can.captures)
    if next_can.wins:
        yield Because(Merit.WINS_NEXT)
    elif next_can.captures > next_could.captures:
        yield Because(Merit.THREATENS, next_can.captures)
    for goal in rules.goals:
        if goal.side is side and goal.worth(then) > goal.worth(game.position):
            yield Because(Merit.NEARS, goal=goal.ending)
        if goal.side is not side and could.nearest(goal) > can.nearest(goal):
            yield Because(Merit.BLOCKS, goal=goal.ending)
    beside = _beside(then, move, move.target.bit)
    if beside > _beside(game.position, move, move.origin.bit):
        yield Because(Merit.GATHERS, beside)
    if not can.captures:
        yield Because(Merit.SAFE)
        return
    yield Because(Merit.LOSES, can.captures)
    _, *rest = line
    if len(rest) > 1 and rest[0].captures and rest[1].captures:
        yield Because(Merit.REGAINS, len(rest[1].captures))


def _passed(position: Position) -> Position:
    """Return a position with the turn passed on."""
    return replace(position, turn=position.turn.other)


def _beside(position: Position, move: Move, square: int) -> int:
    """Return how many pieces of the same kind stand next to a square; none for the Rock."""
    if move.piece.side is None:
        return 0
    return (NEXT_TO[square] & position.bits(move.piece)).bit_count()


class _Prospect:
    """What the side to move can reach by one ply."""

    def __init__(self, rules: Ruleset, position: Position) -> None:
        self._rules, self._position = rules, position
        self._moves = rules.legal_moves(position, MOST_TRAMPLES)
        self.captures = max((len(move.captures) for move in self._moves), default=0)
        """The most pieces that a ply captures."""

    @cached_property
    def wins(self) -> bool:
        """Whether a ply reaches a goal of that side."""
        goals = [goal for goal in self._rules.goals if goal.side is self._position.turn]
        return any(goal.is_reached(each) for goal in goals for each in self._then)

    def nearest(self, goal: Goal) -> float:
        """Return how near it can come to one of its goals, as the goal measures it."""
        return max(map(goal.worth, self._then), default=-math.inf)

    @cached_property
    def _then(self) -> list[Position]:
        return [self._position.after(move) for move in self._moves]
