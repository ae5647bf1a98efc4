"""What has been played from a position in all battles: the values, and how they are counted.

Positions that are images of each other, see `thudmud.rules.symmetry`, are one, a place. Each battle
counts once for each ply that it has played from a place. The store keeps the counts, and calls
`placed_plies` and `Tried.and_one` in the transaction that ends a battle.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from hashlib import blake2b
from typing import NamedTuple

from thudmud.game.archive import Battle, Lookup
from thudmud.rules import RULESETS, Game, Move, Outcome, Position, Side
from thudmud.rules.symmetry import Symmetry, fingerprints_of, written
from thudmud.values import Value, replace


class ExplorerRefusal(Enum):
    """Reasons for refusing to explore. The values are a stable interface for programs."""

    NO_EXPLORING_RATED = "no_exploring_rated"
    NO_EXPLORING_PLAYING = "no_exploring_playing"
    EXPLORE_LATER = "explore_later"


COUNTED_PLIES = 30
"""So many plies of each battle are counted."""

MOST_TOLD = 20
"""The most plies that are told of a position."""


class PlacedPly(NamedTuple):
    """A ply that was played from a place.

    Attributes:
        place: the number of the place.
        ply: the ply as records write it, seen as all see it who come there.
    """

    place: int
    ply: str


class Tried(NamedTuple):
    """How often a ply was played from a place, and how these battles ended.

    Attributes:
        times: in how many battles.
        dwarf: how many of them the dwarfs have won.
        troll: how many of them the trolls have won.
        drawn: how many of them are a draw. Of the others, the end is not known.
        lead: the dwarfs' score less the trolls', over all battles whose end is known.
        battle: the number of the best of them, see `is_better`.
    """

    times: int
    dwarf: int
    troll: int
    drawn: int
    lead: int
    battle: int

    @staticmethod
    def by(battle: Battle) -> Tried:
        """Return what one battle makes of it."""
        outcome: Outcome | None = battle.outcome
        if outcome is None:
            return Tried(1, 0, 0, 0, 0, battle.number)
        winner, lead = outcome.winner, outcome.score.dwarf - outcome.score.troll
        won = [int(winner is each) for each in (Side.DWARF, Side.TROLL, None)]
        return Tried(1, won[0], won[1], won[2], lead, battle.number)

    def and_one(self, battle: Battle, best: Battle) -> Tried:
        """Return it with one battle more; ``best`` is the best before."""
        one = Tried.by(battle)
        return Tried(
            self.times + 1,
            self.dwarf + one.dwarf,
            self.troll + one.troll,
            self.drawn + one.drawn,
            self.lead + one.lead,
            battle.number if is_better(battle, best) else best.number,
        )


def is_better(battle: Battle, other: Battle) -> bool:
    """Whether a battle is better known than another: by its players' ratings, or later."""
    return _standing(battle) > _standing(other)


def _standing(battle: Battle) -> tuple[int, float, int]:
    return sum(rating or 0 for rating in battle.ratings), battle.at, battle.number


def placed_plies(
    rules: str, opening: Position | None, moves: Iterable[Move], realm: str = ""
) -> tuple[PlacedPly, ...]:
    """Return what a battle has played from which places, each once.

    Args:
        rules: its ruleset's name.
        opening: the position that it began from; None for the ruleset's own.
        moves: its first plies.
        realm: its players', see `thudmud.game.projections.realm_of`.
    """
    ruleset, salt = RULESETS[rules], _salt(realm)
    fingerprints = fingerprints_of(ruleset)
    known = fingerprints.of(opening or ruleset.opening)
    found: dict[PlacedPly, None] = {}
    for move in moves:
        place, symmetries = fingerprints.number(known)
        found[PlacedPly(place ^ salt, written(move, symmetries))] = None
        known = fingerprints.after(known, move)
    return tuple(found)


def place_of(rules: str, position: Position, realm: str = "") -> tuple[int, Symmetry]:
    """Return the place that a position is, and what makes of it the image that all see there."""
    fingerprints = fingerprints_of(RULESETS[rules])
    place, symmetries = fingerprints.number(fingerprints.of(position))
    return place ^ _salt(realm), symmetries[0]


def _salt(realm: str) -> int:
    """Return what keeps the places of realms apart: a number from 0 up to 2**63 - 1."""
    digest = blake2b(realm.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1 if realm else 0


class ExploredPly(NamedTuple):
    """A ply that was played from a position.

    Attributes:
        move: the ply.
        tried: how often it was played, and how these battles ended.
        best: the best known of these battles.
    """

    move: Move
    tried: Tried
    best: Battle

    @property
    def lead(self) -> float | None:
        """The mean of the dwarfs' score less the trolls'; None if no end is known."""
        known = self.tried.dwarf + self.tried.troll + self.tried.drawn
        return self.tried.lead / known if known else None


class Explored(Value):
    """What has been played from a position.

    Attributes:
        plies: the plies, those first that were played most often; `MOST_TOLD` at most.
        others: how many other plies were played.
        times: how often any was played.
        best: the best known battle of all.
        left: how many battles are not counted yet, where the counts are being made anew.
    """

    plies: tuple[ExploredPly, ...] = ()
    others: int = 0
    times: int = 0
    best: Battle | None = None
    left: int = 0


class ExploredPosition(NamedTuple):
    """A position, and what has been played from it.

    Attributes:
        game: a battle that has come to it.
        number: the number of the battle that it was asked about; None if it was a board.
        found: what has been played.
        following: what that battle itself has played next, if anything.
    """

    game: Game
    number: int | None
    found: Explored
    following: Move | None = None

    @staticmethod
    def of(battle: Game, number: int, ply: int, found: Explored) -> ExploredPosition:
        """Return a position of a battle, with its own next ply as it was played.

        In a position that is its own image, others may stand for it.
        """
        game = battle.after(min(ply, len(battle.moves)))
        following = next(iter(battle.moves[len(game.moves) :]), None)
        if following:
            fingerprints = fingerprints_of(game.ruleset)
            _, symmetries = fingerprints.number(fingerprints.of(game.position))
            record = written(following, symmetries)
            plies = tuple(
                each._replace(move=following) if written(each.move, symmetries) == record else each
                for each in found.plies
            )
            found = replace(found, plies=plies)
        return ExploredPosition(game, number, found, following)


class ExploreLookup(Lookup[Explored]):
    """What has been played from a position, by a ruleset of that name."""

    rules: str
    position: Position
