"""The rulesets, each a value made of parts, and what every ruleset does with its parts.

A difference between two rulesets is a difference between their parts: no code asks for the name. A
new ruleset is a new value at the end of this file. It then needs a page of help, a golden
playthrough and positions for perft; tests fail until it has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, SupportsIndex

from thudmud.errors import InvalidValueError
from thudmud.rules import classic, koom_valley
from thudmud.rules.board import BOARD, Square
from thudmud.rules.checks import require_on_board
from thudmud.rules.generation import Fighters
from thudmud.rules.moves import Attempt, Move, Piece, Side, Verb
from thudmud.rules.position import Position
from thudmud.rules.refusals import IllegalMove, Reason
from thudmud.rules.scoring import ByPieces, ByVictory, Ending, Outcome, Score, Scoring


class Goal(Protocol):
    """A goal by which a side wins at once: a frozen value."""

    @property
    def side(self) -> Side:
        """The side that wins by it."""

    @property
    def ending(self) -> Ending:
        """The ending of a battle that reaches it."""

    def is_reached(self, position: Position) -> bool:
        """Return whether it is reached."""

    def worth(self, position: Position) -> int:
        """Return the worth of a position to its side on the way to it, in hundredths of a dwarf.

        That is for programs that evaluate positions. No rule depends on it.
        """


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The rules of a battle, as a value made of parts.

    Attributes:
        name: its name for players and in settings: words in lower case.
        title: its name in sentences.
        opening: the position that a battle begins with.
        dwarfs: how the dwarf side moves and captures.
        trolls: how the troll side moves and captures.
        goals: the goals that end a battle at once; no position reaches two.
        scoring: how a battle is scored.
    """

    name: str
    title: str
    opening: Position
    dwarfs: Fighters
    trolls: Fighters
    goals: tuple[Goal, ...]
    scoring: Scoring

    def __post_init__(self) -> None:
        # The command language takes everything up to the word "on" as the name.
        if not _NAME.fullmatch(self.name) or "on" in self.name.split(" "):
            raise InvalidValueError(f"nobody can type {self.name!r} as the name of rules")

    @property
    def verbs(self) -> frozenset[Verb]:
        """The verbs that either side has."""
        return self.dwarfs.verbs | self.trolls.verbs

    def fighters(self, side: Side) -> Fighters:
        """Return how a side moves and captures."""
        return self.dwarfs if side is Side.DWARF else self.trolls

    def reached(self, position: Position) -> Goal | None:
        """Return the goal that has been reached, if any has."""
        for goal in self.goals:
            if goal.is_reached(position):
                return goal
        return None

    def legal_moves(self, position: Position, most_tramples: int | None = None) -> list[Move]:
        """Return every distinct outcome of the next ply; none if a goal is reached.

        ``most_tramples`` limits the tramples of each piece, see `moves_from`.
        """
        if self.reached(position) is not None:
            return []
        return self.fighters(position.turn).moves(position, BOARD, most_tramples)

    def moves_from(
        self, position: Position, square: Square, most_tramples: int | None = None
    ) -> list[Move]:
        """Return every distinct outcome of a next ply by the piece on a square.

        Args:
            position: the position before the ply.
            square: its square; without a piece of the side to move there are no outcomes.
            most_tramples: the most tramples to list, the shortest first; None for all. There may be
                hundreds of thousands, and no work is done for others. To learn whether there are
                more, ask for one more than needed.
        """
        if self.reached(position) is not None:
            return []
        return self.fighters(position.turn).moves(position, square.bit, most_tramples)

    def count_moves(self, position: Position) -> int:
        """Return ``len(legal_moves(position))``, faster than by listing them."""
        if self.reached(position) is not None:
            return 0
        return self.fighters(position.turn).count(position)

    def resolve(self, position: Position, attempt: Attempt, side: Side) -> Move:
        """Return the move that a side asks for.

        Raises:
            IllegalMove: the rules refuse it, with a code and the squares concerned.
        """
        if self.reached(position) is not None:
            raise IllegalMove(Reason.GAME_OVER)
        if side is not position.turn:
            raise IllegalMove(Reason.NOT_YOUR_TURN, side=position.turn)
        named = attempt.captures if isinstance(attempt.captures, tuple) else ()
        require_on_board((attempt.origin, attempt.target, *named))
        self._require_own_piece(position, attempt.origin, side)
        self._require_verb(attempt, side)
        _require_once(named)
        return self.fighters(side).grant(position, attempt)

    def score(self, position: Position) -> Score:
        """Return the score of the battle as it stands."""
        reached = self.reached(position)
        return self.scoring.score(position, reached.side if reached else None)

    def outcome(self, position: Position) -> Outcome | None:
        """Return how the battle has ended by itself: by a goal or by a side without a move."""
        if goal := self.reached(position):
            return Outcome(goal.ending, goal.side, self.scoring.score(position, goal.side))
        if self.fighters(position.turn).can_move(position):
            return None
        stuck = self.scoring.stuck(position)
        return Outcome(Ending.NO_MOVE, stuck, self.scoring.score(position, stuck))

    def by_agreement(self, position: Position, ending: Ending) -> Outcome:
        """Return the outcome of a battle that ends as it stands, by its players or its length."""
        winner = self.scoring.agreed(position)
        return Outcome(ending, winner, self.scoring.score(position, winner))

    def resignation(self, position: Position, side: Side) -> Outcome:
        """Return the outcome of a battle that a side resigns."""
        return Outcome(Ending.RESIGNATION, side.other, self.scoring.resigned(position, side))

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle one of `RULESETS` by its name, so that unpickling returns the same object."""
        if RULESETS.get(self.name) is self:
            return _called, (self.name,)
        return object.__reduce_ex__(self, protocol)

    def __str__(self) -> str:
        return self.name

    def _require_own_piece(self, position: Position, square: Square, side: Side) -> None:
        piece = position.piece_at(square)
        if piece is None:
            raise IllegalMove(Reason.NO_PIECE, (square,), square=square)
        if piece in self.fighters(side).pieces:
            return
        if piece is Piece.STONE:
            raise IllegalMove(Reason.THUDSTONE_STAYS, (square,), square=square)
        if piece is Piece.ROCK:
            raise IllegalMove(Reason.NOT_YOUR_ROCK, (square,), square=square)
        raise IllegalMove(Reason.NOT_YOUR_PIECE, (square,), piece=piece, square=square, side=side)

    def _require_verb(self, attempt: Attempt, side: Side) -> None:
        verb = attempt.verb
        if verb not in self.verbs:
            verbs = _in_order(self.verbs)
            raise IllegalMove(Reason.NO_SUCH_VERB, rules=self, verb=verb, verbs=verbs)
        own = self.fighters(side).verbs
        if verb not in own:
            raise IllegalMove(
                Reason.NOT_THIS_SIDES_VERB,
                (attempt.origin,),
                side=side,
                verb=verb,
                verbs=_in_order(own),
            )


def _in_order(verbs: frozenset[Verb]) -> tuple[Verb, ...]:
    return tuple(verb for verb in Verb if verb in verbs)


def _require_once(squares: Iterable[Square]) -> None:
    seen = set()
    for square in squares:
        if square in seen:
            raise IllegalMove(Reason.NAMED_TWICE, (square,), square=square)
        seen.add(square)


_NAME = re.compile("[a-z]+( [a-z]+)*")

_THUD_SCORING = ByPieces(dwarf=1, troll=4)

DISCWORLD = Ruleset(
    name="discworld",
    title="Discworld",
    opening=classic.OPENING,
    dwarfs=classic.HurlingDwarfs(),
    trolls=classic.ShovingTrolls(most_after_move=classic.ANY, shortest_shove=1),
    goals=(),
    scoring=_THUD_SCORING,
)
"""As described by the help page of the furniture on the Discworld MUD."""

CLASSIC = Ruleset(
    name="classic",
    title="Classic",
    opening=classic.OPENING,
    dwarfs=classic.HurlingDwarfs(),
    trolls=classic.ShovingTrolls(most_after_move=1, shortest_shove=2),
    goals=(),
    scoring=_THUD_SCORING,
)
"""The published Original Rules."""

KOOM_VALLEY = Ruleset(
    name="koom valley",
    title="Koom Valley",
    opening=koom_valley.OPENING,
    dwarfs=koom_valley.TrappingDwarfs(),
    trolls=koom_valley.TramplingTrolls(),
    goals=(koom_valley.RockEscapes(), koom_valley.RockCaptured()),
    scoring=ByVictory(dwarfs_needed=1, trolls_needed=koom_valley.CAPTORS),
)
"""The published Koom Valley rules."""

DEFAULT_RULES = DISCWORLD
"""The rules where none are chosen."""

RULESETS: Mapping[str, Ruleset] = {
    rules.name: rules for rules in (DEFAULT_RULES, CLASSIC, KOOM_VALLEY)
}
"""The rulesets by name, the default first. Adding one is adding a value."""


def ruleset_called(words: str) -> Ruleset | None:
    """Return the ruleset of a name, in any case and with hyphens or blanks, if there is one."""
    return RULESETS.get(" ".join(words.lower().replace("-", " ").split()))


def _called(name: str) -> Ruleset:
    return RULESETS[name]


def perft(
    ruleset: Ruleset, position: Position, depth: int, look: Callable[[], object] = bool
) -> int:
    """Return the number of sequences of ``depth`` distinct outcomes from a position.

    ``look`` is called again and again meanwhile; what it raises ends the counting.
    """
    if depth == 0:
        return 1
    look()
    if depth == 1:
        return ruleset.count_moves(position)
    return sum(
        perft(ruleset, position.after(move), depth - 1, look)
        for move in ruleset.legal_moves(position)
    )


def divide(ruleset: Ruleset, position: Position, depth: int) -> list[tuple[Move, int]]:
    """Return each legal move with the ``perft`` of the rest; ``depth`` is 1 or more."""
    return [
        (move, perft(ruleset, position.after(move), depth - 1))
        for move in ruleset.legal_moves(position)
    ]
