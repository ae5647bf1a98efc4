"""A world with a test as its only process: the world advances while the test waits."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from math import inf
from pathlib import Path
from typing import Any

from tests.simulation.clockwork import Loop, Process, Thread, World
from tests.simulation.database import Database
from tests.simulation.node import in_the_world


class DrivingLoop(Loop):
    """The event loop of a test; running it also runs the rest of its world."""

    def __init__(self) -> None:
        self.world = World(0)
        super().__init__(self.world)
        self.world.process = Process(self.world, "test", self)

    def run_forever(self) -> None:
        """Advance the world until this loop is stopped."""
        World.here = self.world
        if not self.world.run_until(lambda: self._stopping, inf):  # from asyncio
            raise RuntimeError("nothing will ever happen any more")
        self._stopping = False

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        """Run a function in a thread of the world, which may block."""
        done: asyncio.Future[Any] = self.create_future()

        def work() -> None:
            try:
                done.set_result(func(*args))
            except Exception as error:  # noqa: BLE001  (re-raised in the waiter)
                done.set_exception(error)

        Thread(work).start()
        return done

    def close(self) -> None:
        """Close the world."""
        self.world.close()
        super().close()


@contextmanager
def simulated(loop: DrivingLoop, path: Path) -> Iterator[Database]:
    """Redirect database connections to an empty database of the loop's world.

    Args:
        loop: the event loop of the test.
        path: the path of a file to create.
    """
    with closing(sqlite3.connect(path)) as empty:
        empty.execute("pragma user_version = 1")
    base = Database(loop.world, path, path.parent)
    with in_the_world(loop.world, base):
        yield base
    assert not loop.world.wrong
