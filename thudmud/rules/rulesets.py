"""The rulesets, as values composed of parts, and the behaviour that all rulesets share.

Rulesets differ only in their parts: no code tests a ruleset's name. A new ruleset is a new value at
the end of this file. It also needs a help page, a golden playthrough and perft positions; tests
fail until they exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, SupportsIndex

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable
from thudmud.rules import classic, koom_valley
from thudmud.rules.board import BOARD, Square
from thudmud.rules.checks import require_on_board
from thudmud.rules.generation import SideRules
from thudmud.rules.moves import Attempt, Move, Piece, Side, Verb
from thudmud.rules.position import Position
from thudmud.rules.refusals import IllegalMoveError, Reason
from thudmud.rules.scoring import ByPieces, ByVictory, Ending, Outcome, Score, Scoring


class Goal(Protocol):
    """A condition by which a side wins at once: a frozen value."""

    @property
    def side(self) -> Side:
        """The winning side."""

    @property
    def ending(self) -> Ending:
        """The ending of a battle in which a side reaches the goal."""

    def is_reached(self, position: Position) -> bool:
        """Return whether a position reaches the goal."""

    def progress(self, position: Position) -> int:
        """Return the progress of ``side`` towards the goal, in hundredths of a dwarf.

        For programs that evaluate positions; no rule depends on it.
        """


@immutable
@dataclass(frozen=True, slots=True)
class Ruleset:
    """The rules of a battle, as a value composed of parts.

    Attributes:
        name: the name in commands and settings: words in lower case.
        title: the name in sentences.
        initial_position: the initial position.
        dwarfs: how the dwarf side moves and captures.
        trolls: how the troll side moves and captures.
        goals: the goals that end a battle at once; no position reaches two.
        scoring: how a battle is scored.
    """

    name: str
    title: str
    initial_position: Position
    dwarfs: SideRules
    trolls: SideRules
    goals: tuple[Goal, ...]
    scoring: Scoring

    def __post_init__(self) -> None:
        # The command language takes everything up to the word "on" as the name.
        if not _NAME.fullmatch(self.name) or "on" in self.name.split(" "):
            raise InvalidValueError(
                f"expected a name in lower-case words other than on, got {self.name!r}"
            )

    @property
    def verbs(self) -> frozenset[Verb]:
        """The verbs of both sides."""
        return self.dwarfs.verbs | self.trolls.verbs

    def side_rules(self, side: Side) -> SideRules:
        """Return the component for one side's moves and captures."""
        return self.dwarfs if side is Side.DWARF else self.trolls

    def goal_reached(self, position: Position) -> Goal | None:
        """Return the goal that a position reaches; None if it reaches none."""
        for goal in self.goals:
            if goal.is_reached(position):
                return goal
        return None

    def legal_moves(self, position: Position, most_tramples: int | None = None) -> list[Move]:
        """Return every distinct outcome of the next ply; none if a goal is reached.

        ``most_tramples`` limits the tramples of each piece, as in `moves_from`.
        """
        if self.goal_reached(position) is not None:
            return []
        return self.side_rules(position.turn).moves(position, BOARD, most_tramples)

    def moves_from(
        self, position: Position, square: Square, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a ply by the piece on one square.

        Args:
            position: the position before the ply.
            square: the square of the piece. Without a piece of the side to move there are no
                outcomes.
            most_tramples: the maximum number of tramples, shortest first; None for all. There may
                be hundreds of thousands, and the limit saves generating the rest. To learn whether
                there are more, ask for one more than needed.
        """
        if self.goal_reached(position) is not None:
            return []
        return self.side_rules(position.turn).moves(position, square.bit, most_tramples)

    def count_moves(self, position: Position) -> int:
        """Return ``len(legal_moves(position))``, faster than by listing moves."""
        if self.goal_reached(position) is not None:
            return 0
        return self.side_rules(position.turn).count(position)

    def resolve(self, position: Position, attempt: Attempt, side: Side) -> Move:
        """Return the move that a side asks for.

        Raises:
            IllegalMoveError: the rules refuse the attempt; the exception has a code and the squares
                concerned.
        """
        if self.goal_reached(position) is not None:
            raise IllegalMoveError(Reason.GAME_OVER)
        if side is not position.turn:
            raise IllegalMoveError(Reason.NOT_YOUR_TURN, side=position.turn)
        named = attempt.captures if isinstance(attempt.captures, tuple) else ()
        require_on_board((attempt.origin, attempt.target, *named))
        rules = self.side_rules(side)
        if position.piece_at(attempt.origin) not in rules.pieces:
            raise _not_own_piece(position, attempt.origin, side)
        if attempt.verb not in rules.verbs:
            raise self._wrong_verb(attempt, side)
        if len(set(named)) < len(named):
            raise _named_twice(named)
        return rules.validate(position, attempt)

    def score(self, position: Position) -> Score:
        """Return the score of the battle in its current position."""
        reached = self.goal_reached(position)
        return self.scoring.score(position, reached.side if reached else None)

    def outcome(self, position: Position) -> Outcome | None:
        """Return the outcome if a goal is reached or the side to move has no move, else None."""
        if goal := self.goal_reached(position):
            return Outcome(goal.ending, goal.side, self.scoring.score(position, goal.side))
        if self.side_rules(position.turn).can_move(position):
            return None
        stuck = self.scoring.no_move_winner(position)
        return Outcome(Ending.NO_MOVE, stuck, self.scoring.score(position, stuck))

    def agreed_outcome(self, position: Position, ending: Ending) -> Outcome:
        """Return the outcome of an end in this position, by agreement or at the maximum length."""
        winner = self.scoring.agreement_winner(position)
        return Outcome(ending, winner, self.scoring.score(position, winner))

    def resigned_outcome(self, position: Position, side: Side) -> Outcome:
        """Return the outcome of a side's resignation."""
        return Outcome(
            Ending.RESIGNATION, side.other, self.scoring.resignation_score(position, side)
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle a ruleset of `RULESETS` by name, so that unpickling returns the same object."""
        if RULESETS.get(self.name) is self:
            return _ruleset_by_name, (self.name,)
        return object.__reduce_ex__(self, protocol)

    def __str__(self) -> str:
        return self.name

    def _wrong_verb(self, attempt: Attempt, side: Side) -> IllegalMoveError:
        """Return the refusal of a verb that the side doesn't have."""
        verb, own = attempt.verb, self.side_rules(side).verbs
        if verb not in self.verbs:
            verbs = _in_order(self.verbs)
            return IllegalMoveError(Reason.NO_SUCH_VERB, rules=self, verb=verb, verbs=verbs)
        return IllegalMoveError(
            Reason.NOT_THIS_SIDES_VERB,
            (attempt.origin,),
            side=side,
            verb=verb,
            verbs=_in_order(own),
        )


def _in_order(verbs: frozenset[Verb]) -> tuple[Verb, ...]:
    return tuple(verb for verb in Verb if verb in verbs)


def _not_own_piece(position: Position, square: Square, side: Side) -> IllegalMoveError:
    """Return the refusal of a ply from a square without a piece that the side moves."""
    piece = position.piece_at(square)
    if piece is None:
        return IllegalMoveError(Reason.NO_PIECE, (square,), square=square)
    if piece is Piece.STONE:
        return IllegalMoveError(Reason.THUDSTONE_STAYS, (square,), square=square)
    if piece is Piece.ROCK:
        return IllegalMoveError(Reason.NOT_YOUR_ROCK, (square,), square=square)
    return IllegalMoveError(Reason.NOT_YOUR_PIECE, (square,), piece=piece, square=square, side=side)


def _named_twice(squares: Sequence[Square]) -> IllegalMoveError:
    """Return the refusal of the first square that is named for the second time."""
    square = next(each for at, each in enumerate(squares) if each in squares[:at])
    return IllegalMoveError(Reason.NAMED_TWICE, (square,), square=square)


_NAME = re.compile("[a-z]+( [a-z]+)*")

_THUD_SCORING = ByPieces(dwarf=1, troll=4)

DISCWORLD = Ruleset(
    name="discworld",
    title="Discworld",
    initial_position=classic.INITIAL_POSITION,
    dwarfs=classic.HurlingDwarfs(),
    trolls=classic.ShovingTrolls(most_after_move=classic.ANY, shortest_shove=1),
    goals=(),
    scoring=_THUD_SCORING,
)
"""As described by the help page of the furniture on the Discworld MUD."""

CLASSIC = Ruleset(
    name="classic",
    title="Classic",
    initial_position=classic.INITIAL_POSITION,
    dwarfs=classic.HurlingDwarfs(),
    trolls=classic.ShovingTrolls(most_after_move=1, shortest_shove=2),
    goals=(),
    scoring=_THUD_SCORING,
)
"""The published Original Rules."""

KOOM_VALLEY = Ruleset(
    name="koom valley",
    title="Koom Valley",
    initial_position=koom_valley.INITIAL_POSITION,
    dwarfs=koom_valley.TrappingDwarfs(),
    trolls=koom_valley.TramplingTrolls(),
    goals=(koom_valley.RockEscapes(), koom_valley.RockCaptured()),
    scoring=ByVictory(dwarfs_needed=1, trolls_needed=koom_valley.CAPTORS),
)
"""The published Koom Valley rules."""

DEFAULT_RULES = DISCWORLD
"""The rules of battles for which none are chosen."""

RULESETS: Mapping[str, Ruleset] = {
    rules.name: rules for rules in (DEFAULT_RULES, CLASSIC, KOOM_VALLEY)
}
"""The rulesets by name, the default first. Adding a ruleset takes no other registration."""


def find_ruleset(words: str) -> Ruleset | None:
    """Find a ruleset by name, ignoring case, with blanks or hyphens; None if there is none."""
    return RULESETS.get(" ".join(words.lower().replace("-", " ").split()))


def _ruleset_by_name(name: str) -> Ruleset:
    return RULESETS[name]


def perft(
    ruleset: Ruleset, position: Position, depth: int, look: Callable[[], object] = bool
) -> int:
    """Return the perft number: the count of sequences of ``depth`` distinct outcomes.

    ``look`` is called at every inner node; an exception that it raises stops the count.

    Raises:
        InvalidValueError: ``depth`` is negative.
    """
    if depth <= 0:
        if depth < 0:
            raise InvalidValueError(f"expected a depth of 0 or more plies, got {depth}")
        return 1
    look()
    if depth == 1:  # bulk counting: the last ply's moves need not be made
        return ruleset.count_moves(position)
    return sum(
        perft(ruleset, position.after(move), depth - 1, look)
        for move in ruleset.legal_moves(position)
    )


def divide(ruleset: Ruleset, position: Position, depth: int) -> list[tuple[Move, int]]:
    """Return each legal move with its share of the `perft` number.

    Raises:
        InvalidValueError: ``depth`` is less than 1.
    """
    if depth < 1:
        raise InvalidValueError(f"expected a depth of 1 or more plies, got {depth}")
    return [
        (move, perft(ruleset, position.after(move), depth - 1))
        for move in ruleset.legal_moves(position)
    ]
