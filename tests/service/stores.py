"""An in-memory store that waits, conflicts and fails on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from functools import partial
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import pytest

from tests.service.place import PATIENCE
from thudmud.game.archive import Lookup
from thudmud.store import (
    ConflictError,
    NotWrittenError,
    Store,
    Stored,
    StoreError,
    Subscription,
    hall,
)
from thudmud.store.codec import Form
from thudmud.store.database import Database, Fence, Work
from thudmud.store.running import Failed, MayWait, Take, TakeWithPlies
from thudmud.store.streams import Changes

P = ParamSpec("P")
T = TypeVar("T")

WORKS = {"claim", "release", "renew_lease", "reap", "set_preferences"}
"""The database functions, besides appends, that can be held up and can fail."""


def do_instead(
    monkeypatch: pytest.MonkeyPatch,
    store: Store,
    work: object,
    done: Callable[..., Awaitable[object]],
) -> None:
    """Replace a database function in a store's reads and writes."""

    def instead(run: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        return lambda asked, *args, **more: (
            done(*args, **more) if asked is work else run(asked, *args, **more)
        )

    monkeypatch.setattr(store, "read", instead(store.read))
    monkeypatch.setattr(store, "write", instead(store.write))


class SlowStore(Store):
    """A store whose calls can be held up at a gate, and can fail.

    Attributes:
        time: the time on its clock.
        gate: set while held calls may proceed.
        waiting: a semaphore, released once for each call that reaches the gate.
        broken: whether all writes, notes and catch-ups fail.
        conflict: whether every append conflicts.
        unreadable: whether lookups and board reads fail.
        failing: the failure callbacks of the subscriptions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.time = 1000.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = asyncio.Semaphore(0)
        self.held = {"append"}
        self.broken = self.conflict = self.unreadable = False
        self.failing: list[Failed] = []

    @classmethod
    def make(cls) -> Self:
        """Return a new store with a clock that shows its `time`."""
        made: list[SlowStore] = []
        store = cls.in_memory(clock=lambda: made[0].time if made else 0.0)
        assert isinstance(store, cls)
        made.append(store)
        return store

    def hold(self, *calls: str) -> None:
        """Hold up the named calls (by default appends) from now on, and reset `waiting`."""
        self.held = set(calls) or {"append"}
        self.gate.clear()
        self.waiting = asyncio.Semaphore(0)

    async def held_up(self) -> None:
        """Wait until another call has reached the gate."""
        async with asyncio.timeout(PATIENCE):
            await self.waiting.acquire()

    def fail_to_follow(self) -> None:
        """Report to all subscriptions that new entries can't be read."""
        for failed in self.failing:
            failed(StoreError("The disk does not work."))

    async def append(
        self,
        changes: Changes,
        key: str | None = None,
        *,
        mark: object = None,
        work: Work | None = None,
        fence: Fence | None = None,
    ) -> Mapping[str, Stored]:
        return await self._pass("append", partial(self._append, changes, key, mark, work, fence))

    async def _append(
        self,
        changes: Changes,
        key: str | None,
        mark: object,
        work: Work | None,
        fence: Fence | None,
    ) -> Mapping[str, Stored]:
        if self.conflict:
            [(stream, (expected, _))] = changes.items()
            raise ConflictError(stream, expected, expected + 1)
        return await super().append(changes, key, mark=mark, work=work, fence=fence)

    async def subscribe(
        self,
        streams: Collection[str] | None,
        after: int,
        take: Take | TakeWithPlies,
        failed: Failed,
        *,
        may_wait: MayWait | None = None,
    ) -> Subscription:
        self.failing.append(failed)
        return await super().subscribe(streams, after, take, failed, may_wait=may_wait)

    async def publish_note(self, note: object, form: Callable[[], Form]) -> None:
        await self._pass("publish_note", partial(super().publish_note, note, form))

    async def catch_up(self) -> None:
        await self._pass("catch_up", super().catch_up)

    async def read(
        self, work: Callable[Concatenate[Database, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if work is hall.open_board:
            self._require_readable()
        return await super().read(work, *args, **kwargs)

    async def write(
        self, work: Callable[Concatenate[Database, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        done = partial(super().write, work, *args, **kwargs)
        call = getattr(work, "__name__", "")
        return await (self._pass(call, done) if call in WORKS else done())

    async def _pass(self, call: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `work` once the gate is open for the call, or fail."""
        if call not in self.held or self.gate.is_set():
            return await self._done(call, work)
        # Like a disk: the write completes even if its caller is cancelled.
        return await asyncio.shield(asyncio.create_task(self._done(call, work)))

    async def _done(self, call: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        await self._wait(call)
        if self.broken:
            raise NotWrittenError("The disk is full.")
        return await work()

    async def _wait(self, call: str) -> None:
        """Wait at the gate if the call is held up."""
        if call in self.held:
            self.waiting.release()
            await self.gate.wait()

    async def look_up(self, lookup: Lookup[Any], *, realm: str = "") -> Any:
        await self._wait("look_up")
        self._require_readable()
        return await super().look_up(lookup, realm=realm)

    def _require_readable(self) -> None:
        if self.unreadable:
            raise StoreError("The disk does not work.")
