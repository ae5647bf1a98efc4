"""Growth of the server's costs with connections, players, boards, watchers and stored data.

Run it from the checkout: ``python benchmarks/growth.py``, or ``python -m benchmarks.growth``. It
takes about an hour; names select measurements, and ``--quick`` has few and small sizes:

- ``connections``: players in rooms of ten, each of whom says something once in 20 s;
- ``hall``: an arrival among players in one hall, and a line that only its player sees;
- ``boards``: boards with two players each, and a move once in 10 s at each board;
- ``watchers``: a move until the last watcher of one board has read it;
- ``battles``: a start, a move and pages of the history with stored battles. ``--stores FOLDER``
  keeps the stores, which take long to make, for the next time, and ``--million`` adds the largest;
- ``members``: a start, an arrival and a move with stored members;
- ``nodes``: moves at nodes that share a database. This requires PostgreSQL's programs.

Each is measured at several sizes and printed as a table, with the exponent of each column: 0 is
constant, 1 linear. ``--save FILE`` also saves the points as JSON, and keeps those that the file has
of other measurements. ``--draw FILE PICTURE`` measures nothing: it draws saved points as SVG and
prints their table. This requires matplotlib, ``pip install --group plots``.

The server's costs are its CPU time, which is largely independent of other load on the machine, and
its resident memory. Delays are affected by other load. Connections are limited by the hard limit of
open files.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.battles import NOW, fill, open_outdated
from benchmarks.load.busy import until_all_know
from benchmarks.load.crowd import Crowd
from benchmarks.load.curves import TITLES, Point, draw, from_text, merged, to_table, to_text
from benchmarks.load.players import (
    HISTORY,
    MOVED,
    NAME_PROMPT,
    PROMPT,
    SAY,
    UNREAD,
    Words,
    let_in,
    move,
    seated,
    send_to_boards,
    sit_down,
    to_and_fro,
    watch,
)
from benchmarks.load.processes import RAISED, Running, Sections, letters, raise_file_limit, thudmud
from thudmud.features.explorer.storage import explored_rows
from thudmud.store.accounts import enrol
from thudmud.store.database import Database
from thudmud.values import replace

AT_BOARD = 10
"""Players in each room, for ``connections``."""

SPARE_FILES = 200
"""Open files that the server needs besides its connections."""

TALK_PACE, MOVE_PACE = 20.0, 10.0
"""Seconds between two lines of a player, and between two moves at a board."""

PASSES = 4
"""Moves at each board: a multiple of four brings the pieces back to their squares."""

REST = 3.0
"""Seconds for which the CPU time at rest is measured."""

TIMES = 40
"""Units of work for each figure, where nobody sets the pace. Like `WARM_UP` a multiple of four:
after that many moves, the pieces are back on their squares."""

WARM_UP = 4
"""Units of work before those that are measured: the first ones load modules and fill caches."""

SETTLED = 0.5
"""Seconds of silence after which all output has been read."""

STARTS = 5

AT_PAGE = 20
"""Battles on a page of the history."""

BATCH = 20_000
"""Members stored in one transaction."""

MIB = 1024
"""Memory is measured in KiB."""


@dataclass(frozen=True)
class Extent:
    """Sizes of each measurement.

    Attributes:
        sizes: by the name of the measurement.
        seconds: CPU seconds of moves at nodes.
        tables: boards in play at nodes.
    """

    sizes: dict[str, Sequence[int]]
    seconds: float = 15.0
    tables: int = 40


FULL = Extent(
    {
        "connections": (100, 300, 1000, 3000, 10_000, 20_000),
        "hall": (10, 50, 200, 1000, 5000),
        "boards": (10, 100, 1000, 3000, 10_000),
        "watchers": (1, 10, 100, 1000, 5000),
        "battles": (1000, 10_000, 100_000),
        "members": (1000, 10_000, 100_000, 1_000_000),
        "nodes": (1, 2, 3),
    }
)
QUICK = Extent(
    {
        "connections": (20, 100),
        "hall": (10, 100),
        "boards": (10, 50),
        "watchers": (1, 100),
        "battles": (100, 1000),
        "members": (100, 1000),
        "nodes": (1, 2),
    },
    seconds=2.5,
    tables=10,
)


class Meter:
    """The costs of a server from now on.

    Attributes:
        rest: CPU seconds that it uses in each second at rest, while nobody types.
    """

    def __init__(self, server: Running) -> None:
        self._server = server
        cpu, begun = server.cpu, perf_counter()
        time.sleep(REST)
        self.rest = (server.cpu - cpu) / (perf_counter() - begun)
        self.restart()

    def restart(self) -> None:
        """Measure from now on."""
        self._cpu, self._begun = self._server.cpu, perf_counter()

    def spent(self) -> float:
        """Return the CPU seconds used so far, without those at rest."""
        rest = self.rest * (perf_counter() - self._begun)
        return max(0.0, self._server.cpu - self._cpu - rest)


def point(
    name: str, work: str, size: int, cpu: float, delays: Sequence[float], **more: float
) -> Point:
    """Return a point from the total CPU seconds and the delay in seconds of each unit of work."""
    hundredths = quantiles(delays, n=100, method="inclusive")
    half, late = hundredths[49] * 1000, hundredths[98] * 1000
    return Point(name, work, size, cpu / len(delays) * 1000, half, late, **more)


def one_by_one(crowd: Crowd, words: Words) -> tuple[float, list[float]]:
    """Let the first member type lines one after the other; return as `repeated`."""
    return repeated(
        crowd.server, lambda count: read_by(crowd, [0], 0, words.line(0, count), words.answer)
    )


def moves(crowd: Crowd) -> tuple[float, list[float]]:
    """Play at the first board, until both players have read each ply; return as `repeated`."""
    return repeated(
        crowd.server, lambda ply: read_by(crowd, [0, 1], ply % 2, to_and_fro(0, ply), MOVED)
    )


def read_by(crowd: Crowd, readers: Sequence[int], sender: int, line: bytes, answer: bytes) -> float:
    """Send a line; return the seconds until all readers have read the answer."""
    begun = perf_counter()
    crowd.send(sender, line)
    crowd.wait_for(readers, answer)
    return perf_counter() - begun


def repeated(server: Running, work: Callable[[int], float]) -> tuple[float, list[float]]:
    """Do units of work, numbered from 0.

    Args:
        server: the server.
        work: does a unit of work, and returns its delay in seconds.

    Returns:
        CPU seconds of all but the first few, and the delays of these.
    """
    for number in range(WARM_UP):
        work(number)
    meter = Meter(server)
    delays = [work(number) for number in range(WARM_UP, WARM_UP + TIMES)]
    return meter.spent(), delays


def arrivals(server: Running, names: Iterator[int]) -> tuple[float, list[float]]:
    """Let newcomers connect, log in and leave, one by one; return CPU seconds and delays.

    The delay is from the name until the prompt in the hall. Leaving isn't counted.
    """
    meter, delays, cpu = Meter(server), [], 0.0
    for number in islice(names, WARM_UP + TIMES):
        name = f"z{letters(number)}\r\n".encode()
        meter.restart()
        with Crowd(server, 1, NAME_PROMPT) as newcomer:
            delays.append(read_by(newcomer, [0], 0, name, PROMPT))
            cpu = cpu + meter.spent() if len(delays) > WARM_UP else 0.0
        time.sleep(0.05)  # the server notices the departure
    return cpu, delays[WARM_UP:]


def connections(folder: Path, extent: Extent) -> Iterator[Point]:
    """Measure a say heard by ten, among connections that are mostly idle."""
    sizes = extent.sizes["connections"]
    with thudmud(folder, -(-sizes[-1] // AT_BOARD), sections(sizes[-1])) as server:
        before = server.memory
        with Crowd(server, 0) as crowd:
            for size in sizes:
                let_in(crowd, size - len(crowd), lambda some: send_to_boards(crowd, some, AT_BOARD))
                memory, meter = (server.memory - before) / MIB, Meter(server)
                talkers = Random(size).sample(range(size), size)
                found = crowd.delays(talkers, SAY.line, SAY.answer, TALK_PACE, size / TALK_PACE)
                cpu, rest = meter.spent(), meter.rest * 1000
                work = f"a say to the {AT_BOARD} in a room"
                yield point("connections", work, size, cpu, found, memory=memory, rest=rest)
                crowd.quiet()


def hall(folder: Path, extent: Extent) -> Iterator[Point]:
    """Measure arrivals among players in one hall, and a line that only its player sees."""
    sizes, names = extent.sizes["hall"], count()
    with thudmud(folder, 1, sections(sizes[-1] + 10)) as server:
        before = server.memory
        with Crowd(server, 0) as crowd:
            for size in sizes:
                let_in(crowd, size - len(crowd))
                memory = (server.memory - before) / MIB
                cpu, found = arrivals(server, names)
                yield point("hall", "an arrival", size, cpu, found, memory=memory)
                crowd.quiet()
                cpu, found = one_by_one(crowd, UNREAD)
                work = "a line that only its player sees"
                yield point("hall", work, size, cpu, found, memory=memory)


def boards(folder: Path, extent: Extent) -> Iterator[Point]:
    """Measure a move until its player has read it, while moves are made at all boards."""
    sizes = extent.sizes["boards"]
    with thudmud(folder, sizes[-1], sections(2 * sizes[-1])) as server:
        before = server.memory
        with Crowd(server, 0) as crowd:
            for size in sizes:
                let_in(crowd, 2 * size - len(crowd), lambda some: sit_down(crowd, some))
                memory, meter, found = (server.memory - before) / MIB, Meter(server), []
                for ply in range(PASSES):
                    crowd.quiet(SETTLED)  # the other player reads each move, too
                    found += crowd.delays(
                        range(ply % 2, 2 * size, 2),
                        lambda number, _, ply=ply: to_and_fro(number, ply),  # type: ignore[misc]
                        MOVED,
                        MOVE_PACE,
                        size / MOVE_PACE,
                    )
                cpu, rest = meter.spent(), meter.rest * 1000
                yield point("boards", "a move", size, cpu, found, memory=memory, rest=rest)
                crowd.quiet()


def watchers(folder: Path, extent: Extent) -> Iterator[Point]:
    """Measure a move until the last watcher of one board has read it."""
    sizes = extent.sizes["watchers"]
    with thudmud(folder, 1, sections(sizes[-1] + 2)) as server:
        before = server.memory
        with seated(server, 2) as crowd:
            for size in sizes:
                watch(crowd, size + 2 - len(crowd), "full")
                memory = (server.memory - before) / MIB
                cpu, found = repeated(
                    server, lambda ply: until_all_know(crowd, ply % 2, to_and_fro(0, ply))[0]
                )
                yield point("watchers", "a move to the last", size, cpu, found, memory=memory)


def battles(folder: Path, extent: Extent) -> Iterator[Point]:
    """Measure a start, a move, an arrival and the history with stored battles.

    Stores that the folder has from an earlier run are used again.
    """
    for size in extent.sizes["battles"]:
        path = folder / f"{size} battles.db"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            fill(path, size)
            database = open_outdated(path, lambda: NOW)
            while database.write([lambda db: explored_rows(db).count_next_batch()])[0] == [True]:
                pass  # otherwise the server would do it meanwhile
            database.close()
        yield from stored(path, "battles", size, [HISTORY, last_page(max(1, size // AT_PAGE))])


def last_page(pages: int) -> Words:
    """Return the command that shows the last page of the history."""
    line = f"history all page {pages}\r\n".encode()
    return Words("the last page of the history", lambda number, times: line, HISTORY.answer)  # noqa: ARG005


def members(folder: Path, extent: Extent) -> Iterator[Point]:
    """Measure a start, a move and an arrival with stored members."""
    folder.mkdir(parents=True, exist_ok=True)
    path, enrolled = folder / "members.db", 0
    for size in extent.sizes["members"]:
        database = open_outdated(path, time.time)
        for first in range(enrolled, size, BATCH):
            numbers = range(first, min(first + BATCH, size))
            database.write([partial(enrol_all, numbers=numbers)])
        database.close()
        enrolled = size
        yield from stored(path, "members", size)


def enrol_all(database: Database, numbers: range) -> None:
    """Store a member for each number."""
    for number in numbers:
        enrol(database, f"Member{number}", "none")


def stored(path: Path, name: str, size: int, commands: Sequence[Words] = ()) -> Iterator[Point]:
    """Measure a server on a copy of a store: its starts, moves, arrivals and some commands."""
    with TemporaryDirectory(prefix="thudmud.") as name_of_folder:
        folder, cpus, times, memory = Path(name_of_folder), [], [], 0.0
        shutil.copy(path, folder / "thudmud.db")
        for _ in range(STARTS):
            with thudmud(folder, 1) as server:
                cpus.append(server.cpu)
                times.append(server.started)
                memory = server.memory / MIB
        yield point(name, "a start", size, sum(cpus), times, memory=memory)
        with thudmud(folder, 1) as server, seated(server, 2) as crowd:
            yield point(name, "a move", size, *moves(crowd))
            yield point(name, "an arrival", size, *arrivals(server, count()))
            for words in commands:
                yield point(name, words.title, size, *one_by_one(crowd, words))


def nodes(folder: Path, extent: Extent) -> Iterator[Point]:
    """Measure moves at nodes on one database, with players spread over the nodes at random."""
    # The cluster's modules need psycopg.
    from benchmarks.load.databases import Spread, database  # noqa: PLC0415  (an optional dependency)
    from benchmarks.load.databases import nodes as start_nodes  # noqa: PLC0415  (likewise)
    from tests.store.clusters import Cluster  # noqa: PLC0415  (likewise)

    dice, players = Random(1), 2 * extent.tables
    cluster = Cluster()
    with ExitStack() as stack:
        stack.callback(cluster.remove)
        cluster.start()
        for size in extent.sizes["nodes"]:
            order = [*range(size), *(dice.randrange(size) for _ in range(players - size))]
            dsn = database(cluster, f"nodes_{size}")
            with (
                start_nodes(folder / f"{size} nodes", extent.tables, dsn, order) as those,
                seated(those, players, Spread) as crowd,
            ):
                # In one go: nodes learn late that a game was started over.
                rate = crowd.turns(range(0, players, 2), move, MOVED, extent.seconds)
                memory = sum(each.memory for each in those.every) / MIB
                cpu = 1000 / rate.cpu
                yield Point("nodes", "a move, all nodes", size, cpu, memory=memory)


MEASUREMENTS: dict[str, Callable[[Path, Extent], Iterator[Point]]] = {
    "connections": connections,
    "hall": hall,
    "boards": boards,
    "watchers": watchers,
    "battles": battles,
    "members": members,
    "nodes": nodes,
}


def sections(most: int) -> Sections:
    """Return the settings of a server with a number of connections from one address."""
    needed = {"connections": most + 100, "connections_per_address": most + 100}
    return {**RAISED, "server": {**RAISED["server"], **needed}}


def within(extent: Extent, files: int) -> Extent:
    """Return an extent whose connections are possible with a limit of open files."""
    most = dict.fromkeys(("connections", "hall", "watchers"), files - SPARE_FILES)
    most["boards"] = (files - SPARE_FILES) // 2
    sizes = {
        name: tuple(min(size, most.get(name, size)) for size in some)
        for name, some in extent.sizes.items()
    }
    return replace(extent, sizes=sizes)


def machine() -> str:
    """Return a sentence on the machine."""
    return (
        f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}"
        f" {platform.release().split('-')[0]}, Python {platform.python_version()}"
    )


def measure(names: Sequence[str], extent: Extent, stores: Path | None) -> Iterator[Point]:
    """Yield the points of measurements."""
    with TemporaryDirectory(prefix="thudmud.") as folder:
        for name in names:
            path = stores if stores and name == "battles" else Path(folder) / name
            yield from MEASUREMENTS[name](path, extent)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table, or draw saved points."""
    parser = argparse.ArgumentParser(description="Measure how the server's costs grow.")
    parser.add_argument("name", nargs="*", help=f"{', '.join(TITLES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="few and small sizes")
    parser.add_argument("--million", action="store_true", help="a million battles, too: 8 GB")
    parser.add_argument("--stores", type=Path, metavar="FOLDER", help="keep stores of battles here")
    parser.add_argument("--save", type=Path, metavar="FILE", help="save the points in this file")
    parser.add_argument(
        "--draw",
        nargs=2,
        type=Path,
        metavar=("FILE", "PICTURE"),
        help="draw the points saved in a file as SVG, and print their table",
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.name).difference(TITLES):
        parser.error(f"there is no {', '.join(sorted(unknown))}: {', '.join(TITLES)}")
    if options.draw:
        saved, picture = options.draw
        _, points = from_text(saved.read_text("utf-8"))
        draw(points, picture)
        print(*to_table(points), sep="\n")
        return 0
    extent = within(QUICK if options.quick else FULL, raise_file_limit())
    if options.million:
        extent.sizes["battles"] = (*extent.sizes["battles"], 1_000_000)
    points = []
    for each in measure(options.name or list(TITLES), extent, options.stores):
        print(each, file=sys.stderr, flush=True)
        points.append(each)
        if options.save:
            before = from_text(options.save.read_text("utf-8"))[1] if options.save.exists() else []
            options.save.write_text(to_text(machine(), merged(points, before)), "utf-8")
    print(*to_table(points), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
