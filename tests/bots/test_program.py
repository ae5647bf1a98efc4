"""Where programs are found, and programs that exit by themselves just as they are killed."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from tests.server.bots import PATIENCE, program, until
from thudmud.bots.program import Program, is_installed


async def test_program_that_has_just_exited_is_reaped_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The kernel has seen its exit, but asyncio has not yet (python/cpython#87744)."""
    reap, send, sent = os.waitpid, os.kill, threading.Event()

    def reaped(pid: int, options: int) -> tuple[int, int]:
        if threading.current_thread() is not threading.main_thread():  # asyncio's watcher
            sent.wait(5)
        return reap(pid, options)

    def signalled(pid: int, number: int) -> None:
        send(pid, number)
        if number == signal.SIGCONT:
            sent.set()

    monkeypatch.setattr(os, "waitpid", reaped)
    monkeypatch.setattr(os, "kill", signalled)
    ending = Program("Grog", program("raise SystemExit"), tmp_path, 60.0)
    await ending.start()
    process = ending._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.write(b"go 1\n")
    stat = Path(f"/proc/{process.pid}/stat")
    await until(lambda: stat.read_text("utf-8").rpartition(")")[2].split()[0] == "Z")
    await ending.kill()
    assert process.returncode == 0  # its keeper's
    assert "Unknown child process" not in caplog.text


@pytest.mark.parametrize(
    ("started_in", "folder", "name"),
    [("bots", ".", "./pebble"), (".", "bots", "./pebble"), (".", ".", "bots/pebble")],
)
async def test_program_is_found_from_the_folder_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started_in: str, folder: str, name: str
) -> None:
    pebble = tmp_path / "bots" / "pebble"
    pebble.parent.mkdir()
    pebble.write_text('#!/bin/sh\nread word && echo "name Pebble"; cat >/dev/null\n')
    pebble.chmod(0o755)
    monkeypatch.chdir(tmp_path / started_in)
    running = Program("Pebble", [name], Path(folder), PATIENCE)
    await running.start()
    await running.kill()
    assert not is_installed("./nowhere", Path(folder))
