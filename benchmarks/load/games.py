"""Whether those who talk notice that bots play at other boards."""

from __future__ import annotations

from collections.abc import Iterator
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
"""Each has a table of their own, with somebody who listens."""

PACE = 200
"""Says a second, of all together."""

LONGER = 20
"""How many times as long as others a round takes: what is rare is to be measured."""

WANTED = 1.0

HEARD = b" says: "


def beside_bots(folder: Path, games: int, pains: Pains) -> Iterator[Row]:
    """Measure how long a say takes to the listener's screen, before and while bots play.

    Each round has a server of its own, with the bots that come with it, and as many workers.
    """
    seconds = pains.seconds * LONGER
    rounds = []
    for number in range(pains.rounds):
        tables = TALKERS + games
        with (
            thudmud(folder / f"round {number}", tables, module="benchmarks.load.eager") as server,
            seated(server, 2 * TALKERS) as crowd,
        ):
            alone = _late(crowd, seconds)
            _let_bots_play(crowd, range(TALKERS, tables))
            rounds.append((alone, _late(crowd, seconds)))
    alone, beside = (median(each) for each in zip(*rounds, strict=True))
    title = f"a say on another's screen, {PACE} a second, 99th percentile"
    yield Row(f"{title}; no bots play", "ms", [alone])
    yield Row(
        f"{title}; {games} games of bots",
        "ms",
        [beside],
        ratio=median(beside - alone for alone, beside in rounds),
        most=WANTED,
        what=" ms more",
    )


def _late(crowd: Crowd, seconds: float) -> float:
    """Return how many milliseconds all but one in a hundred take at most."""
    talkers = range(0, 2 * TALKERS, 2)
    found = crowd.delays(talkers, SAY.line, HEARD, seconds, PACE, hearer=1)
    return found[int(len(found) * 0.99)] * 1000


def _let_bots_play(crowd: Crowd, tables: range) -> None:
    """Invite two bots to each of these tables, and wait until all battles have begun."""
    host = len(crowd)
    crowd.grow(1, NAME_PROMPT)
    come_in(crowd, [host])
    crowd.say([host], lambda _: b"options width 500\r\n", PROMPT)
    pairs = cycle(permutations((bot.name for bot in Settings().bot), 2))
    for table, bots in zip(tables, pairs, strict=False):
        for bot, side in zip(bots, ("dwarf", "troll"), strict=True):
            crowd.send(host, f"invite {bot} as {side} on {board(table)}\r\n".encode())
            crowd.wait_for([host], b"You ask")
    crowd.quiet()
    end = perf_counter() + PATIENCE
    while perf_counter() < end:
        crowd.send(host, b"boards\r\n")
        told = b"".join(data for number, data in crowd.heard(0.5) if number == host)
        if told.count(b"battle 1, ") == TALKERS + len(tables):
            return
    raise TimeoutError("the bots do not play")
