"""A world with one process that is a test: its loop lets the world go on while the test waits."""

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
    """The loop of a test, which needs no more than to be run: all else of its world runs then."""

    def __init__(self) -> None:
        self.world = World(0)
        super().__init__(self.world)
        self.world.process = Process(self.world, "test", self)

    def run_forever(self) -> None:
        """Let the world go on until this loop is stopped."""
        World.here = self.world
        if not self.world.run_until(lambda: self._stopping, inf):  # asyncio's
            raise RuntimeError("nothing will ever happen any more")
        self._stopping = False

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        """Do it in a thread of the world, which may wait."""
        done: asyncio.Future[Any] = self.create_future()

        def work() -> None:
            try:
                done.set_result(func(*args))
            except Exception as error:  # noqa: BLE001  (who waits for it is told)
                done.set_exception(error)

        Thread(work).start()
        return done

    def close(self) -> None:
        """End the world."""
        self.world.close()
        super().close()


@contextmanager
def simulated(loop: DrivingLoop, path: Path) -> Iterator[Database]:
    """Let what connects to a database find one of the loop's world, with nothing in it.

    Args:
        loop: that of the test.
        path: of a file that is yet to be made.
    """
    with closing(sqlite3.connect(path)) as empty:
        empty.execute("pragma user_version = 1")
    base = Database(loop.world, path, path.parent)
    with in_the_world(loop.world, base):
        yield base
    assert not loop.world.wrong
