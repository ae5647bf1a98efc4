"""Idle servers: memory, rate of accepting connections, first prompt, and start-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.load.busy import Pains
from benchmarks.load.crowd import Crowd
from benchmarks.load.players import MOVED, NAME_PROMPT, PROMPT, come_in, sit_down, to_and_fro
from benchmarks.load.processes import Running, thudmud, yardstick
from benchmarks.load.table import Row

IDLE_WANTED = 12
"""KiB that an idle session may need beyond a connection of telnetlib3's echo."""
PLAYER_WANTED, SEAT_WANTED = 6, 1
"""KiB that a player, and a seat, may need beyond an idle session."""
PROMPT_WANTED = 50
"""Milliseconds until a silent client gets the name prompt."""
START_WANTED = 300
"""Milliseconds until a new server process is ready."""

PLIES = 100


def memory(folder: Path, connections: int) -> Iterator[Row]:
    """Measure the memory of connections, players and games."""
    with ExitStack() as stack:
        server = stack.enter_context(thudmud(folder / "memory", connections // 2))
        documented = stack.enter_context(yardstick("telnetlib3", folder))
        bare = stack.enter_context(yardstick("bare", folder))
        crowd = stack.enter_context(Crowd(server, 2, NAME_PROMPT))
        come_in(crowd, range(2))  # so that lazy imports don't count
        sizes = [
            _grown(server, lambda: crowd.grow(connections - 2, NAME_PROMPT), connections),
            *(
                _grown(echo, partial(_join, stack, echo, connections), connections)
                for echo in (documented, bare)
            ),
        ]
        more = sizes[0] - sizes[1]
        yield Row(
            "memory of an idle session", "KiB", sizes, ratio=more, most=IDLE_WANTED, what=" more"
        )
        members = range(connections)
        named = _grown(server, lambda: come_in(crowd, members[2:]), connections)
        yield Row(
            "more of it for a player", "KiB", [named], ratio=named, most=PLAYER_WANTED, what=" KiB"
        )
        sitting = _grown(server, lambda: sit_down(crowd, members), connections)
        title = "more of it for a seat at a table"
        yield Row(title, "KiB", [sitting], ratio=sitting, most=SEAT_WANTED, what=" KiB")
        played = _grown(server, lambda: _play(crowd), connections // 2)
        yield Row(f"memory of a table for a game of {PLIES} plies", "KiB", [played])


def _join(stack: ExitStack, echo: Running, connections: int) -> None:
    stack.enter_context(Crowd(echo, connections, PROMPT))


def _play(crowd: Crowd) -> None:
    def lines(number: int, count: int) -> bytes:
        return to_and_fro(number, count) if count < PLIES else b""

    crowd.turns(range(0, len(crowd), 2), lines, MOVED, 600)


def _grown(server: Running, work: Callable[[], None], parts: int) -> float:
    before = server.memory
    work()
    return (server.memory - before) / parts


def coming(folder: Path, connections: int, pains: Pains) -> Iterator[Row]:
    """Measure the rate of accepting and greeting connections, and a silent client's wait."""
    rates: list[list[float]] = []
    waits: list[list[float]] = []
    with ExitStack() as stack:
        server = stack.enter_context(thudmud(folder / "coming"))
        documented = stack.enter_context(yardstick("telnetlib3", folder))
        bare = stack.enter_context(yardstick("bare", folder))
        for _ in range(pains.rounds):
            # telnetlib3 prompts only after negotiating, so its first IAC counts as the greeting.
            greeted = ((server, NAME_PROMPT), (documented, b"\xff"), (bare, PROMPT))
            rates.append(
                [connections / _coming(each, connections, hello) for each, hello in greeted]
            )
            prompted = ((server, NAME_PROMPT), (documented, PROMPT), (bare, PROMPT))
            waits.append([_coming(each, 1, hello) * 1000 for each, hello in prompted])
    yield Row(
        "connections accepted and greeted",
        "a second",
        [median(each) for each in zip(*rates, strict=True)],
        ratio=median(ours / theirs for ours, theirs, _ in rates),
    )
    first = [median(each) for each in zip(*waits, strict=True)]
    yield Row(
        "first prompt of a silent client",
        "ms",
        first,
        ratio=first[0],
        most=PROMPT_WANTED,
        what=" ms",
    )


def _coming(server: Running, connections: int, hello: bytes) -> float:
    begun = perf_counter()
    with Crowd(server, connections, hello):
        return perf_counter() - begun


def start(folder: Path, pains: Pains) -> Iterator[Row]:
    """Measure the time from the start of the process until it is ready."""
    found: list[list[float]] = []
    for _ in range(pains.rounds):
        taken = []
        for each in (
            thudmud(folder / "start"),
            yardstick("telnetlib3", folder),
            yardstick("bare", folder),
        ):
            with each as running:
                taken.append(running.started * 1000)
        found.append(taken)
    taken = [median(each) for each in zip(*found, strict=True)]
    yield Row(
        "start, until it is ready",
        "ms",
        taken,
        ratio=taken[0],
        most=START_WANTED,
        what=" ms",
    )
