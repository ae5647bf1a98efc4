"""Swiss pairing by FIDE's Double-Swiss System, with look-ahead over the remaining rounds.

The Double-Swiss System is for matches of two games in which each player has either colour once. A
pairing of Thud is such a match.

The rules, in our own words, are those of the FIDE Handbook, C.04.5, as applied from February 2026
(https://handbook.fide.com/chapter/DoubleSwissSystem202602); [C4] and so on are its criteria.

- Nobody meets twice [C1], or has a second bye, or a bye after a match won by an opponent's absence
  [C2]; and everybody is paired [C3].
- The bye goes to the lowest score; of these, to the player with most matches, then to the lowest
  seed.
- The players with the highest score, the top scorers, are paired among each other, then those of
  the next score, and so on. If that doesn't come out even, players from below join them, called
  upfloaters: as few as possible [C4], with scores as high as possible [C5], so that the next score
  can still be paired with as few upfloaters as possible [C6]. Players who met another score in the
  last round are spared if possible [C7], and so are opponents of the upfloaters [C8].
- Within a bracket (top scorers and their upfloaters) the upper half meets the lower half in order
  of seeds: of 1 to 8, 1 meets 5, 2 meets 6. If two have met before, the next arrangement in order
  is taken.

We differ in looking ahead, and in sides:

- In C.04.1, the number of rounds is declared beforehand (article 1), and nobody meets twice (2) or
  has a second bye (4) in any of them. FIDE's systems look at one round alone; if that leads into a
  dead end, the arbiter decides. Here a round is paired so that the remaining ones can be held (see
  `thudmud.features.tournaments.outlook`). If the pairs by the rules prevent that, as many of the
  best are kept as possible, as in the Dutch System (C.04.3) when the lower brackets can't be
  paired. If players have left, and repeats are inevitable, there are as few as possible in all
  rounds together.
- C.04.1 lets a player have one colour up to twice more than the other (6), and C.04.5 ignores
  colours when it pairs. Here nobody begins more than once more with either side. This works like an
  absolute colour preference in C.04.3: two players who have both begun once more with the same side
  don't meet. Pairs that break this exchange opponents with others, at the least cost in scores.
- If both players have begun equally often with either side, the sides are chosen so that the next
  round can be held like that; if either choice allows it, the usual rules for colours decide.
- [C7] and [C8] apply to the last round as well.

In a field of more than `FEW` players, everybody has opponents enough for any number of rounds, so
there the look-ahead is skipped; only sides are evened.

Theory of operation
-------------------
`swiss_pairs` relaxes its demands step by step: with an outlook on all remaining rounds, then on
this round alone, then with none; and for each, first with all earlier opponents barred, then with
the oldest ones forgotten. For each it tries the candidates for the bye in order. The first round
found is taken.

A round is put together from brackets, from the top score down (`_Pairing`). Two orders of
candidates make "the first that fits" the best:

- Sets of upfloaters are tried by number [C4], then by score [C5], then by seed. Of sets equal in
  these two, the best by [C6], then by [C7], wins. A set is possible only if both the bracket and
  everybody below it have a perfect matching; so no later bracket can fail, and nothing is ever
  undone.
- Arrangements of a bracket are ordered lexicographically: first by the set of upper players, then
  by the opponent of the first upper player, of the second, and so on. There are too many to
  enumerate. `_first_in_order` decides one player after the other, and keeps a perfect matching as a
  witness that the decisions so far can be completed. A decision that breaks the witness is repaired
  by one augmenting path; if there is none, the next candidate is tried. So no decision is ever
  taken back, and the number of augmenting paths is at most quadratic.
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

from thudmud.features.tournaments.matching import (
    Mates,
    MayPair,
    augment_matching,
    complete_matching,
)
from thudmud.features.tournaments.outlook import Outlook, Pair

FEW = 42
"""The largest field that is paired with look-ahead. Any round in a larger one leaves enough
opponents: a tournament has fewer rounds than half its players."""

MOST_TRIED = 500
"""The most sets of upfloaters, or of exchanged sides, that are tried. Nearly always one of the
first few will do."""


class Contestant(NamedTuple):
    """A player to be paired, as the rules see one; identified by index in the list of contestants.

    Attributes:
        score: match points.
        opponents: earlier opponents in order, by index; any other number for players who aren't
            paired now.
        began: for each of these matches, whether the player had the dwarfs first.
        has_bye: whether the player had a bye, or won a match because the opponent didn't come.
        floated: whether the opponent in the last round had another score.
    """

    score: float
    opponents: tuple[int, ...] = ()
    began: tuple[bool, ...] = ()
    has_bye: bool = False
    floated: bool = False

    @property
    def balance(self) -> int:
        """How many more times the player had the dwarfs first than the trolls."""
        return 2 * sum(self.began) - len(self.began)


def swiss_pairs(contestants: Sequence[Contestant], more: int = 0) -> tuple[list[Pair], int | None]:
    """Return the pairs of the next round by index, best first, and the index of the bye or None.

    The first player of a pair has the dwarfs in the first battle.

    Args:
        contestants: the players to be paired, at least two, highest seed first.
        more: how many rounds are to follow, which must be possible as well.
    """
    outlooks: list[Outlook | None] = [None]
    if len(contestants) <= FEW:
        graph = _unmet(contestants)
        has_bye = len(graph) > len(contestants)
        outlooks = [Outlook(graph, rounds, has_bye=has_bye) for rounds in (more + 1, 1)] + [None]
    for outlook, met in product(outlooks, _met(contestants)):
        if outlook and outlook.is_exhausted:
            continue  # the next outlook covers fewer rounds
        found = (_round(contestants, met, bye, outlook) for bye in _byes(contestants))
        rounds = (each for each in found if each)
        if best := next(rounds, None):
            # A bye for somebody else may let the sides come out even.
            if outlook and not best.is_even:
                best = next((each for each in rounds if each.is_even), best)
            return best.pairs, best.bye
    raise AssertionError("players without restrictions can always be paired")


class _Round(NamedTuple):
    """A possible round.

    Attributes:
        pairs: its pairs, dwarfs first, best pairs first.
        bye: the index of the player with the bye, if any.
        is_even: whether nobody begins twice more with one side, now or necessarily in the next
            round.
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
    """Return a round with a given bye; None if not everybody can be paired.

    Args:
        contestants: the players to be paired.
        met: for each player, the opponents barred in this round.
        bye: the index of the player with the bye, if any.
        outlook: the rounds that must be possible, this one first; None for this one alone.
    """
    players = [place for place in range(len(contestants)) if place != bye]
    if not _can_pair_all(players, met):
        return None
    resting = [] if bye is None else [(bye, len(contestants))]
    balances = [each.balance for each in contestants]

    def holds(pairs: Sequence[Pair]) -> bool:
        return outlook is None or outlook.can_continue([*resting, *pairs])

    pairs = _pairs_ahead(contestants, met, resting, outlook)
    if pairs is None:
        return None
    pairs = _even_sides(contestants, met, pairs, holds)
    if outlook and any(_lean(balances, *pair) for pair in pairs):
        # Exchanges couldn't even the sides: pair anew, with pairs that lean barred from the start.
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
    """Return the pairs of a round after which those to come are possible; None if there are none.

    The rules propose the pairs. If these lead into a dead end, they are checked one by one, best
    first: a pair is kept if some possible round contains it and all pairs kept before. The first
    pair that fails is barred, and the rules pair the remaining players anew.

    Args:
        contestants: the players to be paired.
        met: for each player, the opponents barred in this round.
        resting: the bye, as a pair with the vertex after the last player; empty if there is none.
        outlook: the rounds that must be possible; None for this one alone.
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
        if outlook is None or outlook.can_continue([*kept, *pairs]):
            return [*kept[len(resting) :], *pairs]
        for one, two in pairs:
            # ``way_out`` is a round that contains all pairs kept so far and leaves the others
            # possible: a pair of it needs no new search.
            if frozenset((one, two)) not in way_out:
                another = outlook.first_round([*kept, (one, two)], barred)
                if another is None:
                    barred[one].add(two)
                    barred[two].add(one)
                    break
                way_out = another
            kept.append((one, two))
        if outlook.is_exhausted:
            return None
    return None


def _unmet(contestants: Sequence[Contestant]) -> list[int]:
    """Return for each player the possible opponents, as a bit set; the bye, if any, comes last.

    The bye counts as an opponent that a player has met; when all have had it, it is open to all
    again.
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
            if 0 <= other < size:  # players who aren't paired now have other numbers
                meet(place, other)
        if size % 2 and each.has_bye and not all_had_it:
            meet(place, size)
    return unmet


def _met(contestants: Sequence[Contestant]) -> Iterator[list[frozenset[int]]]:
    """Yield the barred opponents of each player: all earlier ones first, then fewer, at last none.

    The oldest matches are forgotten first.
    """
    places = range(len(contestants))
    for forgotten in range(max(len(each.opponents) for each in contestants) + 1):
        met = [set(each.opponents[forgotten:]) for each in contestants]
        for place in places:
            for other in met[place]:
                if other in places:  # see `_unmet`
                    met[other].add(place)
        yield [*map(frozenset, met)]


def _byes(contestants: Sequence[Contestant]) -> Iterator[int | None]:
    """Yield the candidates for the bye, first choice first; only None if the number is even."""
    if len(contestants) % 2 == 0:
        yield None
        return

    def choice(place: int) -> tuple[bool, float, int, int]:
        each = contestants[place]
        return each.has_bye, each.score, -len(each.opponents), -place

    yield from sorted(range(len(contestants)), key=choice)


def _lean(balances: Sequence[int], one: int, two: int) -> int:
    """Return by how much both players have begun more often with the same side; 0 if not."""
    low, high = sorted((balances[one], balances[two]))
    return max(low, -high, 0)


def _leaning(balances: Sequence[int]) -> list[frozenset[int]]:
    """Return for each player the others who have begun more often with the same side."""
    ahead, behind = (
        {place for place, balance in enumerate(balances) if sign * balance > 0} for sign in (1, -1)
    )
    return [
        frozenset((ahead if balance > 0 else behind if balance else set()) - {place})
        for place, balance in enumerate(balances)
    ]


def _even_sides(
    contestants: Sequence[Contestant],
    met: Sequence[frozenset[int]],
    pairs: Sequence[Pair],
    holds: Callable[[list[Pair]], bool],
) -> list[Pair]:
    """Exchange opponents between pairs so that sides can even out; return the pairs, best first.

    A pair whose players have both begun more often with the same side exchanges opponents with
    another pair: the one that evens the sides best, at the least cost in score differences, and of
    these the nearest. If no single exchange helps, augmenting paths rearrange several pairs at
    once.

    Args:
        contestants: the players who are paired.
        met: for each player, the opponents barred in this round.
        pairs: the pairs, the higher-ranked player first.
        holds: whether the remaining rounds are possible after the given pairs.
    """
    evening = _SideEvening(contestants, met)
    evened = [*pairs]
    for here in range(len(evened)):
        ways = evening.exchanges(evened, here)
        evened = next(filter(holds, ways), evened)
    rearranged = evening.rearrangement(evened)
    return rearranged if rearranged and holds(rearranged) else evened


class _SideEvening:
    """The ways to change pairs so that their players lean less to the same side.

    Args:
        contestants: the players who are paired.
        met: for each player, the opponents barred in this round.
    """

    def __init__(self, contestants: Sequence[Contestant], met: Sequence[frozenset[int]]) -> None:
        self._met = met
        self._balances = [each.balance for each in contestants]
        self._scores = [each.score for each in contestants]

    def exchanges(self, pairs: Sequence[Pair], here: int) -> Iterator[list[Pair]]:
        """Yield all pairs after each exchange of opponents that evens one pair, best first.

        A pair that doesn't lean needs none.
        """
        if not self._lean(pairs[here]):
            return
        for _, _, there, way in sorted(self._exchanges(pairs, here), key=itemgetter(0, 1)):
            changed = [*pairs]
            changed[here], changed[there] = (
                (min(each, key=self._rank), max(each, key=self._rank)) for each in way
            )
            yield changed

    def _exchanges(
        self, pairs: Sequence[Pair], here: int
    ) -> Iterator[tuple[int, float, int, list[Pair]]]:
        """Yield the exchanges of a pair: remaining lean, cost, the other pair, the new pairs."""
        one, two = pairs[here]
        lean = self._lean(pairs[here])
        for there in sorted(range(len(pairs)), key=lambda other: abs(other - here)):
            three, four = pairs[there]
            for way in ([(one, four), (two, three)], [(one, three), (two, four)]):
                left = max(map(self._lean, way))
                if left < lean and all(lower not in self._met[upper] for upper, lower in way):
                    cost = max(0.0, self._apart(*way) - self._apart((one, two), (three, four)))
                    yield left, cost, there, way
                    if not (left or cost):
                        return

    def rearrangement(self, pairs: Sequence[Pair]) -> list[Pair] | None:
        """Return pairs that don't lean; None if there are none, or none of the given ones leans.

        The pairs that lean are dissolved, and all others are a matching without them: a maximum
        matching without leaning pairs grows from it.
        """
        if not any(map(self._lean, pairs)):
            return None
        players = sorted(chain(*pairs), key=self._rank)
        places = {player: place for place, player in enumerate(players)}
        mates: Mates = [None] * len(players)
        for one, two in pairs:
            if not self._lean((one, two)):
                mates[places[one]], mates[places[two]] = places[two], places[one]

        def may_meet(one: int, two: int) -> bool:
            pair = players[one], players[two]
            return pair[1] not in self._met[pair[0]] and not self._lean(pair)

        if not complete_matching(mates, may_meet):
            return None
        return [
            (players[one], players[int(two or 0)])
            for one, two in enumerate(mates)
            if one < int(two or 0)
        ]

    def _lean(self, pair: Pair) -> int:
        return _lean(self._balances, *pair)

    def _apart(self, *pairs: Pair) -> float:
        """Return the sum of the score differences within pairs."""
        return sum(abs(self._scores[one] - self._scores[two]) for one, two in pairs)

    def _rank(self, place: int) -> tuple[float, int]:
        return -self._scores[place], place


def _with_sides_ahead(
    balances: Sequence[int], pairs: Sequence[Pair], following: Outlook
) -> list[Pair] | None:
    """Return pairs with sides such that nobody must begin twice more in the next round.

    In a pair of players who have both begun equally often with either side, the sides may be
    exchanged: this is done for as few pairs as possible, lowest-ranked first. With an even number,
    and nobody missing, that always works: the matches of this round and the next form even cycles,
    along which players can begin by turns.

    Args:
        balances: for each player, how many more times they began with the dwarfs.
        pairs: the pairs, dwarfs first.
        following: the rounds after this one.

    Returns:
        The pairs; None if there is no such choice of sides, or none is found.
    """
    then = _balances_after(balances, pairs)
    ahead, behind = (sum(sign * each > 0 for each in then) for sign in (1, -1))
    if 2 * max(ahead, behind) > len(then) + len(then) % 2:
        return None  # more than half lean to one side, so two of these must meet
    free = [place for place, (one, two) in enumerate(pairs) if balances[one] == balances[two] == 0]
    free.reverse()
    sets = chain.from_iterable(combinations(free, count) for count in range(len(free) + 1))
    for turned in islice(sets, MOST_TRIED):
        sided = [pair[::-1] if place in turned else pair for place, pair in enumerate(pairs)]
        if following.first_round((), _leaning(_balances_after(balances, sided))) is not None:
            return sided
    return None


def _balances_after(balances: Sequence[int], pairs: Sequence[Pair]) -> list[int]:
    """Return each player's balance (see `Contestant.balance`) after a round."""
    then = [*balances]
    for first, second in pairs:
        then[first] += 1
        then[second] -= 1
    return then


def _sides(contestants: Sequence[Contestant], upper: int, lower: int) -> Pair:
    """Return a pair, dwarfs first; ``upper`` is the higher-ranked player."""
    begins = has_dwarfs_first(contestants[upper], contestants[lower], by_lot=upper % 2 == 0)
    return (upper, lower) if begins else (lower, upper)


def has_dwarfs_first(upper: Contestant, lower: Contestant, *, by_lot: bool) -> bool:
    """Whether ``upper``, the higher-ranked player, has the dwarfs in the first battle of a match.

    The player who has had them first less often gets them. If both are equal, they alternate from
    the last match in which they began with different sides; else ``upper`` alternates from their
    own last match; else ``by_lot`` decides.
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
    """Pairs one Swiss round, without look-ahead.

    Args:
        contestants: all contestants, including the one with the bye.
        met: for each player, the opponents barred in this round.
    """

    def __init__(self, contestants: Sequence[Contestant], met: Sequence[frozenset[int]]) -> None:
        self._contestants, self._met = contestants, met

    def paired(self, players: Collection[int]) -> list[Pair]:
        """Return the pairs, best first, with the higher-ranked player of each in front."""
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
        """Return the next bracket, by rank, and its upfloaters."""
        top, below = self._top(unpaired)
        best: tuple[tuple[bool, int], tuple[int, ...]] | None = None
        for floaters in islice(self._floaters(top, below), MOST_TRIED):
            if best and [*map(self._score, floaters)] != [*map(self._score, best[1])]:
                break  # more of them [C4], or a lower score [C5], than in the best
            rest = [each for each in below if each not in floaters]
            if self._can_pair_all([*top, *floaters]) and self._can_pair_all(rest):
                again = sum(self._contestants[each].floated for each in floaters)  # [C7]
                found = (not self._can_continue(rest), again), floaters
                best = min(best, found, key=itemgetter(0)) if best else found
                if best[0] == (False, 0):
                    break
        chosen = best[1] if best else self._any_floaters(top, below)
        return [*top, *chosen], frozenset(chosen)

    def _top(self, unpaired: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the players with the highest score, and the rest."""
        highest = self._score(unpaired[0])
        top = [each for each in unpaired if self._score(each) == highest]
        return top, [*unpaired[len(top) :]]

    def _floaters(self, top: Sequence[int], below: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield sets of upfloaters by number [C4], then by score [C5], then by seed.

        At least as many must float up as a maximum matching of the top scorers, or of the rest,
        leaves over. One more would make the bracket odd, so the number grows in steps of two.
        """
        groups = [tuple(each) for _, each in groupby(below, self._score)]
        fewest = max(self._left_over(top), self._left_over(below))
        for count in range(fewest, min(len(top), len(below)) + 1, 2):
            for chosen in combinations_with_replacement(range(len(groups)), count):
                counts = [(groups[group], len([*each])) for group, each in groupby(chosen)]
                for parts in product(*(combinations(group, many) for group, many in counts)):
                    yield tuple(chain(*parts))

    def _left_over(self, players: Sequence[int]) -> int:
        """Return the number of players left unpaired by a maximum matching."""
        if _is_dirac_graph(players, self._met):
            return len(players) % 2
        return self._paired_among(players).count(None)

    def _any_floaters(self, top: Sequence[int], below: Sequence[int]) -> tuple[int, ...]:
        """Return upfloaters with whom everybody can be paired; not always the fewest.

        The last resort, if none of the first `MOST_TRIED` sets will do: two maximum matchings, of
        the top scorers and of the rest, are extended to a perfect one. The mates from below are the
        upfloaters.
        """
        players = [*top, *below]
        mates = [*self._paired_among(top)]
        mates += [None if each is None else each + len(top) for each in self._paired_among(below)]
        complete_matching(mates, lambda one, two: players[two] not in self._met[players[one]])
        return tuple(players[each] for each in mates[: len(top)] if each and each >= len(top))

    def _paired_among(self, players: Sequence[int]) -> Mates:
        """Return a maximum matching of the players, by position in ``players``."""
        mates: Mates = [None] * len(players)
        for place, mate in enumerate(mates):
            if mate is None:
                augment_matching(
                    mates, place, lambda one, two: players[two] not in self._met[players[one]]
                )
        return mates

    def _can_continue(self, rest: Sequence[int]) -> bool:
        """Whether the next bracket needs one upfloater at most [C6], and the rest pairs."""
        if not rest:
            return True
        top, below = self._top(rest)
        for floaters in combinations(below, len(top) % 2):
            others = [each for each in below if each not in floaters]
            if self._can_pair_all([*top, *floaters]) and self._can_pair_all(others):
                return True
        return False

    def _can_pair_all(self, players: Sequence[int]) -> bool:
        return _can_pair_all(players, self._met)

    def _folded(self, bracket: Sequence[int], upfloaters: frozenset[int]) -> list[Pair]:
        """Return the first arrangement of a bracket, with [C8] if possible."""
        known = self._contestants

        def may_meet(one: int, two: int) -> bool:
            return two not in self._met[one]

        def may_meet_under_c8(one: int, two: int) -> bool:
            """Whether two may meet, and neither is an upfloater who meets a recent floater [C8]."""
            return may_meet(one, two) and not (
                (one in upfloaters and known[two].floated)
                or (two in upfloaters and known[one].floated)
            )

        for joined in (may_meet_under_c8, may_meet):
            if (found := _first_in_order(bracket, joined)) is not None:
                return found
        raise AssertionError("every bracket has a pairing at this point")


def _can_pair_all(players: Sequence[int], met: Sequence[frozenset[int]]) -> bool:
    """Whether the players have a perfect matching without barred pairs."""
    size = len(players)
    if size % 2:
        return False
    if _is_dirac_graph(players, met):
        return True
    return complete_matching([None] * size, lambda one, two: players[two] not in met[players[one]])


def _is_dirac_graph(players: Sequence[int], met: Sequence[frozenset[int]]) -> bool:
    """Whether everybody may meet at least half of the players.

    By Dirac's theorem there is a Hamiltonian cycle then, so all can be paired, or all but one. This
    test saves most matchings: in a large tournament nobody has met more than a few.
    """
    return all(len(players) - 1 - len(met[each]) >= len(players) // 2 for each in players)


def _first_in_order(bracket: Sequence[int], may_pair: MayPair) -> list[Pair] | None:
    """Return the lexicographically first arrangement of a bracket; None if there is none.

    Arrangements are ordered by the set of upper players, then by the opponents of these. If all may
    meet, the upper players of 8 are 1 2 3 4, and they meet 5 6 7 8. See "Theory of operation" for
    how this avoids a search.

    Args:
        bracket: the players, by rank.
        may_pair: whether two of them may meet.
    """
    arrangement = _Arrangement(bracket, may_pair)
    if not arrangement.is_possible():
        return None
    uppers = arrangement.choose_uppers()
    for upper in uppers:
        arrangement.choose_opponent(upper)
    return [(bracket[upper], bracket[int(arrangement.mates[upper] or 0)]) for upper in uppers]


class _Arrangement:
    """The decisions about a bracket so far, and a witness that they can be completed.

    Players are identified by their position in the bracket.

    Args:
        bracket: the players, by rank.
        may_pair: whether two of them may meet.

    Attributes:
        mates: the witness: a perfect matching under the decisions made so far.
    """

    def __init__(self, bracket: Sequence[int], may_pair: MayPair) -> None:
        self._bracket, self._may_pair = bracket, may_pair
        self._size = len(bracket)
        self._is_upper: list[bool | None] = [None] * self._size
        self._settled: set[int] = set()
        self.mates: Mates = [None] * self._size

    def is_possible(self) -> bool:
        """Find the first witness, and return whether there is one."""
        mates, half = self.mates, self._size // 2
        for upper in range(half):  # a greedy start: nearly always the answer, or close to it
            for lower in range(half, self._size):
                if mates[lower] is None and self._is_allowed(upper, lower):
                    mates[upper], mates[lower] = lower, upper
                    break
        return complete_matching(mates, self._is_allowed)

    def choose_uppers(self) -> list[int]:
        """Choose the upper players, as early in the bracket as possible."""
        is_upper = self._is_upper
        for place in range(self._size):
            is_upper[place] = is_upper.count(True) < self._size // 2
            if is_upper[place] and int(self.mates[place] or 0) < place:
                is_upper[place] = self._impose(place, None)
        return [place for place in range(self._size) if is_upper[place]]

    def choose_opponent(self, upper: int) -> None:
        """Pair an upper player with the first possible opponent."""
        for lower in range(upper + 1, self._size):
            if self._is_upper[lower] or not self._is_allowed(upper, lower):
                continue
            if self.mates[upper] == lower:
                self._settled |= {upper, lower}
                return
            if self._impose(upper, lower):
                return

    def _impose(self, one: int, two: int | None) -> bool:
        """Impose a decision: pair ``one`` with ``two``; if None, with anybody allowed.

        Returns:
            Whether the witness could be repaired; if not, everything is as before.
        """
        mates, before = self.mates, self.mates[:]
        for each in (one, two):
            if each is not None and (mate := mates[each]) is not None:
                mates[each] = mates[mate] = None
        if two is not None:
            mates[one], mates[two] = two, one
            self._settled.update((one, two))
        if complete_matching(mates, self._is_allowed):
            return True
        mates[:] = before
        self._settled.difference_update((one, two))
        return False

    def _is_allowed(self, one: int, two: int) -> bool:
        """Whether two players may be paired under the decisions made so far.

        A settled player has no allowed edges, so no augmenting path can go through a settled pair.
        """
        upper, lower = (one, two) if one < two else (two, one)
        if self._is_upper[upper] is False or self._is_upper[lower]:
            return False
        if not self._settled.isdisjoint((one, two)):
            return False
        return self._may_pair(self._bracket[one], self._bracket[two])
