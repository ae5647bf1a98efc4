"""Swiss pairing, by FIDE's Double-Swiss System.

FIDE made it for matches of two games in which each player has either colour once, which is what a
pairing is here. So it weighs no colours when it looks for opponents, as the Dutch System does: it
only sees to it that who begins with which side evens out.

The rules, in our own words, are those of the FIDE Handbook, C.04.5, as applied from February 2026
(https://handbook.fide.com/chapter/DoubleSwissSystem202602); [C4] and so on are its criteria.

- Nobody meets twice [C1], or has a second bye, nor one after a match won by an opponent's absence
  [C2]; and everybody is paired [C3].
- The bye goes to the lowest score; of these, to who has played most matches, and is seeded lowest.
- The players of the highest score are paired among each other, then those of the next, and so on.
  If that does not come out even, some from below join them, called upfloaters: as few as possible
  [C4], of scores as high as possible [C5], so that the next score can still be paired with as few
  upfloaters [C6]; who met somebody of another score in the last round is spared if possible [C7],
  and so is whom they meet [C8].
- Among those who are paired with each other, the upper half meets the lower half in order of seeds:
  of 1 to 8, 1 meets 5, 2 meets 6. Where they have met before, the next in order is taken.

Three things differ. [C7] and [C8] count in the last round as well, since whoever pairs need not
know that it is the last. If two are to meet who have both begun twice more with one side than with
the other, they change opponents with the nearest pair that allows it. And where all cannot be
paired, there is a second bye, or else those may meet again who met longest ago.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import (
    chain,
    combinations,
    combinations_with_replacement,
    groupby,
    islice,
    product,
)
from operator import itemgetter
from typing import NamedTuple

from thudmud.play.matching import Joined, Mates, augment, complete

MOST_BALANCE = 2
"""How many times more players should begin with one side than with the other."""

MOST_TRIED = 500
"""How many sets of upfloaters are tried. Nearly always one of the first few will do."""


class Contestant(NamedTuple):
    """A player to be paired, as the rules see them. They are told apart by their place in a list.

    Attributes:
        score: their match points.
        opponents: whom they have played, in that order, by place; also players who are not paired
            now, by any other number.
        began: for each of these matches, whether they had the dwarfs first.
        has_bye: whether they had a bye, or won a match since nobody came.
        floated: whether they met somebody of another score in the last round.
    """

    score: float
    opponents: tuple[int, ...] = ()
    began: tuple[bool, ...] = ()
    has_bye: bool = False
    floated: bool = False

    @property
    def balance(self) -> int:
        """Return how many times more they had the dwarfs first than the trolls."""
        return 2 * sum(self.began) - len(self.began)


def swiss_pairs(contestants: Sequence[Contestant]) -> tuple[list[tuple[int, int]], int | None]:
    """Return the pairs of the next round by place, and who has the bye, if there is one.

    Who comes first in a pair has the dwarfs first. The best pairs come first.

    Args:
        contestants: those to be paired, two at least, who is seeded highest first.
    """
    for met in _met(contestants):
        for bye in _byes(contestants):
            players = [place for place in range(len(contestants)) if place != bye]
            if _pairable(players, met):
                pairs = _evened(contestants, met, _Round(contestants, met).paired(players))
                return [_sides(contestants, *pair) for pair in pairs], bye
    raise AssertionError("those who may meet anybody can be paired")


def _met(contestants: Sequence[Contestant]) -> Iterator[list[frozenset[int]]]:
    """Yield for each player whom they may not meet: fewer and fewer, and nobody in the end."""
    places = range(len(contestants))
    for forgotten in range(max(len(each.opponents) for each in contestants) + 1):
        met = [set(each.opponents[forgotten:]) for each in contestants]
        for place in places:
            for other in met[place]:
                if other in places:  # else they are not paired now
                    met[other].add(place)
        yield [*map(frozenset, met)]


def _byes(contestants: Sequence[Contestant]) -> Iterator[int | None]:
    """Yield who may have the bye, the first choice first; None if nobody has one."""
    if len(contestants) % 2 == 0:
        yield None
        return

    def choice(place: int) -> tuple[bool, float, int, int]:
        each = contestants[place]
        return each.has_bye, each.score, -len(each.opponents), -place

    yield from sorted(range(len(contestants)), key=choice)


def _evened(
    contestants: Sequence[Contestant],
    met: Sequence[frozenset[int]],
    pairs: Sequence[tuple[int, int]],
) -> list[tuple[int, int]]:
    """Return pairs, best first, after changes that let sides even out where they could not."""

    def evens_out(one: int, two: int) -> bool:
        balances = contestants[one].balance, contestants[two].balance
        return min(balances) < MOST_BALANCE and max(balances) > -MOST_BALANCE

    def by_rank(one: int, two: int) -> tuple[int, int]:
        is_first = (-contestants[one].score, one) < (-contestants[two].score, two)
        return (one, two) if is_first else (two, one)

    evened = [*pairs]
    for here in range(len(evened)):
        one, two = evened[here]
        if evens_out(one, two):
            continue
        for there in sorted(range(len(evened)), key=partial(_distance, here)):
            three, four = evened[there]
            ways = ((one, three), (two, four)), ((one, four), (two, three))
            able = (way for way in ways if all(b not in met[a] and evens_out(a, b) for a, b in way))
            if way := next(able, None):
                evened[here], evened[there] = (by_rank(*pair) for pair in way)
                break
    return evened


def _distance(one: int, two: int) -> int:
    return abs(one - two)


def _sides(contestants: Sequence[Contestant], upper: int, lower: int) -> tuple[int, int]:
    """Return a pair with who has the dwarfs first in front; ``upper`` is the one ranked higher."""
    begins = has_dwarfs_first(contestants[upper], contestants[lower], by_lot=upper % 2 == 0)
    return (upper, lower) if begins else (lower, upper)


def has_dwarfs_first(upper: Contestant, lower: Contestant, *, by_lot: bool) -> bool:
    """Whether ``upper``, the one ranked higher, has the dwarfs in the first battle of a match.

    It is who has had them first less often than the other; else both change what they had when it
    last differed; else ``upper`` changes what they had last; else ``by_lot`` says so.
    """
    if upper.balance != lower.balance:
        return upper.balance < lower.balance
    for one, two in zip(reversed(upper.began), reversed(lower.began), strict=False):
        if one != two:
            return two
    if upper.began:
        return not upper.began[-1]
    return lower.began[-1] if lower.began else by_lot


class _Round:
    """A round that is being paired.

    Args:
        contestants: those to be paired, and who has the bye.
        met: whom each may not meet.
    """

    def __init__(self, contestants: Sequence[Contestant], met: Sequence[frozenset[int]]) -> None:
        self._contestants, self._met = contestants, met

    def paired(self, players: Collection[int]) -> list[tuple[int, int]]:
        """Return the pairs, the one ranked higher in front, best pairs first."""
        unpaired = sorted(players, key=lambda each: (-self._contestants[each].score, each))
        pairs = []
        while unpaired:
            bracket, upfloaters = self._bracket(unpaired)
            pairs += self._folded(bracket, upfloaters)
            unpaired = [each for each in unpaired if each not in bracket]
        return pairs

    def _score(self, place: int) -> float:
        return self._contestants[place].score

    def _bracket(self, unpaired: Sequence[int]) -> tuple[list[int], frozenset[int]]:
        """Return who are paired with each other next, by rank, and which of them are upfloaters."""
        top, below = self._top(unpaired)
        best: tuple[tuple[bool, int], tuple[int, ...]] | None = None
        for floaters in islice(self._floaters(top, below), MOST_TRIED):
            if best and [*map(self._score, floaters)] != [*map(self._score, best[1])]:
                break  # there are more of them [C4], or with a lower score [C5]
            rest = [each for each in below if each not in floaters]
            if self._pairable([*top, *floaters]) and self._pairable(rest):
                again = sum(self._contestants[each].floated for each in floaters)  # [C7]
                found = (not self._goes_on(rest), again), floaters
                best = min(best, found, key=itemgetter(0)) if best else found
                if best[0] == (False, 0):
                    break
        chosen = best[1] if best else self._any_floaters(top, below)
        return [*top, *chosen], frozenset(chosen)

    def _top(self, unpaired: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the players with the highest score, and the others."""
        highest = self._score(unpaired[0])
        top = [each for each in unpaired if self._score(each) == highest]
        return top, [*unpaired[len(top) :]]

    def _floaters(self, top: Sequence[int], below: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield who could be the upfloaters: as few as possible, by score and then by seed."""
        groups = [tuple(each) for _, each in groupby(below, self._score)]
        fewest = max(self._left_over(top), self._left_over(below))
        for count in range(fewest, min(len(top), len(below)) + 1, 2):
            for chosen in combinations_with_replacement(range(len(groups)), count):
                counts = [(groups[group], len([*each])) for group, each in groupby(chosen)]
                for parts in product(*(combinations(group, many) for group, many in counts)):
                    yield tuple(chain(*parts))

    def _left_over(self, players: Sequence[int]) -> int:
        """Return how many are left over when as many as possible of some players are paired."""
        if _have_met_few(players, self._met):
            return len(players) % 2
        return self._paired_among(players).count(None)

    def _any_floaters(self, top: Sequence[int], below: Sequence[int]) -> tuple[int, ...]:
        """Return upfloaters with whom all can be paired, about as few as possible."""
        players = [*top, *below]
        mates = [*self._paired_among(top)]
        mates += [None if each is None else each + len(top) for each in self._paired_among(below)]
        complete(mates, lambda one, two: players[two] not in self._met[players[one]])
        return tuple(players[each] for each in mates[: len(top)] if each and each >= len(top))

    def _paired_among(self, players: Sequence[int]) -> Mates:
        """Pair as many as possible of some players."""
        mates: Mates = [None] * len(players)
        for place, mate in enumerate(mates):
            if mate is None:
                augment(mates, place, lambda one, two: players[two] not in self._met[players[one]])
        return mates

    def _goes_on(self, rest: Sequence[int]) -> bool:
        """Whether the highest score of the rest can be paired with one upfloater at most [C6]."""
        if not rest:
            return True
        top, below = self._top(rest)
        for floaters in combinations(below, len(top) % 2):
            others = [each for each in below if each not in floaters]
            if self._pairable([*top, *floaters]) and self._pairable(others):
                return True
        return False

    def _pairable(self, players: Sequence[int]) -> bool:
        return _pairable(players, self._met)

    def _folded(self, bracket: Sequence[int], upfloaters: frozenset[int]) -> list[tuple[int, int]]:
        """Return the pairs of those who are paired with each other.

        The pairs are those that come first in order: by who are the upper ones of all pairs, and
        then by whom these meet.
        """
        known = self._contestants

        def may_meet(one: int, two: int) -> bool:
            return two not in self._met[one]

        def spares(one: int, two: int) -> bool:
            """Whether they may meet, and no upfloater meets who floated in the last round [C8]."""
            return may_meet(one, two) and not (
                (one in upfloaters and known[two].floated)
                or (two in upfloaters and known[one].floated)
            )

        for joined in (spares, may_meet):
            if (found := _first_in_order(bracket, joined)) is not None:
                return found
        raise AssertionError("those of a bracket can be paired")


def _pairable(players: Sequence[int], met: Sequence[frozenset[int]]) -> bool:
    """Whether players can all be paired with somebody whom they have not met."""
    size = len(players)
    if size % 2:
        return False
    if _have_met_few(players, met):
        return True
    return complete([None] * size, lambda one, two: players[two] not in met[players[one]])


def _have_met_few(players: Sequence[int], met: Sequence[frozenset[int]]) -> bool:
    """Whether each may meet half of the players: then there is a way to pair all, or all but one.

    (By Dirac's theorem there is even a circle.) It saves most of the work: in a large tournament
    nobody has met more than a few.
    """
    return all(len(players) - 1 - len(met[each]) >= len(players) // 2 for each in players)


def _first_in_order(bracket: Sequence[int], joined: Joined) -> list[tuple[int, int]] | None:
    """Return the first of all ways to pair players, who are in order; None if there is none.

    Ways are in order of who is the upper one in each pair, then of whom these meet: where all may
    meet, the upper ones of 8 are 1 2 3 4, and they meet 5 6 7 8.
    """
    size = len(bracket)
    is_upper: list[bool | None] = [None] * size
    settled: set[int] = set()

    def allowed(one: int, two: int) -> bool:
        upper, lower = (one, two) if one < two else (two, one)
        if is_upper[upper] is False or is_upper[lower] or not settled.isdisjoint((one, two)):
            return False
        return joined(bracket[one], bracket[two])

    mates: Mates = [None] * size
    for upper in range(size // 2):  # nearly always the first way is this one, or close to it
        for lower in range(size // 2, size):
            if mates[lower] is None and allowed(upper, lower):
                mates[upper], mates[lower] = lower, upper
                break
    if not complete(mates, allowed):
        return None

    def changed(one: int, two: int | None) -> bool:
        """Give a player another mate, or any other if None, and whether all can still be paired."""
        before = mates[:]
        for each in (one, two):
            if each is not None and (mate := mates[each]) is not None:
                mates[each] = mates[mate] = None
        if two is not None:
            mates[one], mates[two] = two, one
            settled.update((one, two))
        if complete(mates, allowed):
            return True
        mates[:] = before
        settled.difference_update((one, two))
        return False

    for place in range(size):
        is_upper[place] = is_upper.count(True) < size // 2
        if is_upper[place] and int(mates[place] or 0) < place:
            is_upper[place] = changed(place, None)
    uppers = [place for place in range(size) if is_upper[place]]
    for upper in uppers:
        for lower in range(upper + 1, size):
            if not is_upper[lower] and allowed(upper, lower):
                if mates[upper] == lower:
                    settled |= {upper, lower}
                    break
                if changed(upper, lower):
                    break
    return [(bracket[upper], bracket[int(mates[upper] or 0)]) for upper in uppers]
