"""Whose turn it is among the servers on one database: to serve at all, and to run the bots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from thudmud.errors import NotYet, StartError
from thudmud.server.config import StorageSettings
from thudmud.server.stores import NEEDS_PSYCOPG
from thudmud.store import StoreError
from thudmud.store.backend import Holder, Lock

if TYPE_CHECKING:
    from thudmud.store.postgres import AdvisoryLock

ALONE = (
    "Another server serves alone from this database, since it has storage.standby = true. Let this"
    " one stand by, too, or none."
)

Answer = Holder | StoreError


@asynccontextmanager
async def turn_to_serve(
    storage: StorageSettings, stopped: asyncio.Event, announce: Callable[[str], None]
) -> AsyncIterator[bool]:
    """Wait until we may serve from a database; yield whether we may.

    All servers may at the same time; who stands by serves alone, and so waits for all others.

    Args:
        storage: how the database is reached, and whether we stand by.
        stopped: set once we are not to wait any longer.
        announce: called with a line if we have to wait.

    Raises:
        NotYet: another server serves alone, and we do not stand by; or the database cannot be
            asked.
    """
    turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def take_note(answer: Answer) -> None:
        if turn.done():
            return
        if answer is Holder.OURS:
            turn.set_result(True)
        elif not storage.standby:
            turn.set_exception(
                NotYet(ALONE if answer is Holder.OTHERS else f"storage.dsn: {answer}")
            )
        elif answer is Holder.OTHERS:
            announce("thudmud stands by: another server serves from the same database")

    lock = _lock(storage, Lock.SERVING, take_note, shared=not storage.standby)
    ending: asyncio.Future[bool] = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait([turn, ending], return_when=asyncio.FIRST_COMPLETED)
        yield turn.done() and turn.result()
    finally:
        ending.cancel()
        turn.cancel()
        await asyncio.to_thread(lock.close)


@asynccontextmanager
async def turns_of_bots(storage: StorageSettings) -> AsyncIterator[asyncio.Queue[Holder]]:
    """Wait for the lock of the one server on which the bots of all run, and hold it.

    Yields:
        a queue, of which each item says who runs them from now on. While a database cannot be
        reached, nothing changes.
    """
    turns = asyncio.Queue[Holder]()
    if storage.backend != "postgresql":
        turns.put_nowait(Holder.OURS)
        yield turns
        return

    def take_note(answer: Answer) -> None:
        if isinstance(answer, Holder):
            turns.put_nowait(answer)

    lock = _lock(storage, Lock.BOTS, take_note)
    try:
        yield turns
    finally:
        await asyncio.to_thread(lock.close)


def _lock(
    storage: StorageSettings, key: Lock, told: Callable[[Answer], None], *, shared: bool = False
) -> AdvisoryLock:
    """Return a lock that tells, in the event loop, what becomes of it."""
    try:
        from thudmud.store.postgres import AdvisoryLock  # noqa: PLC0415  (it is optional)
    except ImportError as error:
        raise StartError(f"storage.backend: {NEEDS_PSYCOPG}") from error
    loop = asyncio.get_running_loop()

    def tell(answer: Answer) -> None:
        loop.call_soon_threadsafe(told, answer)

    return AdvisoryLock(storage.dsn, key, tell, shared=shared)
