"""`thudmud engine`: the engine protocol of `thudmud.bots`, on standard input and output.

A thread reads the input, so that `stop` takes effect during a search. All other lines that arrive
meanwhile are queued.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from threading import Condition, Thread
from typing import TYPE_CHECKING

from thudmud.bots import LONGEST_LINE, Dialogue
from thudmud.errors import InvalidValueError
from thudmud.version import VERSION

if TYPE_CHECKING:
    from thudmud.search.levels import Level

_WHOLE = 2**63
_MOST_WAITING = 256  # lines in the queue; further ones stay in the pipe


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Answer other programs' questions about battles, and play. Each line on standard input "
        'is a command, and gets a one-line answer on standard output. "capabilities" lists the '
        "commands; see docs/engine.md."
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help="make the same choices each time; default: random",
    )
    parser.add_argument(
        "--level",
        type=level,
        metavar="N",
        help='the initial level, as after "level N"; default: the best play possible in the time '
        "given",
    )
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="count CPU seconds, so that a busy machine doesn't weaken the play",
    )


def run(options: argparse.Namespace) -> int:
    """Answer lines until `quit` or the end of the input."""
    asked = _Input(sys.stdin.fileno(), sys.stdout.fileno())
    dialogue = Dialogue(
        f"thudmud {VERSION}",
        time.process_time if options.cpu else time.monotonic,
        any_seed() if options.seed is None else options.seed,
        is_stopped=asked.is_stopped,
        tell=_say,
    )
    if options.level is not None:
        dialogue.answer(f"level {options.level.number}")
    while not dialogue.ended and (line := asked.next_line()) is not None:
        answer = dialogue.answer(line.decode("utf-8-sig", "replace").rstrip("\r"))
        if answer is not None:
            _say(answer)
    return 0


def _say(line: str) -> None:
    sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()


class _Input:
    """Queue of input lines, filled by a thread."""

    def __init__(self, asked: int, answered: int) -> None:
        self._answered = answered
        self._waiting: deque[bytes] = deque()
        self._stops = 0
        self._ended = False
        self._changed = Condition()
        Thread(target=self._read, args=(asked,), daemon=True).start()

    def next_line(self) -> bytes | None:
        """Wait for the next line; return None at the end of the input."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            if not self._waiting:
                return None
            line = self._waiting.popleft()
            self._stops -= _is_stop(line)
            self._changed.notify_all()
            return line

    def is_stopped(self) -> bool:
        """Return whether a `stop` is queued, or the client has closed both pipes."""
        return self._stops > 0 or (self._ended and _is_unread(self._answered))

    def _read(self, asked: int) -> None:
        for line in _lines(asked):
            with self._changed:
                self._changed.wait_for(lambda: len(self._waiting) < _MOST_WAITING)
                self._waiting.append(line)
                self._stops += _is_stop(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def _lines(file: int) -> Iterator[bytes]:
    """Yield the lines of a file, with overlong ones cut just above the maximum length.

    Python's buffered reader would hold its lock while it waits in this daemon thread. The
    interpreter then fails to acquire that lock at its shutdown.
    """
    rest = b""
    with suppress(OSError):  # an error counts as the end of the file
        while piece := os.read(file, LONGEST_LINE):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
            rest = rest[: LONGEST_LINE + 2]
    if rest:
        yield rest


def _is_stop(line: bytes) -> bool:
    return line.split() == [b"stop"]


def _is_unread(file: int) -> bool:
    """Return whether the reading end of a pipe has been closed."""
    if not hasattr(select, "poll"):  # Windows
        return False
    asking = select.poll()
    asking.register(file, 0)
    return bool(asking.poll(0))


def seed(text: str) -> int:
    """Parse a seed; an option type for argparse."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) < _WHOLE):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def any_seed() -> int:
    """Return a random seed, without `random`, whose import would delay the first answer."""
    return int.from_bytes(os.urandom(7), "big")


def level(text: str) -> Level:
    """Parse the name or number of a level; an option type for argparse."""
    try:
        from thudmud.search.levels import find_level  # noqa: PLC0415  (only a level needs it)

        return find_level(text)
    except InvalidValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
