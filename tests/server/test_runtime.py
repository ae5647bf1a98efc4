"""The server in the test process, with its store: startup, failures and settings."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal, cast

import pytest
import uvloop
from pydantic import ValidationError

from tests.accounts.dialogues import CHEAP
from tests.conftest import FreePort, RunServer
from tests.server.bots import Person
from tests.server.plain import PATIENCE, Client
from tests.service.place import Place
from tests.service.stores import SlowStore
from tests.store.deeds import moved
from thudmud.accounts.login import BACK_WORD, TOLD_WORD
from thudmud.errors import StartError
from thudmud.features.playing.moves import Resign
from thudmud.server import acceptor, runtime
from thudmud.server import runtime as serving
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import PlayerSettings, Settings, StorageSettings, WebSettings
from thudmud.server.runtime import open_sessions
from thudmud.server.session import TelnetSession
from thudmud.store import Store, StoreError, StoreInUseError, nodes, scores
from thudmud.store.steady import SteadyClock, seconds
from thudmud.telnet.intake import ReadPauser

SETTINGS = Settings.model_validate(
    {"server": {"port": 0, "shutdown_grace": 0.2}, "web": {"enabled": False}, "bot": []}
)

RATED = """
move from f15 to f8|move from g7 to f7|move from f8 to f9
move from f7 to g7|move from f9 to f8|move from g7 to f7
"""


class Watched(SlowStore):
    """A store that records whether it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True
        await super().close()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Return a store that replaces the file."""
    store = Watched.make()

    async def opened(*_: Any, **__: Any) -> Watched:
        return store

    monkeypatch.setattr(Store, "open", opened)
    return store


async def test_inconsistent_board_in_the_store_stops_the_server(
    tmp_path: Path, store: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    ready = asyncio.Event()
    said: list[str] = []

    def announce(line: str) -> None:
        said.append(line)
        ready.set()

    async with asyncio.timeout(20):
        server = asyncio.create_task(serving.serve(SETTINGS, tmp_path, announce))
        await ready.wait()
        await store.append({"oak board": (0, [moved(1)])})
        with pytest.raises(ValueError, match="inconsistent events"):
            await server
    assert len(said) == 1
    assert "cannot serve boards any longer" in caplog.text
    assert store.closed


async def test_unreadable_store_is_closed(tmp_path: Path, store: Watched) -> None:
    store.unreadable = True
    with pytest.raises(StoreError, match="does not work"):
        await serving.serve(SETTINGS, tmp_path, lambda _: None)
    assert store.closed


async def test_ratings_survive_a_restart(tmp_path: Path) -> None:
    file = tmp_path / SETTINGS.storage.file
    store = await Store.open(file)
    place = Place(store)
    await place.open()
    await place.enter("Anna", "Bert", member=True)
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bert", "join game as troll on oak board", "start")
    for number, line in enumerate(RATED.strip().replace("\n", "|").split("|")):
        await place.type(("Anna", "Bert")[number % 2], line)
    await place.type("Bert", Resign(), "start")
    await place.type("Anna", "start")
    await place.type("Bert", Resign())
    score = await store.read(scores.score, "Anna", curves=True)
    assert score
    assert score.curves
    await place.service.close()
    await store.close()
    async with serving.open_sessions(SETTINGS, tmp_path) as sessions:
        assert await sessions.store.read(scores.score, "Anna", curves=True) == score


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
async def test_expired_lease_is_harmless_with_a_single_server(
    tmp_path: Path, backend: Literal["memory", "sqlite"]
) -> None:
    """A busy machine may renew its lease late, and no other server can have taken it."""
    given = SETTINGS.model_copy(update={"storage": StorageSettings(backend=backend)})
    async with open_sessions(given, tmp_path) as sessions:
        anna = Person(sessions, "Anna")
        await anna.come()
        node = sessions.service._node
        assert node
        node._clock = lambda: seconds() + 2 * node.lease
        assert not node.is_alive
        await anna.type("join game as dwarf on oak board")
        assert "You sit down at the oak board" in anna.shown
        await node.renew()
        assert not anna.has_ended


async def test_second_server_on_the_same_file_is_refused(tmp_path: Path) -> None:
    async with serving.open_sessions(SETTINGS, tmp_path):
        with pytest.raises(StoreInUseError):
            async with serving.open_sessions(SETTINGS, tmp_path):
                pass


@pytest.mark.parametrize("error", [False, True])
async def test_store_is_checked_after_startup(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    *,
    error: bool,
) -> None:
    checked = asyncio.Event()

    async def check(_: Store) -> str | None:
        checked.set()
        if error:
            raise StoreError("It could not be checked.")
        return "a row is not what was written"

    monkeypatch.setattr(Store, "check", check)
    with caplog.at_level(logging.ERROR):
        async with serving.open_sessions(SETTINGS, tmp_path), asyncio.timeout(20):
            await checked.wait()
            await asyncio.sleep(0)
    assert ("could not be checked" if error else "not what was written") in caplog.text


async def test_move_is_one_write_to_the_mover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[WatchedTransport] = []

    def session(transport: asyncio.Transport, reading: ReadPauser, **how: Any) -> TelnetSession:
        watched.append(WatchedTransport(transport))
        return TelnetSession(cast("asyncio.Transport", watched[-1]), reading, **how)

    monkeypatch.setattr(acceptor, "TelnetSession", session)
    async with open_sessions(SETTINGS, tmp_path) as sessions, AsyncExitStack() as stack:
        server = Acceptor(SETTINGS, hasher=CHEAP)
        [(host, port)] = await server.bind()
        await server.start(sessions)
        stack.push_async_callback(server.stop)
        clients = list[Client]()
        for name, side in (("Anna", b"dwarf"), ("Bert", b"troll")):
            client = Client(*await asyncio.open_connection(host, port))
            stack.push_async_callback(client.close)
            await client.until(b"name? ")
            await client.login(name)
            await client.send(b"join game as " + side + b" on oak board\r\n")
            await client.until(b"> ")
            clients.append(client)
        anna, bert = clients
        await bert.send(b"start\r\n")
        await anna.until(b"begin a match")
        await anna.fence()
        watched[0].writes.clear()
        await anna.send(b"move f15 to f8\r\n")
        await bert.until(b"Anna moves the dwarf")
        await anna.fence()
        assert len(watched[0].writes) == 2, watched[0].writes
        moved, mark = watched[0].writes
        assert moved.startswith(b"You move the dwarf from F15 to F8.")
        assert moved.endswith(b"\r\n> ")
        assert mark == b"\xff\xfb\x06"


async def test_guest_quitting_a_match_is_told_how_to_return(tmp_path: Path) -> None:
    async with open_sessions(SETTINGS, tmp_path) as sessions, AsyncExitStack() as stack:
        server = Acceptor(SETTINGS, hasher=CHEAP)
        [(host, port)] = await server.bind()
        await server.start(sessions)
        stack.push_async_callback(server.stop)

        async def connect(*lines: str) -> tuple[Client, str]:
            client = Client(*await asyncio.open_connection(host, port))
            stack.push_async_callback(client.close)
            await client.send("".join(f"{line}\r\n" for line in lines).encode())
            return client, (await client.until(b"both seats free")).decode("latin-1")

        anna, greeted = await connect("anna")
        bert, _ = await connect("bert")
        carla, _ = await connect("carla")
        word = TOLD_WORD.search(greeted)
        assert word
        await anna.send(b"match bert\r\n")
        await bert.until(b"challenges you")
        await bert.send(b"accept\r\n")
        await anna.until(b"accepts")
        told = b"Goodbye!\r\n%s\r\n%s\r\n" % (BACK_WORD.encode(), word[0].encode())
        await anna.send(b"quit\r\n")
        assert (await anna.rest()).endswith(told)
        await carla.send(b"quit\r\n")  # her name becomes free
        assert (await carla.rest()).endswith(b"Goodbye!\r\n")
        anna, _ = await connect("anna", word[1].replace("-", " "), "boards")
        await anna.send(b"quit\r\n")
        assert (await anna.rest()).endswith(told)
        await bert.send(b"register\r\n" + b"correct horse\r\n" * 2)
        await bert.until(b"is yours now")
        await bert.send(b"quit\r\n")
        assert (await bert.rest()).endswith(b"Goodbye!\r\n")


async def test_news_command_and_prompt_option(tmp_path: Path) -> None:
    (tmp_path / "news.txt").write_text("\nA match on Sunday:\x07\n\n  two boards.\n", "utf-8")
    settings = Settings.model_validate(
        SETTINGS.model_dump() | {"bot": [], "players": {"news": "news.txt"}}
    )
    async with open_sessions(settings, tmp_path) as sessions, AsyncExitStack() as stack:
        server = Acceptor(settings, hasher=CHEAP)
        [(host, port)] = await server.bind()
        await server.start(sessions)
        stack.push_async_callback(server.stop)
        client = Client(*await asyncio.open_connection(host, port))
        stack.push_async_callback(client.close)
        await client.until(b"name? ")
        await client.login("Anna")
        await client.send(b"news\r\n")
        assert await client.until(b"> ") == b"A match on Sunday:\r\n\r\ntwo boards.\r\n> "
        await client.send(b"options prompt off\r\nsay hello\r\n")
        assert (await client.until(b"hello\r\n")).endswith(b"back.\r\nYou say: hello\r\n")
        await client.send(b"options prompt on\r\n")
        assert await client.until(b"> ") == b"The prompt is on.\r\n> "


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "no such file"),
        (b"x" * 16_385, "is longer than 16,384 bytes"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_unusable_news_file_is_reported(tmp_path: Path, content: bytes | None, why: str) -> None:
    settings = Settings(players=PlayerSettings(news="news.txt"))
    if content is not None:
        (tmp_path / "news.txt").write_bytes(content)
    with pytest.raises(StartError, match=why):
        runtime.read_news(settings, tmp_path)


class WatchedTransport:
    """A transport that records its writes."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.writes: list[bytes] = []
        self._transport = transport

    def write(self, data: bytes) -> None:
        self.writes.append(bytes(data))
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


ROOT = Path(__file__).parents[2]
CONFIG = """
[server]
port = 0
log_level = "info"
log_file = "log"
[web]
port = 0
[storage]
backend = "memory"
"""


async def running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_event_loop_is_uvloop_if_installed() -> None:
    assert isinstance(runtime.run_in_loop(running()), uvloop.Loop)


def test_event_loop_is_asyncio_without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert isinstance(runtime.run_in_loop(running()), asyncio.BaseEventLoop)


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_server_logs_its_event_loop(
    tmp_path: Path, run_server: RunServer, monkeypatch: pytest.MonkeyPatch, loop: str
) -> None:
    (tmp_path / "config.toml").write_text(CONFIG, "utf-8")
    if loop == "asyncio":
        (tmp_path / "uvloop.py").write_text("raise ModuleNotFoundError", "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    words = [sys.executable, "-m", "thudmud.cli.main", "serve"]
    with run_server(words) as address, socket.create_connection(address) as client:
        client.settimeout(20)
        while client.recv(4096)[-6:] != b"name? ":
            pass
    log = (tmp_path / "log").read_text("ascii")
    assert f'from="thudmud.server.runtime" event=starting loop={loop}\n' in log


async def test_changed_system_time_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    times = iter([1000.0, 1003.0, 4600.0, 4600.0, 4600.0])
    looked = asyncio.Event()

    def wall() -> float:
        try:
            return next(times)
        except StopIteration:
            looked.set()
            return 4600.0

    clock = SteadyClock(wall, lambda: 0.0)
    noting = asyncio.create_task(serving.log_clock_changes(clock, 0.0))
    async with asyncio.timeout(20):
        await looked.wait()
    noting.cancel()
    assert [record.getMessage() for record in caplog.records] == [
        "the system clock was set, and is now +3600 seconds from the server's clock, which "
        "follows it at the next start"
    ]


class TestPortOfThePage:
    @pytest.fixture
    def busy(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
        """Occupy the default port of the page; return it."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            monkeypatch.setattr(WebSettings.model_fields["port"], "default", port)
            yield port

    async def test_default_port_in_use_is_replaced(self, tmp_path: Path, busy: int) -> None:
        said: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        web = {"port": busy}  # as in the shipped config.toml
        settings = SETTINGS.model_copy(update={"web": WebSettings.model_validate(web)})
        server = asyncio.create_task(serving.serve(settings, tmp_path, said.set_result))
        async with asyncio.timeout(PATIENCE):
            either: list[asyncio.Future[Any]] = [said, server]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            found = re.fullmatch(
                r"thudmud is ready: http://127\.0\.0\.1:(\d+)/ or telnet 127\.0\.0\.1 \d+"
                rf" \(port {busy} is in use, so the page has another\)",
                said.result(),
            )
            assert found
            _, writer = await asyncio.open_connection("127.0.0.1", int(found[1]))
            writer.transport.abort()
            os.kill(os.getpid(), signal.SIGTERM)
            await server

    @pytest.mark.parametrize(
        "chosen",
        [{"public_url": "https://example.org"}, {"proxies": ["127.0.0.1"]}],
        ids=["public", "proxy"],
    )
    async def test_port_in_use_behind_a_proxy_is_refused(
        self, busy: int, chosen: Mapping[str, object]
    ) -> None:
        web = WebSettings.model_validate({"port": busy, **chosen})
        await self._is_refused(web)

    async def test_configured_port_in_use_is_refused(self, busy: int) -> None:
        await self._is_refused(WebSettings().model_copy(update={"port": busy}))

    async def _is_refused(self, web: WebSettings) -> None:
        server = Acceptor(SETTINGS.model_copy(update={"web": web}))
        with pytest.raises(StartError, match=rf"web\.port: port {web.port} of .* is in use"):
            await server.bind()


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "::"])  # noqa: S104  (nobody connects)
@pytest.mark.parametrize("section", ["web", "metrics"])
async def test_port_shared_by_two_settings_is_reported_with_both(
    tmp_path: Path, free_port: FreePort, section: str, host: str
) -> None:
    """`localhost` is found to be the same address when it is looked up, the others before."""
    port = free_port()
    told = {
        "server": {"host": "127.0.0.1", "port": port},
        "storage": {"backend": "memory"},
        "web": {"enabled": False},
        "bot": [],
    }
    chosen = {"host": host, "port": port, "enabled": True}
    wrong = f"port {port} is already used by server.port; give "
    with pytest.raises((StartError, ValidationError), match=re.escape(wrong)) as caught:
        await serving.serve(
            Settings.model_validate({**told, section: chosen}), tmp_path, lambda _: None
        )
    assert f"{section}.port" in str(caught.value)


async def test_default_page_port_yields_to_the_telnet_port(
    monkeypatch: pytest.MonkeyPatch, free_port: FreePort
) -> None:
    port = free_port()
    monkeypatch.setattr(WebSettings.model_fields["port"], "default", port)
    told = {"server": {"port": port}, "web": {"port": port}, "bot": []}
    settings = Settings.model_validate(told)
    server = Acceptor(settings)
    assert await server.bind() == [("127.0.0.1", port)]
    assert server.uses_fallback_port
    server.close()


async def test_failed_start_leaves_no_heartbeat_in_the_store(tmp_path: Path) -> None:
    storage = StorageSettings()
    with pytest.raises(StartError, match="no port"):
        async with runtime.open_serving_store(storage, tmp_path):
            raise StartError("no port")
    store = await Store.open(tmp_path / storage.file)
    assert await store.read(nodes.seconds_since_heartbeat) is None
    await store.close()
