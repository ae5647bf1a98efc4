"""Latency of chat while other boards are busy: bots play, or clocks run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, permutations
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.load.busy import Pains
from benchmarks.load.crowd import PATIENCE, Crowd
from benchmarks.load.players import NAME_PROMPT, PROMPT, SAY, come_in, seated
from benchmarks.load.processes import board, thudmud
from benchmarks.load.table import Row
from thudmud.server.config import Settings

TALKERS = 20
"""Talkers, each with a listener at a table of their own."""

PACE = 200
"""Total lines said per second."""

LONGER = 20
"""Factor by which rounds are longer than elsewhere, as the 99th percentile needs samples."""

WANTED = 1.0

HEARD = b" says: "


def beside_bots(folder: Path, games: int, pains: Pains) -> Iterator[Row]:
    """Measure the latency of a say to the listener's screen, before and while bots play.

    The server has the default bots, and the default number of workers.
    """
    rounds = _rounds(folder, games, pains, _let_bots_play)
    return _rows(rounds, "no bots play", f"{games} games of bots")


def beside_clocks(folder: Path, clocks: int, pains: Pains) -> Iterator[Row]:
    """Measure the latency of a say to the listener's screen, before and while clocks run."""
    rounds = _rounds(folder, clocks, pains, _let_clocks_run)
    return _rows(rounds, "no clock runs", f"{clocks} clocks run")


def _rounds(
    folder: Path, boards: int, pains: Pains, begin: Callable[[Crowd, range], None]
) -> list[tuple[float, float]]:
    """Measure the latency before and during activity at further boards.

    Each round has a server of its own.

    Args:
        folder: parent of the servers' folders.
        boards: number of further boards.
        pains: rounds and their duration.
        begin: starts the activity at a range of boards.

    Returns:
        The 99th percentile before and during the activity, in milliseconds, for each round.
    """
    seconds = pains.seconds * LONGER
    rounds = []
    for number in range(pains.rounds):
        tables = TALKERS + boards
        with (
            thudmud(folder / f"round {number}", tables, module="benchmarks.load.eager") as server,
            seated(server, 2 * TALKERS) as crowd,
        ):
            alone = _late(crowd, seconds)
            begin(crowd, range(TALKERS, tables))
            rounds.append((alone, _late(crowd, seconds)))
    return rounds


def _rows(rounds: list[tuple[float, float]], before: str, meanwhile: str) -> Iterator[Row]:
    alone, beside = (median(each) for each in zip(*rounds, strict=True))
    title = f"a say on another's screen, {PACE} a second, 99th percentile"
    yield Row(f"{title}; {before}", "ms", [alone])
    yield Row(
        f"{title}; {meanwhile}",
        "ms",
        [beside],
        ratio=median(beside - alone for alone, beside in rounds),
        most=WANTED,
        what=" ms more",
    )


def _late(crowd: Crowd, seconds: float) -> float:
    """Return the 99th percentile of the latency, in milliseconds."""
    talkers = range(0, 2 * TALKERS, 2)
    found = crowd.delays(talkers, SAY.line, HEARD, seconds, PACE, hearer=1)
    return found[int(len(found) * 0.99)] * 1000


def _let_bots_play(crowd: Crowd, tables: range) -> None:
    """Invite two bots to each table, and wait until all battles have begun.

    Raises:
        TimeoutError: some battles have not begun.
    """
    (host,) = _hosts(crowd, 1)
    pairs = cycle(permutations((bot.name for bot in Settings().bot), 2))
    for table, bots in zip(tables, pairs, strict=False):
        for bot, side in zip(bots, ("dwarf", "troll"), strict=True):
            crowd.send(host, f"invite {bot} as {side} on {board(table)}\r\n".encode())
            crowd.wait_for([host], b"You invite")
    crowd.quiet()
    end = perf_counter() + PATIENCE
    while perf_counter() < end:
        crowd.send(host, b"boards\r\n")
        told = b"".join(data for number, data in crowd.receive_any(0.5) if number == host)
        if told.count(b"battle 1, ") == TALKERS + len(tables):
            return
    raise TimeoutError("the bots do not play")


def _let_clocks_run(crowd: Crowd, tables: range) -> None:
    """Let two players start a battle with a clock at each table."""
    dwarf, troll = _hosts(crowd, 2)
    for table in tables:
        on = f"on {board(table)}"
        for host, line, answer in (
            (dwarf, f"set clock 180+180 {on}", PROMPT),
            (dwarf, f"join game as dwarf {on}", b"You sit down"),
            (troll, f"join game as troll {on}", b"You sit down"),
            (troll, f"start {on}", b"begin a match"),
        ):
            crowd.send(host, f"{line}\r\n".encode())
            crowd.wait_for([host], answer)
    crowd.quiet()


def _hosts(crowd: Crowd, number: int) -> range:
    """Log in further players, and return their numbers."""
    hosts = range(len(crowd), len(crowd) + number)
    crowd.grow(number, NAME_PROMPT)
    come_in(crowd, hosts)
    crowd.say(hosts, lambda _: b"options width 500\r\n", PROMPT)
    return hosts
