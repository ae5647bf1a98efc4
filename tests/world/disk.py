"""The disk of a gateway: a file of SQLite's that is stored to while time passes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from tests.world.clockwork import World
from thudmud.store.files import OnDisk

FSYNC = 0.02
"""Seconds that the disk takes for a commit at most."""


class SlowDisk(OnDisk):
    """A file whose commits take time, so that its process can die before them, and after."""

    is_full = False

    def commit(self, last: Callable[[], object] = lambda: None) -> None:
        """Commit, between two pauses."""
        last()
        World.here.sleep(World.here.delay(FSYNC))
        if SlowDisk.is_full:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        super().commit()
        World.here.sleep(World.here.delay(FSYNC))
