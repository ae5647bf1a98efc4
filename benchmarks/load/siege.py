"""Two victims who play during an attack: the latency of their answers, and the recovery afterwards.

First, as a control, the same attackers flood an echo while the victims play: this shows the cost of
generating the load. Then they flood the server, and the victims play on until it has recovered.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from benchmarks.load.attackers import Attacking, Flood, Sent, attacking
from benchmarks.load.crowd import Crowd
from benchmarks.load.players import MOVED
from benchmarks.load.processes import KIB, Running, yardstick

PACE = 0.06
"""Seconds between plies: 8 a second for each victim, below the server's default limit of 20."""

IN_A_ROW = 8
"""Consecutive answers as fast as in the control that prove recovery."""

SPARE = 16 * KIB
"""KiB of memory that need not be given back: allocator caches of Python and the C library. TLS
connections leave the most, as their memory is fragmented: 9 MiB after one attack, 15 after four."""

Ply = Callable[[], None]
"""Plays the next ply, and waits for the answer."""


class Goes(Protocol):
    """A running attack."""

    @property
    def is_running(self) -> bool:
        """Whether the attack is still going on."""

    @property
    def totals_sent(self) -> Sent:
        """Totals of the attack, valid after its end."""


class Clock:
    """An attack of some seconds that sends nothing itself."""

    def __init__(self, seconds: float) -> None:
        self._end = time.perf_counter() + seconds

    @property
    def totals_sent(self) -> Sent:
        """Empty totals, with the time of the end."""
        return Sent(stopped=self._end)

    @property
    def is_running(self) -> bool:
        """Whether the time isn't over yet."""
        return time.perf_counter() < self._end


@dataclass(frozen=True)
class Figure:
    """A further measurement of an attack.

    Attributes:
        what: the quantity.
        value: its value; infinity after a timeout.
        unit: of the value.
        most: largest acceptable value.
    """

    what: str
    value: float
    unit: str
    most: float = math.inf

    @property
    def is_wanted(self) -> bool:
        """Whether the value is acceptable."""
        return self.value <= self.most

    def __str__(self) -> str:
        if math.isinf(self.value):
            return f"{self.what}: never"
        return f"{self.what}: {self.value:,.{1 if self.value < 100 else 0}f} {self.unit}"


@dataclass(frozen=True)
class Delays:
    """Quantiles of the victims' delays, in milliseconds: the median and the 99th percentile."""

    median: float
    high: float

    @classmethod
    def of(cls, taken: Sequence[float]) -> Delays:
        """Return the quantiles of delays, corrected for coordinated omission.

        While an answer is overdue, a player with a steady pace would have made further requests,
        each with a shorter wait. These count, too; otherwise the longest delays would count least.

        Args:
            taken: seconds until each answer.
        """
        waits = sorted(each - step * PACE for each in taken for step in range(int(each / PACE) + 1))
        return cls(*(waits[int(len(waits) * part)] * 1000 for part in (0.5, 0.99)))


LOST = Delays(math.inf, math.inf)


@dataclass(frozen=True)
class Harm:
    """Effects of an attack.

    Attributes:
        sent: totals of the attackers.
        delays: delays of the victims during the attack.
        control: delays while an echo was attacked.
        cpu: CPU seconds of the server during the attack.
        calm: seconds until the server had recovered.
        most: peak growth of memory, in KiB.
        left: growth of memory that was left at the end, in KiB.
        figures: further measurements.
    """

    sent: Sent
    delays: Delays
    control: Delays
    cpu: float
    calm: float
    most: float
    left: float
    figures: Sequence[Figure] = ()


class Playing:
    """The first two members of a crowd, who play each other."""

    def __init__(self, crowd: Crowd, lines: Sequence[bytes]) -> None:
        self._crowd, self._lines = crowd, lines
        self._count = 0

    def __call__(self) -> None:
        """Play a ply, and wait until both players have received the board."""
        number, count = self._count % 2, self._count
        self._crowd.send(number, self._lines[count])
        self._crowd.wait_for((0, 1), MOVED)
        self._count += 1


def play(ply: Ply) -> float:
    """Play a ply at the pace; return the seconds until the answer."""
    begun = time.perf_counter()
    ply()
    taken = time.perf_counter() - begun
    time.sleep(max(0.0, PACE - taken))
    return taken


@dataclass(frozen=True)
class Assault:
    """Starters of an attack: on the server, and on an echo for the control."""

    on_server: Callable[[], AbstractContextManager[Goes]]
    on_echo: Callable[[], AbstractContextManager[Goes]]


Besides = Callable[[], Sequence[Figure]]
"""A probe that runs during an attack, and returns further figures."""


def flooding(place: tuple[str, int], flood: Flood, folder: Path) -> Assault:
    """Return an assault that floods a server."""

    @contextmanager
    def on_echo() -> Iterator[Attacking]:
        quiet = replace(flood, waits=False)
        with yardstick("back", folder) as echo, attacking(echo.place, quiet) as going:
            yield going

    return Assault(partial(attacking, place, flood), on_echo)


def siege(
    server: Running, ply: Ply, assault: Assault, patience: float, besides: Besides | None = None
) -> Harm:
    """Measure the effects of an attack.

    Args:
        server: the attacked server.
        ply: plays the victims' next ply.
        assault: the attack.
        patience: maximum seconds to wait for recovery.
        besides: a probe to run on another thread during the attack.
    """
    for _ in range(3 * IN_A_ROW):
        play(ply)
    with assault.on_echo() as going:
        control = Delays.of(list(_meanwhile(ply, going)))
    for _ in range(IN_A_ROW):
        play(ply)
    files, memory = server.files, server.memory
    most = memory
    taken: list[float] = []
    with ThreadPoolExecutor(1) as pool:
        with assault.on_server() as going:
            figures: Future[Sequence[Figure]] | None = pool.submit(besides) if besides else None
            cpu = server.cpu
            try:
                for each in _meanwhile(ply, going):
                    taken.append(each)
                    most = max(most, server.memory)
                delays = Delays.of(taken)
            except OSError:
                delays = LOST
            cpu = server.cpu - cpu
            while going.is_running:
                time.sleep(PACE)
            sent = going.totals_sent

        def is_as_before() -> bool:
            return server.files <= files and server.memory <= memory + SPARE

        try:
            calm = math.inf
            if delays is not LOST:
                calm = _calm(ply, control, is_as_before, sent.stopped, patience)
        except OSError:
            calm = math.inf
        most = max(most, server.memory)
        left = server.memory
        found = figures.result() if figures else ()
    return Harm(sent, delays, control, cpu, calm, most - memory, left - memory, found)


def _meanwhile(ply: Ply, going: Goes) -> Iterator[float]:
    while going.is_running:
        yield play(ply)


def _calm(
    ply: Ply,
    control: Delays,
    is_as_before: Callable[[], bool],
    stopped: float,
    patience: float,
) -> float:
    """Return the seconds from the end of the attack to recovery; infinity after a timeout."""
    since, count = math.inf, 0
    while time.perf_counter() < stopped + patience or count:
        begun = time.perf_counter()
        if play(ply) * 1000 <= control.high and is_as_before():
            since, count = min(since, begun - stopped), count + 1
            if count == IN_A_ROW:
                return since
        else:
            since, count = math.inf, 0
    return math.inf
