"""The server as a system service: notifications, SIGHUP and logging."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
import trustme

from tests.server.plain import PATIENCE, Client
from thudmud.server.acceptor import FAREWELL
from thudmud.server.config import Settings, changed_keys, with_changes
from thudmud.server.logs import JsonFormatter
from thudmud.server.systemd import ServiceManager

ROOT = Path(__file__).parents[2]
SERVE = ["-m", "thudmud.cli.main", "serve", "--config"]
CONFIG = """
bot = []
[server]
port = 0
{server}
log_level = "info"
log_file = "log"
[log]
format = "json"
[players]
{players}
[web]
enabled = false
"""

Process = asyncio.subprocess.Process


class Manager:
    """A fake service manager that receives notifications on a socket."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._end.bind(os.fspath(path))
        self._end.setblocking(False)  # noqa: FBT003  (socket's)
        self.told: list[str] = []

    async def until(self, word: str) -> str:
        """Return the next message with a line that begins with this word."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message = (await asyncio.get_running_loop().sock_recv(self._end, 4096)).decode()
                self.told.append(message)
                if any(line.startswith(word) for line in message.splitlines()):
                    return message

    def close(self) -> None:
        self._end.close()


class Running:
    """A server process in its own folder, without a terminal."""

    def __init__(self, folder: Path, process: Process, manager: Manager) -> None:
        self.folder, self.process, self.manager = folder, process, manager

    def configure(self, *, server: str = "", players: str = "") -> None:
        write(self.folder, server=server, players=players)

    async def reload(self) -> None:
        self.process.send_signal(signal.SIGHUP)
        await self.manager.until("RELOADING=1")
        await self.manager.until("READY=1")

    async def connect(self, context: ssl.SSLContext | None = None) -> Client:
        """Return a client connected to the plain port, or to the TLS port with a context."""
        wanted = "server.tls_port" if context else "server.port"
        [port] = [
            int(each["place"].split()[1]) for each in self.log("listening") if each["for"] == wanted
        ]
        async with asyncio.timeout(PATIENCE):
            client = Client(*await asyncio.open_connection("127.0.0.1", port, ssl=context))
        await client.until(b"name? ")
        return client

    def log(self, event: str) -> list[dict[str, Any]]:
        """Return the records of an event logged so far."""
        lines = (self.folder / "log").read_text("ascii").splitlines()
        return [each for each in map(json.loads, lines) if each["event"] == event]

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int | None, str]:
        self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE):
            _, errors = await self.process.communicate()
        return self.process.returncode, errors.decode()


Start = Callable[..., Awaitable[Running]]


def write(folder: Path, *, server: str = "", players: str = "") -> None:
    text = CONFIG.format(server=server, players=players)
    (folder / "config.toml").write_text(text, "utf-8")


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(tmp_path / "notify")
    yield manager
    manager.close()


@pytest.fixture
async def start(tmp_path: Path, manager: Manager) -> AsyncIterator[Start]:
    """Start a server: ``await start(server="max_line = 100", WATCHDOG_USEC="100000")``."""
    processes: list[Process] = []

    async def run(*, server: str = "", players: str = "", **environment: str) -> Running:
        write(tmp_path, server=server, players=players)
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, *SERVE, str(tmp_path / "config.toml")],
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path, "NOTIFY_SOCKET": str(manager.path)} | environment,
            start_new_session=True,
        )
        processes.append(process)
        await manager.until("READY=1")
        return Running(tmp_path, process, manager)

    yield run
    for process in processes:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_service_manager_receives_status_and_watchdog(start: Start) -> None:
    server = await start(WATCHDOG_USEC="50000")
    client = await server.connect()
    for _ in range(3):
        told = await server.manager.until("WATCHDOG=1")
    assert told == "WATCHDOG=1\nSTATUS=0 players, 0 battles under way"
    await client.login("Anna")
    await server.manager.until("STATUS=1 player,")
    assert await server.stop() == (0, "")
    assert await server.manager.until("STOPPING=1") == "STOPPING=1\nSTATUS=Stopping: SIGTERM"
    assert (await client.rest()).endswith(f"{FAREWELL}\r\n".encode())
    await client.close()


async def test_absent_service_manager_and_watchdog_are_ignored(tmp_path: Path) -> None:
    silent = ServiceManager({})
    silent.ready()
    await silent.watch()
    environment = {
        "NOTIFY_SOCKET": str(tmp_path / "gone"),
        "WATCHDOG_USEC": "1",
        "WATCHDOG_PID": "1",
    }
    deaf = ServiceManager(environment)
    assert environment == {}  # so that bot programs don't inherit it
    deaf.stopping("nobody is there")
    await deaf.watch()  # the watchdog is for another process


async def test_abstract_namespace_socket_is_notified() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind("")
        name = end.getsockname().replace(b"\0", b"@", 1).decode()
        ServiceManager({"NOTIFY_SOCKET": name}).ready()
        assert end.recv(100) == b"READY=1\nSTATUS=Starting"


async def test_stop_reason_is_logged(start: Start) -> None:
    server = await start()
    client = await server.connect()
    await client.login("Anna")
    await server.stop(signal.SIGINT)
    [stopping] = server.log("stopping")
    assert (stopping["why"], stopping["players"]) == ("SIGINT", 1)
    assert [len(server.log(event)) for event in ("starting", "listening", "stopped")] == [1, 1, 1]
    await client.close()


def test_sighup_at_a_terminal_stops_the_server(tmp_path: Path) -> None:
    write(tmp_path)
    with pexpect.spawn(
        sys.executable,
        [*SERVE, str(tmp_path / "config.toml")],
        env=os.environ | {"PYTHONPATH": os.fspath(ROOT)},
        timeout=PATIENCE,
    ) as server:
        server.expect("is ready")
        server.kill(signal.SIGHUP)
        server.expect(pexpect.EOF)
    assert server.exitstatus == 0
    assert '"why": "SIGHUP"' in (tmp_path / "log").read_text("ascii")


# Certificates.


def issue(folder: Path) -> ssl.SSLContext:
    """Write a certificate; return a context that trusts only it."""
    authority, context = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(context)
    pem = folder / "renewed.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(os.fspath(pem))
    pem.replace(folder / "tls.pem")
    return context


async def test_renewed_certificate_is_used_without_a_restart(
    tmp_path: Path, start: Start, free_port: Callable[[], int]
) -> None:
    old = issue(tmp_path)
    server = await start(server=f'tls_port = {free_port()}\ntls_certificate = "tls.pem"')
    before = await server.connect(old)
    await before.login("Anna")
    new = issue(tmp_path)
    await server.reload()
    with pytest.raises(ssl.SSLCertVerificationError):
        await server.connect(old)
    after = await server.connect(new)
    await after.login("Bert")
    await before.until(b"Bert")  # existing connections stay open
    await before.send(b"say hello\r\n")
    await after.until(b"Anna says: hello")
    # An invalid certificate changes nothing.
    (tmp_path / "tls.pem").write_text("none", "utf-8")
    await server.reload()
    assert "contains no certificate" in server.log("could not reload the settings")[0]["why"]
    third = await server.connect(new)
    for each in (before, after, third):
        await each.close()


# Settings.


async def test_reload_applies_changed_settings(tmp_path: Path, start: Start) -> None:
    server = await start()
    anna = await server.connect()
    await anna.login("Anna")
    (tmp_path / "news").write_text("Tea at four.\n", "utf-8")
    server.configure(
        server="max_line = 80\nworkers = 1",
        players='news = "news"\nseeks = 1\nchat_at_once = 1\nchat_per_minute = 1',
    )
    await server.reload()
    await anna.send(b"news\r\n")
    await anna.until(b"Tea at four.")
    await anna.send(b"say one\r\nsay two\r\n")
    await anna.until(b"others have just heard a lot from you")
    bert = await server.connect()
    await bert.login("Bert")
    await bert.send(b"x" * 81 + b"\r\n")
    await bert.until(b"longer than 80 characters")
    [read] = server.log("reloaded settings and certificates")
    assert read["changed"] == (
        "players.chat_at_once players.chat_per_minute players.news players.seeks server.max_line"
    )
    assert server.log("some changed settings need a restart")[0]["settings"] == "server.workers"
    for each in (anna, bert):
        await each.close()


@pytest.mark.parametrize(
    ("server", "players", "why"),
    [("max_line = 1", "", "server.max_line: expected"), ("", 'news = "none"', "players.news: ")],
)
async def test_reload_of_invalid_settings_changes_nothing(
    start: Start, server: str, players: str, why: str
) -> None:
    running = await start()
    running.configure(server=server, players=players)
    await running.reload()
    assert why in running.log("could not reload the settings")[0]["why"]
    assert await running.stop() == (0, "")


async def test_reload_changes_the_log_format(tmp_path: Path, start: Start) -> None:
    server = await start()
    text = (tmp_path / "config.toml").read_text("utf-8")
    (tmp_path / "config.toml").write_text(text.replace('"json"', '"text"'), "utf-8")
    await server.reload()
    last = (tmp_path / "log").read_text("ascii").splitlines()[-1]
    assert last.endswith('event="reloaded settings and certificates" changed="log.format"')


def test_reload_leaves_settings_that_need_a_restart() -> None:
    before = Settings()
    after = Settings.model_validate(
        {
            "server": {"port": 1, "tls_port": 2, "tls_certificate": "x", "max_line": 100},
            "web": {"ping": 5},
            "game": {"quiet_plies": 3},
            "gateway": {"port": 7},
            "bot": [],
        }
    )
    live, others = changed_keys(before, after)
    assert live == ["server.max_line", "web.ping"]
    # A certificate can only be reloaded where its port was open from the start.
    assert others == ["bot", "game", "server.port", "server.tls_certificate", "server.tls_port"]
    taken = with_changes(before, after, live)
    assert (taken.server.max_line, taken.server.port, taken.web.ping) == (100, 8483, 5.0)
    assert changed_keys(taken, after) == ([], others)


# Bans.


async def test_bans_are_logged(tmp_path: Path, start: Start) -> None:
    server = await start()
    anna = await server.connect()
    await anna.login("Anna")
    for action, event in (("ban", "banned"), ("unban", "unbanned")):
        done = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "thudmud.cli.main", "user", action, "Anna"],
            *["--config", str(tmp_path / "config.toml")],
            env=os.environ | {"PYTHONPATH": os.fspath(ROOT)},
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await done.wait() == 0
        if action == "ban":
            assert b"has banned Anna" in await anna.rest()
        async with asyncio.timeout(PATIENCE):
            while not (told := server.log(event)):  # noqa: ASYNC110  (files have no event to wait for)
                await asyncio.sleep(0.01)
        assert [each["whom"] for each in told] == ["Anna"]
    await anna.close()


def test_json_record_is_one_object_per_line(caplog: pytest.LogCaptureFixture) -> None:
    try:
        int("boom \x7f\n")
    except ValueError:
        with caplog.at_level(logging.ERROR):
            logging.getLogger("x").exception("failed: %s", "\u00e9\n", extra={"count": 3})
    line = JsonFormatter().format(caplog.records[0])
    assert line.isprintable()
    assert line.isascii()
    told = json.loads(line)
    assert (told["level"], told["from"], told["event"], told["count"]) == (
        "error",
        "x",
        "failed: \u00e9\n",
        3,
    )
    assert told["trace"].startswith("Traceback")
