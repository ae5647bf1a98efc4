"""How fast the real server is, beside telnetlib3 and beside bare asyncio.

Run it from the checkout: ``python benchmarks/server.py``, or ``python -m benchmarks.server``; it
takes a quarter of an hour, ``--quick`` two minutes. It prints one table, where what is worse
than is wanted of it is marked; with ``--strict`` it then exits with status 1. It needs Linux:
epoll, and /proc.

Each server is a process of its own, thudmud with a durable store in a temporary folder, and with
those caps raised that keep one client from harming others. This process is the load: it knows
nothing but sockets and bytes, and the bare echo shows how fast it is. Ratios are medians of those
of each round, in which all are measured one after the other. "by CPU" is the same ratio by how long
processors worked for it, whatever else the machine did.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.load import busy, games, growth, idle, web
from benchmarks.load.busy import Pains
from benchmarks.load.processes import RAISED, without_uvloop
from benchmarks.load.table import COLUMNS, Row, markdown, plain


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Attributes:
        pains: the rounds, and how long each takes.
        talkers: how many players type at once.
        steady: how many of them there are when delays are measured.
        watchers: how many are told of a move.
        connections: how many take memory, and come in at once.
        tables: how many there are.
        accounts: how many are stored.
        plies: how many a game has.
        games: how many bots play while others talk.
        clocks: how many run while others talk.
    """

    pains: Pains
    talkers: Sequence[int] = (1, 100, 1000)
    steady: int = 100
    watchers: int = 1000
    connections: int = 1000
    tables: Sequence[int] = (1, 100, 10_000)
    accounts: Sequence[int] = (100, 100_000)
    plies: Sequence[int] = (10, 1000)
    games: int = 20
    clocks: int = 1000


FULL = Extent(Pains(5, 0.5))
QUICK = Extent(Pains(1, 0.3), talkers=(1, 100), watchers=200, connections=200, tables=(1, 100))


def rows(extent: Extent) -> Iterator[Row]:
    """Measure everything."""
    pains = extent.pains
    with TemporaryDirectory(prefix="thudmud.") as name:
        folder = Path(name)
        yield from busy.commands(folder, extent.talkers, pains)
        yield from busy.delays(folder / "steady", extent.steady, pains)
        yield from busy.telling(folder, extent.watchers, pains)
        yield from web.telling(folder / "by", extent.watchers, pains)
        yield from web.weight()
        yield from games.beside_bots(folder / "games", extent.games, pains)
        yield from games.beside_clocks(folder / "clocks", extent.clocks, pains)
        yield from idle.memory(folder, extent.connections)
        yield from idle.coming(
            folder, extent.connections, replace(pains, rounds=max(3, pains.rounds))
        )
        yield from idle.start(folder, pains)
        yield from growth.tables(folder, extent.tables, pains)
        yield from growth.plies(folder, extent.plies, pains)
        yield from growth.accounts(folder, extent.accounts, pains)


def notes(extent: Extent, loop: str) -> Iterator[str]:
    """Yield what has to be known to read the table."""
    pains = extent.pains
    yield (
        f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}"
        f" {platform.release()}, Python {platform.python_version()}; medians of {pains.rounds}"
        f" rounds of {pains.seconds:g} s. thudmud ran on {loop} event loop, all others on asyncio's"
        " own."
    )
    caps = [f"{key} = {value}" for section in RAISED.values() for key, value in section.items()]
    yield f"Caps raised for thudmud, where one machine is everybody: {', '.join(caps)}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the server.")
    parser.add_argument("--quick", action="store_true", help="less of everything, for a short run")
    parser.add_argument("--markdown", action="store_true", help="as docs/performance.md has it")
    parser.add_argument(
        "--strict", action="store_true", help="exit with status 1 if something is not as is wanted"
    )
    parser.add_argument(
        "--no-uvloop", action="store_true", help="let thudmud run on asyncio's own loop in any case"
    )
    options = parser.parse_args(arguments)
    _allow_files()
    extent = QUICK if options.quick else FULL
    on_uvloop = not options.no_uvloop and find_spec("uvloop") is not None
    with nullcontext() if on_uvloop else without_uvloop():
        is_wanted = report(
            extent,
            rows(extent),
            markdown if options.markdown else plain,
            "uvloop's" if on_uvloop else "asyncio's own",
        )
    return int(options.strict and not is_wanted)


def report(
    extent: Extent, measured: Iterable[Row], form: Callable[[Sequence[str]], str], loop: str
) -> bool:
    """Print rows in a form, each once it is measured; return whether all is as is wanted."""
    print(form(COLUMNS))
    if form is markdown:
        print(form(["---", *["---:"] * (len(COLUMNS) - 1)]))
    is_wanted = True
    for row in measured:
        print(form(row.cells), flush=True)
        is_wanted &= row.is_wanted
    for note in notes(extent, loop):
        print(f"\n{note}")
    return is_wanted


def _allow_files() -> None:
    """Let this process and its servers have as many connections as they may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    sys.exit(main())
