"""Who meets whom in a tournament: round robin, Swiss, knock-out and arena.

A pairing is one match of two battles, the seats swapped for the second, so sides even out within
it; who has the dwarfs first alternates. What is paired depends on nothing but what is handed in:
there is no clock and no chance, and whoever pairs a round twice gets the same pairings.

    round = pair(TournamentKind.SWISS, entrants, rounds)     # () if there is nothing more to pair

`thudmud.features.tournaments.standings` tells who is ahead. `thudmud.features.tournaments.swiss`
has the rules of Swiss pairing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf

from thudmud.errors import InvalidValueError
from thudmud.features.tournaments.matching import Joined, Mates, complete
from thudmud.features.tournaments.swiss import Contestant, has_dwarfs_first, swiss_pairs
from thudmud.game.events import BattleScore, TournamentKind
from thudmud.values import Value


class MatchResult(Value):
    """How a pairing ended.

    Attributes:
        battles: its battles, those that were played.
        absent: who did not come, or gave up the match, and so lost it: nobody, one or both.
    """

    battles: tuple[BattleScore, ...] = ()
    absent: tuple[str, ...] = ()


class Entrant(Value):
    """A player of a tournament.

    Attributes:
        player: their name.
        rating: how strong they were when they entered; who is stronger is seeded higher.
        entered: the first round that they take part in.
        left: the first round that they take no part in any more; None while they are in.
    """

    player: str
    rating: float
    entered: int = 1
    left: int | None = None

    def plays(self, number: int) -> bool:
        """Whether they take part in the round of a number, from 1."""
        return self.entered <= number and (self.left is None or number < self.left)


class Pairing(Value):
    """A match of a round, or a bye.

    Attributes:
        first: who has the dwarfs in the first battle; or who has the bye.
        second: who has the dwarfs in the second battle; None for a bye, which is a match won.
        result: how it ended; None while it goes on, and for a bye.
    """

    first: str
    second: str | None
    result: MatchResult | None = None

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise InvalidValueError(f"{self.first} cannot meet themselves")
        if self.result and not set(self.result.absent) <= set(self.players):
            raise InvalidValueError(f"{self.result.absent} are not both in this pairing")

    @property
    def players(self) -> tuple[str, ...]:
        """Return its players, one or two."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def is_bye(self) -> bool:
        """Whether its player has nobody to meet."""
        return self.second is None

    @property
    def over(self) -> bool:
        """Whether nothing is left to be played of it."""
        return self.result is not None or self.second is None

    @property
    def played(self) -> bool:
        """Whether both came, and played it to its end."""
        return self.result is not None and not self.result.absent

    @property
    def is_level(self) -> bool:
        """Whether both came, and neither is ahead at its end."""
        return self.played and self.battle_points(self.first) == 0

    def opponent(self, player: str) -> str | None:
        """Return whom one of its players meets; None for a bye."""
        return self.second if player == self.first else self.first

    def battle_points(self, player: str) -> int:
        """Return by how much one of its players is ahead of the other, after all battles so far."""
        battles = self.result.battles if self.result else ()
        ahead = sum(each.first - each.second for each in battles)
        return ahead if player == self.first else -ahead

    def match_points(self, player: str) -> float:
        """Return the match points of one of its players: 1, 0.5 or 0, and 0 while it goes on."""
        if self.second is None:
            return 1.0
        if self.result is None:
            return 0.0
        if self.result.absent:
            return 0.0 if player in self.result.absent else 1.0
        ahead = self.battle_points(player)
        return 1.0 if ahead > 0 else 0.5 if ahead == 0 else 0.0

    def shortest_win(self, player: str) -> float:
        """Return the plies of the shortest battle that a player won; inf if they won none."""
        won = [
            each.plies
            for each in (self.result.battles if self.result else ())
            if (each.first - each.second) * (1 if player == self.first else -1) > 0
        ]
        return min(won, default=inf)


USUAL_ROUNDS = 5
"""How many rounds a Swiss has if nothing is said, in a field of 5 to 32."""

Rounds = Sequence[Sequence[Pairing]]
"""The pairings of each round so far, as `pair` made them, with their results."""


def seeded(entrants: Iterable[Entrant]) -> list[Entrant]:
    """Return entrants by strength, the strongest first; of equals, who entered first."""
    return sorted(entrants, key=lambda each: -each.rating)


def field_size(entrants: Iterable[Entrant]) -> int:
    """Return how many were there for the first round: these decide how many rounds there are."""
    return sum(each.entered == 1 for each in entrants)


def rounds_of(kind: TournamentKind, entrants: int, asked: int | None = None) -> int | None:
    """Return how many rounds a tournament has; None for an arena, which time ends.

    A Swiss has at most so many that nobody has to meet twice. If none are asked for, it has
    `USUAL_ROUNDS`, or as many more as it takes until only one can have won all matches.

    Args:
        kind: how it is paired.
        entrants: how many are there for the first round.
        asked: how many rounds were asked for, of a Swiss.
    """
    even = entrants + entrants % 2
    match kind:
        case TournamentKind.ROUND_ROBIN:
            return max(even - 1, 0)
        case TournamentKind.DOUBLE_ROUND_ROBIN:
            return 2 * max(even - 1, 0)
        case TournamentKind.KNOCK_OUT:
            return max(entrants - 1, 0).bit_length()
        case TournamentKind.SWISS:
            usual = max(USUAL_ROUNDS, (entrants - 1).bit_length())
            return min(asked or usual, max(even - 1, 0))
        case TournamentKind.ARENA:
            return None


def pair(
    kind: TournamentKind, entrants: Sequence[Entrant], rounds: Rounds, asked: int | None = None
) -> tuple[Pairing, ...]:
    """Return the pairings of the next round of a tournament; () if nobody is left to be paired.

    A pairing may be over already: a bye, or one whose player has left, which is lost without them.
    A round robin and a knock-out come to their end. A Swiss does not, but until it has had all of
    its rounds (see `rounds_of`), each is paired so that the others can be.

    Args:
        kind: any but an arena, for which see `pair_free`.
        entrants: all who ever entered, in that order, also those who have left. For a round robin
            and a knock-out they are the same in all rounds but for who has left.
        rounds: the rounds so far, all of them over.
        asked: how many rounds were asked for, of a Swiss; None for the usual number.

    Raises:
        InvalidValueError: a pairing of the last round goes on, or this is an arena.
    """
    if not all(pairing.over for each in rounds for pairing in each):
        raise InvalidValueError("a round is paired when those before it are over")
    match kind:
        case TournamentKind.ROUND_ROBIN:
            return _round_robin(entrants, len(rounds), cycles=1)
        case TournamentKind.DOUBLE_ROUND_ROBIN:
            return _round_robin(entrants, len(rounds), cycles=2)
        case TournamentKind.SWISS:
            return _swiss(entrants, rounds, asked)
        case TournamentKind.KNOCK_OUT:
            return _knock_out(entrants, rounds)
        case TournamentKind.ARENA:
            raise InvalidValueError("an arena has no rounds")


def pair_free(
    entrants: Sequence[Entrant], pairings: Sequence[Pairing], free: Sequence[str]
) -> tuple[Pairing, ...]:
    """Return the pairings of players of an arena who are free.

    They are paired by score, and not with whom they met last, unless there is no third player in
    the arena. Who cannot be paired waits; of an odd number, that is who has waited least.

    Args:
        entrants: all who ever entered, in that order.
        pairings: all pairings so far, in the order in which they were made; some may go on.
        free: the names of those to be paired, who has waited longest first.
    """
    here = [each for each in seeded(entrants) if each.player in free]
    records = _records(entrants, [pairings])
    ranked = sorted(here, key=lambda each: -records[each.player].score)
    names = [each.player for each in ranked]
    latest: dict[str, str | None] = {}
    for pairing in pairings:
        latest |= {player: pairing.opponent(player) for player in pairing.players}
    are_alone = sum(each.left is None for each in entrants) <= 2

    def joined(one: int, two: int) -> bool:
        is_again = latest.get(names[one]) == names[two] or latest.get(names[two]) == names[one]
        return are_alone or not is_again

    for waiting in _fewest(free):
        paired = [place for place, name in enumerate(names) if name not in waiting]
        if mates := _by_rank(paired, joined):
            return tuple(
                _with_sides(ranked[upper], ranked[lower], records, ranked, ())
                for upper, lower in mates
            )
    return ()


def goes_on(pairing: Pairing, entrants: Iterable[Entrant]) -> str | None:
    """Return who goes on to the next round of a knock-out; None if nobody does, or not yet.

    If a match ends level, it is who won a battle in fewer plies; else who is seeded higher.
    """
    first, second, result = pairing.first, pairing.second, pairing.result
    if second is None:
        return first
    if result is None:
        return None
    there = [player for player in pairing.players if player not in result.absent]
    if len(there) < 2:
        return there[0] if there else None
    order = [each.player for each in seeded(entrants)]

    def merit(player: str) -> tuple[int, float, int]:
        return -pairing.battle_points(player), pairing.shortest_win(player), order.index(player)

    return min(pairing.players, key=merit)


# --- the kinds -----------------------------------------------------------------------------------


def _round_robin(entrants: Sequence[Entrant], done: int, *, cycles: int) -> tuple[Pairing, ...]:
    """Return a round by the Berger tables of the FIDE Handbook, C.05 annex 1.

    The last player of an even number meets one after the other; of those who are left, two meet
    whose numbers are as far below as above that one's, round the circle. Of two cycles, the last
    two rounds of the first change places, as is advised there, so that nobody begins with one side
    three times running.
    """
    names = [each.player for each in seeded(entrants)]
    left = {each.player for each in entrants if not each.plays(done + 1)}
    size = len(names) + len(names) % 2
    length = size - 1
    if done >= cycles * length or len(names) - len(left) < 2:
        return ()
    cycle, index = divmod(done, length)
    if cycles == 2 and cycle == 0 and length > 1 and index >= length - 2:
        index = 2 * length - 3 - index
    middle = index // 2 + (size // 2 if index % 2 else 0)
    pairs = [(length, middle) if index % 2 else (middle, length)]
    pairs += [((middle + step) % length, (middle - step) % length) for step in range(1, size // 2)]
    if cycle:
        pairs = [(second, first) for first, second in pairs]
    return tuple(
        _paired(names[first], names[second], left)
        for first, second in pairs
        if max(first, second) < len(names)  # else somebody rests, as everybody does once
    )


def _swiss(entrants: Sequence[Entrant], rounds: Rounds, asked: int | None) -> tuple[Pairing, ...]:
    here = [each for each in seeded(entrants) if each.plays(len(rounds) + 1)]
    if len(here) < 2:
        return ()
    in_all = rounds_of(TournamentKind.SWISS, field_size(entrants), asked) or 0
    records = _records(entrants, rounds)
    places = {each.player: place for place, each in enumerate(here)}
    contestants = [
        records[each.player].contestant(
            [places.get(other, -1) for other in records[each.player].met]
        )
        for each in here
    ]
    pairs, bye = swiss_pairs(contestants, max(in_all - len(rounds) - 1, 0))
    pairings = [Pairing(here[first].player, here[second].player) for first, second in pairs]
    if bye is not None:
        pairings.append(Pairing(here[bye].player, None))
    return tuple(pairings)


def _knock_out(entrants: Sequence[Entrant], rounds: Rounds) -> tuple[Pairing, ...]:
    """Return a round in which neighbours in the tree meet; there, 1 to 8 stand 1 8 4 5 2 7 3 6.

    A place in the tree is empty if there are too few players, or if nobody goes on to it.
    """
    seeds = seeded(entrants)
    order = [0]
    while len(order) < len(seeds):
        order = [place for seed in order for place in (seed, 2 * len(order) - 1 - seed)]
    tree = [seeds[seed] if seed < len(seeds) else None for seed in order]
    known = {each.player: each for each in entrants}
    for each in rounds:
        ends = {
            player: goes_on(pairing, entrants) for pairing in each for player in pairing.players
        }
        winners = (
            next((ends.get(entrant.player) for entrant in pair if entrant), None)
            for pair in zip(tree[::2], tree[1::2], strict=True)
        )
        tree = [known[winner] if winner else None for winner in winners]
    if len(tree) < 2:
        return ()
    left = {each.player for each in entrants if not each.plays(len(rounds) + 1)}
    records = _records(entrants, rounds)
    pairings = []
    for one, two in zip(tree[::2], tree[1::2], strict=True):
        here = sorted(filter(None, (one, two)), key=seeds.index)
        if len(here) == 2:
            pairings.append(_with_sides(here[0], here[1], records, seeds, left))
        elif here and here[0].player not in left:
            pairings.append(Pairing(here[0].player, None))
    return tuple(pairings)


def _fewest(free: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield who could wait: as few as possible, and who has waited least first."""
    for count in range(len(free) % 2, len(free), 2):
        yield from combinations(free[::-1], count)


def _by_rank(places: Sequence[int], joined: Joined) -> list[tuple[int, int]]:
    """Return pairs of all of these, each with whom comes next if possible; none if it is not."""
    mates: Mates = [None] * len(places)

    def may_meet(one: int, two: int) -> bool:
        return joined(places[one], places[two])

    for upper in range(len(places)):
        for lower in range(upper + 1, len(places)):
            if mates[upper] is None and mates[lower] is None and may_meet(upper, lower):
                mates[upper], mates[lower] = lower, upper
    if not complete(mates, may_meet):
        return []
    pairs = ((upper, int(mate or 0)) for upper, mate in enumerate(mates))
    return [(places[upper], places[lower]) for upper, lower in pairs if upper < lower]


def _paired(first: str, second: str, left: Collection[str]) -> Pairing:
    """Return a pairing, which is lost by who has left."""
    absent = tuple(player for player in (first, second) if player in left)
    return Pairing(first, second, MatchResult((), absent) if absent else None)


def _with_sides(
    upper: Entrant,
    lower: Entrant,
    records: Mapping[str, _Record],
    order: Sequence[Entrant],
    left: Collection[str],
) -> Pairing:
    """Return a pairing in which sides even out; the place in ``order`` is the lot of newcomers."""
    one, two = (records[each.player].contestant() for each in (upper, lower))
    if has_dwarfs_first(one, two, by_lot=order.index(upper) % 2 == 0):
        return _paired(upper.player, lower.player, left)
    return _paired(lower.player, upper.player, left)


@dataclass
class _Record:
    """What a player has done so far.

    Attributes:
        score: their match points.
        met: whom they have played, in that order.
        began: for each of these matches, whether they had the dwarfs first.
        has_bye: whether they had a bye, or won a match since nobody came.
        floated: whether they met somebody of another score in the last round.
    """

    score: float = 0.0
    met: list[str] = field(default_factory=list)
    began: list[bool] = field(default_factory=list)
    has_bye: bool = False
    floated: bool = False

    def contestant(self, opponents: Iterable[int] = ()) -> Contestant:
        """Return what the rules of Swiss pairing look at, with opponents by place."""
        return Contestant(
            self.score, tuple(opponents), tuple(self.began), self.has_bye, self.floated
        )


def _records(entrants: Iterable[Entrant], rounds: Rounds) -> dict[str, _Record]:
    """Return by name what all who ever entered have done."""
    records = {each.player: _Record() for each in entrants}
    for pairings in rounds:
        before = {player: record.score for player, record in records.items()}
        for record in records.values():
            record.floated = False
        for pairing in pairings:
            for player in pairing.players:
                record, points = records[player], pairing.match_points(player)
                record.score += points
                other = pairing.opponent(player)
                if pairing.played and other:
                    record.met.append(other)
                    record.began.append(player == pairing.first)
                    record.floated = before[player] != before[other]
                elif points:
                    record.has_bye = True
    return records
