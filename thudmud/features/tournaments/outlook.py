"""Look-ahead over the remaining rounds: disjoint perfect matchings, by search.

A tournament promises a number of rounds without a second meeting. Pairing each round by itself can
break that promise: of six players, three rounds between {1, 2, 3} and {4, 5, 6} leave two
triangles, and no fourth round. So each round is paired with an outlook on the remaining ones.

Theory of operation
-------------------
Players are the vertices of a graph, and an edge joins two who haven't met. A round is a perfect
matching, and removes its edges. So ``r`` rounds are possible if the graph has ``r`` disjoint
perfect matchings. With an odd number of players the bye is one more vertex, the last: a player
matched with it rests, and has met it.

Most tournaments need no search. By Dirac's theorem, a graph of ``n`` vertices has a perfect
matching (even a Hamiltonian cycle) if each vertex has degree ``n / 2`` or more. A round takes one
edge from each vertex, so

    minimum degree >= n / 2 + r - 1

is enough for ``r`` rounds, however each is paired. If nobody leaves, that covers all rounds of a
tournament of at most ``n / 2``.

Beyond that bound, the problem is edge colouring: NP-complete in general, but not hard for so few
players. The search pairs one round after the other, and within a round the vertex with the fewest
opponents left first. Three things keep the search small:

- A vertex of degree ``r`` or more needs no repeat. The deficits of the others, added up, are a
  lower bound for twice the number of repeats. If the bound exceeds the repeats allowed, the branch
  is cut; if it equals them, repeats may only join vertices with a deficit.
- The order of rounds doesn't matter. So the search picks one vertex and one of its edges: either
  some round has that edge, and it can be the next one; or none has, and the edge is removed.
- Impossible states are remembered, whichever rounds led to them.

If players have left, repeats may be inevitable. Their minimum is found by trying none, one, two,
and so on.

A query is abandoned after `MOST_STEPS`, and then counts as a no. So a possible round may be
rejected, or one repeat more than necessary be allowed. If nobody leaves, a few hundred steps have
always been enough; some thousand if everybody is to meet everybody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from thudmud.features.tournaments.matching import Mates, complete_matching

MOST_STEPS = 5_000
"""The most steps of the search for one query; some hundredths of a second."""

MOST_STEPS_IN_ALL = 20_000
"""The most steps of all queries to an outlook; after these every answer is no."""

Pair = tuple[int, int]
"""Two vertices, by index."""

Graph = tuple[int, ...]
"""The neighbours of each vertex, as a bit set."""


class Outlook:
    """Whether the remaining rounds can be paired without a second meeting.

    Args:
        graph: the pairs who haven't met; the last vertex is the bye, if there is one.
        rounds: the number of remaining rounds, including the next one.
        has_bye: whether the last vertex is the bye.

    Attributes:
        steps: the number of steps that the search has taken so far.
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
    def is_exhausted(self) -> bool:
        """Whether the steps are used up, so that every answer from now on is no."""
        return self.steps >= MOST_STEPS_IN_ALL

    @cached_property
    def repeats(self) -> int:
        """The fewest repeats with which the search finds all rounds possible.

        A repeat is a second match of the same two players, or a second bye while others have had
        none.
        """
        most = self._rounds * self._size
        for repeats in range(most):
            self._ask()
            if self._can_hold(self._graph, self._everybody, self._rounds, repeats):
                return repeats
        return most

    def after(self, pairs: Iterable[Pair]) -> Outlook | None:
        """Return the outlook after a round with these pairs; None if it was the last."""
        if self._rounds == 1:
            return None
        graph = self._after(self._graph, pairs)
        return Outlook(graph, self._rounds - 1, has_bye=self._bye is not None)

    def can_continue(self, pairs: Iterable[Pair]) -> bool:
        """Whether all rounds are possible, with fewest repeats, if the first has these pairs."""
        repeats = self.repeats
        self._ask()
        return self._can_continue(self._graph, self._everybody, self._rounds, repeats, [*pairs])

    def first_round(
        self, fixed: Sequence[Pair], barred: Sequence[Collection[int]]
    ) -> set[frozenset[int]] | None:
        """Return a first round that leaves all others possible, with the fewest repeats.

        Args:
            fixed: pairs that it must contain.
            barred: for each player, opponents that it must avoid, except as pairs in ``fixed``.

        Returns:
            The pairs, as sets; None if there is no such round, or if none is found.
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
                if self._can_continue(self._graph, self._everybody, self._rounds, most, pairs):
                    return set(map(frozenset, pairs))
        return None

    def _ask(self) -> None:
        """Begin a query, with a new limit of steps."""
        self._limit = min(self.steps + MOST_STEPS, MOST_STEPS_IN_ALL)

    def _can_hold(self, graph: Graph, again: Graph, rounds: int, repeats: int) -> bool:
        """Whether some rounds are possible.

        Args:
            graph: the pairs who haven't met.
            again: the pairs who may meet as a repeat.
            rounds: how many rounds.
            repeats: the most repeats.
        """
        # Dirac's bound, see above.
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
            if self._can_continue(left, left_again, rounds, repeats, pairs):
                return True
        # A search that was abandoned has proved nothing.
        if self.steps < self._limit:
            self._hopeless.add(state)
        return False

    def _can_continue(
        self, graph: Graph, again: Graph, rounds: int, repeats: int, pairs: Sequence[Pair]
    ) -> bool:
        """Whether some rounds are possible of which the first has these pairs."""
        repeats -= sum(not graph[one] >> two & 1 for one, two in pairs)
        return repeats >= 0 and self._can_hold(
            self._after(graph, pairs), again, rounds - 1, repeats
        )

    def _after(self, graph: Graph, pairs: Iterable[Pair]) -> Graph:
        """Return the graph after a round. Once all have had a bye, it is open to all again."""
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
        """Whether the rounds outnumber the players who haven't had a bye."""
        return self._bye is not None and graph[self._bye].bit_count() < rounds

    def _lacks(self, graph: Graph, rounds: int) -> list[int]:
        """Return each vertex's deficit: rounds minus degree; negative for a surplus.

        A bye that opens to all again adds an edge to each, once for every cycle of byes.
        """
        lacks = [rounds - edges.bit_count() for edges in graph]
        if self._bye is not None:
            anew = -(-max(0, lacks[self._bye]) // (self._size - 1))
            lacks = [each - anew for each in lacks]
            lacks[self._bye] = 0
        return lacks

    def _next_rounds(
        self, graph: Graph, again: Graph, rounds: int, repeats: int
    ) -> Iterator[tuple[Graph, Graph, list[Pair]]]:
        """Yield candidates for the next round, each with the graphs after edges have been removed.

        The candidates branch over the edges of one vertex of minimum degree, see "Theory of
        operation".
        """
        lacks = self._lacks(graph, rounds)
        spare = 2 * repeats - sum(max(0, each) for each in lacks)
        lacking = sum(1 << place for place, each in enumerate(lacks) if each > 0)

        def matchings(unmatched: int) -> Iterator[list[Pair]]:
            return self._matchings(graph, again, repeats, unmatched, lacking=lacking, spare=spare)

        if self._begins_byes_anew(graph, rounds):
            for pairs in matchings(self._all):
                yield graph, again, pairs  # the order of rounds matters here: byes begin anew
            return
        place = min(range(self._size), key=lambda each: graph[each].bit_count())
        options = [*_places(graph[place])]
        if repeats:
            options += _places(again[place] & ~graph[place])
        for other in options:
            is_repeat = not graph[place] >> other & 1
            # So many edges are removed that the vertex has too few for the rounds left.
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
        """Yield the perfect matchings of some vertices with a limited number of repeats.

        Args:
            graph: the pairs who haven't met.
            again: the pairs who may meet as a repeat.
            repeats: the most repeats.
            unmatched: the vertices, as a bit set.
            lacking: the vertices with a deficit, as a bit set: a repeat takes from ``spare`` one
                for each of its ends that isn't among them.
            spare: how many ends may be without a deficit; None for any number.
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
    for place, edges in enumerate(graph):  # a greedy start matches most vertices
        if unmatched >> place & 1 and edges & unmatched:
            other = next(_places(edges & unmatched))
            mates[place], mates[other] = other, place
            unmatched &= ~(1 << place | 1 << other)
    return complete_matching(mates, lambda one, two: bool(graph[one] >> two & 1))


def _struck(graph: Graph, one: int, two: int) -> Graph:
    """Return a graph without one edge."""
    struck = [*graph]
    struck[one] &= ~(1 << two)
    struck[two] &= ~(1 << one)
    return tuple(struck)


def _places(bits: int) -> Iterator[int]:
    """Yield the indices of the set bits, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
