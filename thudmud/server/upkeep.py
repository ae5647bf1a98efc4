"""What a store needs that boards are served from: it is told that a server runs, and is checked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

from thudmud.service import Node
from thudmud.store import Store, StoreError

_log = logging.getLogger(__name__)


@asynccontextmanager
async def served_store(path: Path | None) -> AsyncIterator[tuple[Store, Node]]:
    """Open a store to serve boards from, in memory if there is no path, and close it again.

    Yields:
        it, and the node that lives on it meanwhile.

    Raises:
        StoreError: it cannot be used, or another server uses it.
    """
    store = Store.in_memory() if path is None else await Store.open(path, serving=True)
    try:
        node = Node(store)
        await node.open()
        async with background(node.live()):
            yield store, node
        await node.close()
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


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("failed behind the players' backs", exc_info=error)
