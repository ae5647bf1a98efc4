"""A server that upgrades its store at the start: what callers and the service manager are told."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.conftest import FreePort
from tests.server.test_operating import Manager
from thudmud.errors import StartError
from thudmud.game.events import BoardOpened
from thudmud.game.projections import HALL, PROJECTION
from thudmud.server import runtime
from thudmud.server.config import Settings
from thudmud.store import Store, database, projected
from thudmud.store.checking import check_file

PATIENCE = 30.0

SENTENCE = b"The server is being upgraded. Please try again in a few minutes."
UPGRADING = (
    f"STATUS=Upgrading the store from schema 1.{PROJECTION - 1} to 1.{PROJECTION}\n"
    "EXTEND_TIMEOUT_USEC=600000000"
)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Return an event without which no upgrade goes on."""
    go_on = Event()

    def wait(*arguments: Any) -> None:
        assert go_on.wait(PATIENCE)
        projected.project_all(*arguments)

    monkeypatch.setattr(database, "project_all", wait)
    return go_on


async def make_old(path: Path) -> None:
    store = await Store.open(path)
    await store.append({HALL: (0, [BoardOpened(1.0, "", "elm", "elm board", "classic")])})
    await store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("update head set projection = ?", (PROJECTION - 1,))


async def ask(port: int, line: bytes = b"") -> bytes:
    """Connect to a port, and return all that comes until the other side closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(line)
    told = await reader.read()
    writer.close()
    return told


async def test_upgrade_is_reported_and_callers_are_turned_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_port: FreePort, held: Event
) -> None:
    manager = Manager(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", str(manager.path))
    port, page = free_port(), free_port()
    settings = Settings.model_validate(
        {"server": {"port": port, "shutdown_grace": 0.2}, "web": {"port": page}, "bot": []}
    )
    await make_old(tmp_path / settings.storage.file)
    async with asyncio.timeout(PATIENCE):
        server = asyncio.create_task(runtime.serve(settings, tmp_path, lambda _: None))
        assert await manager.until("EXTEND_TIMEOUT_USEC=") == UPGRADING
        for _ in range(2):
            assert await ask(port) == SENTENCE + b"\r\n"
        told = await ask(page, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert told.startswith(b"HTTP/1.1 503 ")
        assert SENTENCE in told
        held.set()
        assert "0 players" in await manager.until("READY=1")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert b"name? " in await reader.readuntil(b"name? ")
        writer.close()
        os.kill(os.getpid(), signal.SIGTERM)
        await server
    manager.close()


async def test_start_that_fails_in_the_upgrade_closes_its_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_port: FreePort
) -> None:
    port = free_port()
    settings = Settings.model_validate(
        {"server": {"port": port}, "web": {"enabled": False}, "bot": []}
    )
    await make_old(tmp_path / settings.storage.file)

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(database, "project_all", fail)
    with pytest.raises(StartError, match="the disk is full"):
        await runtime.serve(settings, tmp_path, lambda _: None)
    with pytest.raises(ConnectionRefusedError):
        await ask(port)


async def test_signal_during_the_upgrade_stops_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: Event, caplog: pytest.LogCaptureFixture
) -> None:
    manager = Manager(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", str(manager.path))
    settings = Settings.model_validate(
        {"server": {"port": 0}, "web": {"enabled": False}, "bot": []}
    )
    path = tmp_path / settings.storage.file
    await make_old(path)
    install, shutdowns = runtime.install_signal_handlers, list[runtime.Shutdown]()

    def installed(*arguments: Any) -> runtime.Shutdown:
        shutdowns.append(install(*arguments))
        return shutdowns[-1]

    monkeypatch.setattr(runtime, "install_signal_handlers", installed)
    async with asyncio.timeout(PATIENCE):
        server = asyncio.create_task(runtime.serve(settings, tmp_path, lambda _: None))
        await manager.until("EXTEND_TIMEOUT_USEC=")
        os.kill(os.getpid(), signal.SIGTERM)
        await shutdowns[0].wait()
        held.set()
        await server
    assert "The upgrade was stopped. The store is as it was." in str(
        vars(caplog.records[-1])["why"]
    )
    assert check_file(path).outdated
    manager.close()
