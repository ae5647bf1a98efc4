"""Whether a table gets slower as others are added, as a game goes on, or as accounts are stored.

Owns how these are made. The yardstick is the same server with little of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.load.busy import WINDOW, Pains
from benchmarks.load.crowd import PATIENCE, Crowd, Line, Rate
from benchmarks.load.players import LOOK, MOVED, REFUSED, SAY, move_by_name, seated, to_and_fro
from benchmarks.load.processes import thudmud
from benchmarks.load.table import Row
from thudmud.store import Store
from thudmud.store import accounts as account_rows

WANTED = 0.8
"""How much of a rate is to be left; it should be all of it, but no machine is that quiet."""

PLIES = 40
"""How many plies a round adds: few, beside the many there are."""


@dataclass(frozen=True)
class Place:
    """A table in a crowd where commands are measured.

    Attributes:
        crowd: the crowd.
        player: its member who has the dwarfs there.
        plies: how many have been played there.
    """

    crowd: Crowd
    player: int
    plies: int = 0


def tables(folder: Path, numbers: Sequence[int], pains: Pains) -> Iterator[Row]:
    """Compare one of many tables with one of few; the first number is the yardstick."""
    with ExitStack() as stack:
        places = []
        for number in numbers:
            server = stack.enter_context(thudmud(folder / f"{number} tables", number))
            places.append(Place(stack.enter_context(seated(server, 2)), 0))
        titles = [f"at one of {number:,} tables" for number in numbers]
        yield from _compared(places, titles, pains)


def accounts(folder: Path, numbers: Sequence[int], pains: Pains) -> Iterator[Row]:
    """The same for accounts that are stored."""
    with ExitStack() as stack:
        places = []
        for number in numbers:
            there = folder / f"{number} accounts"
            there.mkdir()
            asyncio.run(_enrol(there / "thudmud.db", number))
            server = stack.enter_context(thudmud(there, 1))
            places.append(Place(stack.enter_context(seated(server, 2)), 0))
        titles = [f"with {number:,} accounts" for number in numbers]
        yield from _compared(places, titles, pains)


def plies(folder: Path, numbers: Sequence[int], pains: Pains) -> Iterator[Row]:
    """The same for the plies of a game."""
    with ExitStack() as stack:
        server = stack.enter_context(thudmud(folder / "plies", len(numbers)))
        crowd = stack.enter_context(seated(server, 2 * len(numbers)))
        for table, number in enumerate(numbers):
            crowd.turns([2 * table], _so_many(number), MOVED, 600)
        places = [Place(crowd, 2 * table, number) for table, number in enumerate(numbers)]
        titles = [f"after {number:,} plies" for number in numbers]
        yield from _compared(places, titles, pains)


async def _enrol(path: Path, number: int) -> None:
    """Store so many accounts."""
    store = await Store.open(path)
    await asyncio.gather(
        *(store.write(account_rows.enrol, f"Account{each}", "none") for each in range(number))
    )
    await store.close()


def _so_many(most: int, line: Line = to_and_fro, before: int = 0) -> Line:
    """Return lines that end after a number of them; so many have come before."""
    return lambda number, count: line(number, before + count) if count < most else b""


def _compared(places: Sequence[Place], titles: Iterable[str], pains: Pains) -> Iterator[Row]:
    rounds = [[dict(_measured(place, pains)) for place in places] for _ in range(pains.rounds)]
    few_title, *many_titles = titles
    for number, title in enumerate(many_titles, 1):
        for what in rounds[0][0]:
            found = [(each[number][what], each[0][what]) for each in rounds]
            yield Row(
                f"{what} {title}, beside {few_title.removeprefix('at ')}",
                "a second",
                [median(many.wall for many, _ in found)],
                ratio=median(many.wall / few.wall for many, few in found),
                cpu=median(many.cpu / few.cpu for many, few in found),
                least=WANTED,
            )


def _measured(place: Place, pains: Pains) -> Iterator[tuple[str, Rate]]:
    crowd, player = place.crowd, place.player
    for name, words in (("say", SAY), ("a refusal", REFUSED), ("look", LOOK)):
        yield name, crowd.rate([player], words.line, words.answer, pains.seconds, WINDOW)
    # A round's plies are a multiple of four, after which the pieces are where they were.
    moves = _so_many(PLIES, move_by_name, place.plies)
    yield "a move", crowd.turns([player], moves, MOVED, PATIENCE)
