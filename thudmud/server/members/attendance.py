"""When players were here last, and so how long the names of guests are kept.

Owns what is written down when somebody comes or leaves, and now and then of who stays: a server
that is killed has no time for it. Must never make anybody wait for it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Protocol

from thudmud.store import KeptName, Store, StoreError

LOOK_EVERY = 600.0
"""Seconds between two looks at who is here, and at names that need not be kept any more."""

_AT_ONCE = 20  # names that are looked at before it is the players' turn again

_log = logging.getLogger(__name__)


class PlayerDirectory(Protocol):
    """What is known of players by their names."""

    async def ready(self) -> None:
        """Wait until it is known which names are needed."""

    def name_problem(self, words: str) -> str | None:
        """Return a sentence that tells why nobody can be called that; None if somebody could."""

    def is_playing(self, name: str) -> bool:
        """Whether somebody is in under that name."""

    async def is_needed(self, name: str) -> bool:
        """Whether an unfinished battle, running or adjourned, depends on the name.

        Raises:
            StoreError: that cannot be read.
        """


class Attendance:
    """Who was here when.

    Args:
        store: where it is written down.
        directory: tells who is in, and whose name is needed.
        guest_grace: seconds for which a guest's name is kept after they were here.
        clock: returns the seconds since the epoch.
    """

    def __init__(
        self,
        store: Store,
        directory: PlayerDirectory,
        guest_grace: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._directory = store, directory
        self._guest_grace = guest_grace
        self._clock = clock
        self._look_later: asyncio.TimerHandle | None = None
        self._here: set[str] = set()
        self._seen: dict[str, float] = {}
        self._writing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def is_kept(self, kept: KeptName) -> bool:
        """Whether nobody but its owner can have a guest's name; StoreError if that is unknown."""
        since = self._clock() - kept.seen
        return since < self._guest_grace or await self._is_in_use(kept.name)

    def came(self, name: str) -> None:
        """Note that a player is here, now and then until they leave."""
        self._here.add(name)
        self._note(name)
        if self._look_later is None:
            self._look()

    def left(self, name: str, *, gave_up: bool) -> None:
        """Note that a player is gone.

        Args:
            name: who.
            gave_up: whether they said so themselves; then a guest's name is free for anybody,
                unless an unfinished battle depends on it.
        """
        self._here.discard(name)
        if gave_up:
            self._begin(self._forget([name]))
        self._note(name)

    async def close(self) -> None:
        """Wait until everything is written down."""
        if self._look_later is not None:
            self._look_later.cancel()
            self._look_later = None
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _is_in_use(self, name: str) -> bool:
        return self._directory.is_playing(name) or await self._directory.is_needed(name)

    async def _forget(self, names: Iterable[str], before: float = math.inf) -> None:
        """Keep those of some guests' names no longer that nothing depends on."""
        unneeded = [name for name in names if not await self._directory.is_needed(name)]
        unused = [name for name in unneeded if not self._directory.is_playing(name)]
        await self._store.forget_guests(unused, before)

    def _note(self, name: str) -> None:
        self._seen[name] = self._clock()
        if not self._writing:
            self._writing = True
            self._begin(self._write())

    async def _write(self) -> None:
        # Whatever is noted while one batch is being written makes the next one.
        try:
            while self._seen:
                noted, self._seen = self._seen, {}
                await self._store.seen(noted)
        finally:
            self._writing = False

    def _look(self) -> None:
        self._look_later = asyncio.get_running_loop().call_later(LOOK_EVERY, self._look)
        for name in self._here:
            self._note(name)
        self._begin(self._purge(self._clock() - self._guest_grace))

    async def _purge(self, before: float) -> None:
        """Forget the names of guests that need not be kept any more."""
        names = await self._store.guests(before)
        for start in range(0, len(names), _AT_ONCE):
            await self._forget(names[start : start + _AT_ONCE], before)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[None, None, None]) -> None:
    try:
        await work
    except StoreError as error:
        _log.error("failed to note who was here: %s", error)
