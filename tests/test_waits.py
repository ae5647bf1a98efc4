"""A long-running test reports what its threads, tasks and programs wait for."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from threading import Event, Thread

import pytest

from tests.conftest import LOOPS
from tests.waits import NeverComes, everybody, told_of


async def a_ply_that_does_not_come(comes: asyncio.Event) -> None:
    await comes.wait()


async def test_report_includes_tasks_and_unread_input() -> None:
    comes, reader = asyncio.Event(), asyncio.StreamReader()
    reader.feed_data(b"the last words of a server")
    task = asyncio.create_task(a_ply_that_does_not_come(comes), name="Anna")
    await asyncio.sleep(0)
    told = everybody()
    assert "Task Anna:\n" in told
    assert "    await comes.wait()\n" in told
    assert "the last words of a server" in told
    comes.set()
    await task


class Board:
    """A target for a proxy."""


def test_report_ignores_proxies_of_dead_objects() -> None:
    board = Board()
    stands = weakref.proxy(board)
    del board
    assert "Thread MainThread" in everybody()
    with pytest.raises(ReferenceError):
        str(stands)


def test_threads() -> None:
    done = Event()
    thread = Thread(target=done.wait, name="store")
    thread.start()
    told = everybody()
    done.set()
    thread.join()
    assert "Thread store:\n" in told
    assert "test_threads" in told


def test_report_includes_programs_and_their_output() -> None:
    words = [sys.executable, "-c", "import time; print('half', flush=True); time.sleep(3600)"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as program:
        try:
            told = ""
            while "half" not in told:
                with pytest.raises(subprocess.TimeoutExpired):
                    program.communicate(timeout=0.1)
                told = everybody()
            assert f"Program {program.pid}: " in told
        finally:
            program.kill()


def test_report_is_printed_while_the_test_waits(capsys: pytest.CaptureFixture[str]) -> None:
    with told_of(0.01):
        signal.pause()
    assert "signal.pause()" in capsys.readouterr().err


def test_endless_wait_fails_eventually() -> None:
    with told_of(3600, times=2):
        signal.raise_signal(signal.SIGALRM)
        with pytest.raises(NeverComes, match="it takes longer than 7200 seconds"):
            signal.raise_signal(signal.SIGALRM)


@pytest.mark.parametrize("new_loop", LOOPS.values(), ids=LOOPS)
def test_endless_wait_in_an_event_loop_fails(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    main = threading.main_thread().ident or 0
    late = Thread(target=signal.pthread_kill, args=(main, signal.SIGALRM))

    async def wait() -> None:
        late.start()
        await asyncio.Event().wait()

    told, runner = told_of(3600, times=1), asyncio.Runner(loop_factory=new_loop)
    with told, runner, pytest.raises(NeverComes):
        runner.run(wait())
    late.join()
