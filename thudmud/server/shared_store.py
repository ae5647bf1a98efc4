"""The store named in the settings, and the advisory locks that servers on one database share.

One lock decides which servers may serve; others elect the one that runs the bots and the one that
sends notifications.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from thudmud.errors import NotYetError, StartError
from thudmud.server.config import StorageSettings
from thudmud.store import Holder, Lock, Store, StoreError
from thudmud.version import installation_of

if TYPE_CHECKING:
    from thudmud.store.postgres import AdvisoryLock

NEEDS_PSYCOPG = f"PostgreSQL needs psycopg: {installation_of('postgres')}"
ALONE = (
    "Another server with storage.standby = true serves alone from this database. Set "
    "storage.standby = true for this one too, or for neither."
)
TAKEN = "Another server took over while the database could not be reached."


async def open_store(storage: StorageSettings, folder: Path, *, serving: bool) -> Store:
    """Open the store that is configured in the settings.

    Args:
        storage: the backend and its file or connection string.
        folder: the directory that a relative SQLite path refers to.
        serving: whether boards are served from the store.

    Raises:
        StartError: PostgreSQL is configured but psycopg isn't installed.
        StoreError: the store can't be opened.
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
    """Acquire and hold the lock that permits this server to serve from a database.

    Ordinary servers share the lock. A standby server takes it exclusively, so it waits until all
    others have stopped.

    Args:
        storage: the connection string, and whether this server is a standby.
        stopped: set to stop waiting.
        announce: called with a line for the operator if the server has to wait.
        stop: called with the reason if the server must stop serving.

    Yields:
        Whether the lock was acquired; False if ``stopped`` was set first.

    Raises:
        NotYetError: another server holds the lock exclusively and this one isn't a standby; or the
            database can't be reached; or a standby lost its connection and then its lock.
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
            serving.set_exception(NotYetError(why))
        elif answer is Holder.OTHERS and not has_to_wait:
            has_to_wait = True
            announce("thudmud stands by: another server serves from this database")

    lock = _advisory_lock(storage, Lock.SERVING, take_note, shared=not storage.standby)
    ending: asyncio.Future[bool] = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
        yield serving.done() and serving.result()
        if is_lost:
            raise NotYetError(TAKEN)
    finally:
        ending.cancel()
        serving.cancel()
        await asyncio.to_thread(lock.close)


@asynccontextmanager
async def leader_lock(storage: StorageSettings, key: Lock) -> AsyncIterator[asyncio.Queue[Holder]]:
    """Compete for an exclusive lock that elects one server for a task (leader election).

    Yields:
        A queue with the lock's new holder at each change. While the database can't be reached, the
        queue stays empty. Without PostgreSQL the holder is always this server.
    """
    holders = asyncio.Queue[Holder]()
    if storage.backend != "postgresql":
        holders.put_nowait(Holder.OURS)
        yield holders
        return

    def take_note(answer: Holder | StoreError) -> None:
        if isinstance(answer, Holder):
            holders.put_nowait(answer)

    lock = _advisory_lock(storage, key, take_note)
    try:
        yield holders
    finally:
        await asyncio.to_thread(lock.close)


def _advisory_lock(
    storage: StorageSettings,
    key: Lock,
    told: Callable[[Holder | StoreError], None],
    *,
    shared: bool = False,
) -> AdvisoryLock:
    """Return an advisory lock whose changes call ``told`` in the event loop's thread."""
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
