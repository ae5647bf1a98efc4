"""Pairing of tournaments: round robin, Swiss, knock-out and arena.

A pairing is one match of two battles, with sides exchanged for the second. Players take turns at
having the dwarfs first. Pairing is deterministic: the same arguments give the same pairings,
without a clock or chance.

    round = pair(TournamentKind.SWISS, entrants, rounds)     # () if there is nothing more to pair

`thudmud.features.tournaments.standings` ranks the players. `thudmud.features.tournaments.swiss` has
the rules of Swiss pairing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf

from thudmud.errors import InvalidValueError
from thudmud.features.tournaments.matching import Mates, MayPair, complete_matching
from thudmud.features.tournaments.swiss import Contestant, has_dwarfs_first, swiss_pairs
from thudmud.game.events import BattleScore, TournamentKind
from thudmud.values import Value


class MatchResult(Value):
    """The result of a pairing.

    Attributes:
        battles: the scores of the battles that were played.
        absent: the players who didn't come, or gave up the match, and so lost it: none, one or
            both.
        numbers: the numbers of the battles in the archive, if known.
    """

    battles: tuple[BattleScore, ...] = ()
    absent: tuple[str, ...] = ()
    numbers: tuple[int | None, ...] = ()


class Entrant(Value):
    """A player of a tournament.

    Attributes:
        player: the player's name.
        rating: the rating at entry; higher ratings are seeded higher.
        entered: the first round that the player takes part in.
        left: the first round that the player no longer takes part in; None if they haven't left.
    """

    player: str
    rating: float
    entered: int = 1
    left: int | None = None

    def plays(self, number: int) -> bool:
        """Whether the player takes part in a round, counted from 1."""
        return self.entered <= number and (self.left is None or number < self.left)


class Pairing(Value):
    """A match of a round, or a bye.

    Attributes:
        first: the player with the dwarfs in the first battle, or with the bye.
        second: the player with the dwarfs in the second battle; None for a bye, which counts as a
            win.
        result: the result; None while the match goes on, and for a bye.
    """

    first: str
    second: str | None
    result: MatchResult | None = None

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise InvalidValueError(f"expected two different players, got {self.first} twice")
        if self.result and not set(self.result.absent) <= set(self.players):
            raise InvalidValueError(
                f"expected absent players from {self.players}, got {self.result.absent}"
            )

    @property
    def players(self) -> tuple[str, ...]:
        """The players, one or two."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def is_bye(self) -> bool:
        """Whether the player has no opponent."""
        return self.second is None

    @property
    def is_over(self) -> bool:
        """Whether the match is over, or a bye."""
        return self.result is not None or self.second is None

    @property
    def was_played(self) -> bool:
        """Whether both players came, and the match was played to its end."""
        return self.result is not None and not self.result.absent

    @property
    def is_level(self) -> bool:
        """Whether the match was played, and ended level in battle points."""
        return self.was_played and self.battle_points(self.first) == 0

    def opponent(self, player: str) -> str | None:
        """Return a player's opponent; None for a bye."""
        return self.second if player == self.first else self.first

    def battle_points(self, player: str) -> int:
        """Return a player's lead over the opponent, added up over all battles so far."""
        battles = self.result.battles if self.result else ()
        ahead = sum(each.first - each.second for each in battles)
        return ahead if player == self.first else -ahead

    def match_points(self, player: str) -> float:
        """Return a player's match points: 1, 0.5 or 0; 0 while the match goes on."""
        if self.second is None:
            return 1.0
        if self.result is None:
            return 0.0
        if self.result.absent:
            return 0.0 if player in self.result.absent else 1.0
        ahead = self.battle_points(player)
        return 1.0 if ahead > 0 else 0.5 if ahead == 0 else 0.0

    def shortest_win(self, player: str) -> float:
        """Return the length in plies of the shortest battle that a player won; inf without one."""
        won = [
            each.plies
            for each in (self.result.battles if self.result else ())
            if (each.first - each.second) * (1 if player == self.first else -1) > 0
        ]
        return min(won, default=inf)


USUAL_ROUNDS = 5
"""The default number of rounds of a Swiss with 5 to 32 players."""

Rounds = Sequence[Sequence[Pairing]]
"""The pairings of each round so far, as `pair` returned them, with their results."""


def sort_by_seed(entrants: Iterable[Entrant]) -> list[Entrant]:
    """Return entrants in order of seeding: by rating, then by order of entry."""
    return sorted(entrants, key=lambda each: -each.rating)


def field_size(entrants: Iterable[Entrant]) -> int:
    """Return the number of entrants in the first round, which determines the number of rounds."""
    return sum(each.entered == 1 for each in entrants)


def rounds_of(kind: TournamentKind, entrants: int, asked: int | None = None) -> int | None:
    """Return the number of rounds; None for an arena, which ends by time.

    A Swiss has at most as many rounds as are possible without a second meeting. The default is
    `USUAL_ROUNDS`, or as many as leave at most one player with nothing but wins, if that is more.

    Args:
        kind: the kind of tournament.
        entrants: the number of entrants in the first round.
        asked: the number of rounds that was asked for, for a Swiss.
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
    """Return the pairings of the next round; () if there is nothing more to pair.

    A pairing may be over already: a bye, or a match lost by a player who has left. A round robin
    and a knock-out come to an end by themselves. A Swiss doesn't; but within its number of rounds
    (see `rounds_of`), each is paired so that the remaining ones are possible.

    Args:
        kind: any but an arena, for which see `pair_free`.
        entrants: everybody who ever entered, in order of entry. For a round robin and a knock-out
            they are the same in all rounds, except that players may leave.
        rounds: the rounds so far, all of them over.
        asked: the number of rounds that was asked for, for a Swiss; None for the default.

    Raises:
        InvalidValueError: a pairing of the last round isn't over, or this is an arena.
    """
    if unfinished := sum(not pairing.is_over for each in rounds for pairing in each):
        raise InvalidValueError(f"expected all pairings to be over, got {unfinished} unfinished")
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
            raise InvalidValueError("expected a kind with rounds, got an arena")


def pair_free(
    entrants: Sequence[Entrant], pairings: Sequence[Pairing], free: Sequence[str]
) -> tuple[Pairing, ...]:
    """Return pairings of the free players of an arena.

    They are paired by score. Nobody meets the same opponent twice in a row, unless only two players
    are left in the arena. Players who can't be paired wait; if the number is odd, the one who has
    waited least.

    Args:
        entrants: everybody who ever entered, in order of entry.
        pairings: all pairings so far, in order; some may not be over.
        free: the names of the free players, longest wait first.
    """
    here = [each for each in sort_by_seed(entrants) if each.player in free]
    records = _records(entrants, [pairings])
    ranked = sorted(here, key=lambda each: -records[each.player].score)
    names = [each.player for each in ranked]
    latest: dict[str, str | None] = {}
    for pairing in pairings:
        latest |= {player: pairing.opponent(player) for player in pairing.players}
    are_alone = sum(each.left is None for each in entrants) <= 2

    def may_pair(one: int, two: int) -> bool:
        is_again = latest.get(names[one]) == names[two] or latest.get(names[two]) == names[one]
        return are_alone or not is_again

    for waiting in _waiting_candidates(free):
        paired = [place for place, name in enumerate(names) if name not in waiting]
        if mates := pair_by_rank(paired, may_pair):
            return tuple(
                _assign_sides(ranked[upper], ranked[lower], records, ranked, ())
                for upper, lower in mates
            )
    return ()


def advancing_player(pairing: Pairing, entrants: Iterable[Entrant]) -> str | None:
    """Return the player who advances in a knock-out; None if nobody does, or not yet.

    If a match ends level, the player with the shorter won battle advances; else the higher seed.
    """
    first, second, result = pairing.first, pairing.second, pairing.result
    if second is None:
        return first
    if result is None:
        return None
    there = [player for player in pairing.players if player not in result.absent]
    if len(there) < 2:
        return there[0] if there else None
    order = [each.player for each in sort_by_seed(entrants)]

    def merit(player: str) -> tuple[int, float, int]:
        return -pairing.battle_points(player), pairing.shortest_win(player), order.index(player)

    return min(pairing.players, key=merit)


# --- the kinds -----------------------------------------------------------------------------------


def _round_robin(entrants: Sequence[Entrant], done: int, *, cycles: int) -> tuple[Pairing, ...]:
    """Return a round by the Berger tables of the FIDE Handbook, C.05 annex 1.

    The last of an even number of players meets the others one after the other. The remaining
    players stand in a circle, and those at equal distances from that opponent, before and after,
    meet. In a double round robin, the last two rounds of the first cycle are exchanged, as the
    handbook advises, so that nobody begins with the same side three times running.
    """
    names = [each.player for each in sort_by_seed(entrants)]
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
        _make_pairing(names[first], names[second], left)
        for first, second in pairs
        if max(first, second) < len(names)  # else the other one rests, as everybody does once
    )


def _swiss(entrants: Sequence[Entrant], rounds: Rounds, asked: int | None) -> tuple[Pairing, ...]:
    here = [each for each in sort_by_seed(entrants) if each.plays(len(rounds) + 1)]
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
    """Return the next knockout round. With 8 seeds the bracket order is 1 8 4 5 2 7 3 6.

    A slot in the bracket is empty if there are too few players, or if nobody advances to it.
    """
    seeds = sort_by_seed(entrants)
    order = [0]
    while len(order) < len(seeds):
        order = [place for seed in order for place in (seed, 2 * len(order) - 1 - seed)]
    bracket = [seeds[seed] if seed < len(seeds) else None for seed in order]
    known = {each.player: each for each in entrants}
    for each in rounds:
        ends = {
            player: advancing_player(pairing, entrants)
            for pairing in each
            for player in pairing.players
        }
        winners = (
            next((ends.get(entrant.player) for entrant in pair if entrant), None)
            for pair in zip(bracket[::2], bracket[1::2], strict=True)
        )
        bracket = [known[winner] if winner else None for winner in winners]
    if len(bracket) < 2:
        return ()
    left = {each.player for each in entrants if not each.plays(len(rounds) + 1)}
    records = _records(entrants, rounds)
    pairings = []
    for one, two in zip(bracket[::2], bracket[1::2], strict=True):
        here = sorted(filter(None, (one, two)), key=seeds.index)
        if len(here) == 2:
            pairings.append(_assign_sides(here[0], here[1], records, seeds, left))
        elif here and here[0].player not in left:
            pairings.append(Pairing(here[0].player, None))
    return tuple(pairings)


def _waiting_candidates(free: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield candidates for waiting: as few players as possible, and shortest waits first."""
    for count in range(len(free) % 2, len(free), 2):
        yield from combinations(free[::-1], count)


def pair_by_rank(places: Sequence[int], may_pair: MayPair) -> list[tuple[int, int]]:
    """Pair all these players, near neighbours where possible; return [] if impossible.

    A greedy pairing by rank is extended to a perfect matching.
    """
    mates: Mates = [None] * len(places)

    def may_meet(one: int, two: int) -> bool:
        return may_pair(places[one], places[two])

    for upper in range(len(places)):
        for lower in range(upper + 1, len(places)):
            if mates[upper] is None and mates[lower] is None and may_meet(upper, lower):
                mates[upper], mates[lower] = lower, upper
    if not complete_matching(mates, may_meet):
        return []
    pairs = ((upper, int(mate or 0)) for upper, mate in enumerate(mates))
    return [(places[upper], places[lower]) for upper, lower in pairs if upper < lower]


def _make_pairing(first: str, second: str, left: Collection[str]) -> Pairing:
    """Return a pairing, which is lost for players who have left."""
    absent = tuple(player for player in (first, second) if player in left)
    return Pairing(first, second, MatchResult((), absent) if absent else None)


def _assign_sides(
    upper: Entrant,
    lower: Entrant,
    records: Mapping[str, _Record],
    order: Sequence[Entrant],
    left: Collection[str],
) -> Pairing:
    """Return a pairing with sides that even out; a newcomer's lot is the parity of their place."""
    one, two = (records[each.player].contestant() for each in (upper, lower))
    if has_dwarfs_first(one, two, by_lot=order.index(upper) % 2 == 0):
        return _make_pairing(upper.player, lower.player, left)
    return _make_pairing(lower.player, upper.player, left)


@dataclass
class _Record:
    """A player's results so far.

    Attributes:
        score: match points.
        met: the opponents, in order.
        began: for each of these matches, whether the player had the dwarfs first.
        has_bye: whether the player had a bye, or won a match because the opponent didn't come.
        floated: whether the opponent in the last round had another score.
    """

    score: float = 0.0
    met: list[str] = field(default_factory=list)
    began: list[bool] = field(default_factory=list)
    has_bye: bool = False
    floated: bool = False

    def contestant(self, opponents: Iterable[int] = ()) -> Contestant:
        """Convert the record for Swiss pairing, with opponents by index."""
        return Contestant(
            self.score, tuple(opponents), tuple(self.began), self.has_bye, self.floated
        )


def _records(entrants: Iterable[Entrant], rounds: Rounds) -> dict[str, _Record]:
    """Return the records of everybody who ever entered, by name."""
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
                if pairing.was_played and other:
                    record.met.append(other)
                    record.began.append(player == pairing.first)
                    record.floated = before[player] != before[other]
                elif points:
                    record.has_bye = True
    return records
