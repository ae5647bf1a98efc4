"""Which loop a server runs in."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest
import uvloop

from tests.conftest import RunServer
from thudmud.server import serve

ROOT = Path(__file__).parents[2]
CONFIG = """
[server]
port = 0
log_level = "info"
log_file = "log"
[storage]
backend = "memory"
"""


async def running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_it_is_uvloops_where_that_is_installed() -> None:
    assert isinstance(serve.run_in_loop(running()), uvloop.Loop)


def test_it_is_asyncios_own_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert isinstance(serve.run_in_loop(running()), asyncio.BaseEventLoop)


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_a_server_runs_in_it_and_says_so(
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
    assert f'from="thudmud.server.serve" event=starting loop={loop}\n' in log
