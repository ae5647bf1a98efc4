"""Detects programs left running, so that the right test fails, not a later one at collection."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

_started: WeakSet[subprocess.Popen[Any]] = WeakSet()
_are_shared = False


@contextmanager
def watched() -> Iterator[None]:
    """Record all started programs for the duration of the context."""
    popen: Any = subprocess.Popen
    begin = popen.__init__

    def noticed(program: subprocess.Popen[Any], *given: Any, **named: Any) -> None:
        if not _are_shared:
            _started.add(program)
        begin(program, *given, **named)

    popen.__init__ = noticed
    try:
        yield
    finally:
        popen.__init__ = begin


@contextmanager
def shared() -> Iterator[None]:
    """Exempt programs started in the context, which other tests share."""
    global _are_shared  # noqa: PLW0603  (``subprocess`` is global, too)
    before, _are_shared = _are_shared, True
    try:
        yield
    finally:
        _are_shared = before


def fail_if_any() -> None:
    """Fail if a started program was not waited for; called after asyncio's loop has closed."""
    left = [program for program in _started if program.returncode is None]
    _started.clear()
    if left:
        told = "\n".join(f"{program.pid}: {program.args!r}" for program in left)
        raise AssertionError(f"Nobody has waited for the end of these programs:\n{told}")
