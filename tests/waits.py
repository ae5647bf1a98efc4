"""Reports what a long-running test waits for.

The report lists the stacks of all threads and tasks, the running programs and their unread output;
pytest shows it with the captured output if the test fails. After ten minutes the test fails in any
case, so that waits in tests need no timeouts of their own.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

LONG = 50.0
"""The interval between reports in seconds, so that one precedes any timeout of a minute."""

MOST_TOLD = 12
"""The number of reports after which a test fails: ten minutes, on any machine."""

FRAMES = 8
"""The number of innermost frames reported for each stack."""

MOST = 2000
"""The maximum number of unread bytes reported, the last ones."""


class NeverComes(SystemExit):
    """A wait took too long; a `SystemExit`, as event loops propagate only that and Ctrl-C."""


@contextmanager
def told_of(seconds: float = LONG, times: int = MOST_TOLD) -> Iterator[None]:
    """Print a report to standard error every ``seconds``, and fail after ``times`` of them.

    Uses a signal, since an additional thread would interfere with programs that fork. The machine's
    clock applies, whatever a test does to the clock of its loop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    left = times

    def tell(_: int, frame: FrameType | None) -> None:
        nonlocal left
        print(everybody(frame), file=sys.stderr)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # also on failure: cleaning up can take long
        left -= 1
        if left <= 0:
            raise NeverComes(f"it takes longer than {times * seconds:g} seconds")

    before, timer = (
        signal.signal(signal.SIGALRM, tell),
        signal.setitimer(signal.ITIMER_REAL, seconds),
    )
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)


def everybody(here: FrameType | None = None) -> str:
    """Return a report of all threads, tasks and programs and their unread output.

    Args:
        here: the current frame of this thread, by default that of the caller.
    """
    own = threading.get_ident()
    parts = []
    for thread in threading.enumerate():
        frame = (
            here if here and thread.ident == own else sys._current_frames().get(thread.ident or 0)
        )
        stack = traceback.extract_stack(frame, FRAMES)
        parts.append(_part(f"Thread {thread.name}", stack))
    # The tasks of all event loops.
    tasks, programs, readers = _all(asyncio.Task, subprocess.Popen, asyncio.StreamReader)
    tasks = [each for each in tasks if not each.done()]
    parts += [_part(f"Task {task.get_name()}", _awaited(task.get_coro())) for task in tasks]
    for program in programs:
        if program.returncode is None:
            said = getattr(program, "_fileobj2output", None) or {}
            parts.append(f"Program {program.pid}: {program.args!r}\n")
            parts += [_unread(b"".join(chunks)) for chunks in said.values() if chunks]
    for reader in readers:
        if unread := bytes(reader._buffer):
            parts.append(_unread(unread))
    return "What everybody waits for:\n\n" + "\n".join(parts)


def _all(*kinds: type) -> list[list[Any]]:
    """Return all live instances of some types, by type; checked without invoking proxies."""
    found = [each for each in gc.get_objects() if issubclass(type(each), kinds)]
    return [[each for each in found if issubclass(type(each), kind)] for kind in kinds]


def _part(title: str, stack: traceback.StackSummary) -> str:
    return f"{title}:\n{''.join(stack.format())}"


def _unread(said: bytes) -> str:
    return f"  It has said: {said[-MOST:]!r}\n"


def _awaited(coroutine: Any) -> traceback.StackSummary:
    """Return the stack of a suspended coroutine."""
    frames = []
    while frame := getattr(coroutine, "cr_frame", getattr(coroutine, "gi_frame", None)):
        frames.append((frame, frame.f_lineno))
        coroutine = getattr(coroutine, "cr_await", getattr(coroutine, "gi_yieldfrom", None))
    return traceback.StackSummary.extract(iter(frames[-FRAMES:]))
