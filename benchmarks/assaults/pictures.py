"""Flooding the picture queue with GIFs from one address, while others ask for pictures."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from pathlib import Path

from benchmarks.load.attack import WEB, Extent, Measure, Row, server, wandering
from benchmarks.load.attackers import Flood
from benchmarks.load.players import seated
from benchmarks.load.processes import RAISED, Running
from benchmarks.load.siege import Besides, Figure, Playing, flooding, siege

GIFS = "page: GIFs of one address fill the queue, 24 connections"
PLIES = 480
"""Length of the drawn battle, just below the limit of a GIF."""
DRAWN = 6
"""GIFs drawn before the attack."""
ASKED = 5
"""Pictures of each kind that the honest visitor requests, one after the other."""
HONEST = "127.0.0.77"
PATIENCE = 60.0  # timeout of the honest visitor's requests, in seconds


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    yield GIFS, partial(gifs, extent=extent)


def gifs(folder: Path, extent: Extent) -> Row:
    """Request GIFs of a long battle, a different ply each time."""
    play_battle(folder)
    asking = Flood(
        seconds=extent.seconds,
        count=24,
        payload=[
            f"GET /game/1.gif?ply={ply} HTTP/1.1\r\nHost: x\r\n\r\n"
            for ply in range(PLIES - 1, PLIES - 97, -1)
        ],
        per_second=2,
        has_staggered_starts=True,
    )
    with ExitStack() as stack:
        running, place = stack.enter_context(server(folder, WEB))
        ply = Playing(stack.enter_context(seated(running, 2)), wandering("discworld"))
        assault = flooding(place, asking, folder)
        harm = siege(running, ply, assault, extent.patience, visiting(running, extent))
    return Row(GIFS, harm, harm.figures)


def play_battle(folder: Path) -> None:
    """Play the server's first battle to its end, on a practice board.

    Raises:
        RuntimeError: the server did not report the end of the battle.
    """
    with (
        server(folder, WEB, RAISED) as (running, _),
        socket.create_connection(running.place) as link,
    ):
        lines = b"".join(wandering("discworld")[:PLIES])
        link.sendall(b"Zoe\r\nnew board\r\npractice\r\n" + lines + b"end game\r\nquit\r\n")
        told = b""
        while more := link.recv(65_536):
            told += more
    if b"You end the battle" not in told:
        raise RuntimeError(f"no battle was played: {told[-500:]!r}")


def visiting(running: Running, extent: Extent) -> Besides:
    """Return a probe that counts refusals of an honest visitor's requests, by kind of picture.

    Before the attack, one SVG starts the drawing process, which lives for a minute and holds files
    open, and `DRAWN` GIFs fill the server's picture cache.
    """
    status(running, "/game/1.svg?ply=1")
    for ply in range(PLIES - DRAWN, PLIES):
        status(running, f"/game/1.gif?ply={ply}&theme=dark")

    def ask(kind: str) -> int:
        refused = 0
        for ply in range(2, 2 + ASKED):
            time.sleep(extent.seconds / 2 / ASKED)
            refused += status(running, f"/game/1.{kind}?ply={ply}") != HTTPStatus.OK
        return refused

    def visit() -> Sequence[Figure]:
        kinds = {"PNG": "png", "record": "thud", "GIF": "gif"}
        with ThreadPoolExecutor(len(kinds)) as pool:
            refused = list(pool.map(ask, kinds.values()))
        return [
            Figure(f"of {ASKED} times another's {kind} is refused", count, "times", 0)
            for kind, count in zip(kinds, refused, strict=True)
        ]

    return visit


def status(running: Running, path: str) -> int:
    """Request a path from the honest visitor's address, and return the HTTP status."""
    asked = http.client.HTTPConnection(*running.web, timeout=PATIENCE, source_address=(HONEST, 0))
    asked.request("GET", path)
    answer = asked.getresponse()
    answer.read()
    asked.close()
    return answer.status
