"""PostgreSQL compared with SQLite, several nodes with one, and time to recover from failures.

Run it from the checkout: ``python benchmarks/cluster.py``, or ``python -m benchmarks.cluster``. A
full run takes some minutes, ``--quick`` one. Arguments select parts: ``appends``, ``locks``,
``watchers``, ``followers``, ``nodes``, ``failover``, ``starts``. Requires PostgreSQL's programs,
which create a cluster in a temporary folder with default durability (``fsync`` is on). Each figure
in the table has a yardstick that is measured alternately with it:

- appends of one ply, at one table and at 100, sequential at each: the rate, the median and the 99th
  percentile, beside SQLite; the rate beside bare commits of PostgreSQL; and the CPU time and
  write-ahead log per append;
- time from the acquisition of the writers' lock until the commit begins, for appends prepared
  without the lock, beside the same appends decided under it; their rate, and their CPU time in
  PostgreSQL, likewise;
- latency of a ply typed at one node until a spectator at another node reads it, beside a spectator
  at the same node, for the very same plies; and the latter beside a server on SQLite;
- total plies a second at 1, 2 and 3 nodes, beside a server on SQLite, with connections spread over
  the nodes at random; and the CPU time of nodes and database;
- CPU time of a node without players for a ply that another node stored, beside that node's; and
  beside another version's node: that of the checkout named by ``--beside``, measured in turn;
- time until a player resumes after their node was killed, beside a player whose connection was cut,
  and until the opponent is informed; and time until a ply is stored after the database was killed
  and a synchronous standby promoted at once, beside a bare client that writes as soon as it can;
- start of a node with many battles, beside SQLite: ``--battles`` generated ones, or those of a file
  that ``python -m benchmarks.battles`` has made, which is copied.

Players, nodes and the database share the machine's processors. Wall times therefore say little
about nodes on machines of their own; CPU times say a lot.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from unittest.mock import patch

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.battles import PLIES, battle, fill
from benchmarks.load.crowd import PATIENCE, Crowd, Rate
from benchmarks.load.databases import Spent, Spread, database, nodes, pour, spent, stored_in
from benchmarks.load.guests import SECRET_PROMPTS, Guest
from benchmarks.load.players import (
    MOVED,
    NAME_PROMPT,
    PROMPT,
    move,
    seated,
    start_over,
    to_and_fro,
    watching,
)
from benchmarks.load.processes import (
    RAISED,
    ROOT,
    Running,
    board,
    letters,
    servers_of_checkout,
    thudmud,
)
from benchmarks.store import Row, starts
from tests.store.clusters import Cluster
from thudmud.game.events import Moved
from thudmud.store import Store, postgres
from thudmud.store.codec import to_array, to_text
from thudmud.store.database import Database


@dataclass(frozen=True)
class Extent:
    """Amount of work.

    Attributes:
        rounds: number of rounds.
        seconds: duration of each round.
        tables: number of tables that append concurrently.
        boards: number of boards in play for the nodes.
        plies: number of plies that the spectators watch.
        most: largest number of nodes.
        kills: number of nodes, and of databases, to kill.
        starts: number of starts of each store.
    """

    rounds: int = 5
    seconds: float = 3.0
    tables: int = 100
    boards: int = 40
    plies: int = 1000
    most: int = 3
    kills: int = 5
    starts: int = 5


PARTS = ("appends", "locks", "watchers", "followers", "nodes", "failover", "starts")
"""Parts that can be selected."""

NODES_AND_TABLES = (1, 1), (3, 1), (3, 20)
"""Numbers of stores, and of tables of each, for which the time under the lock is measured."""

LOCK_AND_CLOCK = postgres.LOCK.replace(
    "select ", "select set_config('thudmud.locked', clock_timestamp()::text, true) from "
)
MEDIAN_HELD = "select percentile_cont(0.5) within group (order by seconds) from held"
NOTE_HELD = """
create unlogged table held (seconds double precision);
create function note_held() returns trigger language plpgsql as $$ begin
    insert into held values (extract(epoch from
        clock_timestamp() - current_setting('thudmud.locked')::timestamptz));
    return null;
end $$;
create constraint trigger note_held after update on head deferrable initially deferred
    for each row execute function note_held();
"""
"""Notes at the beginning of each commit how long the writers' lock has been held."""

ADDRESS = "127.0.0.1"
SOON = 0.1
"""Seconds between attempts to return or to write."""

SHORTEST_REST = 2.0
"""Seconds in which a node's use at rest is measured: it polls each second, not in each tenth."""

APPENDING = """
import asyncio, sys
from benchmarks.cluster import appended
from thudmud.store import Store
async def append(dsn, tables, seconds, key):
    store = await Store.connect(dsn)
    print("ready", flush=True)
    sys.stdin.readline()
    print((await appended(store, key, int(tables), float(seconds))).rate)
    await store.close()
asyncio.run(append(*sys.argv[1:]))
"""
"""Program that connects, waits for a line on its standard input, then appends."""

BEGUN = b"begin a match"
NOTHING = Spent(0, 0, 0, 0)

QUICK = Extent(1, 0.5, boards=10, plies=50, kills=1, starts=1)


@dataclass(frozen=True)
class Appended:
    """Result of a run of appends: the rate per second, and the sorted durations in seconds."""

    rate: float
    times: Sequence[float]

    def part(self, part: float) -> float:
        """Return a quantile of the durations, in milliseconds."""
        return percentile(self.times, part)


def percentile(times: Sequence[float], part: float) -> float:
    """Return a quantile.

    Args:
        times: durations in seconds.
        part: the quantile, from 0 to 1.

    Returns:
        The duration at that quantile, in milliseconds.
    """
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


def compared(title: str, ours: Sequence[float], theirs: Sequence[float], unit: str) -> Row:
    """Return a row with the median and the median ratio of paired rounds.

    Args:
        title: of the row.
        ours: the measurement of each round.
        theirs: the yardstick of each round.
        unit: of both.
    """
    ratio = median(one / other for one, other in zip(ours, theirs, strict=True))
    measured = median(ours)
    return Row(title, measured, measured / ratio, unit)


async def appended(store: Store, key: str, tables: int, seconds: float) -> Appended:
    """Append plies to new streams, sequentially in each, concurrently over all.

    Args:
        store: the store.
        key: part of the streams' names.
        tables: number of streams.
        seconds: duration.
    """
    plies = [event for event in battle(0) if isinstance(event, Moved)]
    times: list[float] = []
    begun = perf_counter()

    async def play(stream: str) -> None:
        version, now = 0, begun
        while now < begun + seconds:
            await store.append({stream: (version, [plies[version % PLIES]])})
            version += 1
            before, now = now, perf_counter()
            times.append(now - before)

    await asyncio.gather(*(play(f"board {key} {number}") for number in range(tables)))
    return Appended(len(times) / (perf_counter() - begun), sorted(times))


def bare_commits(dsn: str, seconds: float) -> float:
    """Return the rate per second at which PostgreSQL commits single-row inserts."""
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("create table if not exists bare (id bigserial primary key, body text)")
        begun, done = perf_counter(), 0
        while perf_counter() < begun + seconds:
            session.execute("insert into bare (body) values (%s)", ("x" * 80,))
            done += 1
        return done / (perf_counter() - begun)


async def appends(cluster: Cluster, folder: Path, extent: Extent) -> list[Row]:
    """Measure appends, from this process and from several at once."""
    dsn = database(cluster, "appends")
    sqlite = await Store.open(folder / "appends", serving=True)
    postgres = await Store.connect(dsn)
    rows: list[Row] = []
    bare = [bare_commits(dsn, extent.seconds) for _ in range(extent.rounds)]
    for tables in (1, extent.tables):
        ours: list[Appended] = []
        theirs: list[Appended] = []
        took, worked = NOTHING, 0.0
        for number in range(extent.rounds):
            key = f"{tables} {number}"
            theirs.append(await appended(sqlite, key, tables, extent.seconds))
            before, cpu = spent(cluster, "appends"), process_time()
            ours.append(await appended(postgres, key, tables, extent.seconds))
            worked += process_time() - cpu
            took += spent(cluster, "appends") - before
        at = "one table" if tables == 1 else f"{tables} tables"
        title = f"appends at {at}, beside SQLite"
        rates = [each.rate for each in ours]
        rows.append(compared(title, rates, [each.rate for each in theirs], "a second"))
        for name, part in (("half of them", 0.5), ("99 in a hundred", 0.99)):
            there = [each.part(part) for each in theirs]
            times = [each.part(part) for each in ours]
            rows.append(compared(f"the same, {name}", times, there, "ms"))
        if tables == 1:
            title = "the same, beside bare commits of PostgreSQL"
            rows.append(compared(title, rates, bare, "a second"))
        rows += costs(took, worked / took.events * 1000, f"an append at {at}")
    await sqlite.close()
    await postgres.close()
    one, three = (
        [together(dsn, f"{count} {number}", extent, count) for number in range(extent.rounds)]
        for count in (1, 3)
    )
    title = f"appends at {extent.tables} tables of each of 3 processes, beside of 1"
    return [*rows, compared(title, three, one, "a second")]


def together(dsn: str, key: str, extent: Extent, processes: int) -> float:
    """Return the total rate of appends per second of several concurrent processes."""
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", APPENDING, dsn, str(extent.tables), str(extent.seconds)]
    with ExitStack() as stack:
        some = [
            stack.enter_context(
                subprocess.Popen(  # noqa: S603  (ours)
                    [*words, f"{key} {number}"], cwd=ROOT, stdin=pipe, stdout=pipe, text=True
                )
            )
            for number in range(processes)
        ]
        for each in some:
            assert each.stdout
            assert each.stdout.readline() == "ready\n"
        for each in some:
            assert each.stdin
            each.stdin.write("go\n")
            each.stdin.flush()
        return sum(float(each.communicate()[0]) for each in some)


def costs(took: Spent, worked: float, what: str) -> list[Row]:
    """Return rows with the database's costs per event.

    Args:
        took: total costs of a number of events.
        worked: CPU milliseconds of the database's clients per event.
        what: noun phrase for one event.
    """
    plies = [event for event in battle(0) if isinstance(event, Moved)]
    text = mean(len(to_text(to_array(event, lambda _: 100))) for event in plies)
    count = took.events
    return [
        Row(
            f"CPU of PostgreSQL for {what}, beside its user's", took.cpu / count * 1e3, worked, "ms"
        ),
        Row(f"write-ahead log for {what}, beside its text", took.log / count, text, "bytes"),
        Row(f"in a commit: {what}, beside one", count / took.commits, 1, ""),
    ]


async def locks(cluster: Cluster, extent: Extent) -> list[Row]:
    """Measure the time under the writers' lock, of prepared appends beside others."""
    rows: list[Row] = []
    for number, tables in NODES_AND_TABLES:
        name = f"locks_{number}_{tables}"
        dsn = database(cluster, name)
        stores = [await Store.connect(dsn) for _ in range(number)]
        for store in stores:
            await store.subscribe(None, 0, lambda _: None, lambda _: None)
        with psycopg.connect(dsn, autocommit=True) as session:
            session.execute(NOTE_HELD)
            found: dict[bool, list[Sequence[float]]] = {True: [], False: []}
            for turn in range(-2, 2 * extent.rounds):  # at first each plans its statements
                is_prepared = turn % 4 in (0, 3)
                with ExitStack() as stack:
                    stack.enter_context(patch.object(postgres, "LOCK", LOCK_AND_CLOCK))
                    if not is_prepared:
                        never = patch.object(Database, "_append_prepared", lambda *_: None)
                        stack.enter_context(never)
                    before = spent(cluster, name)
                    appending = (
                        appended(store, f"{turn} {place}", tables, extent.seconds)
                        for place, store in enumerate(stores)
                    )
                    rate = sum(each.rate for each in await asyncio.gather(*appending))
                took = spent(cluster, name) - before
                ((held,),) = session.execute(MEDIAN_HELD).fetchall()
                session.execute("truncate held")
                if turn >= 0:
                    found[is_prepared].append((held * 1e3, took.cpu / took.events * 1e3, rate))
        for store in stores:
            await store.close()
        title = f"prepared appends, {number} x {tables} tables, beside others: "
        for place, (what, unit) in enumerate(
            (("under the lock", "ms"), ("CPU of PostgreSQL", "ms"), ("rate", "a second"))
        ):
            ours, theirs = ([each[place] for each in found[is_ours]] for is_ours in (True, False))
            rows.append(compared(title + what, ours, theirs, unit))
    return rows


def watchers(cluster: Cluster, folder: Path, extent: Extent) -> list[Row]:
    """Measure the latency from a typed ply to a spectator's screen."""
    dsn = database(cluster, "watchers")
    with ExitStack() as stack:
        lone = stack.enter_context(thudmud(folder / "lone", 1))
        both = stack.enter_context(nodes(folder / "both", 1, dsn, (0, 0, 0, 1)))
        beside = stack.enter_context(watching(lone, 1, "full"))
        crowd = stack.enter_context(watching(both, 2, "full", Spread))
        found: dict[str, list[float]] = {"lone": [], "same": [], "other": []}
        for ply in range(extent.plies):
            found["lone"].append(measure_broadcast(beside, ply)[2])
            times = measure_broadcast(crowd, ply)
            found["same"].append(times[2])
            found["other"].append(times[3])
    rows = []
    for name, part in (("half of them", 0.5), ("99 in a hundred", 0.99)):
        lone_, same, other = (percentile(each, part) for each in found.values())
        rows += [
            Row(f"a ply read at another node, beside the same node, {name}", other, same, "ms"),
            Row(f"a ply read at the same node, beside SQLite, {name}", same, lone_, "ms"),
        ]
    return rows


def measure_broadcast(crowd: Crowd, ply: int) -> Mapping[int, float]:
    """Play a ply, and measure its latency to each member.

    Returns:
        Seconds until each member of the crowd has read the ply, by the member's number.

    Raises:
        TimeoutError: some members did not read the ply.
    """
    found: dict[int, float] = {}
    begun = perf_counter()
    crowd.send(ply % 2, to_and_fro(0, ply))
    read = dict.fromkeys(range(len(crowd)), b"")
    while len(found) < len(crowd):
        for number, data in crowd.receive_any():
            read[number] += data
            if MOVED in read[number] and read[number].endswith(PROMPT):
                found[number] = perf_counter() - begun
        if perf_counter() > begun + PATIENCE:
            raise TimeoutError(f"a ply was read by {sorted(found)} alone")
    return found


def several(cluster: Cluster, folder: Path, extent: Extent) -> Iterator[Row]:
    """Measure plies per second at several nodes, and their costs."""
    dice, size = Random(1), 2 * extent.boards
    numbers = range(1, extent.most + 1)
    pairs = range(0, size, 2)
    with ExitStack() as stack:
        lone = stack.enter_context(thudmud(folder / "alone", extent.boards))
        crowds: list[tuple[str, Crowd]] = [("", stack.enter_context(seated(lone, size)))]
        for count in numbers:
            name = f"nodes_{count}"
            dsn = database(cluster, name)
            order = [*range(count), *(dice.randrange(count) for _ in range(size - count))]
            those = stack.enter_context(nodes(folder / name, extent.boards, dsn, order))
            crowds.append((name, stack.enter_context(seated(those, size, Spread))))
        rates: list[list[Rate]] = [[] for _ in crowds]
        took = [NOTHING for _ in crowds]
        for _ in range(extent.rounds):
            for number, (name, crowd) in enumerate(crowds):
                before = spent(cluster, name) if name else NOTHING
                rates[number].append(crowd.turns(pairs, move, MOVED, extent.seconds))
                if name:
                    took[number] += spent(cluster, name) - before
                start_over(crowd, range(size))
    walls = [[each.wall for each in some] for some in rates]
    works = [[1000 / each.cpu for each in some] for some in rates]
    for number in numbers:
        what = "1 node" if number == 1 else f"{number} nodes"
        title = f"plies at {extent.boards} tables, {what} beside a server on SQLite"
        yield compared(title, walls[number], walls[0], "a second")
        title = f"CPU of {what} for a ply, beside that server's"
        yield compared(title, works[number], works[0], "ms")
        yield from costs(took[number], median(works[number]), f"a ply, {what}")


@dataclass(frozen=True)
class Follower:
    """A node with players, and one without that follows its plies.

    Attributes:
        database: the name of their database.
        playing: the node with the players.
        idle: the node without.
        crowd: the players.
        rest: CPU seconds of the node without players, for each second in which nobody plays.
    """

    database: str
    playing: Running
    idle: Running
    crowd: Crowd
    rest: float

    def measure(self, cluster: Cluster, seconds: float) -> tuple[float, ...]:
        """Play for some CPU seconds of the playing node.

        Returns:
            CPU milliseconds of the node without players, apart from what it uses at rest, and of
            the node with players, and of PostgreSQL, for each ply; and plies in a commit.
        """
        before, cpu = spent(cluster, self.database), (self.idle.cpu, self.playing.cpu)
        begun = perf_counter()
        self.crowd.turns(range(0, len(self.crowd), 2), move, MOVED, seconds)
        idle = self.idle.cpu - cpu[0] - self.rest * (perf_counter() - begun)
        playing = self.playing.cpu - cpu[1]
        took = spent(cluster, self.database) - before
        start_over(self.crowd, range(len(self.crowd)))
        costs = [each / took.events * 1e3 for each in (idle, playing, took.cpu)]
        return *costs, took.events / took.commits


def followers(cluster: Cluster, folder: Path, extent: Extent, beside: Path | None) -> Iterator[Row]:
    """Measure the CPU time of a node without players for each ply at another node.

    Args:
        cluster: the cluster.
        folder: parent of the nodes' folders.
        extent: amount of work.
        beside: another checkout, whose nodes are measured in turn with ours; None for none.
    """
    with ExitStack() as stack:

        def begin(name: str) -> Follower:
            stored = stored_in(database(cluster, name))
            playing, idle = (
                stack.enter_context(thudmud(folder / f"{name} {each}", extent.boards, stored))
                for each in ("playing", "idle")
            )
            crowd = stack.enter_context(seated(playing, 2 * extent.boards))
            crowd.quiet(1.0)  # the check of the store after the start
            cpu, begun = idle.cpu, perf_counter()
            time.sleep(max(extent.seconds, SHORTEST_REST))
            rest = (idle.cpu - cpu) / (perf_counter() - begun)
            return Follower(name, playing, idle, crowd, rest)

        ours, others = begin("followers"), None
        if beside:
            with servers_of_checkout(beside):
                others = begin("others")
        found: list[tuple[float, ...]] = []
        there: list[tuple[float, ...]] = []
        for _ in range(extent.rounds):
            found.append(ours.measure(cluster, extent.seconds))
            if others:
                there.append(others.measure(cluster, extent.seconds))
    idle, playing, of_database, batch = zip(*found, strict=True)
    title = "CPU of a node without players for another's ply, beside"
    yield compared(f"{title} the other's", idle, playing, "ms")
    yield Row("in a commit: plies, beside one", median(batch), 1, "")
    if there:
        idle_there, _, database_there, batch_there = zip(*there, strict=True)
        yield compared(f"{title} --beside", idle, idle_there, "ms")
        title = "CPU of PostgreSQL for it and its stored ply, beside --beside"
        yield compared(title, of_database, database_there, "ms")
        yield compared("in a commit: plies, beside --beside", batch, batch_there, "")


def failures(cluster: Cluster, folder: Path, extent: Extent) -> Iterator[Row]:
    """Measure how soon players resume after their node was killed."""
    dsn = database(cluster, "failures")
    tables = 4 * extent.kills
    cut: list[tuple[float, float]] = []
    killed: list[tuple[float, float]] = []
    with thudmud(folder / "survivor", tables, stored_in(dsn)) as survivor:
        for number in range(extent.kills):
            with thudmud(folder / f"victim {number}", tables, stored_in(dsn)) as victim:
                cut.append(measure_failover(survivor, survivor, 4 * number))
                killed.append(measure_failover(victim, survivor, 4 * number + 2))
    for place, title in enumerate(
        ("until the other player is told", "until the next ply of who was there is read")
    ):
        ours, theirs = ([each[place] for each in some] for some in (killed, cut))
        yield compared(f"a node is killed {title}, beside a lost connection", ours, theirs, "s")
        yield Row("the longest of these", max(ours), max(theirs), "s")


def measure_failover(node: Running, survivor: Running, table: int) -> tuple[float, float]:
    """Cut two players off at once, one of whom returns to the surviving node.

    Args:
        node: the node of these players; it is killed unless it is the survivor.
        survivor: the node of their opponents.
        table: the board of the player who stays away; the returning player uses the next one.

    Returns:
        Seconds until the opponent of the first is informed, and until the opponent of the second
        has read the next ply.
    """
    away, told = play(node, survivor, table)
    lost, kept = play(node, survivor, table + 1)
    with told, kept, ThreadPoolExecutor(1) as pool:
        begun = perf_counter()
        if node is not survivor:
            os.kill(node.pid, signal.SIGKILL)
        for each in (away, lost):
            each.guest.cut()

        def hear() -> float:
            told.until(b"lost the connection")
            return perf_counter() - begun

        hearing = pool.submit(hear)
        with back(survivor.place, lost.name, lost.word) as again:
            again.send(to_and_fro(0, 2).decode().strip())
            kept.until(MOVED)
            moved = perf_counter() - begun
            return hearing.result(), moved


@dataclass(frozen=True)
class Lost:
    """A player who is about to lose the connection, and the word to resume with."""

    guest: Guest
    name: str
    word: str


def play(node: Running, survivor: Running, table: int) -> tuple[Lost, Guest]:
    """Let a player at a node and an opponent at the survivor play two plies."""
    lost, kept = Guest(node.place, ADDRESS), Guest(survivor.place, ADDRESS)
    name = f"lost{letters(table)}"
    word = lost.take(name)
    kept.take(f"kept{letters(table)}")
    lost.say(f"join game as dwarf on {board(table)}")
    kept.until(b"dwarfs")
    kept.say(f"join game as troll on {board(table)}")
    lost.until(b"trolls")
    lost.send("start game")
    kept.until(BEGUN)
    for ply, each in enumerate((lost, kept)):
        each.send(to_and_fro(0, ply).decode().strip())
        for player in (lost, kept):
            player.until(MOVED)
    kept.hear(SOON)
    return Lost(lost, name, word), kept


def takeovers(folder: Path, extent: Extent) -> Iterator[Row]:
    """Measure the time from the kill of the primary database until a ply is stored again."""
    ours: list[float] = []
    bare: list[float] = []
    for number in range(extent.kills):
        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(2))
            primary = Cluster()
            stack.callback(primary.remove)
            primary.start()
            standby = primary.standby()
            stack.callback(standby.remove)
            either = f"host={ADDRESS},{ADDRESS} port={primary.port},{standby.port}"
            either += " user=postgres dbname=postgres"
            node = stack.enter_context(thudmud(folder / f"on {number}", 1, stored_in(either)))
            player, other = play(node, node, 0)
            stack.enter_context(player.guest)
            stack.enter_context(other)
            with psycopg.connect(primary.dsn()) as session:
                session.execute("create table bare (body text)")
            begun = perf_counter()
            primary.kill()
            promoting = pool.submit(standby.promote)
            written = pool.submit(first_row, either)
            while MOVED not in player.guest.say(to_and_fro(0, 2).decode().strip()):
                time.sleep(SOON)
            ours.append(perf_counter() - begun)
            bare.append(written.result() - begun)
            promoting.result()
    title = "a database is killed until a ply is stored, beside a bare program's row"
    yield compared(title, ours, bare, "s")
    yield Row("the longest of these", max(ours), max(bare), "s")


def first_row(dsn: str) -> float:
    """Insert a row as soon as a database accepts writes; return the time of the commit."""
    while True:
        with (
            suppress(psycopg.Error),
            psycopg.connect(dsn, connect_timeout=2, target_session_attrs="read-write") as session,
        ):
            session.execute("insert into bare values ('row')")
            session.commit()
            return perf_counter()
        time.sleep(SOON)


def back(place: tuple[str, int], name: str, word: str) -> Guest:
    """Resume under a name, and retry until the node lets the player in.

    Raises:
        TimeoutError: no attempt succeeded within `PATIENCE`.
    """
    end = perf_counter() + PATIENCE
    while perf_counter() < end:
        guest = Guest(place, ADDRESS)
        with suppress(OSError):
            guest.until(NAME_PROMPT)
            guest.send(name)
            guest.until(*SECRET_PROMPTS)
            if guest.say(word).endswith(PROMPT):
                return guest
        guest.cut()
        time.sleep(SOON)
    raise TimeoutError(f"{name} could not come back")


def node_starts(cluster: Cluster, folder: Path, extent: Extent, path: Path) -> Iterator[Row]:
    """Measure the start of a node on a copy of a file, beside one on the file itself."""
    dsn = database(cluster, "starts")
    starts(path, 1)  # builds missing projections before the copy
    pour(path, dsn)
    size = path.stat().st_size
    with psycopg.connect(dsn) as session:
        ((battles,),) = session.execute("select max(number) from battle").fetchall()
        ((events,),) = session.execute("select position from head").fetchall()
        ((there,),) = session.execute("select pg_database_size(current_database())").fetchall()
    title = f"an event of {battles:,} battles in the database, beside in the file"
    yield Row(title, there / events, size / events, "bytes")
    in_file = {**RAISED, "storage": {"file": f'"{path.resolve()}"'}}
    opened: dict[str, list[float]] = {dsn: [], str(path): []}
    started: dict[str, list[float]] = {dsn: [], str(path): []}
    for _ in range(extent.starts):
        for place, sections in ((dsn, stored_in(dsn)), (str(path), in_file)):
            opened[place].append(starts(place, 1)[0])
            with thudmud(folder / "starts", 4, sections) as server:
                started[place].append(server.started * 1000)
    for times, what in ((opened, "a store of"), (started, "a node is ready with")):
        title = f"{what} {battles:,} battles, beside SQLite"
        yield compared(title, times[dsn], times[str(path)], "ms")


def report(
    parts: Sequence[str], extent: Extent, battles: int | Path, beside: Path | None = None
) -> Iterator[Row | str]:
    """Yield the lines of the table.

    Args:
        parts: parts to measure, a subset of `PARTS`.
        extent: amount of work.
        battles: number of battles in the store when a node starts, or a file that contains them.
        beside: the checkout of another version, whose followers are measured as well.
    """
    yield f"{'':72}{'cluster':>12}{'yardstick':>12}{'ratio':>19}"
    cluster = Cluster()
    try:
        cluster.start()
        with TemporaryDirectory(prefix="thudmud.") as name:
            folder = Path(name)
            if "appends" in parts:
                yield from asyncio.run(appends(cluster, folder, extent))
            if "locks" in parts:
                yield from asyncio.run(locks(cluster, extent))
            if "watchers" in parts:
                yield from watchers(cluster, folder, extent)
            if "followers" in parts:
                yield from followers(cluster, folder, extent, beside)
            if "nodes" in parts:
                yield from several(cluster, folder, extent)
            if "failover" in parts:
                yield from failures(cluster, folder, extent)
                yield from takeovers(folder, extent)
            if "starts" in parts:
                if isinstance(battles, int):
                    path = folder / "battles"
                    fill(path, battles)
                else:
                    path = battles
                yield from node_starts(cluster, folder, extent, path)
    finally:
        cluster.remove()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the selected parts and print the table."""
    parser = argparse.ArgumentParser(description="Measure nodes on PostgreSQL.")
    parser.add_argument("part", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; default: all")
    parser.add_argument(
        "--quick", action="store_true", help="a short run, with fewer and smaller measurements"
    )
    parser.add_argument(
        "--battles", type=int, default=1000, help="number of battles; default: 1000"
    )
    parser.add_argument("--file", type=Path, help="use a store that already contains the battles")
    parser.add_argument(
        "--beside", type=Path, help="checkout of another version, for ``followers``"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.part).difference(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}: {', '.join(PARTS)}")
    extent = QUICK if options.quick else Extent()
    battles = options.file or options.battles
    for line in report(options.part or PARTS, extent, battles, options.beside):
        print(line, flush=True)
    print(
        f"\n{os.cpu_count()} processors for players, nodes and the database; the medians of"
        f" {extent.rounds} rounds of {extent.seconds:g} s."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
