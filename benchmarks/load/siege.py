"""Two victims who play while others attack: how long their answers take, and what is left of it.

The same attackers first flood an echo, while the victims play: what that costs them is the load's
own doing. Then they flood the server, and then the victims play on until all is as it was.
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
"""Seconds between plies: each victim has 8 a second, where the server by default handles 20."""

IN_A_ROW = 8
"""How many answers in a row are to be as fast as in the control, before all is as it was."""

SPARE = 16 * KIB
"""KiB of memory that may be left: what Python and the C library keep for the next time. Connections
with TLS leave the most, whose memory is in small pieces: 9 MiB after one attack, 15 after four."""

Ply = Callable[[], None]
"""Plays the next ply, and waits until it is answered."""


class Goes(Protocol):
    """An attack that has begun."""

    @property
    def is_running(self) -> bool:
        """Whether it has not stopped yet."""

    @property
    def totals_sent(self) -> Sent:
        """What was sent, once it has stopped."""


class Clock:
    """An attack that takes so many seconds, and sends nothing."""

    def __init__(self, seconds: float) -> None:
        self._end = time.perf_counter() + seconds

    @property
    def totals_sent(self) -> Sent:
        """Nothing."""
        return Sent(stopped=self._end)

    @property
    def is_running(self) -> bool:
        """Whether the time is not over."""
        return time.perf_counter() < self._end


@dataclass(frozen=True)
class Figure:
    """Something else that is found out about an attack.

    Attributes:
        what: what it is.
        value: how much it was; infinite if it was waited for in vain.
        unit: of what.
        most: how much it is to be at most.
    """

    what: str
    value: float
    unit: str
    most: float = math.inf

    @property
    def is_wanted(self) -> bool:
        """Whether it is as it should be."""
        return self.value <= self.most

    def __str__(self) -> str:
        if math.isinf(self.value):
            return f"{self.what}: never"
        return f"{self.what}: {self.value:,.{1 if self.value < 100 else 0}f} {self.unit}"


@dataclass(frozen=True)
class Delays:
    """How long answers took, in milliseconds."""

    median: float
    high: float

    @classmethod
    def of(cls, taken: Sequence[float]) -> Delays:
        """Return those of answers that took so many seconds.

        Who waits a second for an answer would have asked again and again in that second: those
        questions count, too. Else what hurts longest would count least.
        """
        waits = sorted(each - step * PACE for each in taken for step in range(int(each / PACE) + 1))
        return cls(*(waits[int(len(waits) * part)] * 1000 for part in (0.5, 0.99)))


LOST = Delays(math.inf, math.inf)


@dataclass(frozen=True)
class Harm:
    """What an attack did.

    Attributes:
        sent: by the attackers.
        delays: of the victims' answers meanwhile.
        control: the same, while an echo was attacked.
        cpu: seconds that the server's processor worked meanwhile.
        calm: seconds until all was as before.
        most: KiB of memory that it took more than before, at most.
        left: how many of those it had not given back in the end.
        figures: what else was found out.
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
    """Two of a crowd who play."""

    def __init__(self, crowd: Crowd, lines: Sequence[bytes]) -> None:
        self._crowd, self._lines = crowd, lines
        self._count = 0

    def __call__(self) -> None:
        """Play a ply, and wait until both have been told of it."""
        number, count = self._count % 2, self._count
        self._crowd.send(number, self._lines[count])
        self._crowd.wait_for((0, 1), MOVED)
        self._count += 1


def play(ply: Ply) -> float:
    """Play a ply at the pace; return the seconds that the answer took."""
    begun = time.perf_counter()
    ply()
    taken = time.perf_counter() - begun
    time.sleep(max(0.0, PACE - taken))
    return taken


@dataclass(frozen=True)
class Assault:
    """How attackers begin: on the server, and, for the control, on an echo."""

    on_server: Callable[[], AbstractContextManager[Goes]]
    on_echo: Callable[[], AbstractContextManager[Goes]]


Besides = Callable[[], Sequence[Figure]]
"""Finds something out while an attack goes on."""


def flooding(place: tuple[str, int], flood: Flood, folder: Path) -> Assault:
    """Return how a flood on the server at a place begins."""

    @contextmanager
    def on_echo() -> Iterator[Attacking]:
        quiet = replace(flood, waits=False)
        with yardstick("back", folder) as echo, attacking(echo.place, quiet) as going:
            yield going

    return Assault(partial(attacking, place, flood), on_echo)


def siege(
    server: Running, ply: Ply, assault: Assault, patience: float, besides: Besides | None = None
) -> Harm:
    """Find out what an attack does.

    Args:
        server: what is attacked.
        ply: what the victims do.
        assault: the attack.
        patience: how many seconds to wait at most until all is as before.
        besides: what else is found out, on a thread of its own.
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
    """Return how long after they stopped everything is as before; infinite if that is too long."""
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
