"""Games: one battle, from its opening through its moves to its outcome.

Owns the battle as a value. Must never judge a move or an ending itself: its ruleset does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from thudmud.engine.attempt import Attempt
from thudmud.engine.move import Move
from thudmud.engine.outcome import Ending, Outcome, Score
from thudmud.engine.pieces import Side
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.rulesets import Ruleset


@dataclass(frozen=True, slots=True)
class Game:
    """A battle.

    Attributes:
        ruleset: its rules.
        opening: the position it began with.
        position: the position it has come to.
        moves: its plies so far.
        outcome: how it ended; None while it goes on.
        quiet_plies: how many plies ago something was last captured, or all if nothing was.
    """

    ruleset: Ruleset
    opening: Position
    position: Position
    moves: tuple[Move, ...] = ()
    outcome: Outcome | None = None
    quiet_plies: int = 0

    @staticmethod
    def start(ruleset: Ruleset, opening: Position | None = None) -> Game:
        """Return a new battle, from the ruleset's own opening unless told otherwise."""
        position = ruleset.opening if opening is None else opening
        return Game(ruleset, position, position, outcome=ruleset.outcome(position))

    @property
    def score(self) -> Score:
        """What the battle counts: in the end if it has ended, else as it stands."""
        if self.outcome is not None:
            return self.outcome.score
        return self.ruleset.score(self.position)

    def legal_moves(self) -> list[Move]:
        """Return every distinct outcome of the next ply; none if the battle has ended."""
        return [] if self.outcome is not None else self.ruleset.legal_moves(self.position)

    def resolve(self, attempt: Attempt, side: Side) -> Move:
        """Return the move that a side asks for.

        Raises:
            IllegalMove: with the reason and the squares that make it so.
        """
        self._require_running()
        return self.ruleset.resolve(self.position, attempt, side)

    def play(self, move: Move) -> Game:
        """Return the battle after a legal move, with its outcome if that ended it."""
        self._require_running()
        position = self.ruleset.after(self.position, move)
        return Game(
            self.ruleset,
            self.opening,
            position,
            (*self.moves, move),
            self.ruleset.outcome(position),
            0 if move.captures else self.quiet_plies + 1,
        )

    def undo(self) -> Game:
        """Return the battle before its last ply, going on; ValueError if there is no ply."""
        if not self.moves:
            raise ValueError("there is no ply to take back")
        *earlier, last = self.moves
        return Game(
            self.ruleset,
            self.opening,
            self.position.before(last),
            tuple(earlier),
            quiet_plies=_quiet_plies(earlier),
        )

    def agree(self, ending: Ending) -> Game:
        """Return the battle ended as it stands, by one of the endings that players bring about."""
        self._require_running()
        return replace(self, outcome=self.ruleset.by_agreement(self.position, ending))

    def resign(self, side: Side) -> Game:
        """Return the battle given up by a side."""
        self._require_running()
        return replace(self, outcome=self.ruleset.resignation(self.position, side))

    def _require_running(self) -> None:
        if self.outcome is not None:
            raise IllegalMove(Reason.GAME_OVER)


def _quiet_plies(moves: list[Move]) -> int:
    quiet = 0
    for move in reversed(moves):
        if move.captures:
            break
        quiet += 1
    return quiet
