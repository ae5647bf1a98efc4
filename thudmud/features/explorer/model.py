"""Opening statistics: the values, and how battles are counted.

Positions that are images of each other, see `thudmud.rules.symmetry`, share their statistics;
together they are called a place. A battle counts once for each ply that it played from a place,
even if it came there again. The store keeps the counts, and calls `placed_plies` and
`PlyStatistics.and_one` in the transaction that ends a battle.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from hashlib import blake2b
from typing import NamedTuple

from thudmud.game.archive import Battle, Lookup
from thudmud.rules import RULESETS, Game, Move, Outcome, Position, Side
from thudmud.rules.symmetry import Symmetry, canonical_record, hasher_of
from thudmud.values import Value, replace


class ExplorerRefusal(Enum):
    """Codes of refusals to explore. The values are a stable interface for programs."""

    NO_EXPLORING_RATED = "no_exploring_rated"
    NO_EXPLORING_PLAYING = "no_exploring_playing"
    EXPLORE_LATER = "explore_later"


COUNTED_PLIES = 30
"""The number of plies to count of each battle."""

MOST_TOLD = 20
"""The maximum number of plies in the statistics of a position."""


class PlacedPly(NamedTuple):
    """A ply played from a place.

    Attributes:
        place: the number of the place.
        ply: the ply's record, as seen in the place's representative position.
    """

    place: int
    ply: str


class PlyStatistics(NamedTuple):
    """Statistics of a ply played from a place.

    Attributes:
        times: the number of battles.
        dwarf: the number of battles won by the dwarfs.
        troll: the number of battles won by the trolls.
        drawn: the number of draws. The remaining battles have no known result.
        lead: the sum of the dwarfs' score less the trolls', over battles with a known result.
        battle: the number of the best battle, see `is_better`.
    """

    times: int
    dwarf: int
    troll: int
    drawn: int
    lead: int
    battle: int

    @staticmethod
    def by(battle: Battle) -> PlyStatistics:
        """Return the statistics of a single battle."""
        outcome: Outcome | None = battle.outcome
        if outcome is None:
            return PlyStatistics(1, 0, 0, 0, 0, battle.number)
        winner, lead = outcome.winner, outcome.score.dwarf - outcome.score.troll
        won = [int(winner is each) for each in (Side.DWARF, Side.TROLL, None)]
        return PlyStatistics(1, won[0], won[1], won[2], lead, battle.number)

    def and_one(self, battle: Battle, best: Battle) -> PlyStatistics:
        """Return the statistics with one more battle; `best` is the best battle so far."""
        one = PlyStatistics.by(battle)
        return PlyStatistics(
            self.times + 1,
            self.dwarf + one.dwarf,
            self.troll + one.troll,
            self.drawn + one.drawn,
            self.lead + one.lead,
            battle.number if is_better(battle, best) else best.number,
        )


def is_better(battle: Battle, other: Battle) -> bool:
    """Whether a battle has the higher sum of ratings, or is the later of two with equal sums."""
    return _battle_rank(battle) > _battle_rank(other)


def _battle_rank(battle: Battle) -> tuple[int, float, int]:
    return sum(rating or 0 for rating in battle.ratings), battle.at, battle.number


def placed_plies(
    rules: str, opening: Position | None, moves: Iterable[Move], realm: str = ""
) -> tuple[PlacedPly, ...]:
    """Return the distinct plies that a battle played, with their places.

    Args:
        rules: the name of its ruleset.
        opening: its initial position; None for the ruleset's own.
        moves: its first plies.
        realm: the realm of its players, see `thudmud.game.projections.realm_of`.
    """
    ruleset, salt = RULESETS[rules], _salt(realm)
    fingerprints = hasher_of(ruleset)
    known = fingerprints.hash_of(opening or ruleset.initial_position)
    found: dict[PlacedPly, None] = {}
    for move in moves:
        place, symmetries = fingerprints.canonical_key(known)
        found[PlacedPly(place ^ salt, canonical_record(move, symmetries))] = None
        known = fingerprints.hash_after(known, move)
    return tuple(found)


def place_of(rules: str, position: Position, realm: str = "") -> tuple[int, Symmetry]:
    """Return the number of a position's place, and a symmetry to the place's representative."""
    fingerprints = hasher_of(RULESETS[rules])
    place, symmetries = fingerprints.canonical_key(fingerprints.hash_of(position))
    return place ^ _salt(realm), symmetries[0]


def _salt(realm: str) -> int:
    """Return a number from 0 to 2**63 - 1 that separates the places of a realm from others."""
    digest = blake2b(realm.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1 if realm else 0


class ExploredPly(NamedTuple):
    """A ply played from a position, with its statistics.

    Attributes:
        move: the ply.
        tried: the statistics.
        best: the best of the battles, see `is_better`.
    """

    move: Move
    tried: PlyStatistics
    best: Battle

    @property
    def lead(self) -> float | None:
        """The mean of the dwarfs' score less the trolls'; None without a known result."""
        known = self.tried.dwarf + self.tried.troll + self.tried.drawn
        return self.tried.lead / known if known else None


class PositionStatistics(Value):
    """Statistics of a position.

    Attributes:
        plies: the plies played most often, in this order; at most `MOST_TOLD`.
        others: the number of other plies.
        times: the sum of all plies' counts.
        best: the best battle of all, see `is_better`.
        left: the number of battles still to count during a rebuild.
        seconds_left: how long that will take at the speed so far; None if that isn't known.
    """

    plies: tuple[ExploredPly, ...] = ()
    others: int = 0
    times: int = 0
    best: Battle | None = None
    left: int = 0
    seconds_left: float | None = None


class ExploredPosition(NamedTuple):
    """A position with its statistics.

    Attributes:
        game: a game that has reached the position.
        number: the number of the battle it is taken from; None for a board.
        found: the statistics.
        following: the ply that this battle itself played next, if any.
    """

    game: Game
    number: int | None
    found: PositionStatistics
    following: Move | None = None

    @staticmethod
    def of(battle: Game, number: int, ply: int, found: PositionStatistics) -> ExploredPosition:
        """Return the position of a battle after `ply` plies, with its statistics.

        In a symmetric position, the statistics may list an image of the battle's own next ply.
        The ply actually played replaces it.
        """
        game = battle.after(min(ply, len(battle.moves)))
        following = next(iter(battle.moves[len(game.moves) :]), None)
        if following:
            fingerprints = hasher_of(game.ruleset)
            _, symmetries = fingerprints.canonical_key(fingerprints.hash_of(game.position))
            record = canonical_record(following, symmetries)
            plies = tuple(
                each._replace(move=following)
                if canonical_record(each.move, symmetries) == record
                else each
                for each in found.plies
            )
            found = replace(found, plies=plies)
        return ExploredPosition(game, number, found, following)


class ExploreLookup(Lookup[PositionStatistics]):
    """Lookup of the statistics of a position, under the ruleset of that name."""

    rules: str
    position: Position
