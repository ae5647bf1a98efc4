"""The rotation of the log by the real logrotate, while a server writes it."""

from __future__ import annotations

import grp
import os
import pwd
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import FreePort, RunServer
from tests.debian import run

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
INSTALLED = "/var/lib/thudmud/thudmud.log"


@pytest.fixture
def rotation(tmp_path: Path) -> Path:
    """Return the configuration for a log in this folder, and for this user."""
    text = (ROOT / "deploy" / "logrotate.conf").read_text("utf-8")
    user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name
    assert f"\n{INSTALLED} {{" in text
    assert "su thudmud thudmud" in text
    text = text.replace(INSTALLED, str(tmp_path / "thudmud.log"))
    path = tmp_path / "rotation"
    path.write_text(text.replace("su thudmud thudmud", f"su {user} {group}"), "utf-8")
    path.chmod(0o644)
    return path


def rotate(rotation: Path) -> None:
    done = run("logrotate", "--force", "--state", rotation.with_name("state"), rotation)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_server_goes_on_in_a_new_file(
    rotation: Path, tmp_path: Path, run_server: RunServer, free_port: FreePort
) -> None:
    log, page = tmp_path / "thudmud.log", free_port()
    (tmp_path / "config.toml").write_text(
        'bot = []\n[server]\nport = 0\nlog_level = "info"\nlog_file = "thudmud.log"\n'
        f"[web]\nport = {page}\n",
        "utf-8",
    )

    def refuse_an_origin(name: str) -> None:
        """Have the server log a foreign origin."""
        fields = {"Origin": f"http://{name}", "Connection": "Upgrade", "Upgrade": "websocket"}
        fields |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        refused = httpx.get(f"http://127.0.0.1:{page}/ws", headers=fields, trust_env=False)
        assert refused.status_code == 403

    words = (sys.executable, "-m", "thudmud.cli.main", "serve", "--config", "config.toml")
    with run_server(words):
        refuse_an_origin("first.example.org")
        rotate(rotation)
        refuse_an_origin("second.example.org")
        assert "second" in log.read_text("ascii")
        assert "first" in (tmp_path / "thudmud.log.1").read_text("ascii")
        rotate(rotation)
        refuse_an_origin("third.example.org")
    told = log.read_text("ascii")
    assert "third" in told
    assert "stopped" in told
    assert not {"first", "second"} & {*told.replace(".", " ").split()}
    assert (tmp_path / "thudmud.log.2.gz").exists()
    assert log.stat().st_mode & 0o007 == 0


def test_page_says_how_to_rotate_the_log() -> None:
    assert f'log_file = "{INSTALLED}"' in PAGE
    assert "# cp deploy/logrotate.conf /etc/logrotate.d/thudmud\n" in PAGE
