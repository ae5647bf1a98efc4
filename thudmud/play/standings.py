"""What players have won and lost, and how good that makes them. The only importer of openskill.

Every battle and match that ended here is tallied. A battle that counts for ratings is one game of
the Bradley-Terry model of openskill (Weng and Lin, a Bayesian successor of Glicko): each player is
a normal distribution, and a win, draw or loss moves and narrows both. Tallies and ratings are
folded from the battles of an archive, in the order in which they ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from openskill.models import BradleyTerryFull, BradleyTerryFullRating

from thudmud.play.archive import Archive, Battle
from thudmud.rules import Side

MIDDLE = 1500
"""The rating of a player who is not known yet."""
SCALE = 30
"""Points for one of openskill's own: with it, somebody who is 400 points better wins about ten
battles for every one lost, as chess players expect."""
SLICE = 200
"""Battles that are rated at a time: some 10 ms of work."""

_MODEL = BradleyTerryFull()
_RANKS: Mapping[Side | None, list[float]] = {
    Side.DWARF: [1, 2],
    Side.TROLL: [2, 1],
    None: [1, 1],
}


@dataclass(slots=True)
class Tally:
    """How often a player won, drew and lost."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    def count(self, *, mine: bool, theirs: bool) -> None:
        """Add one that the player, the opponent or neither has won."""
        self.won += mine
        self.lost += theirs
        self.drawn += not (mine or theirs)


@dataclass(frozen=True, slots=True)
class Rating:
    """How good a player is.

    Attributes:
        points: the rating, as a chess player would read it.
        uncertainty: one standard deviation of it, in points: it is as likely as two to one that the
            player is that near.
        battles: how many battles it rests on.
    """

    points: int
    uncertainty: int
    battles: int

    @property
    def proven(self) -> int:
        """What the player is good for, as good as certainly: players are ranked by that."""
        return self.points - 2 * self.uncertainty


@dataclass(slots=True)
class Tallies:
    """All that a player has won and lost.

    Attributes:
        name: as last written.
        battles: by ruleset's name and side.
        matches: by ruleset's name.
    """

    name: str
    battles: dict[tuple[str, Side], Tally] = field(default_factory=lambda: defaultdict(Tally))
    matches: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))


class Standings:
    """The tallies and ratings that an archive comes to. Names are the same in any case.

    Tallies are always those of the archive as it stands. Ratings take longer, so `rate` works them
    off: at a start in slices, later after every battle that has ended.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._tallied = 0
        self._scores: dict[str, Tallies] = {}
        self._considered = 0
        self._ratings: dict[str, BradleyTerryFullRating] = {}
        self._rated: defaultdict[str, int] = defaultdict(int)

    def rate(self, most: int = SLICE) -> bool:
        """Take the next battles that have ended, so many at most; return whether there are more."""
        ended = self._archive.ended
        for battle in ended[self._considered : self._considered + most]:
            self._considered += 1
            if battle.rated:
                self._rate(battle)
        return self.behind

    @property
    def behind(self) -> bool:
        """Whether there are battles that the ratings do not know of yet."""
        return self._considered < len(self._archive.ended)

    def score(self, player: str) -> Tallies | None:
        """Return what a player has won and lost; None if they have ended no battle."""
        self._tally()
        return self._scores.get(player.lower())

    def rating(self, player: str) -> Rating | None:
        """Return a player's rating; None if they have none."""
        key = player.lower()
        rating = self._ratings.get(key)
        if rating is None:
            return None
        points = MIDDLE + round(SCALE * (rating.mu - _MODEL.mu))
        return Rating(points, round(SCALE * rating.sigma), self._rated[key])

    def ranked(self) -> Mapping[str, Rating]:
        """Return the rating of everybody who has one by their names, the best first."""
        self._tally()
        ratings = {
            self._scores[key].name: rating
            for key in self._ratings
            if (rating := self.rating(key)) is not None
        }
        best = sorted(ratings.items(), key=lambda each: (-each[1].proven, each[0].lower()))
        return MappingProxyType(dict(best))

    def _rate(self, battle: Battle) -> None:
        players = battle.dwarf.lower(), battle.troll.lower()
        if battle.outcome is None or not all(players) or players[0] == players[1]:
            return
        teams = [[self._ratings.get(player) or _MODEL.rating()] for player in players]
        after = _MODEL.rate(teams, ranks=_RANKS[battle.outcome.winner])
        for player, [rating] in zip(players, after, strict=True):
            self._ratings[player] = rating
            self._rated[player] += 1

    def _tally(self) -> None:
        """Tally the battles that have ended since the last time."""
        ended = self._archive.ended
        for battle in ended[self._tallied :]:
            for side in Side:
                self._add(battle.player(side), side, battle)
        self._tallied = len(ended)

    def _add(self, player: str, side: Side, battle: Battle) -> None:
        score = self._scores.setdefault(player.lower(), Tallies(player))
        score.name = player
        winner = battle.outcome.winner if battle.outcome else None
        tally = score.battles[battle.rules, side]
        tally.count(mine=winner is side, theirs=winner is side.other)
        if battle.points:
            mine, theirs = battle.points if side is Side.DWARF else battle.points[::-1]
            score.matches[battle.rules].count(mine=mine > theirs, theirs=theirs > mine)
