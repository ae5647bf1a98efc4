"""Crowds on WebSockets, as the page uses them: broadcast, compared with telnet.

Owns the encoding of frames, and the size of the page.
"""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.load.busy import Pains, until_all_know
from benchmarks.load.crowd import PATIENCE, Crowd
from benchmarks.load.players import to_and_fro, watching
from benchmarks.load.processes import KIB, RAISED, Sections, thudmud
from benchmarks.load.table import Row
from thudmud.web.site import START, files

HANDSHAKE = (
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: gmcp.mudstandards.org\r\n"
)
CONTINUATION, TEXT, BINARY, PING = 0, 1, 2, 9

WITH_PAGE: Sections = {
    **RAISED,
    "web": {"port": 0, "frames_per_second": 100_000, "frames_at_once": 1_000_000, "ping": 3600},
}


def framed(opcode: int, data: str, *, fin: bool = True, mask: bool = True) -> str:
    """Return a WebSocket frame as Latin-1, masked with zeros so that the payload stays legible."""
    assert len(data) < 126, "longer ones begin otherwise"
    head = chr(opcode | fin << 7) + chr(len(data) | mask << 7)
    return head + "\0" * 4 * mask + data


class WebCrowd(Crowd):
    """A crowd on WebSockets, with the page's subscriptions: GMCP facts, and prose for boards."""

    @property
    def place(self) -> tuple[str, int]:
        """Address and port of the page."""
        return self.server.web

    def connected(self, number: int) -> None:
        """Upgrade a connection to a WebSocket."""
        opened = self.sockets[number]
        select.select([], [opened], [], PATIENCE)
        wants = ('Core.Supports.Set ["Thud 1"]', 'Thud.Terminal {"width": 80, "reader": true}')
        frames = "".join(framed(TEXT, each) for each in wants)
        opened.send(f"{HANDSHAKE}\r\n{frames}".encode("latin-1"))

    def send(self, number: int, data: bytes) -> None:
        """Send a line in a frame."""
        super().send(number, framed(BINARY, data.decode("latin-1")).encode("latin-1"))


def telling(folder: Path, watchers: int, pains: Pains) -> Iterator[Row]:
    """Measure the latency of a move to the last spectator's screen, and the bytes for each."""
    for count in (0, watchers):
        with ExitStack() as stack:
            there = folder / f"{count} by"
            crowds: Sequence[Crowd] = [
                stack.enter_context(watching(server, count, "full", kind))
                for server, kind in (
                    (stack.enter_context(thudmud(there / "web", 1, WITH_PAGE)), WebCrowd),
                    (stack.enter_context(thudmud(there / "telnet", 1)), Crowd),
                )
            ]
            begun = [each.server.cpu for each in crowds]
            told = [
                [until_all_know(crowd, ply % 2, to_and_fro(0, ply)) for crowd in crowds]
                for ply in range(20 * pains.rounds)
            ]
            ours, theirs = (
                each.server.cpu - before for each, before in zip(crowds, begun, strict=True)
            )
        whom = f"{count:,} who look on by WebSocket" if count else "two who play by WebSocket"
        yield Row(
            f"a move told to {whom}, beside by telnet: to the last",
            "ms",
            [median(web for (web, _), _ in told) * 1000],
            ratio=median(web / telnet for (web, _), (telnet, _) in told),
            cpu=ours / theirs,
        )
        yield Row(
            f"a move told to {whom}, beside by telnet: to each",
            "bytes",
            [median(web for (_, web), _ in told)],
            ratio=median(web / telnet for (_, web), (_, telnet) in told),
        )


def weight() -> Iterator[Row]:
    """Measure the page's transfer size, beside its uncompressed size."""
    page = files()[START]
    raw, packed = len(page.body) / KIB, len(page.packed) / KIB
    yield Row("the page and all that it loads", "KiB", [raw])
    yield Row("the same by gzip, beside without", "KiB", [packed], ratio=packed / raw)
