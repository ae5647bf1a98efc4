"""Stores in memory that do as a test wants: they wait, conflict, and fail."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self

from thudmud.play.lookups import Lookup
from thudmud.store import Conflict, NotWritten, OpenBoard, Store, Stored, StoreError
from thudmud.store.database import Changes


class SlowStore(Store):
    """A store whose appends can be held up, and can fail; what it holds may be unreadable.

    Attributes:
        time: what its clock shows.
        gate: open for appends.
        waiting: is released for each append that comes to the gate.
        broken: whether nothing can be stored.
        conflict: whether somebody else comes first, always.
        unreadable: whether nothing can be read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.time = 1000.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = asyncio.Semaphore(0)
        self.broken = self.conflict = self.unreadable = False

    @classmethod
    def make(cls) -> Self:
        """Return a new one."""
        made: list[SlowStore] = []
        store = cls.in_memory(clock=lambda: made[0].time if made else 0.0)
        assert isinstance(store, cls)
        made.append(store)
        return store

    def hold(self) -> None:
        """Hold up all appends from now on, and count them anew."""
        self.gate.clear()
        self.waiting = asyncio.Semaphore(0)

    def fail_to_follow(self) -> None:
        """Tell all who follow that what is new cannot be read."""
        self._followers.fail(StoreError("The disk does not work."))

    async def append(
        self, changes: Changes, key: str | None = None, *, mark: object = None
    ) -> Mapping[str, Stored]:
        self.waiting.release()
        await self.gate.wait()
        if self.broken:
            raise NotWritten("The disk is full.")
        if self.conflict:
            [(stream, (expected, _))] = changes.items()
            raise Conflict(stream, expected, expected + 1)
        return await super().append(changes, key, mark=mark)

    async def look_up(self, lookup: Lookup[Any], *, realm: str = "") -> Any:
        self._require_readable()
        return await super().look_up(lookup, realm=realm)

    async def open_boards(self) -> Sequence[OpenBoard]:
        self._require_readable()
        return await super().open_boards()

    def _require_readable(self) -> None:
        if self.unreadable:
            raise StoreError("The disk does not work.")
