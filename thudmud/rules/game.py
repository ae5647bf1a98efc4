"""Games: a battle from its opening through its plies to its outcome.

A game is a value: each change returns another. Its ruleset decides what is legal, and what an
ending counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from thudmud.errors import InvalidValueError
from thudmud.rules.board import Square
from thudmud.rules.moves import Attempt, Move, Side
from thudmud.rules.notation import read_ply
from thudmud.rules.position import PICTURES, Position
from thudmud.rules.refusals import IllegalMove, Reason
from thudmud.rules.rulesets import Ruleset
from thudmud.rules.scoring import Ending, Outcome, Score

MOST_PLIES = 2_000
"""The most plies of a battle, which then ends as it stands.

Our ruling: the published rules set no limit, and whoever stores or replays a battle needs one.
Battles that are played to win have a tenth of that."""

MOST_LISTED = 2_000
"""How many moves are listed at most."""

MOST_TRAMPLES = 64
"""How many tramples of each troll are listed. There may be hundreds of thousands."""


@dataclass(frozen=True, slots=True)
class Game:
    """A battle. ``print(game)`` draws its board, below a line with its state.

    ``repr(game)`` is short: its rules, how far it has come, and whose turn it is.

    Attributes:
        ruleset: its rules.
        opening: the position it began with.
        position: the current position.
        moves: its plies so far.
        outcome: how it ended; None while it goes on.
        quiet_plies: the number of plies since the last capture, or of all.

    Raises:
        InvalidValueError: the side to move does not fit the number of plies, or there are not as
            many quiet plies. That the plies lead to the position is not checked: `Game.start` and
            the other methods ensure it.
    """

    ruleset: Ruleset
    opening: Position
    position: Position
    moves: tuple[Move, ...] = ()
    outcome: Outcome | None = None
    quiet_plies: int = 0

    def __post_init__(self) -> None:
        plies = len(self.moves)
        if (self.opening.turn is self.position.turn) is not (plies % 2 == 0):
            raise InvalidValueError(f"after {plies} plies the other side is to move")
        if not 0 <= self.quiet_plies <= plies:
            raise InvalidValueError(f"of {plies} plies {self.quiet_plies} cannot be quiet")

    @staticmethod
    def start(ruleset: Ruleset, opening: Position | None = None) -> Game:
        """Return a new battle, from the ruleset's own opening unless told otherwise."""
        position = ruleset.opening if opening is None else opening
        return Game(ruleset, position, position, outcome=ruleset.outcome(position))

    @property
    def score(self) -> Score:
        """The final score if the battle has ended, else the current one."""
        if self.outcome is not None:
            return self.outcome.score
        return self.ruleset.score(self.position)

    @property
    def turn(self) -> Side:
        """The side to move; if the battle has ended, the one that would be."""
        return self.position.turn

    def legal_moves(self) -> list[Move]:
        """Return every distinct outcome of the next ply; none if the battle has ended."""
        return [] if self.outcome is not None else self.ruleset.legal_moves(self.position)

    def listed_moves(self) -> tuple[list[Move], bool]:
        """Return the legal moves as far as a list of them should go, and whether there are more.

        It has at most `MOST_LISTED`, and of each troll's tramples the `MOST_TRAMPLES` shortest.
        """
        moves = [] if self.outcome else self.ruleset.legal_moves(self.position, MOST_TRAMPLES + 1)
        tramples: Counter[Square] = Counter()
        listed: list[Move] = []
        for move in moves:
            tramples[move.origin] += move.trample
            if len(listed) < MOST_LISTED and tramples[move.origin] <= MOST_TRAMPLES:
                listed.append(move)
        return listed, len(listed) < len(moves)

    def resolve(self, attempt: Attempt, side: Side) -> Move:
        """Return the move that a side asks for.

        Raises:
            IllegalMove: with a code, and the squares that make it so.
        """
        self._require_running()
        return self.ruleset.resolve(self.position, attempt, side)

    def push(self, ply: str | Move) -> Game:
        """Return the battle after a ply, checked by the rules. This battle stays as it is.

        Args:
            ply: in the notation of game records, as ``str(move)`` has it: ``dA6-B6``,
                ``TG7-F7xE7``. Columns go from A to P without the I there; commands at a board say
                ``J7`` for ``K7`` here. Or a move, from wherever it comes.

        Raises:
            IllegalMove: the rules refuse it, or the battle has ended.
            ValueError: it is no ply, or another piece stands where it begins.
        """
        self._require_running()
        if not isinstance(ply, str | Move):
            raise InvalidValueError(f"a ply should be a str or a Move, not {type(ply).__name__}")
        return self.play(read_ply(str(ply), self.ruleset, self.position))

    def play(self, move: Move | str) -> Game:
        """Return the battle after a move that is known to be legal. This battle stays as it is.

        A move is not checked: it comes from `legal_moves` or `resolve`. `push` checks, and a
        written ply is checked here as well.

        Raises:
            IllegalMove: the battle has ended.
            ValueError: it is neither a move nor a ply.
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
            outcome = self.ruleset.by_agreement(position, Ending.LENGTH)
        after = Game(self.ruleset, self.opening, position, moves, outcome, quiet)
        _latest[0] = self, move, after
        return after

    def play_all(self, moves: Sequence[Move]) -> Game:
        """Return the battle after several moves that are known to be legal.

        That takes time in proportion to their number. To `play` them one after the other takes its
        square, since every battle has a tuple of all its moves.

        Raises:
            IllegalMove: the battle has ended.
        """
        if not moves:
            return self
        self._require_running()
        position = self.position
        for move in moves[:-1]:
            position = position.after(move)
        return self._at(position, (*self.moves, *moves[:-1])).play(moves[-1])

    def undo(self) -> Game:
        """Return the battle before its last ply, running again; ValueError if there is no ply."""
        if not self.moves:
            raise ValueError("there is no ply to take back")
        return self._at(self.position.before(self.moves[-1]), self.moves[:-1])

    def after(self, ply: int, near: Game | None = None) -> Game:
        """Return the battle after so many of its plies; after all of them, with its outcome.

        Args:
            ply: the number of plies.
            near: the same battle after some other number of plies, to start from: that may be
                nearer than its opening and its end.
        """
        moves = self.moves
        if ply == len(moves):
            return self
        known = [(0, self.opening), (len(moves), self.position)]
        if near:
            known.append((len(near.moves), near.position))
        at, position = min(known, key=lambda each: abs(each[0] - ply))
        for move in moves[at:ply]:
            position = position.after(move)
        for move in reversed(moves[ply:at]):
            position = position.before(move)
        return self._at(position, moves[:ply])

    def _at(self, position: Position, moves: tuple[Move, ...]) -> Game:
        """Return the running battle that these plies have led to this position."""
        return Game(self.ruleset, self.opening, position, moves, quiet_plies=_since_capture(moves))

    def agree(self, ending: Ending) -> Game:
        """Return the battle ended as it stands, by an ending that players bring about."""
        self._require_running()
        return replace(self, outcome=self.ruleset.by_agreement(self.position, ending))

    def resign(self, side: Side) -> Game:
        """Return the battle after a side has resigned."""
        self._require_running()
        return replace(self, outcome=self.ruleset.resignation(self.position, side))

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
        """Return a picture of the board, the last ply tinted, as `Position._repr_svg_` does."""
        return PICTURES[Game](self) if PICTURES else None

    def _require_running(self) -> None:
        if self.outcome is not None:
            raise IllegalMove(Reason.GAME_OVER)


def _since_capture(moves: Sequence[Move]) -> int:
    """Return how many of some plies came after the last capture."""
    return sum(1 for _ in takewhile(lambda move: not move.captures, reversed(moves)))


_latest: list[tuple[Game, Move, Game] | None] = [None]
"""The game and the ply that were played last, and the game after it: a table asks twice, when it
decides about a ply and when that is stored. One value, so that threads see all three or none."""
