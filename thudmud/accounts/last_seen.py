"""Last-seen records: stores when and from where players were here, and frees guests' names."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Protocol

from thudmud.store import KeptName, NoSuchAccountError, Store, StoreError, accounts

INTERVAL = 600.0
"""Seconds between two records of all players here, and between two searches for expired data."""

ADDRESSES_KEPT = 90 * 86_400.0
"""The default for how long a name's addresses are stored, in seconds."""

UNTOLD = 30.0
"""Seconds for which a new guest's name is reserved before the guest has been shown the resume word.

If the server is killed in between, or the store doesn't answer, nobody has the word. The name then
becomes free after this time.
"""

_BATCH = 20  # names checked in one step

_log = logging.getLogger(__name__)


class PlayerDirectory(Protocol):
    """The questions about names that the login asks the server."""

    async def ready(self) -> None:
        """Wait until the names in use are known."""

    def name_problem(self, words: str) -> str | None:
        """Return why a name cannot be taken, as a sentence; None if it can."""

    def ban_reason(self, name: str, address: str) -> str:
        """Return why a name or an address is banned, as a sentence; "" if neither is."""

    def is_online(self, name: str) -> bool:
        """Return whether a player is logged in under a name."""

    def is_needed(self, name: str) -> Awaitable[bool]:
        """Return whether an unfinished or adjourned battle, or a tournament, needs a name.

        Raises:
            StoreError: the store cannot be read.
        """


class LastSeen:
    """Records arrivals and departures, and every ten minutes all players who are still here.

    The regular records are for a server that is killed, and so records no departures. All writes
    run in the background.

    Args:
        store: the store.
        directory: knows which names are in use.
        guest_grace: the seconds for which a guest's name is reserved after they were last here.
        clock: returns the seconds since the epoch.

    Attributes:
        addresses_kept: the seconds for which a name's addresses are stored; 0 stores none.
    """

    def __init__(
        self,
        store: Store,
        directory: PlayerDirectory,
        guest_grace: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._directory = store, directory
        self._guest_grace, self._clock = guest_grace, clock
        self.addresses_kept = ADDRESSES_KEPT
        self._timer: asyncio.TimerHandle | None = None
        self._here: set[str] = set()
        self._unwritten: dict[str, float] = {}
        self._unwritten_addresses: dict[tuple[str, str], None] = {}
        self._writing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def is_kept(self, kept: KeptName) -> bool:
        """Return whether a guest's name is still reserved for its owner.

        Raises:
            StoreError: the store cannot be read.
        """
        if self._clock() - kept.seen < self._guest_grace:
            return True
        return self._directory.is_online(kept.name) or await self._directory.is_needed(kept.name)

    def initial_last_seen(self) -> float:
        """Return the last-seen time to store for a new guest before `record_arrival` is called.

        It lies in the past, so that the name is reserved for only `UNTOLD` seconds.
        """
        return self._clock() - max(0.0, self._guest_grace - UNTOLD)

    def record_arrival(self, name: str, network: str) -> None:
        """Record a player's arrival, and that they are here every ten minutes until they leave.

        Args:
            name: the player's name.
            network: the player's network, see `thudmud.accounts.limiters.network`.
        """
        self._here.add(name)
        if self.addresses_kept:
            self._unwritten_addresses[name, network] = None
        self._schedule_write(name)
        if self._timer is None:
            self._tick()

    def record_departure(self, name: str, *, gave_up: bool) -> None:
        """Record a player's departure.

        Args:
            name: the player's name.
            gave_up: whether the player quit. Then a guest's name is freed, unless an unfinished
                battle or a tournament needs it, and a member's resume words end.
        """
        self._here.discard(name)
        if gave_up:
            self._start(self._store.write(accounts.delete_resume_words, name))
            self._start(self._free([name]))
        self._schedule_write(name)

    def end_logins(self, name: str) -> None:
        """End all logins of a member, in the background; ignore a removed account."""
        self._start(self._end_logins(name))

    async def close(self) -> None:
        """Stop the timer, and wait until everything is stored."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _tick(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._tick)
        for name in self._here:
            self._schedule_write(name)
        self._start(self._free_old(self._clock() - self._guest_grace))
        self._start(
            self._store.write(accounts.forget_addresses, self._clock() - self.addresses_kept)
        )
        self._start(self._store.write(accounts.delete_expired_resume_words))

    async def _free_old(self, before: float) -> None:
        names = await self._store.read(accounts.guests, before)
        for start in range(0, len(names), _BATCH):
            await self._free(names[start : start + _BATCH], before)

    async def _end_logins(self, name: str) -> None:
        with suppress(NoSuchAccountError):
            await self._store.write(accounts.end_logins, name)

    async def _free(self, names: Iterable[str], before: float = math.inf) -> None:
        """Free the unused names of guests, except names that a battle or tournament needs."""
        unneeded = [name for name in names if not await self._directory.is_needed(name)]
        unused = [name for name in unneeded if not self._directory.is_online(name)]
        await self._store.write(accounts.free_guest_names, unused, before)

    def _schedule_write(self, name: str) -> None:
        self._unwritten[name] = self._clock()
        if not self._writing:
            self._writing = True
            self._start(self._write())

    async def _write(self) -> None:
        # Records that come in while one batch is written form the next one.
        try:
            while self._unwritten:
                noted, self._unwritten = self._unwritten, {}
                addresses, self._unwritten_addresses = self._unwritten_addresses, {}
                await self._store.write(accounts.record_last_seen, noted, list(addresses))
        finally:
            self._writing = False

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[None, None, None]) -> None:
    try:
        await work
    except StoreError as error:
        _log.error("could not store who was here: %s", error)
