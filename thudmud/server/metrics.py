"""Monitoring endpoints: /metrics in the Prometheus format, and /health for any program.

Other modules always maintain cheap counters at the place of the event. `ServerCollector` reads
these and the state of the server on each scrape. Append latency, plies and event loop lag need
observers of their own, which are only installed if metrics are enabled. The figures of features may
need the database, so they are read now and then: a database that hangs must not delay a scrape.

Counters whose labels are known are there from the start, at 0. Otherwise Prometheus's ``rate()``
would miss the first event of each.
"""

from __future__ import annotations

import asyncio
import logging
import math
import platform
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client import Counter as PlyCounter
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from thudmud.accounts.guesses import Secret
from thudmud.accounts.limiters import TokenBucket
from thudmud.bots.session import Bot
from thudmud.game.events import Moved
from thudmud.game.feature import Figure
from thudmud.server.acceptor import Acceptor, Rejection
from thudmud.server.config import MetricsSettings
from thudmud.server.inbox import FairScheduler
from thudmud.server.session import PlayerSession, TelnetSession
from thudmud.server.session_registry import Session, Sessions
from thudmud.server.sockets import bound_sockets, log_places
from thudmud.store import FeedEntry, StoredPly, StoreError, last_backup
from thudmud.store.files import free_bytes, store_size
from thudmud.version import VERSION
from thudmud.views.refusals import refusal_codes
from thudmud.web.connection import MAX_HEAD, HttpConnection, HttpPolicy
from thudmud.web.http import Answer, HttpRequest, HttpResponse, plain
from thudmud.web.routes import Route, Routes

HEALTHY = "thudmud is healthy: events can be stored."
UNHEALTHY = "thudmud cannot store events; see its log."

MOST_CONNECTIONS = 16
"""Open connections at most: monitoring systems send one request at a time."""

_PATIENCE = 5.0  # seconds for a client to send its request, and to read the response
_LAG_PAUSE = 0.25  # seconds between two measurements of the event loop's lag
_FIGURES_PAUSE = 15.0  # seconds between two readings of features' figures
_APPEND_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_LAG_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)

_log = logging.getLogger(__name__)


@asynccontextmanager
async def serve_metrics(
    settings: MetricsSettings, server: Acceptor, sessions: Sessions
) -> AsyncIterator[None]:
    """Serve metrics and take measurements within this context.

    Args:
        settings: the address to listen on.
        server: the server.
        sessions: its sessions.

    Raises:
        StartError: the port can't be used.
    """
    registry = CollectorRegistry()
    collector = ServerCollector(server, sessions)
    registry.register(collector)
    ProcessCollector(registry=registry)
    appends, lag = _histograms(registry)
    plies = PlyCounter("thudmud_plies", "Plies played.", registry=registry)

    def take(entries: Sequence[FeedEntry]) -> None:
        if played := sum(map(_is_ply, entries)):
            plies.inc(played)

    metrics_port = MetricsPort(registry, lambda: sessions.service.is_alive)
    listening = await _listen(metrics_port, settings, server)
    store = sessions.store
    following = await store.subscribe(
        None, await store.position(), take, lambda _: None, may_wait=lambda _: True
    )
    store.timed = appends.observe
    measuring = [
        asyncio.create_task(work)
        for work in (_measure_lag(lag.observe), collector.follow_features())
    ]
    try:
        yield
    finally:
        for task in measuring:
            task.cancel()
        store.timed = None
        following.close()
        for each in listening:
            each.close()


def _is_ply(entry: FeedEntry) -> bool:
    return isinstance(entry, StoredPly) or isinstance(entry.event, Moved)


def _histograms(registry: CollectorRegistry) -> tuple[Histogram, Histogram]:
    """Return the histograms of append latency and event loop lag."""
    return (
        Histogram(
            "thudmud_append_seconds",
            "Seconds from the request for an append to the store until it was durable.",
            buckets=_APPEND_BUCKETS,
            registry=registry,
        ),
        Histogram(
            "thudmud_loop_lag_seconds",
            "Seconds by which the event loop ran a timer late.",
            buckets=_LAG_BUCKETS,
            registry=registry,
        ),
    )


async def _listen(
    metrics_port: MetricsPort, settings: MetricsSettings, server: Acceptor
) -> list[asyncio.Server]:
    """Listen on the configured port for metrics.

    Raises:
        StartError: the port can't be used.
    """
    ends = await bound_sockets(settings.host, "metrics.port", settings.port)
    server.claim_ports("metrics.port", ends)
    loop = asyncio.get_running_loop()
    listening = [await loop.create_server(metrics_port.connection, sock=each) for each in ends]
    log_places("metrics.port", ends)
    return listening


async def _measure_lag(observe: Callable[[float], None]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _LAG_PAUSE
        await asyncio.sleep(_LAG_PAUSE)
        observe(max(0.0, loop.time() - due))


class ServerCollector(Collector):
    """Prometheus collector that reads the server's state on each scrape.

    Args:
        server: the server.
        sessions: its sessions.
    """

    def __init__(self, server: Acceptor, sessions: Sessions) -> None:
        self._server, self._sessions = server, sessions
        self._figures: Sequence[Figure] = ()
        """The figures of features, as last read."""

    async def follow_features(self) -> None:
        """Read the figures of features now and then, in an endless loop."""
        while measure := self._sessions.measure:
            try:
                self._figures = await measure()
            except Exception as error:  # noqa: BLE001  (a bug must not end this loop)
                self._figures = ()  # no number is better than one that may be wrong
                if not isinstance(error, StoreError):
                    _log.exception("could not read the figures of features")
            await asyncio.sleep(_FIGURES_PAUSE)

    def collect(self) -> Iterable[Metric]:
        """Yield the current metrics."""
        yield from self._players()
        yield from self._stored()
        yield from self._connections()
        yield from self._operations()
        yield from _families(self._figures)

    def _players(self) -> Iterable[Metric]:
        """Yield the metrics of players, boards and what they type."""
        sessions = self._sessions
        tables = sessions.service.hall.tables.values()
        there = Counter(front_end(each) for each in sessions.all if each.name)
        players = GaugeMetricFamily(
            "thudmud_players", "Players online, by type of client.", labels=["front_end"]
        )
        for name in ("telnet", "web"):
            players.add_metric([name], there[name])
        yield players
        yield _gauge("bots", "Bots online.", there["bot"])
        yield _gauge("boards", "Open boards.", len(tables))
        yield _gauge("seats", "Occupied seats.", sum(len(each.seats) for each in tables))
        yield _gauge("battles", "Battles in progress.", sum(each.is_running for each in tables))
        yield _counter(
            "lines_throttled",
            "Times that a player's lines were delayed by commands_per_second.",
            self._server.turns.throttled,
        )
        counts = {str(code.value): count for code, count in sessions.refused.items()}
        refused = CounterMetricFamily(
            "thudmud_refusals", "Refused lines, by code.", labels=["code"]
        )
        for code in sorted({*refusal_codes(), *counts}):
            refused.add_metric([code], counts.get(code, 0))
        yield refused

    def _stored(self) -> Iterable[Metric]:
        """Yield the metrics of the store."""
        sessions = self._sessions
        can_store = sessions.service.is_alive
        yield _gauge("healthy", "Whether events can be stored: 1 or 0.", can_store)
        written = sessions.store.written
        yield _counter(
            "rows_written",
            "Rows stored, changed or deleted by this server.",
            written.rows,
        )
        yield _counter("event_bytes_written", "Bytes of the stored events.", written.event_bytes)
        if file := sessions.store.path:
            yield from _disk(file)
        over = sessions.quota.count_exhausted(sessions.clock()) if sessions.quota else 0
        yield _gauge("addresses_over_quota", "Addresses whose connections are being limited.", over)

    def _connections(self) -> Iterable[Metric]:
        """Yield the metrics of connections and logins."""
        limiter = self._server.limiter
        people = [each for each in self._sessions.all if isinstance(each, PlayerSession)]
        yield _gauge("connections", "Open connections with a session.", len(people))
        waiting = sum(each.unsent for each in people)
        yield _gauge("outbox_bytes", "Bytes queued for players.", waiting)
        yield _counter("connections_accepted", "Connections accepted.", limiter.accepted)
        rejected = CounterMetricFamily(
            "thudmud_connections_refused", "Connections rejected.", labels=["reason"]
        )
        for reason in Rejection:
            rejected.add_metric([reason.name.lower()], limiter.rejected[reason])
        yield rejected
        failures = CounterMetricFamily(
            "thudmud_login_failures", "Wrong passwords and resume words.", labels=["secret"]
        )
        for secret in Secret:
            failures.add_metric([secret.value], self._server.login_failures[secret])
        yield failures

    def _operations(self) -> Iterable[Metric]:
        """Yield the metrics of the program and its configuration."""
        server = self._server
        info = {"version": VERSION, "python": platform.python_version()}
        yield InfoMetricFamily("thudmud_build", "The version of the program.", value=info)
        yield _gauge(
            "config_last_reload_successful",
            "Whether the last reload of the settings succeeded: 1 or 0.",
            not server.has_failed_reload,
        )
        yield _gauge(
            "config_last_reload_success_timestamp_seconds",
            "When the settings were last read with success, at the start or by a reload.",
            server.adopted_at,
        )
        ends = GaugeMetricFamily(
            "thudmud_certificate_expiry_timestamp_seconds",
            "The end of the certificate in use, by type of client.",
            labels=["front_end"],
        )
        for section, certificate in server.certificates.items():
            ends.add_metric([_FRONT_ENDS[section]], certificate.end)
        yield ends


_FRONT_ENDS = {"server": "telnet", "web": "web"}
"""Front ends by the settings section of their certificate."""


def _families(figures: Sequence[Figure]) -> Iterable[Metric]:
    """Return the metrics for features' figures."""
    families: dict[str, GaugeMetricFamily] = {}
    for name, words, labels, value in figures:
        family = families.setdefault(
            name, GaugeMetricFamily(f"thudmud_{name}", words, labels=[*labels])
        )
        family.add_metric([*labels.values()], value)
    return families.values()


def _disk(file: Path) -> Iterable[Metric]:
    """Yield the metrics of a store's file, its disk and its backups, unless these are gone."""
    if made := last_backup(file):
        yield _gauge("backup_timestamp_seconds", "Time of the last backup of the file.", made)
    with suppress(OSError):
        yield _gauge(
            "store_size_bytes", "Size of the store, all of its files together.", store_size(file)
        )
    with suppress(OSError):
        yield _gauge(
            "store_disk_free_bytes",
            "Free space on the store's disk, for users other than root.",
            free_bytes(file),
        )


def front_end(session: Session) -> str:
    """Return a session's front end: ``telnet``, ``web`` or ``bot``."""
    match session:
        case Bot():
            return "bot"
        case TelnetSession():
            return "telnet"
        case _:
            return "web"


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"thudmud_{name}", words, value=value)


def _counter(name: str, words: str, value: float) -> Metric:
    return CounterMetricFamily(f"thudmud_{name}", words, value=value)


class MetricsPort:
    """HTTP endpoint that answers one request per connection.

    Beyond `MOST_CONNECTIONS` the oldest connections are aborted. Requests are answered at once, so
    an old connection is idle, and idle clients can't lock others out.
    """

    def __init__(self, registry: CollectorRegistry, is_healthy: Callable[[], bool]) -> None:
        self._registry, self._is_healthy = registry, is_healthy
        self._routes = Routes([Route("/metrics", self._metrics), Route("/health", self._health)])
        self._turns, self._buffer = FairScheduler(), memoryview(bytearray(MAX_HEAD))
        self._open: dict[asyncio.Transport, None] = {}
        """The open connections, the oldest first."""

    def connection(self) -> HttpConnection:
        """Return the protocol for a new connection."""
        policy = HttpPolicy(self._turns, _PATIENCE, self._respond)
        return HttpConnection(_Monitor(self._open), policy, self._buffer)

    def _respond(self, request: HttpRequest) -> Answer | None:
        answer = self._routes.respond(request)
        if isinstance(answer, HttpResponse):
            answer.headers["Connection"] = "close"
        return answer

    def _metrics(self, request: HttpRequest) -> HttpResponse:
        try:
            encode, kind = choose_encoder(request.fields.get("accept", ""))
        except TypeError:  # the requested format version is not a number
            encode, kind = choose_encoder("")
        return HttpResponse(HTTPStatus.OK, {"Content-Type": kind}, encode(self._registry))

    def _health(self, _: HttpRequest) -> HttpResponse:
        if self._is_healthy():
            return plain(HTTPStatus.OK, HEALTHY)
        return plain(HTTPStatus.SERVICE_UNAVAILABLE, UNHEALTHY)


class _Monitor:
    """The client of a metrics connection: an `HttpPeer` without rate limits."""

    is_forwarder, source = False, ""

    def __init__(self, others: dict[asyncio.Transport, None]) -> None:
        self._open = others

    def budget(self, _: str) -> TokenBucket:
        """Return an unlimited budget."""
        return TokenBucket(math.inf, math.inf)

    def is_secure(self, _: Mapping[str, str]) -> bool:
        """Return False: no proxy is expected in front of this port."""
        return False

    def address(self, _: Mapping[str, str]) -> str:
        """Return an empty address: without limits by address none is needed."""
        return ""

    def connection_opened(self, transport: asyncio.Transport) -> None:
        """Register a connection, and abort the oldest if there are too many."""
        if len(self._open) >= MOST_CONNECTIONS:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.abort()
        self._open[transport] = None

    def connection_closed(self, transport: asyncio.Transport) -> None:
        """Unregister a closed connection."""
        self._open.pop(transport, None)
