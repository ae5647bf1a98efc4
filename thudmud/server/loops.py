"""The event loop that a server runs in: uvloop's where that is installed, else asyncio's own.

Owns the choice. Nothing may depend on it: what players see is the same in both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import TypeVar

Factory = Callable[[], asyncio.AbstractEventLoop]
T = TypeVar("T")

_log = logging.getLogger(__name__)


def run(work: Coroutine[None, None, T]) -> T:
    """Run something to its end in a loop of its own, and return what comes of it."""
    with asyncio.Runner(loop_factory=factory()) as runner:
        _log.info("starting", extra={"loop": type(runner.get_loop()).__module__.partition(".")[0]})
        return runner.run(work)


def factory() -> Factory:
    """Return what makes the fastest loop that there is."""
    try:
        made: Factory = import_module("uvloop").new_event_loop
    except ImportError:
        return asyncio.new_event_loop
    return made
