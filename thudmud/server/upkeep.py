"""What a store needs that boards are served from: it is told that a server runs, and is checked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

from thudmud.store import LEASE, Store, StoreError

NODE = "server"
"""What the store knows the server as: there is but one."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def served_store(path: Path | None) -> AsyncIterator[Store]:
    """Open a store to serve boards from, in memory if there is no path, and close it again.

    Raises:
        StoreError: it cannot be used, or another server uses it.
    """
    store = Store.in_memory() if path is None else await Store.open(path, serving=True)
    try:
        await store.beat(NODE)
        async with background(_live(store)):
            yield store
        await _leave(store)
    finally:
        await store.close()


async def check(store: Store) -> None:
    """Check all that is stored; what is found is logged."""
    try:
        damage = await store.check()
    except StoreError as error:
        _log.error("what is stored could not be checked: %s", error)
    else:
        if damage:
            _log.critical("nothing is stored any more: %s", damage.what)


@asynccontextmanager
async def background(*works: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Do what nobody waits for, and end it, with any process that it may have begun.

    What goes wrong with it is logged.
    """
    tasks = [asyncio.create_task(work) for work in works]
    for task in tasks:
        task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _live(store: Store) -> None:
    """Note time and again that the server runs: of the time when none does nobody is to blame."""
    while True:
        await asyncio.sleep(LEASE / 2)
        try:
            await store.beat(NODE)
        except StoreError as error:
            _log.error("it cannot be stored that the server runs: %s", error)


async def _leave(store: Store) -> None:
    try:
        await store.leave(NODE)
    except StoreError as error:
        _log.error("it cannot be stored that the server stops: %s", error)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("failed behind the players' backs", exc_info=error)
