"""`thudmud health`, run beside a server."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from thudmud.cli.main import main
from thudmud.service import Node
from thudmud.store import LEASE, Store
from thudmud.store.files import beside

Shown = pytest.CaptureFixture[str]

FILE = Path("thudmud.db")
WELL = "thudmud is healthy: it last wrote to thudmud.db "


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def test_server_is_healthy_while_it_stores(capsys: Shown) -> None:
    store = await Store.open(FILE, serving=True)
    node = Node(store)
    await node.open()
    assert main(["health"]) == 0
    assert capsys.readouterr().out.startswith(WELL)
    # No heartbeat for longer than a lease: the disk is full, or the server hangs.
    then = time.time() - LEASE - 20
    os.utime(beside(FILE, "-head"), (then, then))
    assert main(["health"]) == 1
    assert "has stored nothing for 3" in capsys.readouterr().err
    await node.renew()
    assert main(["health"]) == 0
    await node.close()
    await store.close()
    capsys.readouterr()
    assert main(["health"]) == 1
    assert capsys.readouterr() == ("", "No server is running on thudmud.db.\n")


def test_missing_file_means_that_no_server_runs(capsys: Shown) -> None:
    assert main(["health", "--gateway"]) == 1
    assert capsys.readouterr().err == "No server is running on gateway.db.\n"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("thudmud.db", "no database at all", "is not a store of thudmud"),
        ("config.toml", '[storage]\nbackend = "memory"\n', "nothing is stored"),
        ("config.toml", "[", "is not valid TOML"),
    ],
)
def test_undeterminable_health_is_status_2(
    name: str, content: str, why: str, capsys: Shown
) -> None:
    Path(name).write_text(content, "utf-8")
    assert main(["health"]) == 2
    assert why in capsys.readouterr().err
