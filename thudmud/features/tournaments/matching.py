"""Maximum-cardinality matching in general graphs: Edmonds' blossom algorithm.

J. Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17 (1965), 449-467.

Theory of operation
-------------------
Players are vertices, and two who may meet are joined by an edge. A matching grows by one pair
whenever there is an augmenting path: it begins and ends at exposed (unmatched) vertices, and its
edges are by turns outside and inside the matching. Exchanging these two kinds of edges along the
path matches both ends. By Berge's theorem a matching without an augmenting path is a maximum.

`augment_matching` searches breadth-first from one exposed vertex, the root, and grows an
alternating tree. Vertices at an even distance from the root are outer; the search goes on from
these, by any edge. Vertices at an odd distance are inner; the only way on is to their mate, which
is outer.

An edge between two outer vertices closes an odd cycle, a blossom. From its base, where the two
paths to the root join, each vertex of the blossom can be reached both ways round, and one of these
ways has even length. So all its inner vertices become outer as well. The blossom is shrunk: its
vertices share one entry in ``base`` and count as one vertex from then on. Without this step, a
search in a graph that is not bipartite misses paths.

If the search from a vertex fails, some maximum matching leaves that vertex exposed, and later
augmentations don't change that. So one search for each vertex is enough for a maximum, and
`complete_matching` may stop at the first that fails.

A search takes O(n ** 2) steps, and a whole matching O(n ** 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

MayPair = Callable[[int, int], bool]
"""Whether two vertices are joined by an edge, that is, may be paired. Must be symmetric."""

Mates = list[int | None]
"""A matching: the mate of each vertex, by index; None for an exposed vertex."""


def complete_matching(mates: Mates, may_pair: MayPair) -> bool:
    """Extend a matching, in place, to a perfect one.

    Returns:
        Whether there is a perfect matching. If not, ``mates`` is still a valid matching, perhaps
        with other pairs than before; callers that need the old one make a copy.
    """
    # ``enumerate`` reads the list as it changes, so vertices matched by earlier searches are
    # skipped.
    return all(
        mate is not None or augment_matching(mates, place, may_pair)
        for place, mate in enumerate(mates)
    )


def augment_matching(mates: Mates, root: int, may_pair: MayPair) -> bool:
    """Match one more vertex, in place, by an augmenting path from ``root``, which is exposed.

    Vertices that are matched stay matched, though perhaps with others.

    Returns:
        Whether there is such a path; if not, ``mates`` is unchanged.
    """
    tree = _AlternatingTree(mates, root)
    base, came_from = tree.base, tree.came_from
    # The queue of outer vertices: it grows while the loop runs.
    for one in tree.outer:
        for two in range(len(mates)):
            if base[one] == base[two] or mates[one] == two or not may_pair(one, two):
                continue
            if tree.is_outer[two]:  # in another blossom: the edge closes an odd cycle
                tree.shrink_blossom(one, two)
            elif came_from[two] is None:
                # A vertex outside the tree: inner if it has a mate, else the end of a path.
                came_from[two] = one
                if (mate := mates[two]) is None:
                    flip_augmenting_path(mates, two, came_from)
                    return True
                tree.add_outer(mate)
    return False


class _AlternatingTree:
    """The alternating tree of one search, with its shrunk blossoms.

    Attributes:
        base: for each vertex, the base of its blossom; itself if it is in none.
        came_from: for each vertex that the path from the root enters by an unmatched edge, the
            vertex before it.
        outer: the outer vertices, in the order in which they were reached.
        is_outer: for each vertex, whether it is among these.
    """

    def __init__(self, mates: Mates, root: int) -> None:
        size = len(mates)
        self._mates = mates
        self.base = list(range(size))
        self.came_from: list[int | None] = [None] * size
        self.outer = [root]
        self.is_outer = [place == root for place in range(size)]

    def add_outer(self, place: int) -> None:
        """Add a vertex to the outer ones."""
        self.is_outer[place] = True
        self.outer.append(place)

    def shrink_blossom(self, one: int, two: int) -> None:
        """Shrink the odd cycle that an edge between two outer vertices closes."""
        base = self.base
        # Its base is the first vertex that both paths to the root have in common.
        way = set(self._path_to_root(one))
        blossom_base = next(each for each in self._path_to_root(two) if each in way)
        merged = self._relink(one, blossom_base, two) | self._relink(two, blossom_base, one)
        for place in range(len(base)):
            # Earlier blossoms on the cycle merge into this one, with all their vertices.
            if base[place] in merged:
                base[place] = blossom_base
                if not self.is_outer[place]:
                    self.add_outer(place)

    def _path_to_root(self, place: int) -> Iterator[int]:
        """Yield the bases of the outer vertices on the path from an outer vertex to the root."""
        while True:
            yield (place := self.base[place])
            if (mate := self._mates[place]) is None:
                return
            place = int(self.came_from[mate] or 0)

    def _relink(self, place: int, blossom_base: int, other: int) -> set[int]:
        """Set the predecessors on one side of a new blossom, from the closing edge up to the base.

        The path to the root leaves an outer vertex by its mate, so outer vertices have no
        predecessor at first. On a blossom they get one, across the closing edge: an inner vertex
        that becomes outer also leaves by its mate, and the path goes on from there the other way
        round.

        Args:
            place: the outer vertex at this end of the closing edge.
            blossom_base: the base of the blossom.
            other: the outer vertex at the other end.

        Returns:
            The bases of the blossoms on this side, which merge into the new one.
        """
        merged: set[int] = set()
        while self.base[place] != blossom_base:
            mate = int(self._mates[place] or 0)
            merged |= {self.base[place], self.base[mate]}
            self.came_from[place] = other
            place, other = int(self.came_from[mate] or 0), mate
        return merged


def flip_augmenting_path(mates: Mates, last: int | None, came_from: Sequence[int | None]) -> None:
    """Exchange matched and unmatched edges along an augmenting path, from its last vertex back.

    Args:
        mates: the matching.
        last: the exposed vertex at the end of the path.
        came_from: the predecessor of each vertex that the path enters by an unmatched edge.
    """
    while last is not None:
        before = int(came_from[last] or 0)
        # Its old mate is matched anew in the next step. The root had none, and ends the path.
        then = mates[before]
        mates[last], mates[before] = before, last
        last = then
