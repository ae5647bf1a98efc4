"""Loading time of the page, beside a bare page of the same bytes: the table of docs/web.md.

Run it from the checkout: ``python benchmarks/page.py``, or ``python -m benchmarks.page``. It takes
two minutes; ``--quick`` half of one. ``--strict`` makes the exit status 1 if a target is missed. It
needs Chromium, which ``make clients`` installs.

The page is usable once its form takes a name, which is sent as soon as the connection is open. The
bare page is one file without scripts and styles, from a server of the standard library, which shows
what the line alone costs. Chromium delays and slows all requests, as its developer tools do, and
makes the processor four times slower. Each round has a browser context
of its own, with an empty cache; its second visit is the reload. Figures are medians.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.load.processes import thudmud

PROGRAMS = "chromium-headless-shell", "chromium", "google-chrome"
PATIENCE = 60_000  # milliseconds for a visit
SEED = 1

_FORM = "document.body?.dataset.view === 'welcome'"
_CONNECTED = f"{_FORM} && document.querySelector('#link').textContent === ''"
_COMPLETE = "document.readyState === 'complete'"
_KEPT = "document.title === 'Bare' || navigator.serviceWorker.ready.then(() => true)"
"""Waits until the service worker keeps the page; the bare page has no service worker."""
_WATCH = """
const after = [];
const asking = setInterval(() => {
  const conditions = [() => %s, () => %s];
  while (after.length < 2 && conditions[after.length]()) after.push(performance.now() / 1000);
  if (after.length < 2) return;
  clearInterval(asking);
  window.measuredAfter = after;
}, 4);
"""


@dataclass(frozen=True)
class Line:
    """A kind of connection, with its targets.

    Attributes:
        title: what it is called.
        kbits: kilobits a second, in both directions; 0 for no limit.
        latency: milliseconds from a request to its response.
        slowdown: by how much the processor is slowed down.
        most: seconds until the page should be usable.
        most_again: seconds until it should be after a reload.
    """

    title: str
    kbits: int
    latency: int
    slowdown: int
    most: float
    most_again: float | None = None


LINES = (
    Line("a quick line", 0, 0, 1, 0.3),
    Line("Fast 3G, CPU x4", 1600, 562, 4, 2.5),
    Line("Slow 3G, CPU x4", 400, 2000, 4, 5.0, 2.0),
)
ROUNDS = 3

OPEN_ALL: Mapping[str, Mapping[str, object]] = {
    "server": {"port": 0, "accepts_per_second": 100_000, "accepts_at_once": 100_000},
    "web": {"port": 0},
}


@dataclass(frozen=True)
class Visit:
    """What a visit took.

    Attributes:
        seconds: from the request to a usable page.
        connected: seconds until its connection is open, too.
        kib: size of the transferred page, with headers.
    """

    seconds: float
    connected: float
    kib: float


@dataclass(frozen=True)
class Row:
    """A row of the table: the page beside the bare page on the same line."""

    line: Line
    is_reload: bool
    page: Visit
    bare: Visit

    @property
    def most(self) -> float | None:
        """Seconds that are wanted."""
        return self.line.most_again if self.is_reload else self.line.most

    @property
    def is_met(self) -> bool:
        """Whether the target is met."""
        return self.most is None or self.page.seconds <= self.most

    @property
    def cells(self) -> tuple[str, ...]:
        """Formatted cells."""
        wanted = "" if self.most is None else f"<= {self.most:g} s"
        return (
            self.line.title + (", reload" if self.is_reload else ""),
            f"{self.page.seconds:.2f} s",
            f"{self.page.connected:.2f} s",
            f"{self.bare.seconds:.2f} s",
            f"{self.page.seconds / self.bare.seconds:.2f}",
            f"{self.page.kib:.0f} KiB",
            wanted + ("" if self.is_met else " !"),
        )


COLUMNS = (
    "",
    "usable after",
    "connected after",
    "bare page",
    "ratio",
    "transferred",
    "wanted",
)


def rows(
    browser: Browser, address: str, rounds: int, lines: Sequence[Line] = LINES
) -> Iterator[Row]:
    """Measure the page on each line, and beside it a bare page of the same bytes."""
    for line in lines:
        visits = [_visits(browser, line, address, _FORM, _CONNECTED) for _ in range(rounds)]
        pages = [_median(each) for each in zip(*visits, strict=True)]
        with bare_page(round(pages[0].kib * 1024)) as place:
            visits = [_visits(browser, line, place, _COMPLETE, _COMPLETE) for _ in range(rounds)]
        bare = [_median(each) for each in zip(*visits, strict=True)]
        for is_reload in (False, True):
            yield Row(line, is_reload, pages[is_reload], bare[is_reload])


def _median(visits: Sequence[Visit]) -> Visit:
    first = visits[0]
    seconds, connected = (
        median(getattr(each, name) for each in visits) for name in ("seconds", "connected")
    )
    return Visit(seconds, connected, first.kib)


def _visits(browser: Browser, line: Line, address: str, *conditions: str) -> tuple[Visit, Visit]:
    """Visit a page with an empty cache, and reload it."""
    context = browser.new_context()
    context.add_init_script(_WATCH % conditions)
    page = context.new_page()
    received = _throttle(context, page, line)
    try:
        first = _measured(page, received, lambda: page.goto(address, timeout=PATIENCE))
        page.wait_for_load_state("networkidle")
        page.evaluate(_KEPT)
        again = _measured(page, received, lambda: page.reload(timeout=PATIENCE))
    finally:
        context.close()
    return first, again


def _throttle(context: BrowserContext, page: Page, line: Line) -> list[float]:
    """Slow down a page; return a list to which the bytes of each response are added."""
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    throughput = line.kbits * 1000 / 8 or -1
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": line.latency,
            "downloadThroughput": throughput,
            "uploadThroughput": throughput,
        },
    )
    session.send("Emulation.setCPUThrottlingRate", {"rate": line.slowdown})
    received: list[float] = []
    session.on("Network.loadingFinished", lambda told: received.append(told["encodedDataLength"]))
    return received


def _measured(page: Page, received: list[float], go: Callable[[], object]) -> Visit:
    received.clear()
    go()
    page.wait_for_function("() => window.measuredAfter", timeout=PATIENCE)
    seconds, connected = page.evaluate("window.measuredAfter")
    return Visit(seconds, connected, received[0] / 1024)  # the rest is loaded for later


@contextmanager
def bare_page(size: int) -> Iterator[str]:
    """Serve a page without scripts and styles, of a size in bytes; yield its address."""
    text = Random(SEED).randbytes(size // 2).hex()
    body = f"<!doctype html><title>Bare</title><p>Bare</p><!--{text}-->".encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            is_known = self.headers["If-None-Match"] == '"bare"'
            self.send_response(304 if is_known else 200 if self.path == "/" else 404)
            self.send_header("ETag", '"bare"')
            self.send_header("Cache-Control", "no-cache")
            self.send_header("Content-Type", "text/html")
            sent = body if self.path == "/" and not is_known else b""
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextmanager
def measuring() -> Iterator[tuple[Browser, str]]:
    """Start Chromium and a server; yield the browser and the address of the page."""
    program = next(filter(None, map(which, PROGRAMS)), None)
    if program is None:
        sys.exit("This needs Chromium: `make clients` installs it.")
    with (
        TemporaryDirectory(prefix="thudmud.") as folder,
        thudmud(Path(folder), 4, OPEN_ALL) as running,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser, "http://{}:{}/".format(*running.web)
        browser.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="one round instead of three")
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    options = parser.parse_args(arguments)
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}", flush=True)
    met = []
    with measuring() as (browser, address):
        for row in rows(browser, address, 1 if options.quick else ROUNDS):
            print(f"| {' | '.join(row.cells)} |", flush=True)
            met.append(row.is_met)
    return int(options.strict and not all(met))


if __name__ == "__main__":
    sys.exit(main())
