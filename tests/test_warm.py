"""A start from a preloaded process is indistinguishable from any other start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests import warm
from thudmud.version import VERSION

COMMAND = [sys.executable, "-m", "thudmud.cli.main"]

pytestmark = pytest.mark.slow


@pytest.fixture(params=["warm", "cold"], autouse=True)
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run each test with both kinds of start, and check that the right one was used."""
    asked: list[list[str]] = []
    start = warm._Warm.start

    def noted(self: object, words: list[str], *given: object, **named: object) -> object:
        asked.append(words)
        return start(self, words, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(warm._Warm, "start", noted)
    with warm.cold() if request.param == "cold" else nullcontext():
        yield request.param
    assert bool(asked) is (request.param == "warm")


def test_start_has_the_right_streams_and_status() -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"thudmud {VERSION}\n", "")
    done = subprocess.run([*COMMAND, "nonsense"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nonsense" in done.stderr


def test_start_has_the_right_input_session_and_signals() -> None:
    with subprocess.Popen(
        [*COMMAND, "engine"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"thud 1\n")
        process.stdin.flush()
        assert process.stdout.readline()
        assert os.getsid(process.pid) == process.pid
        process.send_signal(signal.SIGTERM)
    assert process.returncode == -signal.SIGTERM


def test_start_has_the_right_working_directory(tmp_path: Path) -> None:
    subprocess.run([*COMMAND, "config", "here.toml"], cwd=tmp_path, check=True)
    assert (tmp_path / "here.toml").exists()
