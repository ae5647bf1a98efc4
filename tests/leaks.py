"""Programs that a test leaves running: it fails, not whichever test the garbage is collected in."""

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
    """Notice which programs are started."""
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
    """Let programs that are started meanwhile run on: other tests need them, too."""
    global _are_shared  # noqa: PLW0603  (as ``subprocess`` is everybody's)
    before, _are_shared = _are_shared, True
    try:
        yield
    finally:
        _are_shared = before


def fail_if_any() -> None:
    """Fail if a program was started for whose end nobody has waited; asyncio's loop is closed."""
    left = [program for program in _started if program.returncode is None]
    _started.clear()
    if left:
        told = "\n".join(f"{program.pid}: {program.args!r}" for program in left)
        raise AssertionError(f"Nobody has waited for the end of these programs:\n{told}")
