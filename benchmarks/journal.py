"""How long a journal takes to start, how many appends it stores a second, and how large it gets.

Run it from the checkout: ``python benchmarks/journal.py``, or ``python -m benchmarks.journal``. It
prints one table, and exits with status 1 if a ratio is worse than what is wanted of it.

- Start-up: a real server, from its start to the line that says that it is ready; with many stored
  battles, beside the same with none. Once after it was stopped, and once after it was killed, when
  all of the journal is checked. And the whole check by itself, beside reading the file's bytes.
- Appends: many tables, each of which waits for one append before the next. With group commit,
  beside the same with one commit each.
- Size: bytes of the file for each ply, beside those of the ply's text alone.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.codec import encode
from thudmud.journal import SqliteJournal
from thudmud.journal.checking import check_all
from thudmud.journal.seal import SUFFIX
from thudmud.journal.store import Append, Store
from thudmud.play.events import BattleEnded, BattleStarted, Event, Moved
from thudmud.rules import DISCWORLD, Ending, Move, Outcome, Score, Side
from thudmud.storage.files import beside

GAMES = 10_000
PLIES = 80
BOARDS = ("oak board", "pine board", "marble board", "basalt board")
TABLES = 100
SECONDS = 2.0
ROUNDS = 5
"""The best of so many counts, being the least disturbed."""

NOW = 1795225366.123456
WIDTH = 56
"""How many columns the table's titles take."""

START_UP_WANTED = 1.25
CHECK_WANTED = 10
GROUP_WANTED = 3
SIZE_WANTED = 2


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, beside a yardstick."""

    title: str
    measured: float
    yardstick: float
    unit: str
    least: float = 0.0
    most: float = float("inf")

    @property
    def ratio(self) -> float:
        """How many times the yardstick it is."""
        return self.measured / self.yardstick

    @property
    def is_wanted(self) -> bool:
        """Whether the ratio is as it should be."""
        return self.least <= self.ratio <= self.most

    def __str__(self) -> str:
        wanted = f"> {self.least:g}" if self.least else f"< {self.most:g}"
        return (
            f"{self.title:{WIDTH}}{self.measured:10,.1f}{self.yardstick:10,.1f} {self.unit:11}"
            f"{self.ratio:8.1f}{wanted if wanted != '< inf' else '':>9}"
        )


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


def fill(path: Path, games: int) -> int:
    """Make a journal of so many battles; return how many bytes a ply's text takes."""
    store = Store(path, 5.0)
    some = [battle(seed) for seed in range(10)]
    length = len(some[0])
    for first in range(games // len(BOARDS)):
        store.append(
            [
                Append(name, first * length, some[(first + number) % 10])
                for number, name in enumerate(BOARDS)
            ]
        )
    store.close()
    texts = [encode(event) for events in some for event in events if isinstance(event, Moved)]
    return sum(map(len, texts)) // len(texts)


def serve(folder: Path) -> None:
    """Start a server that keeps its files in a folder, wait until it is ready, and stop it."""
    command = [sys.executable, "-m", "thudmud.server.main", "--port", "0"]
    with subprocess.Popen(  # noqa: S603  (our own command)
        command, cwd=folder, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        assert "ready" in server.stdout.readline()
        server.kill()


def milliseconds(
    work: Callable[[], object], rounds: int, before: Callable[[], object] = tuple
) -> float:
    """Return the best time of one call; what comes ``before`` each is not counted."""
    times = []
    for _ in range(rounds):
        before()
        begun = perf_counter()
        work()
        times.append(perf_counter() - begun)
    return min(times) * 1000


def start_up(folder: Path, games: int, rounds: int) -> Iterator[Row]:
    """Measure start-up, and size."""
    full, empty = folder / "full", folder / "empty"
    full.mkdir()
    empty.mkdir()
    journal = full / "thudmud.db"
    text = fill(journal, games)
    size = journal.stat().st_size / (games // len(BOARDS) * len(BOARDS) * PLIES)

    def after_stop() -> None:
        Store(journal, 5.0).close()

    def after_kill() -> None:
        after_stop()
        beside(journal, SUFFIX).unlink()

    none = milliseconds(lambda: serve(empty), rounds)
    shutil.copy(empty / "thudmud.accounts", full)
    stopped = milliseconds(lambda: serve(full), rounds, after_stop)
    killed = milliseconds(lambda: serve(full), rounds, after_kill)
    after_stop()
    checking = milliseconds(lambda: check_all(journal, 5.0), rounds)
    reading = milliseconds(lambda: crc32(journal.read_bytes()), rounds)
    title = f"start of a server with {games:,} battles, beside none"
    yield Row(title, stopped, none, "ms", most=START_UP_WANTED)
    yield Row("the same, after it was killed", killed, none, "ms")
    yield Row("the check of everything, beside reading", checking, reading, "ms", most=CHECK_WANTED)
    yield Row("size of a ply, beside its text", size, text, "bytes", most=SIZE_WANTED)


async def appends(path: Path, seconds: float, turn: AbstractAsyncContextManager[object]) -> float:
    """Return how many appends of one ply all tables store a second; each waits for its ``turn``."""
    journal = await SqliteJournal.open(path)
    plies = battle(0)[1:-1]
    begun = perf_counter()
    end = begun + seconds

    async def play(stream: str) -> int:
        version = 0
        while not version or perf_counter() < end:
            async with turn:
                await journal.append(stream, version, [plies[version % PLIES]])
            version += 1
        return version

    done = await asyncio.gather(*(play(f"board {number}") for number in range(TABLES)))
    taken = perf_counter() - begun
    await journal.close()
    return sum(done) / taken


def commits(folder: Path, seconds: float) -> Row:
    """Compare group commit with one commit each."""

    async def alone() -> float:
        return await appends(folder / "alone", seconds, asyncio.Lock())

    together = asyncio.run(appends(folder / "together", seconds, nullcontext()))
    title = f"appends at {TABLES} tables, beside one commit each"
    return Row(title, together, asyncio.run(alone()), "a second", least=GROUP_WANTED)


def report(games: int, rounds: int, seconds: float) -> Iterator[Row | str]:
    """Yield the lines of the table."""
    yield f"{'':{WIDTH}}{'journal':>10}{'yardstick':>10}{'ratio':>20}{'wanted':>9}"
    with TemporaryDirectory(prefix="thudmud.") as folder:
        yield commits(Path(folder), seconds)
        yield from start_up(Path(folder), games, rounds)


def main() -> int:
    """Print the table; return 1 if something is worse than is wanted."""
    status = 0
    for line in report(GAMES, ROUNDS, SECONDS):
        print(line, flush=True)
        if isinstance(line, Row) and not line.is_wanted:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
