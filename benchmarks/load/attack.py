"""One attack on a server, and its row in the table of `benchmarks/attacks.py`."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import trustme

from benchmarks.load.attackers import Flood, Sent
from benchmarks.load.guests import Place
from benchmarks.load.players import seated
from benchmarks.load.processes import KIB, Running, Sections, thudmud
from benchmarks.load.siege import Besides, Figure, Harm, Playing, flooding, siege
from benchmarks.load.web import BINARY, HANDSHAKE, framed
from thudmud.features.playing.moves import Play
from thudmud.rules import RULESETS, Game

MOST_DELAY = 50.0  # ms of the 99th percentile, above the control's
MOST_CALM = 1.0  # seconds until all is as before

OWN_PORT: Sections = {"server": {"port": 0}}


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Attributes:
        seconds: how long an attack takes.
        noise: how long one takes that others are told of.
        patience: how many seconds all has to be as before.
        crowd: how many come back after a restart.
    """

    seconds: float
    noise: float
    patience: float
    crowd: int


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        title: the attack.
        harm: what it did to those who play; None if that was not what was asked.
        figures: what else was found out.
    """

    title: str
    harm: Harm | None = None
    figures: Sequence[Figure] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether all is as it should be."""
        return not any("!" in each for each in self.cells)

    @property
    def cells(self) -> Sequence[str]:
        """The columns."""
        figures = "; ".join(f"{each}{_mark(each.is_wanted)}" for each in self.figures)
        if (harm := self.harm) is None:
            return (self.title, *[""] * (len(COLUMNS) - 2), figures)
        delays, control = harm.delays, harm.control
        return (
            self.title,
            _format_sent(harm.sent),
            _number(delays.median),
            _number(delays.high) + _mark(delays.high <= control.high + MOST_DELAY),
            _number(control.median),
            _number(control.high),
            f"{harm.cpu:.2f}",
            _number(harm.calm, "never") + _mark(harm.calm <= MOST_CALM),
            f"{harm.most / KIB:.1f}",
            f"{harm.left / KIB:.1f}",
            figures,
        )


COLUMNS = (
    "attack",
    "connections and KiB sent",
    "p50, ms",
    "p99, ms",
    "control p50",
    "control p99",
    "CPU, s",
    "as before, s",
    "MiB more",
    "left",
    "besides",
)


def _format_sent(sent: Sent) -> str:
    return f"{sent.connections:,}, {sent.bytes / KIB:,.0f}"


def _mark(is_wanted: bool) -> str:  # noqa: FBT001  (there are but two)
    return "" if is_wanted else " !"


def _number(value: float, never: str = "lost") -> str:
    if math.isinf(value):
        return never
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"


# What is attacked.


@dataclass(frozen=True)
class Setup:
    """How a server is set up, where it differs.

    Attributes:
        rules: at all boards.
        uses_tls: whether there is a port for TLS, which is the one that is attacked.
        uses_web: whether there is a page, whose port is attacked then.
        files: how many it may open.
        more: the end of its configuration.
    """

    rules: str = "discworld"
    uses_tls: bool = False
    uses_web: bool = False
    files: int = 0
    more: str = ""


AS_IT_IS = Setup()


@dataclass(frozen=True)
class Attack:
    """Something that is done to a server.

    Attributes:
        title: what is done.
        flood: what is sent. How long it takes is filled in.
        besides: makes, before it begins, what finds something else out meanwhile.
        setup: how the server is set up.
        is_noisy: whether it takes as long as what others are told of.
    """

    title: str
    flood: Flood
    besides: Callable[[Running, float], Besides] | None = None
    setup: Setup = AS_IT_IS
    is_noisy: bool = False


@contextmanager
def server(
    folder: Path, setup: Setup, sections: Sections = OWN_PORT
) -> Iterator[tuple[Running, Place]]:
    """Start a server; yield it, and the place to attack."""
    folder.mkdir(parents=True, exist_ok=True)
    attacked = None
    if setup.uses_tls:
        pem = folder / "both.pem"
        trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
        attacked = "127.0.0.1", _free_port()
        secure = {"tls_port": attacked[1], "tls_certificate": f'"{pem.name}"'}
        sections = {**sections, "server": {**sections["server"], **secure}}
    if setup.uses_web:
        sections = {**sections, "web": {"port": 0}}
    with thudmud(
        folder,
        4,
        sections,
        more=setup.more,
        rules=setup.rules,
        log=folder / "log",
        files=setup.files,
    ) as running:
        yield running, running.web if setup.uses_web else attacked or running.place


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


PLIES = 1000
"""How many plies the victims can play: more than they do, however fast they are answered."""


@cache
def wandering(rules: str) -> Sequence[bytes]:
    """Return the lines of a battle at random that goes on and on: nothing is captured."""
    random, game = Random(18), Game.start(RULESETS[rules])
    lines: list[bytes] = []
    while len(lines) < PLIES:
        move = random.choice([each for each in game.legal_moves() if not each.captures])
        after = game.play(move)
        if after.outcome is None:
            game = after
            lines.append(f"{Play(move.attempt())}\r\n".encode())
    return lines


def besieged(folder: Path, attack: Attack, extent: Extent) -> Row:
    """Attack a server."""
    seconds = extent.noise if attack.is_noisy else extent.seconds
    with ExitStack() as stack:
        running, place = stack.enter_context(server(folder, attack.setup))
        crowd = stack.enter_context(seated(running, 2))
        ply = Playing(crowd, wandering(attack.setup.rules))
        besides = attack.besides(running, seconds) if attack.besides else None
        assault = flooding(place, replace(attack.flood, seconds=seconds), folder)
        harm = siege(running, ply, assault, extent.patience, besides)
    log = (folder / "log").stat().st_size
    figures = list(harm.figures)
    if attack.setup.files or log > KIB:
        figures.append(Figure("log", log / KIB, "KiB", MOST_LOG))
    return Row(attack.title, harm, figures)


MOST_LOG = 16.0  # KiB that a server may report of one attack


PIECE = 16 * KIB
"""Bytes that attackers send at once; each has kernels keep some megabytes, so more is no worse."""


def repeated(data: str) -> str:
    """Return as many of these bytes as are sent at once."""
    return data * (PIECE // len(data))


WEB = Setup(uses_web=True)
SOCKET = f"{HANDSHAKE}\r\n"
PLAYER = SOCKET + framed(BINARY, "xaaaa").replace("aaaa", "{}")  # as many letters


Measure = tuple[str, Callable[[Path], Row]]
"""The title of a row, and what measures it in a folder of its own."""
