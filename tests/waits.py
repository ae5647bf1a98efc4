"""What everybody waits for, while a test takes long.

Where it then fails, because of a timeout perhaps, pytest shows that with all else that it has
printed: where each thread is and each task, which programs run, and what they have said so far that
nobody has read. After ten minutes it fails in any case, so that what waits for something need not
say how long.
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
"""After so many seconds it is told, and again: no timeout of a minute is over before."""

MOST_TOLD = 12
"""So often it is told, and then what takes so long has failed: ten minutes, on any machine."""

FRAMES = 8
"""How many frames of each are told of, the innermost."""

MOST = 2000
"""How many bytes of what a program has said, the last."""


class NeverComes(SystemExit):
    """What is waited for. Event loops, asyncio's and uvloop, only end for this or a Ctrl-C."""


@contextmanager
def told_of(seconds: float = LONG, times: int = MOST_TOLD) -> Iterator[None]:
    """Tell it on the standard error while something takes longer than that; in the end, fail.

    By a signal, since a thread more would be in the way of programs that fork. It goes by the
    machine's clock, whatever a test does to that of its loop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    left = times

    def tell(_: int, frame: FrameType | None) -> None:
        nonlocal left
        print(everybody(frame), file=sys.stderr)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # also where it fails: that can take long
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
    """Return what everybody waits for.

    Args:
        here: where this thread is, if not where this is called.
    """
    own = threading.get_ident()
    parts = []
    for thread in threading.enumerate():
        frame = (
            here if here and thread.ident == own else sys._current_frames().get(thread.ident or 0)
        )
        stack = traceback.extract_stack(frame, FRAMES)
        parts.append(_part(f"Thread {thread.name}", stack))
    # Those of every event loop, whoever has made it.
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
    """Return all that there are of some kinds. What only stands for something is asked nothing."""
    found = [each for each in gc.get_objects() if issubclass(type(each), kinds)]
    return [[each for each in found if issubclass(type(each), kind)] for kind in kinds]


def _part(title: str, stack: traceback.StackSummary) -> str:
    return f"{title}:\n{''.join(stack.format())}"


def _unread(said: bytes) -> str:
    return f"  It has said: {said[-MOST:]!r}\n"


def _awaited(coroutine: Any) -> traceback.StackSummary:
    """Return where a coroutine has come to, in what it awaits."""
    frames = []
    while frame := getattr(coroutine, "cr_frame", getattr(coroutine, "gi_frame", None)):
        frames.append((frame, frame.f_lineno))
        coroutine = getattr(coroutine, "cr_await", getattr(coroutine, "gi_yieldfrom", None))
    return traceback.StackSummary.extract(iter(frames[-FRAMES:]))
