"""How many appends a store takes a second, how large it gets, and that it starts at once.

Run it from the checkout: ``python benchmarks/store.py``, or ``python -m benchmarks.store``, with
the numbers of battles to measure at, such as ``0 10000 100000``. It prints one table. Each figure
stands beside a yardstick of the same run:

- appends of one ply, at one table and at 100, each of which waits for one before the next: beside
  as many bare commits of SQLite, each of a row of the same length;
- bytes of the file for each event, beside those of its text;
- the time and the memory of a process that opens a store and asks what a server asks at a start,
  at so many battles and as many boards that were closed, beside none;
- queries at so many battles, beside one row of a table by its key;
- the slowest of 100 appends while everything is checked, beside the same without.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.play.events import (
    BattleEnded,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    Event,
    Moved,
    StoredEvent,
)
from thudmud.play.projections import HALL
from thudmud.rules import DISCWORLD, Ending, Move, Outcome, Score, Side
from thudmud.store import Store
from thudmud.store.codec import to_array, to_text
from thudmud.store.database import Changes, Database
from thudmud.store.files import OnDisk

NOW = 1795225366.123456
PLIES = 80
SIZES = (0, 10_000)
PLAYERS = 500
SECONDS = 2.0
ROUNDS = 5
"""The best of so many counts, being the least disturbed."""

START = """
import asyncio, resource, sys
from time import perf_counter
from thudmud.store import Store
async def start():
    begun = perf_counter()
    store = await Store.open(sys.argv[1], serving=True)
    for board in await store.open_boards():
        await store.read(board.key, board.beginning)
    await store.beat("node"), await store.people(), await store.position()
    took = (perf_counter() - begun) * 1000
    print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    await store.close()
asyncio.run(start())
"""


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, beside a yardstick."""

    title: str
    measured: float
    yardstick: float
    unit: str

    def __str__(self) -> str:
        ratio = self.measured / self.yardstick
        figures = f"{self.measured:12,.2f}{self.yardstick:12,.2f} {self.unit:10}{ratio:8.2f}"
        return f"{self.title:56}{figures}"


Appends = Callable[[str, int, Event], Awaitable[object]]
"""Appends a ply to a stream at a version."""


def battle(games: int) -> list[Event]:
    """Return the events of a battle at random; ``games`` is how many there were before."""
    random, position = Random(games), DISCWORLD.opening
    moves: list[Move] = []
    for _ in range(PLIES):
        moves.append(random.choice(DISCWORLD.legal_moves(position)))
        position = DISCWORLD.after(position, moves[-1])
    sides = (Side.DWARF, Side.TROLL)
    return [
        BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Bert", rated=True),
        *(
            Moved(NOW + ply * 20.25, ("Anna", "Bert")[ply % 2], sides[ply % 2], move, ply + 1)
            for ply, move in enumerate(moves)
        ),
        BattleEnded(
            NOW + 2000,
            "Anna",
            Outcome(Ending.RESIGNATION, Side.TROLL, Score(0, 32)),
            PLIES,
            "Anna",
            "Bert",
            rated=True,
        ),
    ]


async def rate_of(append: Appends, tables: int, seconds: float) -> float:
    """Return how many appends all tables have stored a second."""
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
    """Return how many bare commits of a row SQLite makes a second."""
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
    """Measure appends, in turns with the yardsticks."""
    best: dict[str, float] = {}

    def note(name: str, rate: float) -> None:
        best[name] = max(best.get(name, 0.0), rate)

    for number in range(2):
        note("commits", commits(folder / f"bare {number}", seconds))
        for tables in (1, 100):
            store = await Store.open(folder / f"store {tables} {number}", serving=True)
            added: Appends = lambda stream, version, ply: store.append({stream: (version, [ply])})  # noqa: B023, E731
            note(f"store {tables}", await rate_of(added, tables, seconds))
            await store.close()
    bare = best["commits"]
    return [
        Row("appends at one table, beside bare commits", best["store 1"], bare, "a second"),
        Row("appends at 100 tables, beside bare commits", best["store 100"], bare, "a second"),
    ]


def fill(path: Path, battles: int) -> None:
    """Make a store of so many battles of two of 500 players each, and as many closed boards."""
    database = Database(OnDisk(path, serving=False, patience=5.0), lambda: NOW)
    boards = ("oak", "pine")
    opened = [BoardOpened(NOW, "", board, f"{board} board", "discworld") for board in boards]
    append(database, {HALL: (0, opened)})
    for start in range(0, battles, 100):
        closed: list[StoredEvent] = []
        for number in range(start, min(start + 100, battles)):
            key = f"board {number}"
            closed.append(BoardOpened(NOW, "", key, key, "discworld"))
            closed.append(BoardClosed(NOW, "", key))
        append(database, {HALL: (2 + 2 * start, closed)})
    some = [battle(seed) for seed in range(10)]
    names = [f"Player{number}" for number in range(PLAYERS)]
    for start in range(0, battles, 100):
        works = []
        for number in range(start, min(start + 100, battles)):
            dwarf, troll = names[number % PLAYERS], names[(number * 7 + 1) % PLAYERS]
            events = [renamed(event, dwarf, troll) for event in some[number % 10]]
            place = (boards[number % 2], number // 2 * len(events), events)
            works.append(lambda db, place=place: db.append({place[0]: place[1:]}))
        for outcome in database.write(works)[0]:
            assert isinstance(outcome, dict), outcome
    database.files.scrubbed()
    database.close()


def renamed(event: Event, dwarf: str, troll: str) -> Event:
    names = {"Anna": dwarf, "Bert": troll}
    new = object.__new__(type(event))  # checked when it was made, and quicker than to do so again
    for field in event.__dataclass_fields__:
        value = getattr(event, field)
        object.__setattr__(new, field, names.get(value, value) if isinstance(value, str) else value)
    return new


def append(database: Database, changes: Changes) -> None:
    [outcome], _ = database.write([lambda db: db.append(changes)])
    assert isinstance(outcome, dict), outcome


def starts(path: Path, rounds: int) -> tuple[float, float]:
    """Return the least milliseconds and MiB of a process that starts with a store."""
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", START, str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  (ours)
        found.append(tuple(map(float, said.split())))
    return min(each[0] for each in found), min(each[1] for each in found)


async def milliseconds(ask: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(30):
        begun = perf_counter()
        await ask()
        times.append(perf_counter() - begun)
    return min(times) * 1000


async def queries(path: Path, battles: int, size: int) -> list[Row]:
    """Measure what players ask, and the check of everything."""
    store = await Store.open(path)
    middle = battles // 2 + 1
    known = await store.battle(middle)
    assert known
    row = await milliseconds(store.position)
    asked: Sequence[tuple[str, Callable[[], Awaitable[object]]]] = [
        ("a battle", lambda: store.battle(middle)),
        ("its plies", lambda: store.plies(known)),
        ("20 of a history", lambda: store.history("Player7", None, 20)),
        ("standings of 50", lambda: store.standings(None, 50)),
        ("a score", lambda: store.score("Player7")),
    ]
    rows = [
        Row(f"{title} of {battles:,} battles, beside one row", await milliseconds(ask), row, "ms")
        for title, ask in asked
    ]
    before, _ = await slowest(store, asyncio.sleep(0))
    meanwhile, took = await slowest(store, store.check())
    title = f"slowest of 100 appends beside the check of {battles:,}"
    rows.append(Row(title, meanwhile, before, "ms"))
    title = f"the check of {battles:,}, seconds beside megabytes"
    rows.append(Row(title, took, size / 1e6, "s / MB"))
    await store.close()
    return rows


async def slowest(store: Store, work: Awaitable[object]) -> tuple[float, float]:
    """Return the milliseconds that but one of a hundred appends takes, and the work's seconds."""
    plies = [event for event in battle(0) if isinstance(event, Moved)]
    version = (await store.streams()).get("beside", 0)
    times: list[float] = []
    begun = perf_counter()
    task = asyncio.ensure_future(work)
    while len(times) < 300 or not task.done():
        started = perf_counter()
        await store.append({"beside": (version, [plies[version % PLIES]])})
        times.append(perf_counter() - started)
        version += 1
        if task.done() and len(times) == 300:
            break
    assert await task is None
    took = perf_counter() - begun
    return sorted(times)[len(times) * 99 // 100] * 1000, took


def report(sizes: Sequence[int], rounds: int, seconds: float) -> Iterator[Row | str]:
    """Yield the lines of the table."""
    yield f"{'':56}{'store':>12}{'yardstick':>12}{'ratio':>19}"
    with TemporaryDirectory(prefix="thudmud.") as name:
        folder = Path(name)
        yield from asyncio.run(appends(folder, seconds))
        none: tuple[float, float] | None = None
        for battles in sizes:
            path = folder / f"{battles} battles"
            fill(path, battles)
            time, memory = starts(path, rounds)
            none = none or (time, memory)
            yield Row(f"start with {battles:,} battles and closed boards", time, none[0], "ms")
            yield Row("its memory", memory, none[1], "MiB")
            if not battles:
                continue
            events = [event for seed in range(10) for event in battle(seed)]
            text = sum(len(to_text(to_array(event, lambda _: 100))) for event in events) / len(
                events
            )
            size = path.stat().st_size
            each = size / (battles * (len(battle(0)) + 2))
            yield Row(f"an event, of {battles:,} battles, beside its text", each, text, "bytes")
            yield from asyncio.run(queries(path, battles, size))


def main(arguments: Sequence[str]) -> int:
    """Print the table, at these numbers of battles."""
    sizes = [int(each) for each in arguments] or SIZES
    for line in report(sizes, ROUNDS, SECONDS):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
