"""A shared server, terminal windows that run clients, and partners to play against."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.clients.kinds import CLIENTS, Client
from tests.clients.window import Window
from tests.clients.wire import Wire

ROOT = Path(__file__).parents[2]


class Open(Protocol):
    """Open a window with a connected client."""

    def __call__(self, client: Client, server: Served = ...) -> Window: ...


class Served:
    """A server process in its own folder, with the given boards and no bots."""

    def __init__(self, folder: Path, *boards: str) -> None:
        config = folder / "config.toml"
        sections = "".join(f'[[board]]\nname = "{name}"\n' for name in boards)
        config.write_text(f"bot = []\n{sections}", "utf-8")
        command = [sys.executable, "-m", "thudmud.cli.main", "--config", str(config)]
        self._process = subprocess.Popen(
            [*command, "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        ready = self._process.stdout.readline()
        if not ready:
            self.stop()
            raise RuntimeError("the server does not start")
        self.port = ready.split()[-1]

    def stop(self) -> int:
        """Terminate the server; return its exit status."""
        with self._process:
            self._process.terminate()
        return self._process.returncode


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    boards = [f"{client.name} board" for client in CLIENTS]
    server = Served(
        tmp_path_factory.mktemp("server"), *boards, "mudlet board", "panel board", "card table"
    )
    yield server
    server.stop()


@pytest.fixture
def window(served: Served, tmp_path: Path) -> Iterator[Open]:
    """Open windows with connected clients; closes them at the end."""
    windows: list[Window] = []

    def connect(client: Client, server: Served = served) -> Window:
        opened = Window(client.arguments(server.port), tmp_path)
        windows.append(opened)
        opened.until("Welcome to thudmud")
        return opened

    yield connect
    for opened in windows:
        opened.close()


@pytest.fixture
def partner(served: Served) -> Iterator[Callable[[str], Wire]]:
    """Log players in by name over bare sockets."""
    wires: list[Wire] = []

    def come(name: str) -> Wire:
        wire = Wire(served.port)
        wires.append(wire)
        wire.until("name? ")
        wire.type(name)
        wire.until("\n> ")
        return wire

    yield come
    for wire in wires:
        wire.close()
