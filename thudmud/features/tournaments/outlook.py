"""Whether the rounds to come can be held: disjoint perfect matchings, by search.

A tournament promises so many rounds without a second meeting. Pairing each round by itself can
break that: of six players, three rounds between {1, 2, 3} and {4, 5, 6} leave two triangles, and no
fourth round. So each round is paired with an outlook on those that follow.

Theory of operation
-------------------
Players are the vertices of a graph, and those who have not met are joined by an edge. A round is a
perfect matching, and takes its edges away. So ``r`` rounds can be held if the graph has ``r``
disjoint perfect matchings. With an odd number of players the bye is one more vertex, the last one:
whoever is matched with it rests, and has met it.

Most tournaments need no search. By Dirac's theorem, a graph of ``n`` vertices has a perfect
matching (even a Hamiltonian circle) if each vertex has ``n / 2`` edges. A round takes one edge of
each, so

    fewest edges of a vertex >= n / 2 + r - 1

is enough for ``r`` rounds, whoever is paired with whom. If nobody leaves, that holds in all rounds
of a tournament that has at most ``n / 2``.

Beyond that it is edge colouring, which is NP-complete in general, but not hard for so few players.
The search pairs one round after the other, and in a round first whoever has the fewest opponents
left. Three things keep it small:

- A vertex with ``r`` edges needs no repeat. What others lack, all together, is a lower bound for
  twice the repeats. If it is above what is allowed, there is nothing to try, and if it is just
  that, repeats may only join two who lack something.
- The order of rounds does not matter. So one vertex is looked at, and one edge of it: either some
  round has that edge, and it can be the next one; or none has, and the edge is struck out.
- Rounds that cannot be held are remembered, whichever rounds led there.

If players have left, there may be no way without repeats. The fewest are found by trying none, one,
two, and so on.

A question is given up after `MOST_STEPS`, and counts as answered by no. So it may be that a round
is refused that would have been possible, or that there is one repeat more than need be. Where
nobody leaves, a few hundred steps have always been enough, and some thousand if everybody is to
meet everybody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from thudmud.features.tournaments.matching import Mates, complete

MOST_STEPS = 5_000
"""After how many steps the search for an answer is given up; some hundredths of a second."""

MOST_STEPS_IN_ALL = 20_000
"""After how many steps no more questions are answered but by no."""

Pair = tuple[int, int]

Graph = tuple[int, ...]
"""For each vertex, the vertices that it has an edge to, as bits."""


class Outlook:
    """The rounds that are to be held.

    Args:
        graph: who has not met whom; the last vertex is the bye, if there is one.
        rounds: how many rounds are to be held.
        has_bye: whether there is one.

    Attributes:
        steps: how many steps the search has taken.
    """

    def __init__(self, graph: Sequence[int], rounds: int, *, has_bye: bool) -> None:
        self._graph, self._rounds = tuple(graph), rounds
        self._size = len(graph)
        self._bye = self._size - 1 if has_bye else None
        self._all = (1 << self._size) - 1
        self._everybody = tuple(self._all & ~(1 << place) for place in range(self._size))
        self._hopeless: set[tuple[Graph, Graph, int, int]] = set()
        self._limit = 0
        self.steps = 0

    @property
    def gave_up(self) -> bool:
        """Whether the search has taken so many steps that it answers nothing more."""
        return self.steps >= MOST_STEPS_IN_ALL

    @cached_property
    def repeats(self) -> int:
        """The fewest repeats with which all rounds can be held, as far as is known.

        A repeat is a match that is not the first between these two, or a bye of somebody who has
        had one while others have not.
        """
        most = self._rounds * self._size
        for repeats in range(most):
            self._ask()
            if self._can_hold(self._graph, self._everybody, self._rounds, repeats):
                return repeats
        return most

    def after(self, pairs: Iterable[Pair]) -> Outlook | None:
        """Return the outlook when the first round has these pairs; None if it was the last."""
        if self._rounds == 1:
            return None
        graph = self._after(self._graph, pairs)
        return Outlook(graph, self._rounds - 1, has_bye=self._bye is not None)

    def goes_on(self, pairs: Iterable[Pair]) -> bool:
        """Whether all rounds can be held, with the fewest repeats, if the first has these pairs."""
        repeats = self.repeats
        self._ask()
        return self._goes_on(self._graph, self._everybody, self._rounds, repeats, [*pairs])

    def first_round(
        self, fixed: Sequence[Pair], barred: Sequence[Collection[int]]
    ) -> set[frozenset[int]] | None:
        """Return a first round with which all can be held, with the fewest repeats.

        None if there is none, or if it is not found.

        Args:
            fixed: pairs that it has.
            barred: for each player, whom they do not meet in it, unless that is in ``fixed``.
        """
        allowed = [*self._everybody]
        for place, others in enumerate(barred):
            allowed[place] &= ~sum(1 << other for other in others if other >= 0)
        for one, two in fixed:
            for place in range(self._size):
                allowed[place] &= ~(1 << one | 1 << two)
            allowed[one], allowed[two] = 1 << two, 1 << one
        if not _has_perfect_matching(allowed):
            return None
        graph = tuple(edges & may for edges, may in zip(self._graph, allowed, strict=True))
        again = tuple(may & ~edges for edges, may in zip(self._graph, allowed, strict=True))
        most = self.repeats
        self._ask()
        for repeats in range(most + 1):
            for pairs in self._matchings(graph, again, repeats, self._all):
                if self._goes_on(self._graph, self._everybody, self._rounds, most, pairs):
                    return set(map(frozenset, pairs))
        return None

    def _ask(self) -> None:
        """Begin a question."""
        self._limit = min(self.steps + MOST_STEPS, MOST_STEPS_IN_ALL)

    def _can_hold(self, graph: Graph, again: Graph, rounds: int, repeats: int) -> bool:
        """Whether rounds can be held.

        Args:
            graph: who has not met whom.
            again: who may meet once more, which is a repeat.
            rounds: how many rounds.
            repeats: the most repeats.
        """
        if not rounds or 2 * min(map(int.bit_count, graph)) >= self._size + 2 * (rounds - 1):
            return True
        if sum(max(0, each) for each in self._lacks(graph, rounds)) > 2 * repeats:
            return False
        if not repeats and rounds == 1:
            self.steps += 1
            return _has_perfect_matching(graph)
        state = graph, again if repeats else (), rounds, repeats
        if state in self._hopeless:
            return False
        for left, left_again, pairs in self._next_rounds(graph, again, rounds, repeats):
            if self._goes_on(left, left_again, rounds, repeats, pairs):
                return True
        if self.steps < self._limit:
            self._hopeless.add(state)
        return False

    def _goes_on(
        self, graph: Graph, again: Graph, rounds: int, repeats: int, pairs: Sequence[Pair]
    ) -> bool:
        """Whether rounds can be held of which the first has these pairs."""
        repeats -= sum(not graph[one] >> two & 1 for one, two in pairs)
        return repeats >= 0 and self._can_hold(
            self._after(graph, pairs), again, rounds - 1, repeats
        )

    def _after(self, graph: Graph, pairs: Iterable[Pair]) -> Graph:
        """Return who has not met after a round. Once all have had a bye, nobody has."""
        after = [*graph]
        for one, two in pairs:
            after[one] &= ~(1 << two)
            after[two] &= ~(1 << one)
        bye = self._bye
        if bye is not None and not after[bye]:
            after = [each | 1 << bye for each in after]
            after[bye] = self._everybody[bye]
        return tuple(after)

    def _begins_byes_anew(self, graph: Graph, rounds: int) -> bool:
        """Whether there are more rounds than players who have not had a bye."""
        return self._bye is not None and graph[self._bye].bit_count() < rounds

    def _lacks(self, graph: Graph, rounds: int) -> list[int]:
        """Return how many opponents each lacks for so many rounds, at least; below 0 for none."""
        lacks = [rounds - edges.bit_count() for edges in graph]
        if self._bye is not None:
            anew = -(-max(0, lacks[self._bye]) // (self._size - 1))
            lacks = [each - anew for each in lacks]
            lacks[self._bye] = 0
        return lacks

    def _next_rounds(
        self, graph: Graph, again: Graph, rounds: int, repeats: int
    ) -> Iterator[tuple[Graph, Graph, list[Pair]]]:
        """Yield the rounds to try next, each with the edges that are not struck out."""
        lacks = self._lacks(graph, rounds)
        spare = 2 * repeats - sum(max(0, each) for each in lacks)
        lacking = sum(1 << place for place, each in enumerate(lacks) if each > 0)

        def matchings(unmatched: int) -> Iterator[list[Pair]]:
            return self._matchings(graph, again, repeats, unmatched, lacking=lacking, spare=spare)

        if self._begins_byes_anew(graph, rounds):
            for pairs in matchings(self._all):
                yield graph, again, pairs  # the order of rounds matters, for byes
            return
        place = min(range(self._size), key=lambda each: graph[each].bit_count())
        options = [*_places(graph[place])]
        if repeats:
            options += _places(again[place] & ~graph[place])
        for other in options:
            is_repeat = not graph[place] >> other & 1
            if not repeats and graph[place].bit_count() < rounds:
                return
            for pairs in matchings(self._all & ~(1 << place | 1 << other)):
                yield graph, again, [(place, other), *pairs]
            if not is_repeat:
                graph = _struck(graph, place, other)
            again = _struck(again, place, other)

    def _matchings(
        self,
        graph: Graph,
        again: Graph,
        repeats: int,
        unmatched: int,
        *,
        lacking: int = 0,
        spare: int | None = None,
    ) -> Iterator[list[Pair]]:
        """Yield the perfect matchings of some vertices with at most so many repeats.

        Args:
            graph: who has not met whom.
            again: who may meet once more.
            repeats: the most repeats.
            unmatched: the vertices, as bits.
            lacking: those who lack opponents, as bits: repeats that join two of them are for free,
                others take one from ``spare`` for each who does not.
            spare: how many are to spare; None for any number.
        """
        if not unmatched:
            yield []
            return
        self.steps += 1
        if self.steps >= self._limit:
            return
        place = min(_places(unmatched), key=lambda each: (graph[each] & unmatched).bit_count())
        rest = unmatched & ~(1 << place)
        for other in _places(graph[place] & rest):
            for pairs in self._matchings(
                graph, again, repeats, rest & ~(1 << other), lacking=lacking, spare=spare
            ):
                yield [(place, other), *pairs]
        if not repeats:
            return
        for other in _places(again[place] & ~graph[place] & rest):
            left = spare
            if left is not None:
                left -= 2 - (lacking >> place & 1) - (lacking >> other & 1)
                if left < 0:
                    continue
            for pairs in self._matchings(
                graph, again, repeats - 1, rest & ~(1 << other), lacking=lacking, spare=left
            ):
                yield [(place, other), *pairs]


def _has_perfect_matching(graph: Sequence[int]) -> bool:
    mates: Mates = [None] * len(graph)
    unmatched = (1 << len(graph)) - 1
    for place, edges in enumerate(graph):  # most are paired with the first whom they can be
        if unmatched >> place & 1 and edges & unmatched:
            other = next(_places(edges & unmatched))
            mates[place], mates[other] = other, place
            unmatched &= ~(1 << place | 1 << other)
    return complete(mates, lambda one, two: bool(graph[one] >> two & 1))


def _struck(graph: Graph, one: int, two: int) -> Graph:
    """Return a graph without an edge."""
    struck = [*graph]
    struck[one] &= ~(1 << two)
    struck[two] &= ~(1 << one)
    return tuple(struck)


def _places(bits: int) -> Iterator[int]:
    """Yield the places of bits that are set, the lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
