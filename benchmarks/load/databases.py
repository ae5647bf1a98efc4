"""PostgreSQL databases: their costs, and nodes that share one.

Owns how nodes are started and how players are spread over them. Must never measure anything but the
costs of a database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg

from benchmarks.load.crowd import Crowd
from benchmarks.load.processes import RAISED, Running, Sections, thudmud
from tests.store.clusters import Cluster
from thudmud.store.postgres import Postgres
from thudmud.store.rows import DURABLE, PROJECTIONS


@dataclass(frozen=True)
class Spent:
    """Costs of a cluster and of the store in one of its databases.

    Attributes:
        cpu: CPU seconds of all processes of the cluster.
        log: bytes of write-ahead log.
        commits: number of the store's commits.
        events: number of stored events.
    """

    cpu: float
    log: float
    commits: float
    events: float

    def __sub__(self, before: Self) -> Spent:
        return Spent(
            self.cpu - before.cpu,
            self.log - before.log,
            self.commits - before.commits,
            self.events - before.events,
        )

    def __add__(self, other: Self) -> Spent:
        return Spent(
            self.cpu + other.cpu,
            self.log + other.log,
            self.commits + other.commits,
            self.events + other.events,
        )


def spent(cluster: Cluster, database: str) -> Spent:
    """Return the costs of a cluster and of the store in one of its databases so far."""
    query = (
        "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8,"
        " commits::float8, position::float8 from head"
    )
    with psycopg.connect(cluster.dsn(database)) as session:
        ((log, commits, events),) = session.execute(query).fetchall()
    return Spent(_cpu(cluster), log, commits, events)


def _cpu(cluster: Cluster) -> float:
    """Return the CPU seconds of the postmaster, of its reaped children and of its live ones."""
    first = int((cluster.data / "postmaster.pid").read_text(encoding="ascii").split()[0])
    fields = Path(f"/proc/{first}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    cpu = (int(fields[13]) + int(fields[14])) / 100
    children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
    for each in [first, *map(int, children)]:
        with suppress(OSError):  # the process has just exited
            cpu += Running(each, ("", 0), 0.0).cpu
    return cpu


def database(cluster: Cluster, name: str) -> str:
    """Create a database in a cluster; return its connection string."""
    with psycopg.connect(cluster.dsn(), autocommit=True) as session:
        session.execute(f"create database {name} encoding 'UTF8' template template0".encode())
    return cluster.dsn(name)


def pour(path: Path, dsn: str) -> None:
    """Copy a store's file into an empty database.

    Rows are copied as they are, including projections, which ``thudmud store copy`` would rebuild.
    """
    Postgres(dsn).close()  # creates the tables
    with closing(sqlite3.connect(path)) as old, psycopg.connect(dsn) as new:
        for table in (*DURABLE, *PROJECTIONS):
            with new.cursor().copy(f"copy {table} from stdin".encode()) as target:
                for row in old.execute(f"select * from {table}"):  # noqa: S608  (ours)
                    target.write_row(row)
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("vacuum analyze")


def stored_in(dsn: str) -> Sections:
    """Return the settings of a node on a database."""
    return {**RAISED, "storage": {"backend": '"postgresql"', "dsn": f'"{dsn}"'}}


@dataclass(frozen=True)
class Nodes(Running):
    """Servers on one database, driven as if they were one.

    Attributes:
        every: the servers.
        order: indices of the servers that successive players connect to; repeated as needed.
    """

    every: Sequence[Running] = ()
    order: Sequence[int] = ()

    @property
    def cpu(self) -> float:
        """Total CPU seconds of all nodes."""
        return sum(each.cpu for each in self.every)


@contextmanager
def nodes(folder: Path, boards: int, dsn: str, order: Sequence[int]) -> Iterator[Nodes]:
    """Start nodes on a database.

    Args:
        folder: parent of each node's folder.
        boards: number of boards.
        dsn: connection string of the database.
        order: see `Nodes`.
    """
    with ExitStack() as stack:
        every = [
            stack.enter_context(thudmud(folder / f"node {number}", boards, stored_in(dsn)))
            for number in range(max(order) + 1)
        ]
        first = every[0]
        yield Nodes(first.pid, first.place, first.started, first.web, every, order)


class Spread(Crowd):
    """Players who are spread over nodes."""

    @property
    def place(self) -> tuple[str, int]:
        """Address and port of the next player's node."""
        assert isinstance(self.server, Nodes)
        order = self.server.order
        return self.server.every[order[len(self) % len(order)]].place
