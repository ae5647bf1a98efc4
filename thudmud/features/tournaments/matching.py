"""Finding pairs: as many as possible of those who may meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

Joined = Callable[[int, int], bool]
"""Whether two players may meet. It does not depend on their order."""

Mates = list[int | None]
"""Whom each of some players is paired with, by place; None if with nobody yet."""


def complete(mates: Mates, joined: Joined) -> bool:
    """Pair those who have no mate yet, perhaps changing other pairs; whether it is possible."""
    return all(
        mate is not None or augment(mates, place, joined) for place, mate in enumerate(mates)
    )


def augment(mates: Mates, root: int, joined: Joined) -> bool:
    """Pair one more player by changing pairs along a path; whether there is one.

    This is a step of Edmonds' algorithm: from the player, it goes to whoever they may meet and on
    to that one's mate, until it comes to somebody without one. An odd circle is gone through both
    ways, so those on it count as one, their ``base``.
    """
    size = len(mates)
    base = list(range(size))
    came_from: list[int | None] = [None] * size
    reached = [root]
    is_reached = [place == root for place in range(size)]

    def upwards(place: int) -> Iterator[int]:
        """Yield the bases from a player back to the root."""
        while True:
            yield (place := base[place])
            if (mate := mates[place]) is None:
                return
            place = int(came_from[mate] or 0)

    def close(place: int, circle: int, other: int, on_it: set[int]) -> None:
        """Note the way from a player to where a circle begins, which can be gone back as well."""
        while base[place] != circle:
            mate = int(mates[place] or 0)
            on_it |= {base[place], base[mate]}
            came_from[place] = other
            place, other = int(came_from[mate] or 0), mate

    for one in reached:
        for two in range(size):
            if base[one] == base[two] or mates[one] == two or not joined(one, two):
                continue
            mate = mates[two]
            if is_reached[two]:
                way = set(upwards(one))
                circle = next(each for each in upwards(two) if each in way)
                on_it: set[int] = set()
                close(one, circle, two, on_it)
                close(two, circle, one, on_it)
                for place in range(size):
                    if base[place] in on_it:
                        base[place] = circle
                        if not is_reached[place]:
                            is_reached[place] = True
                            reached.append(place)
            elif came_from[two] is None:
                came_from[two] = one
                if mate is None:
                    _flip(mates, two, came_from)
                    return True
                is_reached[mate] = True
                reached.append(mate)
    return False


def _flip(mates: Mates, last: int | None, came_from: Sequence[int | None]) -> None:
    """Change the pairs along a path that ends at a player who had no mate."""
    while last is not None:
        before = int(came_from[last] or 0)
        then = mates[before]
        mates[last], mates[before] = before, last
        last = then
