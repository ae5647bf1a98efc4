"""Speed of the server, beside telnetlib3 and bare asyncio.

Run it from the checkout: ``python benchmarks/server.py``, or ``python -m benchmarks.server``. A
full run takes a quarter of an hour, ``--quick`` four minutes. The table marks figures that miss
their targets; with ``--strict`` the exit status is then 1. ``--save FILE`` saves the table, and
``--against FILE`` lists the regressions from a saved one. Requires Linux: epoll and /proc.

Each server is a separate process; thudmud has a durable store in a temporary folder, and raised
limits, since the default ones protect against a single client that sends this much. This process
generates the load: it only handles sockets and bytes, and the bare echo shows how fast it is. Each
round measures all servers one after the other; ratios are medians over the rounds. "by CPU" is the
same ratio in CPU time, which is independent of other load on the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from thudmud.values import replace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.load import busy, games, idle, scaling, web
from benchmarks.load.busy import Pains
from benchmarks.load.processes import RAISED, raise_file_limit, without_uvloop
from benchmarks.load.table import COLUMNS, Row, compared, from_text, markdown, plain, to_text


@dataclass(frozen=True)
class Extent:
    """Amount of work.

    Attributes:
        pains: rounds and their duration.
        least: minimum number of rounds for rates.
        talkers: numbers of players who type concurrently.
        steady: number of players during the measurement of delays.
        watchers: number of spectators of a move.
        connections: number of connections for memory and for accepting.
        tables: numbers of boards; the first is the yardstick.
        accounts: numbers of stored accounts; the first is the yardstick.
        plies: numbers of plies already played; the first is the yardstick.
        games: number of games between bots while others talk.
        clocks: number of running clocks while others talk.
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
    """Run all measurements."""
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
        yield from scaling.tables(folder, extent.tables, often)
        yield from scaling.plies(folder, extent.plies, often)
        yield from scaling.accounts(folder, extent.accounts, often)


def notes(extent: Extent, loop: str) -> Iterator[str]:
    """Yield notes on the machine and the settings."""
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
    parser.add_argument(
        "--quick", action="store_true", help="a short run, with fewer and smaller measurements"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print a Markdown table, as in docs/performance.md"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with status 1 if a target is missed"
    )
    parser.add_argument(
        "--no-uvloop", action="store_true", help="run thudmud on asyncio's own loop"
    )
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="also save the table in this file"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="say which rows are worse than in a table that was kept, by more than a fifth;"
        " exit with status 1 if there are any",
    )
    options = parser.parse_args(arguments)
    before = from_text(options.against.read_text("utf-8")) if options.against else None
    raise_file_limit()
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
    """Print the regressions and the rows that cannot be compared.

    Returns:
        Whether there are regressions.
    """
    worse, missing = compared(now, before)
    print("", *missing, *worse, sep="\n")
    print(f"Worse by more than a fifth than in the table before: {len(worse)} of {len(now)} rows.")
    return bool(worse)


def report(
    extent: Extent, measured: Iterable[Row], form: Callable[[Sequence[str]], str], loop: str
) -> list[Row]:
    """Print rows as they are measured; return the complete table."""
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


if __name__ == "__main__":
    sys.exit(main())
