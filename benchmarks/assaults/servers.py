"""Attacks on one of two servers that share a PostgreSQL; the victims play at the other."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.assaults.requests import links
from benchmarks.load.attack import AS_IT_IS, OWN_PORT, Extent, Measure, Row, wandering
from benchmarks.load.databases import database
from benchmarks.load.players import seated
from benchmarks.load.processes import Running, Sections, thudmud
from benchmarks.load.siege import Assault, Clock, Playing, flooding, siege
from tests.store.clusters import Cluster

BOARDS = 4


@contextmanager
def two_servers(folder: Path) -> Iterator[tuple[Running, Running]]:
    """Start two servers with default settings on a new PostgreSQL cluster."""
    folder.mkdir(parents=True)
    cluster = Cluster()
    try:
        cluster.start()
        sections: Sections = {
            **OWN_PORT,
            "web": {"port": 0},
            "storage": {"backend": '"postgresql"', "dsn": f'"{database(cluster, "thud")}"'},
        }
        with ExitStack() as stack:
            first, second = (
                stack.enter_context(
                    thudmud(folder / name, BOARDS, sections, log=folder / f"{name}.log")
                )
                for name in ("first", "second")
            )
            yield first, second
    finally:
        cluster.remove()


def standing_still(server: Running, seconds: float) -> Assault:
    """Return an assault that freezes a server with SIGSTOP, as a blocked event loop would.

    The control run has no attacker: the echo isn't touched.
    """

    @contextmanager
    def on_server() -> Iterator[Clock]:
        os.kill(server.pid, signal.SIGSTOP)
        try:
            yield Clock(seconds)
        finally:
            os.kill(server.pid, signal.SIGCONT)

    @contextmanager
    def on_echo() -> Iterator[Clock]:
        yield Clock(seconds)

    return Assault(on_server, on_echo)


def _besieged(folder: Path, title: str, extent: Extent, *, stops: bool) -> Row:
    with two_servers(folder) as (attacked, other), seated(other, 2) as crowd:
        flood = replace(links(100), seconds=extent.seconds)
        assault = (
            standing_still(attacked, extent.seconds)
            if stops
            else flooding(attacked.web, flood, folder)
        )
        play = Playing(crowd, wandering(AS_IT_IS.rules))
        return Row(title, siege(other, play, assault, extent.patience))


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    for what, stops in (
        ("is asked for links by 100 connections", False),
        ("stands still", True),
    ):
        title = f"two servers on PostgreSQL: the other one {what}"
        yield title, partial(_besieged, title=title, extent=extent, stops=stops)
