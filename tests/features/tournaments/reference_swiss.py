"""Reference implementation of the Swiss rules by exhaustive search, for few players.

`thudmud.features.tournaments.swiss` must find the same pairs, except where it exchanges opponents
so that sides can even out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations

from thudmud.features.tournaments.swiss import Contestant

Pair = tuple[int, int]


Pairs = set[frozenset[int]]


def reference_pairs(contestants: Sequence[Contestant]) -> tuple[Pairs, int | None] | None:
    """Return the pairs and the player with the bye, or None if the rules allow no pairing."""
    places = range(len(contestants))

    def score(place: int) -> float:
        return contestants[place].score

    def may_meet(one: int, two: int) -> bool:
        return two not in contestants[one].opponents and one not in contestants[two].opponents

    def all_ways(players: Sequence[int]) -> Iterator[list[Pair]]:
        """Yield every perfect matching of the players."""
        if not players:
            yield []
            return
        first, *others = players
        for other in others:
            if may_meet(first, other):
                for rest in all_ways([each for each in others if each != other]):
                    yield [(first, other), *rest]

    def is_possible(players: Sequence[int]) -> bool:
        return next(all_ways(players), None) is not None

    bye = None
    if len(contestants) % 2:
        byes = [
            place
            for place in places
            if not contestants[place].has_bye
            and is_possible([each for each in places if each != place])
        ]
        if not byes:
            return None
        lowest = min(map(score, byes))
        byes = [place for place in byes if score(place) == lowest]
        most = max(len(contestants[place].opponents) for place in byes)
        bye = max(place for place in byes if len(contestants[place].opponents) == most)
    unpaired = sorted(
        (each for each in places if each != bye), key=lambda each: (-score(each), each)
    )
    if not is_possible(unpaired):
        return None
    pairs: set[frozenset[int]] = set()
    while unpaired:
        top = [each for each in unpaired if score(each) == score(unpaired[0])]
        below = unpaired[len(top) :]

        def goes_on(rest: Sequence[int]) -> bool:
            following = [each for each in rest if score(each) == score(rest[0])] if rest else []
            others = rest[len(following) :]
            return any(
                is_possible([*following, *more])
                and is_possible([each for each in others if each not in more])
                for more in combinations(others, len(following) % 2)
            )

        sets = []
        for count in range(len(below) + 1):
            for floaters in combinations(below, count):
                rest = [each for each in below if each not in floaters]
                if is_possible([*top, *floaters]) and is_possible(rest):
                    scores = sorted(-score(each) for each in floaters)
                    again = sum(contestants[each].floated for each in floaters)
                    sets.append((count, scores, not goes_on(rest), again, floaters))
        floaters = min(sets)[-1]
        bracket = [*top, *floaters]

        def opponents_again(way: Sequence[Pair], floaters: tuple[int, ...] = floaters) -> bool:
            """Whether an upfloater meets a player who floated last round, upfloater or not."""
            return any(
                (one in floaters and contestants[two].floated)
                or (two in floaters and contestants[one].floated)
                for one, two in way
            )

        ways = _in_order(bracket, may_meet)
        way = min(ways, key=opponents_again)
        pairs |= {frozenset(pair) for pair in way}
        unpaired = [each for each in unpaired if each not in bracket]
    return pairs, bye


def _in_order(bracket: Sequence[int], may_meet: Callable[[int, int], bool]) -> Iterator[list[Pair]]:
    """Yield every pairing of the bracket, ordered by its upper players, then their opponents."""
    size = len(bracket)
    for uppers in combinations(range(size), size // 2):
        lowers = [place for place in range(size) if place not in uppers]
        for chosen in permutations(lowers):
            way = list(zip(uppers, chosen, strict=True))
            if all(upper < lower for upper, lower in way):
                named = [(bracket[upper], bracket[lower]) for upper, lower in way]
                if all(may_meet(*pair) for pair in named):
                    yield named
