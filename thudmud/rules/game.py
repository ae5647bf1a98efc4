"""Games: a battle from its opening through its plies to its outcome.

A game is a value: every change returns a new one. The ruleset decides which moves are legal and how
an ending is scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable
from thudmud.rules.board import Square
from thudmud.rules.moves import Attempt, Move, Side
from thudmud.rules.notation import read_ply
from thudmud.rules.position import PICTURES, Position
from thudmud.rules.refusals import IllegalMoveError, Reason
from thudmud.rules.rulesets import Ruleset
from thudmud.rules.scoring import Ending, Outcome, Score

MOST_PLIES = 2_000
"""The maximum number of plies; the battle then ends with the current position.

Our ruling: the published rules set no limit, but whoever stores or replays a battle needs one.
Battles played to win have a tenth of that."""

MOST_LISTED = 2_000
"""The maximum length of a list of moves."""

MOST_TRAMPLES = 64
"""The maximum number of tramples of one troll in a list; hundreds of thousands may be legal."""


_BY_PLAYERS = (Ending.AGREEMENT, Ending.QUIET, Ending.DESERTION)


@immutable
@dataclass(frozen=True, slots=True)
class Game:
    """A battle. ``print(game)`` draws its board, below a line with its state.

    ``repr(game)`` is short: the rules, the number of plies, and the side to move.

    Attributes:
        ruleset: the rules.
        initial_position: the initial position.
        position: the current position.
        moves: the plies so far.
        outcome: the outcome; None while the battle goes on.
        quiet_plies: the number of plies since the last capture, or since the opening.

    Raises:
        InvalidValueError: the side to move or the number of quiet plies contradicts the number of
            plies. Whether the plies lead to the position isn't checked: `Game.start` and the other
            methods ensure that.
    """

    ruleset: Ruleset
    initial_position: Position
    position: Position
    moves: tuple[Move, ...] = ()
    outcome: Outcome | None = None
    quiet_plies: int = 0

    def __post_init__(self) -> None:
        plies = len(self.moves)
        if (self.initial_position.turn is self.position.turn) is not (plies % 2 == 0):
            raise InvalidValueError(
                f"wrong side to move after {plies} plies: {self.position.turn.plural}"
            )
        if not 0 <= self.quiet_plies <= plies:
            raise InvalidValueError(f"expected 0 to {plies} quiet plies, got {self.quiet_plies}")

    @staticmethod
    def start(ruleset: Ruleset, initial_position: Position | None = None) -> Game:
        """Return a new battle; it begins with the ruleset's own opening by default.

        Raises:
            InvalidValueError: the first argument is a name instead of a ruleset.
        """
        if not isinstance(ruleset, Ruleset):
            raise InvalidValueError(
                f"expected a ruleset such as RULESETS['classic'], got {ruleset!r:.50}"
            )
        position = ruleset.initial_position if initial_position is None else initial_position
        return Game(ruleset, position, position, outcome=ruleset.outcome(position))

    @property
    def score(self) -> Score:
        """The final score of a battle that has ended, else the current one."""
        if self.outcome is not None:
            return self.outcome.score
        return self.ruleset.score(self.position)

    @property
    def turn(self) -> Side:
        """The side to move; after the end, the side whose turn it would be."""
        return self.position.turn

    def legal_moves(self) -> list[Move]:
        """Return every distinct outcome of the next ply; none if the battle has ended."""
        return [] if self.outcome is not None else self.ruleset.legal_moves(self.position)

    def listed_moves(self) -> tuple[list[Move], bool]:
        """Return a limited list of legal moves, and whether others were left out.

        The list has at most `MOST_LISTED` moves, and at most `MOST_TRAMPLES` tramples of each
        troll, the shortest ones.
        """
        # One more than the limit, to learn whether any is left out.
        moves = [] if self.outcome else self.ruleset.legal_moves(self.position, MOST_TRAMPLES + 1)
        tramples: Counter[Square] = Counter()
        listed: list[Move] = []
        for move in moves:
            tramples[move.origin] += move.is_trample
            if len(listed) < MOST_LISTED and tramples[move.origin] <= MOST_TRAMPLES:
                listed.append(move)
        return listed, len(listed) < len(moves)

    def resolve(self, attempt: Attempt, side: Side) -> Move:
        """Return the move that a side asks for.

        Raises:
            IllegalMoveError: the rules refuse the attempt, or the battle has ended.
        """
        self._require_running()
        return self.ruleset.resolve(self.position, attempt, side)

    def push(self, ply: str | Move) -> Game:
        """Return the battle after a ply, which is checked by the rules. This battle doesn't change.

        Args:
            ply: a move from any source, or a ply in the notation of game records, as ``str(move)``
                writes it: ``dA6-B6``, ``TG7-F7xE7``. Its columns are A to P without the I; a
                command at a board says ``J7`` where ``K7`` is meant here.

        Raises:
            IllegalMoveError: the rules refuse the ply, or the battle has ended.
            InvalidValueError: the string isn't a ply, or its piece isn't on its origin.
        """
        self._require_running()
        if not isinstance(ply, str | Move):
            raise InvalidValueError(f"expected a ply as a str or a Move, got {type(ply).__name__}")
        return self.play(read_ply(str(ply), self.ruleset, self.position))

    def play(self, move: Move | str) -> Game:
        """Return the battle after a move from `legal_moves` or `resolve`.

        This battle doesn't change. A `Move` isn't checked; `push` checks. A ply written as text is
        checked here as well.

        Raises:
            IllegalMoveError: the battle has ended.
            InvalidValueError: the argument is neither a move nor a ply.
        """
        latest = _latest[0]
        if latest and latest[0] is self and latest[1] is move:
            return latest[2]
        if not isinstance(move, Move):
            return self.push(move)
        self._require_running()
        position, quiet = self.position.after(move), 0 if move.captures else self.quiet_plies + 1
        moves, outcome = (*self.moves, move), self.ruleset.outcome(position)
        if outcome is None and len(moves) >= MOST_PLIES:
            outcome = self.ruleset.agreed_outcome(position, Ending.LENGTH)
        after = Game(self.ruleset, self.initial_position, position, moves, outcome, quiet)
        _latest[0] = self, move, after
        return after

    def play_all(self, moves: Sequence[Move]) -> Game:
        """Return the battle after several legal moves, which aren't checked.

        This takes linear time. Calling `play` for each takes quadratic time, since every battle has
        a tuple of all its moves.

        Raises:
            IllegalMoveError: the battle has ended.
        """
        if not moves:
            return self
        self._require_running()
        position = self.position
        for move in moves[:-1]:
            position = position.after(move)
        return self._with_plies(position, (*self.moves, *moves[:-1])).play(moves[-1])

    def undo(self) -> Game:
        """Return the battle before its last ply, running again.

        Raises:
            InvalidValueError: the battle has no ply yet.
        """
        if not self.moves:
            raise InvalidValueError("there is no ply to take back")
        return self._with_plies(self.position.before(self.moves[-1]), self.moves[:-1])

    def after(self, ply: int, near: Game | None = None) -> Game:
        """Return the battle after a number of plies; after the last ply, with the outcome.

        Args:
            ply: the number of plies.
            near: the same battle after another number of plies. Replaying starts from there if that
                is nearer to ``ply`` than the opening and the end are.

        Raises:
            InvalidValueError: the battle has no ply of that number.
        """
        moves = self.moves
        if not 0 <= ply <= len(moves):
            raise InvalidValueError(f"expected a ply from 0 to {len(moves)}, got {ply}")
        if ply == len(moves):
            return self
        known = [(0, self.initial_position), (len(moves), self.position)]
        if near:
            known.append((len(near.moves), near.position))
        at, position = min(known, key=lambda each: abs(each[0] - ply))
        for move in moves[at:ply]:
            position = position.after(move)
        for move in reversed(moves[ply:at]):
            position = position.before(move)
        return self._with_plies(position, moves[:ply])

    def _with_plies(self, position: Position, moves: tuple[Move, ...]) -> Game:
        """Return the running battle with these plies and the position that they lead to."""
        return Game(
            self.ruleset, self.initial_position, position, moves, quiet_plies=_since_capture(moves)
        )

    def agree(self, ending: Ending) -> Game:
        """Return the battle ended in its current position by the players.

        Args:
            ending: agreement, too many quiet plies, or desertion.

        Raises:
            IllegalMoveError: the battle has ended.
            InvalidValueError: a battle that ends in this way isn't scored by its position.
        """
        self._require_running()
        if ending not in _BY_PLAYERS:
            right = ", ".join(map(str, _BY_PLAYERS))
            raise InvalidValueError(f"expected one of {right}, got {ending!r}")
        return replace(self, outcome=self.ruleset.agreed_outcome(self.position, ending))

    def resign(self, side: Side) -> Game:
        """Return the battle after a side's resignation."""
        self._require_running()
        return replace(self, outcome=self.ruleset.resigned_outcome(self.position, side))

    def __repr__(self) -> str:
        return f"<Game {self.ruleset.name}: {self._plies}; {self._state}>"

    def __str__(self) -> str:
        score = self.score
        last = f", the last {self.moves[-1]}" if self.moves else ""
        heading = f"{self.ruleset.title}: {self._plies}{last}; {self._state}"
        return f"{heading}, score {score.dwarf} to {score.troll}\n{self.position}"

    @property
    def _plies(self) -> str:
        plies = len(self.moves)
        return f"{plies} {'ply' if plies == 1 else 'plies'}"

    @property
    def _state(self) -> str:
        if self.outcome is None:
            return f"{self.turn.plural} to move"
        winner = self.outcome.winner
        won = "a draw" if winner is None else f"won by the {winner.plural}"
        return f"over ({self.outcome.ending.value}): {won}"

    def _repr_svg_(self) -> str | None:
        """Return an SVG picture for notebooks, with the last ply tinted."""
        return PICTURES[Game](self) if PICTURES else None

    def _require_running(self) -> None:
        if self.outcome is not None:
            raise IllegalMoveError(Reason.GAME_OVER)


def _since_capture(moves: Sequence[Move]) -> int:
    """Return the number of plies after the last capture."""
    return sum(1 for _ in takewhile(lambda move: not move.captures, reversed(moves)))


_latest: list[tuple[Game, Move, Game] | None] = [None]
"""The most recent call of `play`: the game, the ply and the game after it.

A table plays each ply twice, to decide on it and to apply the stored event. A single tuple holds
all three, so that other threads see either all of them or none."""
