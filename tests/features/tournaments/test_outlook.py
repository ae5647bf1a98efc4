"""Feasibility of remaining rounds: examples, and comparison with an exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.features.tournaments.outlook import Graph, Outlook, Pair

TRIANGLES = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
PETERSEN = [
    *((each, (each + 1) % 5) for each in range(5)),
    *((each, each + 5) for each in range(5)),
    *((each + 5, (each + 2) % 5 + 5) for each in range(5)),
]


def graph_of(size: int, edges: list[Pair]) -> Graph:
    graph = [0] * size
    for one, two in edges:
        graph[one] |= 1 << two
        graph[two] |= 1 << one
    return tuple(graph)


def complete_graph(size: int) -> Graph:
    return graph_of(size, list(combinations(range(size), 2)))


def perfect_matchings(places: tuple[int, ...]) -> Iterator[tuple[Pair, ...]]:
    """Yield every perfect matching of the places."""
    if not places:
        yield ()
        return
    first, *others = places
    for other in others:
        for rest in perfect_matchings(tuple(each for each in others if each != other)):
            yield ((first, other), *rest)


def fewest_repeats(graph: Graph, rounds: int, *, has_bye: bool) -> int:
    """Return the fewest repeats in the given number of rounds, by exhaustive search."""
    size = len(graph)
    ways = list(perfect_matchings(tuple(range(size))))

    @cache
    def fewest(unmet: frozenset[Pair], left: int) -> int:
        if not left:
            return 0
        return min(
            sum(pair not in unmet for pair in way) + fewest(after(unmet, way), left - 1)
            for way in ways
        )

    def after(unmet: frozenset[Pair], way: tuple[Pair, ...]) -> frozenset[Pair]:
        remaining = unmet - set(way)
        if has_bye and not any(two == size - 1 for _, two in remaining):
            remaining |= {(one, size - 1) for one in range(size - 1)}
        return remaining

    edges = ((one, two) for one, two in combinations(range(size), 2) if graph[one] >> two & 1)
    return fewest(frozenset(edges), rounds)


class TestExamples:
    @pytest.mark.parametrize("size", [2, 4, 6, 8, 10, 20, 40])
    def test_complete_graph_allows_one_round_fewer_than_players(self, size: int) -> None:
        assert Outlook(complete_graph(size), size - 1, has_bye=False).repeats == 0

    def test_extra_round_repeats_one_meeting_for_each_of_its_pairs(self) -> None:
        assert Outlook(complete_graph(6), 6, has_bye=False).repeats == 3

    def test_two_triangles_allow_no_round_without_a_repeat(self) -> None:
        assert Outlook(graph_of(6, TRIANGLES), 1, has_bye=False).repeats == 1

    def test_petersen_graph_allows_only_one_round(self) -> None:
        assert Outlook(graph_of(10, PETERSEN), 1, has_bye=False).repeats == 0
        assert Outlook(graph_of(10, PETERSEN), 2, has_bye=False).repeats > 0

    def test_first_round_leading_to_a_dead_end_is_refused(self) -> None:
        """In a prism, pairing its two triangles with each other leaves no second round."""
        prism = graph_of(6, [*TRIANGLES, (0, 3), (1, 4), (2, 5)])
        outlook = Outlook(prism, 2, has_bye=False)
        assert not outlook.can_continue([(0, 3), (1, 4), (2, 5)])
        assert outlook.can_continue([(0, 1), (3, 4), (2, 5)])
        assert outlook.first_round([(0, 3), (1, 4)], [()] * 6) is None
        assert outlook.first_round([(2, 5)], [{3}, (), (), {0}, (), ()]) == {
            frozenset({0, 1}),
            frozenset({3, 4}),
            frozenset({2, 5}),
        }

    def test_abandoned_search_finds_no_round(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("thudmud.features.tournaments.outlook.MOST_STEPS_IN_ALL", 1)
        outlook = Outlook(complete_graph(20), 19, has_bye=False)
        assert outlook.first_round((), [()] * 20) is None
        assert outlook.is_exhausted


class TestWhatHolds:
    @given(st.sampled_from([2, 4, 6]), st.integers(1, 4), st.integers(0, 1), st.data())
    def test_fewest_repeats_match_an_exhaustive_search(
        self, size: int, rounds: int, byes: int, data: st.DataObject
    ) -> None:
        has_bye = byes == 1
        pairs = list(combinations(range(size), 2))
        graph = graph_of(size, sorted(data.draw(st.sets(st.sampled_from(pairs)))))
        if has_bye and not graph[-1]:
            graph = graph_of(size, [(each, size - 1) for each in range(size - 1)])
        expected = fewest_repeats(graph, rounds, has_bye=has_bye)
        outlook = Outlook(graph, rounds, has_bye=has_bye)
        assert outlook.repeats == expected
        first = outlook.first_round((), [()] * size)
        assert first is not None
        assert outlook.can_continue(tuple(sorted(each)) for each in first)  # type: ignore[misc]
