"""What is sent to be read slowly, or to be written down: packages, options, lines, and the log."""

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
"""A list of packages whose only name is nothing but blanks."""

BY_TELNET = "\xff\xfd\xc9\xff\xfa\xc9" + BLANKS.format(" " * 4050) + "\xff\xf0"
"""That list as telnet has it, behind the agreement on GMCP."""


def by_web(package: str) -> str:
    """Return a package of more than 125 bytes in a frame, as `benchmarks.load.web.framed` does."""
    length = len(package).to_bytes(2, "big").decode("latin-1")
    return chr(TEXT | 1 << 7) + chr(126 | 1 << 7) + length + "\0" * 4 + package


def attacks() -> Iterator[Attack]:
    """Yield what takes long to read."""
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
"""As docs/operating.md advises."""

ORIGINS = "page: origins of 7.7 KB, 16 connections of 4 addresses, logged at info"

MOST_LOGGED = 320.0
"""KiB that strangers' records may take in a minute: 200 with a value of 200 characters each."""


def logged(folder: Path, extent: Extent) -> Row:
    """Measure how much is logged of pages from elsewhere."""
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
    """Yield what measures each row."""
    for each in attacks():
        yield each.title, partial(besieged, attack=each, extent=extent)
    yield ORIGINS, partial(logged, extent=extent)
