from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import uvloop
from hypothesis import settings

# Shared machines stall now and then: no example is timed.
settings.register_profile("thudmud", deadline=None)
settings.load_profile("thudmud")

Loops = Mapping[str, Callable[[], asyncio.AbstractEventLoop]]

ASYNCIO: Loops = {"asyncio": asyncio.new_event_loop}
LOOPS: Loops = {**ASYNCIO, "uvloop": uvloop.new_event_loop}
"""What a server may run in."""

RunServer = Callable[..., AbstractContextManager[tuple[str, int]]]


@contextmanager
def _run_server(words: Sequence[str | Path], cwd: Path) -> Iterator[tuple[str, int]]:
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:
        try:
            assert process.stdout is not None
            *_, host, port = process.stdout.readline().split()
            yield host, int(port)
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.fixture
def run_server(tmp_path: Path) -> RunServer:
    """Return what runs a server's command line as a process, and gives where it listens.

    What it stores is in a folder of its own, unless another is given.
    """

    def run(
        words: Sequence[str | Path], cwd: Path = tmp_path
    ) -> AbstractContextManager[tuple[str, int]]:
        return _run_server(words, cwd)

    return run
