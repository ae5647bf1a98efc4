"""Scaling: does a table slow down with more tables, a longer game, or more stored accounts?

The yardstick is the same server with a small number of each.
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
"""Minimum ratio of the rates; ideally 1, but measurements are noisy."""

PLIES = 40
"""Plies added per round: few, compared with those already played."""


@dataclass(frozen=True)
class Place:
    """A table where commands are measured.

    Attributes:
        crowd: the crowd.
        player: number of the member who plays the dwarfs.
        plies: number of plies played before.
    """

    crowd: Crowd
    player: int
    plies: int = 0


def tables(folder: Path, numbers: Sequence[int], pains: Pains) -> Iterator[Row]:
    """Compare a table among many with one among few; the first number is the yardstick."""
    with ExitStack() as stack:
        places = []
        for number in numbers:
            server = stack.enter_context(thudmud(folder / f"{number} tables", number))
            places.append(Place(stack.enter_context(seated(server, 2)), 0))
        titles = [f"at one of {number:,} tables" for number in numbers]
        yield from _compared(places, titles, pains)


def accounts(folder: Path, numbers: Sequence[int], pains: Pains) -> Iterator[Row]:
    """Compare servers with many and few stored accounts; the first number is the yardstick."""
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
    """Compare games after many and few plies; the first number is the yardstick."""
    with ExitStack() as stack:
        server = stack.enter_context(thudmud(folder / "plies", len(numbers)))
        crowd = stack.enter_context(seated(server, 2 * len(numbers)))
        for table, number in enumerate(numbers):
            crowd.turns([2 * table], _so_many(number), MOVED, 600)
        places = [Place(crowd, 2 * table, number) for table, number in enumerate(numbers)]
        titles = [f"after {number:,} plies" for number in numbers]
        yield from _compared(places, titles, pains)


async def _enrol(path: Path, number: int) -> None:
    """Store a number of accounts in a new store."""
    store = await Store.open(path)
    await asyncio.gather(
        *(store.write(account_rows.enrol, f"Account{each}", "none") for each in range(number))
    )
    await store.close()


def _so_many(most: int, line: Line = to_and_fro, before: int = 0) -> Line:
    """Limit a source of lines.

    Args:
        most: number of lines before the end.
        line: the source.
        before: number of lines to skip at the start.
    """
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
    # A round has a multiple of four plies, which returns the pieces to their squares.
    moves = _so_many(PLIES, move_by_name, place.plies)
    yield "a move", crowd.turns([player], moves, MOVED, PATIENCE)
