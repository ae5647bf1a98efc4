"""What several servers share: the store that the settings name, and the locks on its database.

One lock decides who serves, others who runs the bots, and who sends notifications.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from thudmud.errors import NotYet, StartError
from thudmud.server.config import StorageSettings
from thudmud.store import Holder, Lock, Store, StoreError

if TYPE_CHECKING:
    from thudmud.store.postgres import AdvisoryLock

NEEDS_PSYCOPG = 'PostgreSQL needs psycopg, which this brings: pip install "thudmud[postgres]"'
ALONE = (
    "Another server serves alone from this database, since it has storage.standby = true: let this"
    " one stand by, too, or none."
)
TAKEN = "Another server has taken over while the database could not be reached."


async def open_store(storage: StorageSettings, folder: Path, *, serving: bool) -> Store:
    """Open a store as the settings say.

    Raises:
        StartError: psycopg is needed and not installed.
        StoreError: it cannot be used.
    """
    if storage.backend == "memory":
        return Store.in_memory(serving=serving)
    if storage.backend == "sqlite":
        return await Store.open(folder / storage.file, serving=serving)
    try:
        return await Store.connect(storage.dsn, serving=serving)
    except ImportError as error:
        raise StartError(f"storage.backend: {NEEDS_PSYCOPG}") from error


@asynccontextmanager
async def serving_lock(
    storage: StorageSettings,
    stopped: asyncio.Event,
    announce: Callable[[str], None],
    stop: Callable[[str], None],
) -> AsyncIterator[bool]:
    """Wait until this server may serve from a database; yield whether it may.

    All servers may at the same time; one that stands by serves alone, and so waits for all others.

    Args:
        storage: how to connect to the database, and whether this server stands by.
        stopped: set to end the waiting.
        announce: called with a line if it has to wait.
        stop: called with the reason if this server may not serve any longer.

    Raises:
        NotYet: another server serves alone, and this one does not stand by, or lost its lock to it
            with the link; or the database cannot be asked.
    """
    serving: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    has_to_wait = is_lost = False

    def take_note(answer: Holder | StoreError) -> None:
        nonlocal has_to_wait, is_lost
        if serving.done():
            if storage.standby and answer is Holder.OTHERS:
                is_lost = True
                stop("another server serves")
        elif answer is Holder.OURS:
            serving.set_result(True)
        elif not storage.standby:
            why = ALONE if answer is Holder.OTHERS else f"storage.dsn: {answer}"
            serving.set_exception(NotYet(why))
        elif answer is Holder.OTHERS and not has_to_wait:
            has_to_wait = True
            announce("thudmud stands by: another server serves from the same database")

    lock = _lock(storage, Lock.SERVING, take_note, shared=not storage.standby)
    ending: asyncio.Future[bool] = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
        yield serving.done() and serving.result()
        if is_lost:
            raise NotYet(TAKEN)
    finally:
        ending.cancel()
        serving.cancel()
        await asyncio.to_thread(lock.close)


@asynccontextmanager
async def lock_of_one(storage: StorageSettings, key: Lock) -> AsyncIterator[asyncio.Queue[Holder]]:
    """Wait for the lock of the one server that does something for all, and hold it.

    Yields:
        A queue: each item says who has the lock from now on. While the database cannot be reached,
        nothing changes.
    """
    holders = asyncio.Queue[Holder]()
    if storage.backend != "postgresql":
        holders.put_nowait(Holder.OURS)
        yield holders
        return

    def take_note(answer: Holder | StoreError) -> None:
        if isinstance(answer, Holder):
            holders.put_nowait(answer)

    lock = _lock(storage, key, take_note)
    try:
        yield holders
    finally:
        await asyncio.to_thread(lock.close)


def _lock(
    storage: StorageSettings,
    key: Lock,
    told: Callable[[Holder | StoreError], None],
    *,
    shared: bool = False,
) -> AdvisoryLock:
    """Return a lock whose changes are told in the event loop."""
    try:
        from thudmud.store.postgres import (  # noqa: PLC0415  (an optional dependency)
            AdvisoryLock,
            parameters_of,
        )
    except ImportError as error:
        raise StartError(f"storage.backend: {NEEDS_PSYCOPG}") from error
    try:
        parameters_of(storage.dsn)
    except StoreError as error:
        raise StartError(f"storage.dsn: {error}") from error
    loop = asyncio.get_running_loop()

    def tell(answer: Holder | StoreError) -> None:
        loop.call_soon_threadsafe(told, answer)

    return AdvisoryLock(storage.dsn, key, tell, shared=shared)
