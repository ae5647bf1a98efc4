"""How fast the real server is, beside telnetlib3 and beside bare asyncio.

Run it from the checkout: ``python benchmarks/server.py``, or ``python -m benchmarks.server``; it
takes a quarter of an hour, ``--quick`` four minutes. It prints one table, where what is worse
than is wanted of it is marked; with ``--strict`` it then exits with status 1. ``--save FILE`` keeps
the table, and ``--against FILE`` says what is worse than in a table that was kept. It needs Linux:
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
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from thudmud.values import replace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.load import busy, games, growth, idle, web
from benchmarks.load.busy import Pains
from benchmarks.load.processes import RAISED, without_uvloop
from benchmarks.load.table import COLUMNS, Row, compared, from_text, markdown, plain, to_text


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Attributes:
        pains: the rounds, and how long each takes.
        least: how many rounds there are at least where lines a second are compared.
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
    least: int = 1
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
QUICK = Extent(
    Pains(1, 0.3), least=3, talkers=(1, 100), watchers=200, connections=200, tables=(1, 100)
)


def rows(extent: Extent) -> Iterator[Row]:
    """Measure everything."""
    pains = extent.pains
    often = replace(pains, rounds=max(extent.least, pains.rounds))
    with TemporaryDirectory(prefix="thudmud.") as name:
        folder = Path(name)
        yield from busy.commands(folder, extent.talkers, often)
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
        yield from growth.tables(folder, extent.tables, often)
        yield from growth.plies(folder, extent.plies, often)
        yield from growth.accounts(folder, extent.accounts, often)


def notes(extent: Extent, loop: str) -> Iterator[str]:
    """Yield what has to be known to read the table."""
    pains = extent.pains
    yield (
        f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}"
        f" {platform.release()}, Python {platform.python_version()}; medians of {pains.rounds}"
        f" rounds of {pains.seconds:g} s, at least {extent.least} of lines a second. thudmud ran on"
        f" {loop} event loop, all others on asyncio's own."
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
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the table there, too")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="say which rows are worse than in a table that was kept, by more than a fifth;"
        " exit with status 1 if there are any",
    )
    options = parser.parse_args(arguments)
    before = from_text(options.against.read_text("utf-8")) if options.against else None
    _allow_files()
    extent = QUICK if options.quick else FULL
    on_uvloop = not options.no_uvloop and find_spec("uvloop") is not None
    with nullcontext() if on_uvloop else without_uvloop():
        found = report(
            extent,
            rows(extent),
            markdown if options.markdown else plain,
            "uvloop's" if on_uvloop else "asyncio's own",
        )
    if options.save:
        options.save.write_text(to_text(found), "utf-8")
    is_worse = before is not None and print_regressions(found, before)
    return int(is_worse or (options.strict and not all(row.is_wanted for row in found)))


def print_regressions(now: Sequence[Row], before: Sequence[Row]) -> bool:
    """Print which rows are worse than before, and which cannot be compared; return if any is."""
    worse, missing = compared(now, before)
    print("", *missing, *worse, sep="\n")
    print(f"Worse by more than a fifth than in the table before: {len(worse)} of {len(now)} rows.")
    return bool(worse)


def report(
    extent: Extent, measured: Iterable[Row], form: Callable[[Sequence[str]], str], loop: str
) -> list[Row]:
    """Print rows in a form, each once it is measured; return them."""
    print(form(COLUMNS))
    if form is markdown:
        print(form(["---", *["---:"] * (len(COLUMNS) - 1)]))
    found = []
    for row in measured:
        print(form(row.cells), flush=True)
        found.append(row)
    for note in notes(extent, loop):
        print(f"\n{note}")
    return found


def _allow_files() -> None:
    """Let this process and its servers have as many connections as they may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    sys.exit(main())
