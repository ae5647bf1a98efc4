"""Databases of PostgreSQL: what they take, and servers that share one.

Owns how nodes are started and how players are spread over them. Must never measure anything but
what a database has spent.
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
    """What a cluster and one of its databases have spent.

    Attributes:
        cpu: the seconds that processors have worked for it, all of its processes together.
        log: the bytes of its write-ahead log.
        commits: of the store that is in the database.
        events: likewise.
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
    """Return what a cluster and the store in one of its databases have spent so far."""
    query = (
        "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8,"
        " commits::float8, position::float8 from head"
    )
    with psycopg.connect(cluster.dsn(database)) as session:
        ((log, commits, events),) = session.execute(query).fetchall()
    return Spent(_cpu(cluster), log, commits, events)


def _cpu(cluster: Cluster) -> float:
    """Return the seconds of the first process, of those it has waited for, and of its children."""
    first = int((cluster.data / "postmaster.pid").read_text(encoding="ascii").split()[0])
    fields = Path(f"/proc/{first}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    cpu = (int(fields[13]) + int(fields[14])) / 100
    children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
    for each in [first, *map(int, children)]:
        with suppress(OSError):  # it has just ended
            cpu += Running(each, ("", 0), 0.0).cpu
    return cpu


def database(cluster: Cluster, name: str) -> str:
    """Make a database in a cluster; return how to connect to it."""
    with psycopg.connect(cluster.dsn(), autocommit=True) as session:
        session.execute(f"create database {name} encoding 'UTF8' template template0".encode())
    return cluster.dsn(name)


def pour(path: Path, dsn: str) -> None:
    """Bring all that a file has into an empty database.

    Rows go as they are, those of projections too: ``thudmud store copy`` makes these anew.
    """
    Postgres(dsn).close()  # which makes the tables
    with closing(sqlite3.connect(path)) as old, psycopg.connect(dsn) as new:
        for table in (*DURABLE, *PROJECTIONS):
            with new.cursor().copy(f"copy {table} from stdin".encode()) as target:
                for row in old.execute(f"select * from {table}"):  # noqa: S608  (ours)
                    target.write_row(row)
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("vacuum analyze")


def stored_in(dsn: str) -> Sections:
    """Return the settings of a node that keeps everything there."""
    return {**RAISED, "storage": {"backend": '"postgresql"', "dsn": f'"{dsn}"'}}


@dataclass(frozen=True)
class Nodes(Running):
    """Servers that serve together from one database, as if they were one.

    Attributes:
        every: they.
        order: at which of them each player comes in; it begins anew after the last.
    """

    every: Sequence[Running] = ()
    order: Sequence[int] = ()

    @property
    def cpu(self) -> float:
        """The seconds that processors have worked for all of them."""
        return sum(each.cpu for each in self.every)


@contextmanager
def nodes(folder: Path, boards: int, dsn: str, order: Sequence[int]) -> Iterator[Nodes]:
    """Start nodes on a database.

    Args:
        folder: where each has a folder of its own.
        boards: how many there are.
        dsn: how they connect to the database.
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
        """Where the one comes in who is next."""
        assert isinstance(self.server, Nodes)
        order = self.server.order
        return self.server.every[order[len(self) % len(order)]].place
