"""Throughput, size and start-up time of a store.

Run it from the checkout: ``python benchmarks/store.py``, or ``python -m benchmarks.store``, with
the numbers of battles to measure at, such as ``0 10000 100000``. Each figure in the table has a
yardstick from the same run:

- appends of one ply, at one table and at 100, sequential at each: beside bare SQLite commits of one
  row of the same length;
- the same with metrics enabled, beside without;
- file size per event, beside its encoded text;
- time and memory of a process that opens a store and makes a server's start-up queries, with some
  number of battles, each match at a board of its own that has been closed, beside none;
- queries with that number of battles, beside one lookup by primary key;
- battles exported per second (`thudmud export`), beside battles read;
- the 99th percentile of an append during a full check and during pruning, beside an idle store; and
  the duration of both;
- the file's size after pruning and after compaction, beside before;
- the explorer, with battles that are all different: bytes of its rows per battle, beside the other
  rows; time to count a battle, beside building its other rows; and its slowest answer.

A million battles take 8 GB, and 24 GB during compaction. An argument may also name a file made by
``python -m benchmarks.battles``, which is modified.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from prometheus_client import Histogram

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.battles import NOW, PLIES, battle, fill, open_outdated, short_battle
from thudmud.cli.export import export
from thudmud.features.explorer.model import ExploreLookup
from thudmud.features.explorer.storage import explored_rows
from thudmud.game.archive import HistoryLookup, StandingsLookup
from thudmud.game.events import Event, Moved
from thudmud.rules import DISCWORLD, Game
from thudmud.store import Store, persons, scores
from thudmud.store import battles as battle_rows
from thudmud.store.codec import to_array, to_text
from thudmud.store.database import Database
from thudmud.store.lookups import answer

SIZES = (0, 10_000)
SECONDS = 2.0
EXPORTED = 500
"""Number of battles to export."""
PAUSE = 0.01
"""Seconds between appends during other work, so as not to starve it."""
ROUNDS = 5
"""Number of starts; the best counts, as the least disturbed."""

START = r"""
import asyncio, re, sys
from pathlib import Path
from time import perf_counter
from thudmud.store import Store, Upgrade, hall, nodes
async def start():
    begun = perf_counter()
    place = sys.argv[1]
    opened = Store.connect(place) if "=" in place else Store.open(
        place, serving=True, upgrade=Upgrade()
    )
    store = await opened
    for board in await store.read(hall.open_boards):
        await store.read_stream(board.key, board.beginning)
    await store.write(nodes.renew_lease, "node")
    await store.read(nodes.all_claims)
    await store.position()
    took = (perf_counter() - begun) * 1000
    # Not by getrusage: that of a process that was forked begins with what its parent has.
    most = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    print(took, int(most[1]) / 1024)
    await store.close()
asyncio.run(start())
"""


@dataclass(frozen=True)
class Row:
    """A row of the table: a measurement and its yardstick."""

    title: str
    measured: float
    yardstick: float
    unit: str

    def __str__(self) -> str:
        ratio = self.measured / self.yardstick
        figures = f"{self.measured:12,.2f}{self.yardstick:12,.2f} {self.unit:10}{ratio:8.2f}"
        return f"{self.title:56}{figures}"


Appends = Callable[[str, int, Event], Awaitable[object]]
"""Appends a ply to a stream, given the stream's key, its version and the event."""


async def rate_of(append: Appends, tables: int, seconds: float) -> float:
    """Return the total rate of appends per second, sequential at each of the tables."""
    plies = [event for event in battle(0) if isinstance(event, Moved)]
    begun = perf_counter()

    async def play(stream: str) -> int:
        version = 0
        while perf_counter() < begun + seconds:
            await append(stream, version, plies[version % PLIES])
            version += 1
        return version

    done = await asyncio.gather(*(play(f"board {number}") for number in range(tables)))
    return sum(done) / (perf_counter() - begun)


def commits(path: Path, seconds: float) -> float:
    """Return the rate per second at which SQLite commits single-row inserts."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("create table event (position integer primary key, body text)")
    begun, done = perf_counter(), 0
    while perf_counter() < begun + seconds:
        connection.execute("insert into event (body) values (?)", ("x" * 80,))
        done += 1
    connection.close()
    return done / (perf_counter() - begun)


async def appends(folder: Path, seconds: float) -> list[Row]:
    """Measure appends, alternately with the yardsticks."""
    best: dict[str, float] = {}

    def note(name: str, rate: float) -> None:
        best[name] = max(best.get(name, 0.0), rate)

    for number in range(2):
        note("commits", commits(folder / f"bare {number}", seconds))
        for kind, tables in (("store", 1), ("store", 100), ("timed", 100)):
            store = await Store.open(folder / f"{kind} {tables} {number}", serving=True)
            if kind == "timed":
                store.timed = Histogram("append", "As /metrics.", registry=None).observe
            added: Appends = lambda stream, version, ply: store.append({stream: (version, [ply])})  # noqa: B023, E731
            note(f"{kind} {tables}", await rate_of(added, tables, seconds))
            await store.close()
    bare = best["commits"]
    untimed = best["store 100"]
    return [
        Row("appends at one table, beside bare commits", best["store 1"], bare, "a second"),
        Row("appends at 100 tables, beside bare commits", untimed, bare, "a second"),
        Row("the same with metrics, beside without", best["timed 100"], untimed, "a second"),
    ]


def starts(place: Path | str, rounds: int) -> tuple[float, float]:
    """Return the minimum time and memory of a process that opens a store.

    Args:
        place: a file, or a PostgreSQL connection string.
        rounds: number of starts.

    Returns:
        Milliseconds, and peak resident memory in MiB.
    """
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", START, str(place)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  (ours)
        found.append(tuple(map(float, said.split())))
    return min(each[0] for each in found), min(each[1] for each in found)


def count_rows(path: Path, query: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(query).fetchone()[0])


async def milliseconds(ask: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(30):
        begun = perf_counter()
        await ask()
        times.append(perf_counter() - begun)
    return min(times) * 1000


async def queries(path: Path, battles: int) -> list[Row]:
    """Measure queries made by players' commands."""
    store = await Store.open(path)
    middle = battles // 2 + 1
    known = await store.read(battle_rows.battle, middle)
    assert known
    row = await milliseconds(store.position)
    with_one = HistoryLookup("Player7", 1, known.dwarf, "discworld")
    asked: Sequence[tuple[str, Callable[[], Awaitable[object]]]] = [
        ("a battle", lambda: store.read(battle_rows.battle, middle)),
        ("its plies", lambda: store.read(battle_rows.battle_events, known)),
        ("20 of a history", lambda: store.read(battle_rows.history, "Player7", None, 20)),
        ("20 of a history with one", lambda: store.look_up(with_one)),
        ("standings of 50", lambda: store.read(scores.standings, most=50)),
        ("standings as they are asked for", lambda: store.look_up(StandingsLookup("Player7"))),
        ("a score, with curves", lambda: store.read(scores.score, "Player7", curves=True)),
        ("all that is kept about a player", lambda: store.read(persons.personal_data, "Player7")),
    ]
    rows = [
        Row(f"{title} of {battles:,} battles, beside one row", await milliseconds(ask), row, "ms")
        for title, ask in asked
    ]
    rows.append(await exports(store, path.parent, battles))
    await store.close()
    return rows


def explores(folder: Path, battles: int) -> Iterator[Row]:
    """Measure the time and space that the explorer needs."""
    path = folder / f"{battles} different"
    fill(path, battles, different=True)
    begun = perf_counter()
    database = open_outdated(path, lambda: NOW)
    made = perf_counter() - begun
    bare = _pages(database)
    begun = perf_counter()
    while database.write([lambda db: explored_rows(db).count_next_batch()])[0] == [True]:
        pass
    counted = perf_counter() - begun
    size, each = _pages(database) - bare, database.table.number("select max(number) from battle")
    title = f"the explorer's rows of a battle, of {battles:,}, beside its others"
    yield Row(title, size / each, bare / each, "bytes")
    title = "counting one, beside making its other rows"
    yield Row(title, counted / each * 1000, made / each * 1000, "ms")
    one = min(
        _took(lambda: database.table.row("battle", "where number = ?", each)) for _ in "12345"
    )
    game = Game.start(DISCWORLD)
    moves = [event.move for event in short_battle(0) if isinstance(event, Moved)]
    slowest = 0.0
    for move in moves:
        asked = ExploreLookup(DISCWORLD.name, game.position)
        ask: Callable[[], object] = lambda: answer(database, asked, "")  # noqa: B023, E731
        slowest = max(slowest, min(_took(ask) for _ in "12345"))
        game = game.play(move)
    yield Row("the slowest of its answers, beside one row", slowest * 1000, one * 1000, "ms")
    database.close()


def _pages(database: Database) -> int:
    """Return the bytes in use in a file, without free pages."""
    count, free, size = (
        database.table.number(f"pragma {each}")
        for each in ("page_count", "freelist_count", "page_size")
    )
    return (count - free) * size


def _took(ask: Callable[[], object]) -> float:
    begun = perf_counter()
    ask()
    return perf_counter() - begun


async def checks(path: Path, battles: int, size: int) -> list[Row]:
    """Measure the duration of a full check, and the delay of appends meanwhile."""
    store = await Store.open(path)
    before, _ = await slowest(store, asyncio.sleep(0))
    meanwhile, took = await slowest(store, store.check())
    await store.close()
    return [
        Row(
            f"99th percentile of 100 appends beside the check of {battles:,}",
            meanwhile,
            before,
            "ms",
        ),
        Row(f"the check of {battles:,}, seconds beside megabytes", took, size / 1e6, "s / MB"),
    ]


async def prunes(path: Path, battles: int, size: int) -> list[Row]:
    """Measure pruning, and the delay of appends meanwhile.

    A separate process prunes, as when an operator runs ``thudmud store prune`` beside the server.
    """
    store = await Store.open(path)
    before, _ = await slowest(store, asyncio.sleep(0))
    events = await store.position()
    said: list[str] = []

    async def prune() -> None:
        words = ["-m", "thudmud.cli.main", "store", "prune", "--before", "9999-01-01", str(path)]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=pipe)
        said.append((await process.communicate())[0].decode())

    meanwhile, took = await slowest(store, prune())
    await store.close()
    dropped = re.search(r"(\d+) events", said[0])
    assert dropped
    return [
        Row(f"99th percentile of 100 appends beside pruning {battles:,}", meanwhile, before, "ms"),
        Row(f"pruning {battles:,}, seconds beside megabytes", took, size / 1e6, "s / MB"),
        Row("events dropped, beside all, in thousands", int(dropped[1]) / 1e3, events / 1e3, ""),
    ]


async def compacts(path: Path, size: int) -> list[Row]:
    """Measure the compaction of a pruned file."""
    store = await Store.open(path, serving=True)
    begun = perf_counter()
    pruned, compacted = await store.read(Database.compact)
    took = perf_counter() - begun
    await store.close()
    return [
        Row("the file when pruned, beside before", pruned / 1e6, size / 1e6, "MB"),
        Row("the file when made smaller, beside before", compacted / 1e6, size / 1e6, "MB"),
        Row("making it smaller, seconds beside megabytes", took, pruned / 1e6, "s / MB"),
    ]


async def exports(store: Store, folder: Path, battles: int) -> Row:
    """Measure the export rate of the last battles, beside the rate at which they are read."""
    since = max(1, battles - EXPORTED)
    some = await store.read(battle_rows.battles, after=since, most=EXPORTED)
    begun = perf_counter()
    with TemporaryDirectory(dir=folder) as name:
        written = await export(store, Path(name), since=some[0].at)
    took = perf_counter() - begun
    begun = perf_counter()
    for one in some:
        await store.read(battle_rows.battle_events, one)
    read = perf_counter() - begun
    title = f"records of {battles:,} battles, beside plies that are read"
    return Row(title, written.records / took, len(some) / read, "a second")


async def slowest(store: Store, work: Awaitable[object]) -> tuple[float, float]:
    """Append continuously during other work.

    Returns:
        The 99th percentile of an append in milliseconds, and the duration of the work in seconds.
    """
    happening = cycle(battle(0)[:-1])
    version = (await store.read(Database.stream_versions)).get("beside", 0)
    times: list[float] = []
    begun = perf_counter()
    task = asyncio.ensure_future(work)
    while len(times) < 300 or not task.done():
        started = perf_counter()
        await store.append({"beside": (version, [next(happening)])})
        times.append(perf_counter() - started)
        version += 1
        await asyncio.sleep(PAUSE)
        if task.done() and len(times) == 300:
            break
    await task
    took = perf_counter() - begun
    return sorted(times)[len(times) * 99 // 100] * 1000, took


def report(sizes: Sequence[int | Path], rounds: int, seconds: float) -> Iterator[Row | str]:
    """Yield the lines of the table.

    Args:
        sizes: numbers of battles to generate, or existing files.
        rounds: number of starts.
        seconds: duration of each run of appends.
    """
    yield f"{'':56}{'store':>12}{'yardstick':>12}{'ratio':>19}"
    with TemporaryDirectory(prefix="thudmud.") as name:
        folder = Path(name)
        yield from asyncio.run(appends(folder, seconds))
        none: tuple[float, float] | None = None
        for each in sizes:
            path, battles = (each, 0) if isinstance(each, Path) else (folder / f"{each}", each)
            if path == each:
                battles = count_rows(path, "select max(number) from battle")
            else:
                fill(path, battles)
            time, memory = starts(path, rounds)
            none = none or (time, memory)
            yield Row(f"start with {battles:,} battles", time, none[0], "ms")
            yield Row("its memory", memory, none[1], "MiB")
            if not battles:
                continue
            some = [event for seed in range(10) for event in battle(seed)]
            text = sum(len(to_text(to_array(event, lambda _: 100))) for event in some) / len(some)
            size = path.stat().st_size
            yield Row(
                f"an event, of {battles:,} battles, beside its text",
                size / count_rows(path, "select position from head"),
                text,
                "bytes",
            )
            yield from asyncio.run(queries(path, battles))
            yield from asyncio.run(prunes(path, battles, size))
            yield from asyncio.run(checks(path, battles, size))
            yield from asyncio.run(compacts(path, size))
            if path != each:
                yield from explores(folder, battles)


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark for the given sizes, and print the table."""
    sizes = [int(each) if each.isdigit() else Path(each) for each in arguments] or SIZES
    for line in report(sizes, ROUNDS, SECONDS):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
