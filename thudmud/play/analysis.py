"""What a battle was worth ply by ply, and which plies lost something, as data.

Who weighs the positions is an adviser, outside: see `thudmud.service.interface`. What its worths
come to is worked out here, and words are made of it in `thudmud.views.analysis`. All worths are in
hundredths of a dwarf and in the dwarfs' view: what is good for the trolls is below 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from thudmud.errors import InvalidValueError
from thudmud.play.archive import Battle, Lookup, State
from thudmud.play.events import BattleId
from thudmud.play.hints import Line
from thudmud.rules import Game, Score, Side
from thudmud.values import value

DECIDED = 10_000
"""The worth of a battle that is won: far more than all pieces count."""

MISTAKE, BLUNDER = 200, 400
"""From how much lost a ply is marked."""

_NOTED = 50
"""From how much lost it is kept what would have been better."""

SHORTEST = 2
"""How many plies a battle needs to be analysed."""

GOES_ON = frozenset({State.RUNNING, State.ADJOURNED})
"""A battle in one of these states is not analysed: that would help those who play it."""


class PlyMark(Enum):
    """What is thought of a ply that lost much; the value is how it is written."""

    MISTAKE = "?"
    BLUNDER = "??"


@value
class Weighed:
    """What an adviser thinks of a position of a battle that goes on.

    Attributes:
        nodes: how many positions it was to look at.
        worths: what it found the position worth at each depth, that of one ply first.
        line: the plies that it expects.

    Raises:
        InvalidValueError: it has found nothing.
    """

    nodes: int
    worths: tuple[int, ...]
    line: Line

    def __post_init__(self) -> None:
        if not self.worths or not self.line:
            raise InvalidValueError("a position has a worth, and a ply that is best")

    @property
    def worth(self) -> int:
        """The worth, taken between the last two depths: who plays last is ahead at each."""
        if abs(self.worths[-1]) >= DECIDED:
            return _capped(self.worths[-1])
        return sum(map(_capped, self.worths[-2:])) // len(self.worths[-2:])

    @property
    def depth(self) -> int:
        """How deep it has looked; what is decided is so at any depth."""
        return _ENDLESS if abs(self.worths[-1]) >= DECIDED else len(self.worths)

    def at(self, depth: int) -> int:
        """Return the worth at a depth."""
        return _capped(self.worths[min(depth, len(self.worths)) - 1])


@value
class Analysis:
    """What a battle was worth, and what its plies lost.

    Attributes:
        nodes: how many positions were looked at for each of the battle.
        worths: what the battle was worth before each ply, and in the end.
        lost: how much each ply lost against the best, to the side that played it.
        lines: for each ply what would have been better, with the plies expected then; nothing where
            that is little or nothing.

    Raises:
        InvalidValueError: these are not of one battle.
    """

    nodes: int
    worths: tuple[int, ...]
    lost: tuple[int, ...]
    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        if not len(self.worths) - 1 == len(self.lost) == len(self.lines):
            raise InvalidValueError("there should be a worth before each ply, and one in the end")

    def mark(self, ply: int) -> PlyMark | None:
        """Return the mark of a ply, counted from 1."""
        lost = self.lost[ply - 1]
        return PlyMark.BLUNDER if lost >= BLUNDER else PlyMark.MISTAKE if lost >= MISTAKE else None


class AnalysedBattle(NamedTuple):
    """A battle, its game, and what was found out about it."""

    battle: Battle
    game: Game
    analysis: Analysis


@value
class KeptAnalysisLookup(Lookup["Analysis | None"]):
    """The analysis of a battle of so many plies that the store keeps; None if it keeps none."""

    battle: BattleId
    plies: int


@value
class AnalysisLookup(Lookup["Analysis | None"]):
    """A new analysis of a battle, which an adviser is asked for; None if it found nothing out."""

    battle: Battle
    game: Game


@value
class UnderWayLookup(Lookup["tuple[int, int, int] | None"]):
    """The analysis that a player waits for: of which battle, and how many of its plies are done.

    None if they wait for none.
    """

    player: str


def positions(game: Game) -> Iterator[Game]:
    """Yield a battle as it stood before each ply, and after the last, unless a ply has ended it."""
    then = Game.start(game.ruleset, game.opening)
    for move in game.moves:
        yield then
        then = then.play(move)
    if then.outcome is None:
        yield then


def analysed(game: Game, weighed: Sequence[Weighed]) -> Analysis:
    """Return the analysis of a battle, if each of its `positions` was weighed.

    An adviser's worths can be compared with each other, not with a score. So the beginning is worth
    what the score is then, and everything else so much more or less.

    What a ply lost is the worth before it less the worth after it, both as far as the same ply of
    the future: whoever plays the last ply that is looked at seems to be ahead. It counts only as
    far as it is seen at two depths: at one it is often chance.
    """
    more = 100 * _lead(game.ruleset.score(game.opening)) - weighed[0].worth
    worths = [
        each.worth if abs(each.worth) == DECIDED else _capped(each.worth + more) for each in weighed
    ]
    if len(weighed) == len(game.moves):
        worths.append(_worth_in_the_end(game))
    lost = [_lost(game, ply, weighed) for ply in range(len(game.moves))]
    lines = tuple(
        each.line if loss >= _NOTED else () for loss, each in zip(lost, weighed, strict=False)
    )
    nodes = min(each.nodes for each in weighed)
    return Analysis(nodes, tuple(worths), tuple(lost), lines)


def _lost(game: Game, ply: int, weighed: Sequence[Weighed]) -> int:
    """Return what a ply, counted from 0, lost; the best one nothing, nor one that ends a battle."""
    before, after = weighed[ply], weighed[ply + 1] if ply + 1 < len(weighed) else None
    if after is None or game.moves[ply] == before.line[0]:
        return 0
    depth = min(before.depth, after.depth + 1)
    is_dwarfs = (game.opening.turn is Side.DWARF) is (ply % 2 == 0)
    losses = []
    for each in (depth, depth - 1):
        if each > 1:  # what was not looked at can be compared with nothing
            one, other = before.at(each), after.at(each - 1)
            losses.append(one - other if is_dwarfs else other - one)
            if DECIDED in {abs(one), abs(other)}:
                break  # that is certain
    return max(0, min(losses, default=0))


def _worth_in_the_end(game: Game) -> int:
    """Return the worth of a battle that a ply has ended."""
    if game.ruleset.goals and game.outcome:
        won = game.outcome.winner
        return 0 if won is None else DECIDED if won is Side.DWARF else -DECIDED
    return 100 * _lead(game.score)


def _lead(score: Score) -> int:
    return score.dwarf - score.troll


_ENDLESS = 1_000


def _capped(worth: int) -> int:
    return max(-DECIDED, min(DECIDED, worth))
