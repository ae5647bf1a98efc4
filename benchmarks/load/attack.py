"""An attack on a server, and its row in the table of `benchmarks/attacks.py`."""

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

MOST_DELAY = 50.0  # ms that the 99th percentile may exceed the control's
MOST_CALM = 1.0  # seconds until the server has recovered

OWN_PORT: Sections = {"server": {"port": 0}}


@dataclass(frozen=True)
class Extent:
    """Amount of work.

    Attributes:
        seconds: duration of an attack.
        noise: duration of an attack that other players see.
        patience: seconds to wait for recovery.
        crowd: number of people who return after a restart.
    """

    seconds: float
    noise: float
    patience: float
    crowd: int


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        title: the attack.
        harm: effect on the victims; None if not measured.
        figures: further measurements.
    """

    title: str
    harm: Harm | None = None
    figures: Sequence[Figure] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether all figures meet their targets."""
        return not any("!" in each for each in self.cells)

    @property
    def cells(self) -> Sequence[str]:
        """Formatted cells, one for each of `COLUMNS`."""
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


# Attacked servers.


@dataclass(frozen=True)
class Setup:
    """Configuration of an attacked server.

    Attributes:
        rules: ruleset of all boards.
        uses_tls: whether to open a TLS port, and attack that.
        uses_web: whether to serve the page, and attack its port.
        files: limit of open files; 0 for the default.
        more: text appended to the configuration.
    """

    rules: str = "discworld"
    uses_tls: bool = False
    uses_web: bool = False
    files: int = 0
    more: str = ""


AS_IT_IS = Setup()


@dataclass(frozen=True)
class Attack:
    """An attack by flooding.

    Attributes:
        title: of the row.
        flood: the flood; its duration is filled in later.
        besides: given the server and the attack's duration, prepares a concurrent probe.
        setup: configuration of the server.
        is_noisy: whether the attack lasts for `Extent.noise` instead of `Extent.seconds`.
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
    """Start a server; yield the process and the address to attack."""
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
"""Number of prepared plies: more than the victims can play during any attack."""


@cache
def wandering(rules: str) -> Sequence[bytes]:
    """Return the lines of a random battle without captures, which never ends."""
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
    """Run an attack on a new server, and return the row."""
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


MOST_LOG = 16.0  # KiB that an attack may add to the log


PIECE = 16 * KIB
"""Bytes that attackers send at once; the kernel buffers megabytes, so more does no more harm."""


def repeated(data: str) -> str:
    """Repeat data up to `PIECE` bytes."""
    return data * (PIECE // len(data))


WEB = Setup(uses_web=True)
SOCKET = f"{HANDSHAKE}\r\n"
PLAYER = SOCKET + framed(BINARY, "xaaaa").replace("aaaa", "{}")  # `letters` returns four


Measure = tuple[str, Callable[[Path], Row]]
"""The title of a row, and a function that measures it in a new folder."""
