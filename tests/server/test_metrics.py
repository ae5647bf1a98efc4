"""Metrics and health of a server with players, and its behaviour without metrics."""

from __future__ import annotations

import asyncio
import platform
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
import trustme
from prometheus_client.parser import text_string_to_metric_families

from tests.accounts.dialogues import CHEAP
from tests.conftest import FreePort
from tests.server.plain import PATIENCE, Client
from tests.service.stores import do_instead
from tests.views.every_refusal import every_refusal
from thudmud.accounts.passwords import Passwords
from thudmud.errors import StartError
from thudmud.game.feature import Figure
from thudmud.server import runtime as serving
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import ConfigError, Settings
from thudmud.server.metrics import (
    HEALTHY,
    MOST_CONNECTIONS,
    UNHEALTHY,
    ServerCollector,
    serve_metrics,
)
from thudmud.server.runtime import Reload, open_sessions
from thudmud.server.session_registry import Sessions
from thudmud.service import Node
from thudmud.store import NotWrittenError, Store, StoreError, accounts, last_backup, nodes
from thudmud.store.backups import back_up
from thudmud.version import VERSION
from thudmud.web.connection import MAX_HEAD

SETTINGS = Settings.model_validate(
    {
        "server": {"port": 0, "shutdown_grace": 0.2, "connections_per_address": 3},
        "web": {"port": 0},
        "bot": [{"name": "Grog"}],
    }
)


class Watched:
    """A server with metrics enabled."""

    def __init__(
        self, place: tuple[str, int], settings: Settings, server: Acceptor, sessions: Sessions
    ) -> None:
        self.place, self.url = place, f"http://127.0.0.1:{settings.metrics.port}"
        self.settings, self.server, self.sessions = settings, server, sessions

    async def ask(self, path: str, method: str = "GET", **fields: str) -> httpx.Response:
        async with httpx.AsyncClient(timeout=PATIENCE) as asking:
            return await asking.request(method, f"{self.url}{path}", headers=fields)

    async def numbers(self) -> Mapping[str, float]:
        """Return the samples of /metrics by name and labels."""
        text = (await self.ask("/metrics")).text
        return {
            " ".join([sample.name, *sample.labels.values()]): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }


@asynccontextmanager
async def watched_server(settings: Settings, folder: Path, port: int) -> AsyncIterator[Watched]:
    metrics = settings.metrics.model_copy(update={"enabled": True, "port": port})
    settings = settings.model_copy(update={"metrics": metrics})
    async with AsyncExitStack() as stack:
        sessions = await stack.enter_async_context(open_sessions(settings, folder))
        server = Acceptor(settings, folder, hasher=CHEAP)
        [place] = await server.bind()
        await stack.enter_async_context(serve_metrics(settings.metrics, server, sessions))
        await server.start(sessions)
        stack.push_async_callback(server.stop)
        await sessions.ready()
        yield Watched(place, settings, server, sessions)


@pytest.fixture
async def watched(tmp_path: Path, free_port: FreePort) -> AsyncIterator[Watched]:
    async with watched_server(SETTINGS, tmp_path, free_port()) as watched:
        yield watched


async def test_player_activity_is_counted(watched: Watched) -> None:
    clients = list[Client]()
    for name, side in (("Anna", b"dwarf"), ("Bert", b"troll")):
        client = Client(*await asyncio.open_connection(*watched.place))
        clients.append(client)
        await client.until(b"name? ")
        await client.login(name)
        await client.send(b"join game as " + side + b" on oak board\r\n")
        await client.until(b"> ")
    anna, bert = clients
    await bert.send(b"start\r\n")
    await anna.until(b"begin a match")
    await anna.send(b"move f15 to f8\r\nmove f8 to f9\r\nhrul f8 to g8\r\nboards\r\n")
    await anna.until(b"Did you mean")
    await anna.fence()
    third, fourth = [Client(*await asyncio.open_connection(*watched.place)) for _ in range(2)]
    await fourth.until(b"too many connections from your address")
    told = await watched.numbers()
    assert {
        name: told[f"thudmud_{name}"]
        for name in (
            "players telnet",
            "players web",
            "bots",
            "connections",
            "boards",
            "seats",
            "battles",
            "plies_total",
            "refusals_total opponents_turn",
            "refusals_total unknown_command",
            "connections_accepted_total",
            "connections_refused_total crowded",
            "lines_throttled_total",
            "outbox_bytes",
            "healthy",
        )
    } == {
        "players telnet": 2,
        "players web": 0,
        "bots": 1,
        "connections": 3,
        "boards": 4,
        "seats": 2,
        "battles": 1,
        "plies_total": 1,
        "refusals_total opponents_turn": 1,
        "refusals_total unknown_command": 1,
        "connections_accepted_total": 3,
        "connections_refused_total crowded": 1,
        "lines_throttled_total": 0,
        "outbox_bytes": 0,
        "healthy": 1,
    }
    # All appends are timed, and the lag of the loop is measured.
    assert told["thudmud_append_seconds_count"] >= 4
    assert told["thudmud_append_seconds_bucket +Inf"] == told["thudmud_append_seconds_count"]
    assert "thudmud_loop_lag_seconds_count" in told
    assert told["process_resident_memory_bytes"] > 0
    for each in (*clients, third, fourth):
        await each.close()


async def test_last_backup_is_exported(watched: Watched, tmp_path: Path) -> None:
    name = "thudmud_backup_timestamp_seconds"
    assert name not in await watched.numbers()
    path = watched.sessions.store.path
    assert path
    back_up(path, tmp_path / "copies")
    made = last_backup(path)
    assert made
    assert (await watched.numbers())[name] == made


async def test_health_reflects_the_lease_and_the_store(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await watched.ask("/health")
    assert (answer.status_code, answer.text) == (200, f"{HEALTHY}\n")
    node = watched.sessions.service._node
    assert isinstance(node, Node)

    async def full(*_: object, **__: object) -> bool:
        raise NotWrittenError("the disk is full")

    do_instead(monkeypatch, watched.sessions.store, nodes.renew_lease, full)
    monkeypatch.setattr(node, "_clock", lambda: float("inf"))  # the lease has expired
    answer = await watched.ask("/health")
    assert (answer.status_code, answer.text) == (503, f"{UNHEALTHY}\n")
    assert (await watched.numbers())["thudmud_healthy"] == 0


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/", "GET", 404),
        ("/metrics", "POST", 405),
        ("/metrics", "HEAD", 200),
        ("/health", "HEAD", 200),
    ],
)
async def test_request_status_depends_on_path_and_method(
    watched: Watched, path: str, method: str, status: int
) -> None:
    answer = await watched.ask(path, method)
    assert answer.status_code == status
    if method == "HEAD":
        assert answer.text == ""


@pytest.mark.parametrize("sent", [b"", b"nonsense\r\n\r\n", b"x" * 100_000], ids=len)
async def test_malformed_requests_are_survived(watched: Watched, sent: bytes) -> None:
    host, _, port = watched.url.removeprefix("http://").partition(":")
    client = Client(*await asyncio.open_connection(host, int(port)))
    await client.send(sent)
    client.writer.write_eof()
    assert (await client.rest())[9:12] in {b"", b"400", b"431"}
    await client.close()
    assert (await watched.ask("/health")).status_code == 200


async def test_silent_connections_beyond_sixteen_are_cut(
    watched: Watched,
) -> None:
    host, _, port = watched.url.removeprefix("http://").partition(":")
    clients = [
        Client(*await asyncio.open_connection(host, int(port))) for _ in range(MOST_CONNECTIONS + 9)
    ]
    for cut in clients[:10]:  # the last is displaced by the health request
        if cut is clients[9]:
            assert (await watched.ask("/health")).status_code == 200
        assert await cut.rest() == b""
    for kept in clients[10:]:
        await kept.send(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await kept.rest()).startswith(b"HTTP/1.1 200")
    for each in clients:
        await each.close()


async def test_unknown_openmetrics_version_is_answered(watched: Watched) -> None:
    answer = await watched.ask("/metrics", accept="application/openmetrics-text; version=x")
    assert answer.status_code == 200
    assert "thudmud_connections" in answer.text


async def test_request_head_above_8_kib_is_refused(watched: Watched) -> None:
    host, _, port = watched.url.removeprefix("http://").partition(":")
    client = Client(*await asyncio.open_connection(host, int(port)))
    await client.send(b"GET /health HTTP/1.1\r\nX: " + b"x" * MAX_HEAD + b"\r\n\r\n")
    assert (await client.rest()).startswith(b"HTTP/1.1 431 ")
    await client.close()


async def test_unread_answer_is_abandoned(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thudmud.server.metrics._PATIENCE", 0.0)
    host, _, port = watched.url.removeprefix("http://").partition(":")
    client = Client(*await asyncio.open_connection(host, int(port)))
    assert await client.rest() == b""
    await client.close()


async def test_store_writes_are_counted(watched: Watched) -> None:
    before = await watched.numbers()
    client = Client(*await asyncio.open_connection(*watched.place))
    await client.until(b"name? ")
    await client.login("Anna")
    await client.send(b"practice on oak board\r\nmove f15 to f8\r\n")
    await client.fence()
    after = await watched.numbers()
    grown = {
        name: after[f"thudmud_{name}"] - before[f"thudmud_{name}"]
        for name in ("rows_written_total", "event_bytes_written_total", "addresses_over_quota")
    }
    assert grown["rows_written_total"] >= 3
    assert 50 < grown["event_bytes_written_total"] < 1000
    assert grown["addresses_over_quota"] == 0
    await client.close()


async def test_labelled_counters_begin_at_zero(watched: Watched) -> None:
    told = await watched.numbers()
    codes = {name.split()[1] for name in told if name.startswith("thudmud_refusals_total ")}
    assert codes >= {refusal.code.value for refusal in every_refusal()}
    names = [
        *(f"refusals_total {code}" for code in codes),
        *(f"connections_refused_total {each}" for each in ("full", "crowded", "hasty")),
        *(f"login_failures_total {each}" for each in ("password", "word")),
    ]
    assert {told[f"thudmud_{name}"] for name in names} == {0}


async def test_wrong_secrets_are_counted_by_kind(watched: Watched) -> None:
    member = await Passwords(CHEAP).hash_password("password")
    await watched.sessions.store.write(accounts.enrol, "Mina", member)
    guest, other = [Client(*await asyncio.open_connection(*watched.place)) for _ in range(2)]
    await guest.until(b"name? ")
    await guest.login("Anna")
    await other.until(b"name? ")
    await other.send(b"Mina\r\nwrong\r\n\r\nAnna\r\nno-such-words\r\nneither-these\r\n")
    for _ in range(2):
        await other.until(b"aren't the comeback words")
    told = await watched.numbers()
    assert told["thudmud_login_failures_total password"] == 1
    assert told["thudmud_login_failures_total word"] == 2
    for each in (guest, other):
        await each.close()


async def test_build_and_store_are_described(watched: Watched, tmp_path: Path) -> None:
    told = await watched.numbers()
    python = platform.python_version()
    assert told[f"thudmud_build_info {python} {VERSION}"] == 1
    assert told["thudmud_store_size_bytes"] >= (tmp_path / "thudmud.db").stat().st_size > 0
    assert told["thudmud_store_disk_free_bytes"] > 0
    (tmp_path / "thudmud.db").rename(tmp_path / "away.db")
    assert "thudmud_store_size_bytes" not in await watched.numbers()


async def test_reloads_are_reported(watched: Watched, tmp_path: Path) -> None:
    success, last = (
        f"thudmud_config_last_reload_{each}" for each in ("successful", "success_timestamp_seconds")
    )
    before = await watched.numbers()
    assert before[success] == 1
    assert before[last] == pytest.approx(time.time(), abs=PATIENCE)
    wanted: list[Settings | ConfigError] = [ConfigError(["broken"]), watched.settings]

    def reread() -> Settings:
        first = wanted.pop(0)
        if isinstance(first, Settings):
            return first
        raise first

    reload = Reload(watched.settings, tmp_path, reread, watched.server, watched.sessions)
    reload()
    failed = await watched.numbers()
    assert (failed[success], failed[last]) == (0, before[last])
    reload()
    after = await watched.numbers()
    assert after[success] == 1
    assert after[last] > before[last]


async def test_end_of_the_certificate_in_use_is_reported(
    tmp_path: Path, free_port: FreePort
) -> None:
    ends = datetime(2031, 1, 2, tzinfo=UTC)
    name = "thudmud_certificate_expiry_timestamp_seconds telnet"

    def issue(end: datetime) -> None:
        issued = trustme.CA().issue_cert("thud.example.org", not_after=end)
        issued.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "tls.pem"))

    issue(ends)
    server = SETTINGS.server.model_copy(
        update={"tls_port": free_port(), "tls_certificate": "tls.pem"}
    )
    settings = SETTINGS.model_copy(update={"server": server})
    async with watched_server(settings, tmp_path, free_port()) as watched:
        assert (await watched.numbers())[name] == ends.timestamp()
        # A renewed file counts once it is loaded; one that has expired is reported, too.
        issue(datetime(2020, 1, 2, tzinfo=UTC))
        assert (await watched.numbers())[name] == ends.timestamp()
        wanted = watched.settings
        Reload(wanted, tmp_path, lambda: wanted, watched.server, watched.sessions)()
        assert (await watched.numbers())[name] == datetime(2020, 1, 2, tzinfo=UTC).timestamp()


async def test_waiting_notifications_are_counted(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thudmud.server.metrics._FIGURES_PAUSE", 0.0)
    figures: list[Figure] | StoreError = [
        Figure("notifications_waiting", "Waiting.", {"way": way}, number)
        for way, number in (("mail", 3), ("browser", 4))
    ]

    async def measure() -> list[Figure]:
        if isinstance(figures, StoreError):
            raise figures
        return figures

    watched.sessions.measure = measure
    collector = ServerCollector(watched.server, watched.sessions)
    following = asyncio.create_task(collector.follow_features())

    def told() -> dict[str, float]:
        return {
            sample.labels["way"]: sample.value
            for family in collector.collect()
            if family.name == "thudmud_notifications_waiting"
            for sample in family.samples
        }

    async with asyncio.timeout(PATIENCE):
        while told() != {"mail": 3, "browser": 4}:  # noqa: ASYNC110  (no event to wait for)
            await asyncio.sleep(0)
        figures = StoreError("the database is away")  # then nobody knows
        while told():  # noqa: ASYNC110  (the same)
            await asyncio.sleep(0)
    following.cancel()


async def test_store_is_not_timed_without_metrics(tmp_path: Path) -> None:
    async with open_sessions(SETTINGS, tmp_path) as sessions:
        assert isinstance(sessions.store, Store)
        assert sessions.store.timed is None


async def test_missing_dependency_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    settings = Settings.model_validate(
        {"server": {"port": 0}, "web": {"port": 0}, "metrics": {"enabled": True}}
    )
    with pytest.raises(StartError, match=r'pip install "thudmud\[metrics\]"'):
        await serving.serve(settings, tmp_path, lambda _: None)


async def test_port_in_use_is_reported(tmp_path: Path, watched: Watched) -> None:
    port = int(watched.url.rpartition(":")[2])
    settings = Settings.model_validate(
        {
            "server": {"port": 0},
            "web": {"port": 0},
            "storage": {"backend": "memory"},
            "metrics": {"enabled": True, "port": port},
        }
    )
    with pytest.raises(StartError, match=r"^metrics\.port: port [0-9]+ of 127\.0\.0\.1 is in use"):
        await serving.serve(settings, tmp_path, lambda _: None)
