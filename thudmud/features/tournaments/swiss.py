"""Swiss pairing, by FIDE's Double-Swiss System, with an outlook on the rounds to come.

FIDE made it for matches of two games in which each player has either colour once, which is what a
pairing is here.

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

It differs in that it looks ahead, and in sides:

- C.04.1 has the number of rounds declared beforehand (article 1), and nobody meets twice (2) or has
  a second bye (4) in any of them. FIDE's systems look at one round alone; if that leads into a dead
  end, it is the arbiter's to decide. Here a round is paired so that those to come can be held (see
  `thudmud.features.tournaments.outlook`). If the pairs by the rules prevent that, as many of the
  best are kept as can be; so does the Dutch System (C.04.3) when those below cannot be paired. If
  players have left, and there is no way without repeats, there are as few as possible in all rounds
  together.
- C.04.1 lets a player have one colour up to twice more than the other (6), and C.04.5 looks at no
  colours when it pairs. Here nobody begins more than once more with either side, which has the same
  effect as an absolute colour preference in C.04.3: two who have both begun once more with the same
  side do not meet. If they would, pairs near them change opponents, at the least cost in scores.
- Where both have begun as often with either side, it is whoever lets the next round be held like
  that; if either does, the usual rules for colours decide.
- [C7] and [C8] count in the last round as well.

In a field of more than `FEW` players each has opponents enough for any number of rounds, so there
sides alone are seen to, without looking ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
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

from thudmud.features.tournaments.matching import Joined, Mates, augment, complete
from thudmud.features.tournaments.outlook import Outlook, Pair

FEW = 42
"""The most players with whom a round is paired ahead. Any round of more leaves enough opponents:
a tournament has fewer rounds than half of them."""

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


def swiss_pairs(contestants: Sequence[Contestant], more: int = 0) -> tuple[list[Pair], int | None]:
    """Return the pairs of the next round by place, and who has the bye, if there is one.

    Who comes first in a pair has the dwarfs first. The best pairs come first.

    Args:
        contestants: those to be paired, two at least, who is seeded highest first.
        more: how many rounds are to follow, which are to be held as well.
    """
    outlooks: list[Outlook | None] = [None]
    if len(contestants) <= FEW:
        graph = _unmet(contestants)
        has_bye = len(graph) > len(contestants)
        outlooks = [Outlook(graph, rounds, has_bye=has_bye) for rounds in (more + 1, 1)] + [None]
    for outlook, met in product(outlooks, _met(contestants)):
        if outlook and outlook.gave_up:
            continue  # the next one looks less far
        found = (_round(contestants, met, bye, outlook) for bye in _byes(contestants))
        rounds = (each for each in found if each)
        if best := next(rounds, None):
            if outlook and not best.is_even:
                best = next((each for each in rounds if each.is_even), best)
            return best.pairs, best.bye
    raise AssertionError("those who may meet anybody can be paired")


class _Round(NamedTuple):
    """A round that could be held.

    Attributes:
        pairs: its pairs, who has the dwarfs first in front, best pairs first.
        bye: who has the bye.
        is_even: whether nobody begins twice more with one side, nor has to in the next round.
    """

    pairs: list[Pair]
    bye: int | None
    is_even: bool


def _round(
    contestants: Sequence[Contestant],
    met: Sequence[frozenset[int]],
    bye: int | None,
    outlook: Outlook | None,
) -> _Round | None:
    """Return a round; None if not all can be paired.

    Args:
        contestants: those to be paired.
        met: for each, whom they may not meet.
        bye: who has the bye.
        outlook: the rounds that are to be held, with this one; None for this one alone.
    """
    players = [place for place in range(len(contestants)) if place != bye]
    if not _pairable(players, met):
        return None
    resting = [] if bye is None else [(bye, len(contestants))]
    balances = [each.balance for each in contestants]

    def holds(pairs: Sequence[Pair]) -> bool:
        return outlook is None or outlook.goes_on([*resting, *pairs])

    pairs = _pairs_ahead(contestants, met, resting, outlook)
    if pairs is None:
        return None
    pairs = _evened(contestants, met, pairs, holds)
    if outlook and any(_lean(balances, *pair) for pair in pairs):
        barred = [one | two for one, two in zip(met, _leaning(balances), strict=True)]
        pairs = _pairs_ahead(contestants, barred, resting, outlook) or pairs
    is_even = not any(_lean(balances, *pair) for pair in pairs)
    sided = [_sides(contestants, *pair) for pair in pairs]
    following = outlook.after([*resting, *pairs]) if outlook else None
    if following is None:
        return _Round(sided, bye, is_even)
    looking_ahead = _with_sides_ahead(balances, sided, following)
    return _Round(looking_ahead or sided, bye, is_even and looking_ahead is not None)


def _pairs_ahead(
    contestants: Sequence[Contestant],
    met: Sequence[frozenset[int]],
    resting: Sequence[Pair],
    outlook: Outlook | None,
) -> list[Pair] | None:
    """Return the pairs of a round after which those to come can be held; None if there are none.

    The rules say who meet. If that leads into a dead end, one pair after the other is kept, the
    best first, while there is a way out that has all of them; the first pair without is struck out,
    and the rules pair those who are left anew.

    Args:
        contestants: those to be paired.
        met: for each, whom they may not meet.
        resting: who has the bye, as a pair with it.
        outlook: the rounds that are to be held; None for this one alone.
    """
    barred = [set(each) for each in met]
    kept = [*resting]
    way_out: Collection[frozenset[int]] | None = ()
    if outlook:
        way_out = outlook.first_round(kept, barred)
    while way_out is not None:
        done = {*chain(*kept)}
        unpaired = [place for place in range(len(contestants)) if place not in done]
        pairs = _Pairing(contestants, [*map(frozenset, barred)]).paired(unpaired)
        if outlook is None or outlook.goes_on([*kept, *pairs]):
            return [*kept[len(resting) :], *pairs]
        for one, two in pairs:
            if frozenset((one, two)) not in way_out:
                another = outlook.first_round([*kept, (one, two)], barred)
                if another is None:
                    barred[one].add(two)
                    barred[two].add(one)
                    break
                way_out = another
            kept.append((one, two))
        if outlook.gave_up:
            return None
    return None


def _unmet(contestants: Sequence[Contestant]) -> list[int]:
    """Return for each player whom they have not met, as bits; the bye, if any, comes last.

    Whoever had the bye has met it; when all have had it, nobody has.
    """
    size = len(contestants)
    everybody = (1 << size + size % 2) - 1
    unmet = [everybody & ~(1 << place) for place in range(size + size % 2)]

    def meet(one: int, two: int) -> None:
        unmet[one] &= ~(1 << two)
        unmet[two] &= ~(1 << one)

    all_had_it = all(each.has_bye for each in contestants)
    for place, each in enumerate(contestants):
        for other in each.opponents:
            if 0 <= other < size:  # else they are not paired now
                meet(place, other)
        if size % 2 and each.has_bye and not all_had_it:
            meet(place, size)
    return unmet


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


def _lean(balances: Sequence[int], one: int, two: int) -> int:
    """Return how many times more two players have both begun with the same side, at least."""
    low, high = sorted((balances[one], balances[two]))
    return max(low, -high, 0)


def _leaning(balances: Sequence[int]) -> list[frozenset[int]]:
    """Return for each player which others have begun more often with the same side as they."""
    ahead, behind = (
        {place for place, balance in enumerate(balances) if sign * balance > 0} for sign in (1, -1)
    )
    return [
        frozenset((ahead if balance > 0 else behind if balance else set()) - {place})
        for place, balance in enumerate(balances)
    ]


def _evened(
    contestants: Sequence[Contestant],
    met: Sequence[frozenset[int]],
    pairs: Sequence[Pair],
    holds: Callable[[list[Pair]], bool],
) -> list[Pair]:
    """Return pairs, best first, after changes that let sides even out where they could not.

    Two who have both begun more often with the same side change opponents with another pair: that
    by which the fewest meet somebody further away in score, and the nearest of these. For those to
    whom no single pair can help, changes go along a path of pairs.

    Args:
        contestants: those who are paired.
        met: for each, whom they may not meet.
        pairs: the pairs, the one ranked higher in front.
        holds: whether pairs may be changed to these.
    """
    balances = [each.balance for each in contestants]
    scores = [each.score for each in contestants]

    def apart(*some: Pair) -> float:
        return sum(abs(scores[one] - scores[two]) for one, two in some)

    def rank(place: int) -> tuple[float, int]:
        return -scores[place], place

    def ways(here: int) -> Iterator[tuple[int, float, int, list[Pair]]]:
        """Yield how a pair can change opponents: the lean left, the cost, with whom, and how."""
        one, two = evened[here]
        lean = _lean(balances, one, two)
        for there in sorted(range(len(evened)), key=lambda other: abs(other - here)):
            three, four = evened[there]
            for way in ([(one, four), (two, three)], [(one, three), (two, four)]):
                left = max(_lean(balances, *pair) for pair in way)
                if left < lean and all(lower not in met[upper] for upper, lower in way):
                    cost = max(0.0, apart(*way) - apart((one, two), (three, four)))
                    yield left, cost, there, way
                    if not (left or cost):
                        return

    evened = [*pairs]
    for here in range(len(evened)):
        if _lean(balances, *evened[here]):
            for _, _, there, way in sorted(ways(here), key=itemgetter(0, 1)):
                changed = [*evened]
                changed[here], changed[there] = (
                    (min(each, key=rank), max(each, key=rank)) for each in way
                )
                if holds(changed):
                    evened = changed
                    break
    if any(_lean(balances, *pair) for pair in evened):
        players = sorted(chain(*evened), key=rank)
        places = {player: place for place, player in enumerate(players)}
        mates: Mates = [None] * len(players)
        for one, two in evened:
            if not _lean(balances, one, two):
                mates[places[one]], mates[places[two]] = places[two], places[one]

        def may_meet(one: int, two: int) -> bool:
            one, two = players[one], players[two]
            return two not in met[one] and not _lean(balances, one, two)

        if complete(mates, may_meet):
            changed = [
                (players[one], players[int(two or 0)])
                for one, two in enumerate(mates)
                if one < int(two or 0)
            ]
            if holds(changed):
                return changed
    return evened


def _with_sides_ahead(
    balances: Sequence[int], pairs: Sequence[Pair], following: Outlook
) -> list[Pair] | None:
    """Return pairs with sides after which nobody has to begin twice more in the next round.

    Where both have begun as often with either side, either may begin: a few of these pairs change,
    the last ones first. With an even number, and nobody missing, there is a way: this round and the
    next make even circles, round which each can begin if the one before does not.

    Args:
        balances: how many times more each has begun with the dwarfs.
        pairs: the pairs, who has the dwarfs first in front.
        following: the rounds that follow.
    """
    then = _balances_after(balances, pairs)
    ahead, behind = (sum(sign * each > 0 for each in then) for sign in (1, -1))
    if 2 * max(ahead, behind) > len(then) + len(then) % 2:
        return None  # whoever begins, too many will have begun more often with the same side
    free = [place for place, (one, two) in enumerate(pairs) if balances[one] == balances[two] == 0]
    free.reverse()
    sets = chain.from_iterable(combinations(free, count) for count in range(len(free) + 1))
    for turned in islice(sets, MOST_TRIED):
        sided = [pair[::-1] if place in turned else pair for place, pair in enumerate(pairs)]
        if following.first_round((), _leaning(_balances_after(balances, sided))) is not None:
            return sided
    return None


def _balances_after(balances: Sequence[int], pairs: Sequence[Pair]) -> list[int]:
    """Return how many times more each has begun with the dwarfs, after a round."""
    then = [*balances]
    for first, second in pairs:
        then[first] += 1
        then[second] -= 1
    return then


def _sides(contestants: Sequence[Contestant], upper: int, lower: int) -> Pair:
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


class _Pairing:
    """The rules for a round, without a look at those to come.

    Args:
        contestants: those to be paired, and who has the bye.
        met: whom each may not meet.
    """

    def __init__(self, contestants: Sequence[Contestant], met: Sequence[frozenset[int]]) -> None:
        self._contestants, self._met = contestants, met

    def paired(self, players: Collection[int]) -> list[Pair]:
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

    def _folded(self, bracket: Sequence[int], upfloaters: frozenset[int]) -> list[Pair]:
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


def _first_in_order(bracket: Sequence[int], joined: Joined) -> list[Pair] | None:
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
