"""Input that is expensive to parse, or that fills the log: GMCP, options and long lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.load.attack import (
    SOCKET,
    WEB,
    Attack,
    Extent,
    Measure,
    Row,
    besieged,
    server,
    wandering,
)
from benchmarks.load.attackers import Flood
from benchmarks.load.players import seated
from benchmarks.load.processes import KIB, Sections
from benchmarks.load.siege import Figure, Playing, flooding, siege
from benchmarks.load.web import HANDSHAKE, TEXT

BLANKS = 'Core.Supports.Set ["{}"]'
"""A list of GMCP packages whose only name consists of blanks."""

BY_TELNET = "\xff\xfd\xc9\xff\xfa\xc9" + BLANKS.format(" " * 4050) + "\xff\xf0"
"""The same list by telnet, after an IAC DO GMCP."""


def by_web(package: str) -> str:
    """Return a GMCP message of over 125 bytes as a WebSocket frame, masked with zeros."""
    length = len(package).to_bytes(2, "big").decode("latin-1")
    return chr(TEXT | 1 << 7) + chr(126 | 1 << 7) + length + "\0" * 4 + package


def attacks() -> Iterator[Attack]:
    """Yield attacks whose input takes long to parse."""
    frame = by_web(BLANKS.format(" " * 8150))
    yield Attack(
        "page: lists of packages, 8,150 blanks each, 1 WebSocket without a name",
        Flood(opening=SOCKET, payload=[frame], per_second=50, at_once=50),
        setup=WEB,
    )
    values = by_web(f"Thud.Ask [{'[],' * 2600}0]")
    names = by_web('Thud.Watch {"board": "' + "\xe2\x80\xaea\xcc\x81" * 1300 + '"}')
    for what, package in (("2,600 lists", values), ("a board of 7.8 KB", names)):
        yield Attack(
            f"page: packages with {what}, 25 WebSockets without a name",
            Flood(count=25, opening=SOCKET, payload=[package], per_second=50),
            setup=WEB,
        )
    yield Attack(
        "lists of packages, 4,050 blanks each, 4 connections without a name",
        Flood(count=4, payload=[BY_TELNET], per_second=2, at_once=2),
    )
    colours = [f"options colour special thud dwarf #{each}\r\n" for each in ("00ff00", "ff8800")]
    yield Attack(
        "options at the name prompt, 12 connections",
        Flood(count=12, payload=colours, at_once=200),
        is_noisy=True,
    )
    zeros = "0" * 1000
    yield Attack(
        "a thousand zeros in each line, 20 players",
        Flood(count=20, payload=[f'practice {zeros}"\r\n'], at_once=200, name="x"),
    )


# The log.

AT_INFO: Sections = {"server": {"port": 0, "log_level": '"info"'}}
"""The log level that docs/operating.md recommends."""

ORIGINS = "page: origins of 7.7 KB, 16 connections of 4 addresses, logged at info"

MOST_LOGGED = 320.0
"""KiB a minute that strangers may add to the log: 200 records, each quoting 200 characters."""


def logged(folder: Path, extent: Extent) -> Row:
    """Measure the log's growth under WebSocket handshakes with huge Origin headers."""
    origin = f"{HANDSHAKE}Origin: http://" + "\xff" * 7700 + "\r\n\r\n"
    flood = Flood(
        count=16, addresses=4, payload=[origin], should_hang_up=True, seconds=extent.seconds
    )
    with ExitStack() as stack:
        running, place = stack.enter_context(server(folder, WEB, AT_INFO))
        crowd = stack.enter_context(seated(running, 2))
        ply, assault = Playing(crowd, wandering("discworld")), flooding(place, flood, folder)
        harm = siege(running, ply, assault, extent.patience)
    size = (folder / "log").stat().st_size / KIB
    return Row(ORIGINS, harm, [*harm.figures, Figure("log", size, "KiB", MOST_LOGGED)])


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    for each in attacks():
        yield each.title, partial(besieged, attack=each, extent=extent)
    yield ORIGINS, partial(logged, extent=extent)
