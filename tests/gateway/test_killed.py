"""A gateway that is killed repeatedly while a client written to docs/gateway.md plays.

Four kills by default; `make soak` runs 200.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import FreePort
from tests.gateway.client import SECRET
from tests.waits import told_of

HERE = Path(__file__).parent
KILLS = int(os.environ.get("THUDMUD_SOAK_ROUNDS", "4"))


def started(config: Path, port: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "thudmud.cli.main", "gateway", "--port", str(port)]
    gateway = subprocess.Popen(
        [*command, "--config", str(config)], stdout=subprocess.PIPE, text=True, cwd=HERE.parents[1]
    )
    assert gateway.stdout
    assert gateway.stdout.readline(), "it does not start"
    return gateway


@pytest.mark.slow
def test_lines_survive_repeated_kills_exactly_once(tmp_path: Path, free_port: FreePort) -> None:
    config, port = tmp_path / "config.toml", free_port()
    file = tmp_path / "gateway.db"
    config.write_text(
        f"[gateway]\nsecret = {json.dumps(SECRET)}\nfile = {json.dumps(str(file))}\n", "utf-8"
    )
    gateway = started(config, port)
    player = subprocess.Popen(
        ["node", HERE / "steady.mjs", str(port), SECRET],  # noqa: S607  (wherever it is)
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert player.stdin
        assert player.stdout
        moments = random.Random(7)  # noqa: S311  (of kills)
        for _ in range(KILLS):
            with told_of():
                for _ in range(moments.randint(1, 40)):
                    assert player.stdout.readline()
                time.sleep(moments.uniform(0, 0.01))  # in the middle of processing a line
                gateway.kill()
                gateway.communicate()
                gateway = started(config, port)
        told, _ = player.communicate(timeout=120)
    finally:
        for each in (player, gateway):
            each.kill()
            each.communicate()
    found = json.loads(told.splitlines()[-1])
    assert found["lines"] > KILLS
    assert found["position"]["ply"] == 40
    assert all(seat["away_since"] is None for seat in found["table"]["seats"])
