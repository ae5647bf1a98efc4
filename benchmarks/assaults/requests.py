"""HTTP requests that are expensive to parse, or numerous."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.load.attack import WEB, Attack, Extent, Measure, besieged
from benchmarks.load.attackers import Flood
from benchmarks.load.processes import board

_BLANKS = 7_900
_BEFORE_NUL = 1_500
"""Blanks that took 3 s when parsing was cubic in their number."""


def links(count: int) -> Flood:
    """Return a flood of requests for one board's link, each with a different Host header.

    Args:
        count: number of connections, 25 for each address.
    """
    path = f"/board/{board(0).replace(' ', '%20')}"
    return Flood(
        count=count,
        payload=[f"GET {path} HTTP/1.1\r\nHost: h{{}}\r\n\r\n"],
        at_once=200,
        per_second=50,
        addresses=count // 25,
    )


def _attacks() -> Iterator[Attack]:
    head = "GET / HTTP/1.1\r\nHost: x\r\nX:"
    for title, value in (
        ("blanks before a NUL", f"{' ' * _BEFORE_NUL}\0"),
        ("blanks within a header value", f" a{' ' * _BLANKS}b"),
    ):
        flood = Flood(payload=[f"{head}{value}\r\n\r\n"])
        yield Attack(f"page: {title}, 1 connection", flood, setup=WEB)
    for count, where in ((25, "one address"), (100, "4 addresses")):
        title = f"page: a link, each time with another Host, {count} connections from {where}"
        yield Attack(title, links(count), setup=WEB)


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    for each in _attacks():
        yield each.title, partial(besieged, attack=each, extent=extent)
