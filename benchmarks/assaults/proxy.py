"""Attacks on a server behind nginx: many simultaneous visitors, and one greedy one."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from pathlib import Path

from benchmarks.load.attack import Extent, Measure, Row
from benchmarks.load.attackers import Flood, attacking
from benchmarks.load.players import NAME_PROMPT
from benchmarks.load.processes import Running, Sections, thudmud
from benchmarks.load.reverse_proxies import FORWARDERS, HOST, Front, Proxy, nginx, program
from benchmarks.load.siege import Figure
from benchmarks.load.visitors import OK, get, load_all
from thudmud.server.proxies import SIGNATURE

VISITORS = 30
NEWCOMERS = 16
PER_SECOND = 60
PATIENCE = 10.0  # seconds that a newcomer waits for the name prompt
WHOLE = 5.0  # seconds until the last visitor has loaded everything

PROXY = "127.0.0.200"
"""Trusted source of telnet connections that begin with a PROXY header."""

BEHIND: Sections = {
    "server": {"port": 0, "proxies": f'["{PROXY}"]'},
    "web": {"port": 0, "forwarders": FORWARDERS},
}

TOGETHER = f"behind nginx, {VISITORS} open the page in the same second"
MUCH = f"behind nginx, one visitor asks for {PER_SECOND} files a second"


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    yield TOGETHER, together
    yield MUCH, partial(much, extent=extent)


@contextmanager
def fronted(folder: Path, proxy: Proxy = nginx) -> Iterator[tuple[Running, Front]]:
    """Run a server with a proxy in front of its page, and yield both."""
    with (
        thudmud(folder / "server", 4, BEHIND, log=folder / "log") as running,
        proxy(folder / "proxy", running) as front,
    ):
        yield running, front


def missing(title: str) -> Row | None:
    """Return a placeholder row if nginx isn't installed, None otherwise."""
    return None if program("nginx") else Row(f"{title} (not measured: nginx is not installed)")


def together(folder: Path) -> Row:
    """Have many visitors open the page at once, each from a different address."""
    if row := missing(TOGETHER):
        return row
    folder.mkdir(parents=True)
    with fronted(folder) as (_, front):
        loaded = asyncio.run(load_all(front, [f"127.0.0.{2 + each}" for each in range(VISITORS)]))
    refused = max(each.refused for each in loaded)
    seconds = math.inf if refused else max(each.seconds for each in loaded)
    return Row(
        TOGETHER,
        figures=[
            Figure("answers other than 200 for a visitor, at most", refused, "answers", 0),
            Figure("the last has everything after", seconds, "s", WHOLE),
        ],
    )


def much(folder: Path, extent: Extent) -> Row:
    """Let one visitor flood the proxy with requests while newcomers try the page and telnet."""
    if row := missing(MUCH):
        return row
    folder.mkdir(parents=True)
    asking = Flood(
        seconds=extent.seconds,
        payload=[f"GET /icon.svg HTTP/1.1\r\nHost: {HOST}\r\n\r\n"],
        per_second=PER_SECOND,
        uses_tls=True,
    )
    with fronted(folder) as (running, front), attacking(front.place, asking):
        turned_away = {"the page": 0, "telnet": 0}
        for number in range(NEWCOMERS):
            time.sleep(extent.seconds / (NEWCOMERS + 2))
            status = asyncio.run(get(front, f"127.0.0.{10 + number}", "/"))
            turned_away["the page"] += status != OK
            turned_away["telnet"] += not is_let_in(running, f"198.51.100.{1 + number}")
    return Row(
        MUCH,
        figures=[
            Figure(f"of {NEWCOMERS} turned away by {way}", count, "newcomers", 0)
            for way, count in turned_away.items()
        ],
    )


def is_let_in(running: Running, address: str) -> bool:
    """Return whether a newcomer announced by the PROXY protocol reaches the name prompt."""
    addresses = ip_address(address).packed + ip_address("127.0.0.1").packed
    header = SIGNATURE + b"\x21\x11\x00\x0c" + addresses + b"\x10\x00" * 2
    with socket.socket() as link:
        link.settimeout(PATIENCE)
        link.bind((PROXY, 0))
        link.connect(running.place)
        seen = b""
        try:
            link.sendall(header)
            while NAME_PROMPT not in seen and (more := link.recv(4096)):
                seen += more
        except OSError:
            return False
    return NAME_PROMPT in seen
