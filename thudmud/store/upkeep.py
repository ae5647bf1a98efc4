"""Maintenance of a whole store while it is used: pruning events, finishing projections."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from thudmud.store import hooks
from thudmud.store.pruning import BATCH, PruneReport, Pruning, drop
from thudmud.store.store import Store

QUIET = 10.0
"""Seconds after the last event for which a store counts as in use."""

BUSY_PAUSE = 9
"""The length of the pause after some upkeep, in terms of its time, while the store is in use."""


async def prune(
    store: Store,
    before: float,
    told: Callable[[PruneReport], None] | None = None,
    *,
    drops: bool = True,
) -> PruneReport:
    """Drop unneeded events in small transactions, between which others can write.

    Args:
        store: the store.
        before: only events before that time are dropped, in seconds since the epoch.
        told: called now and then with the progress.
        drops: whether to drop them, or only to count.

    Returns:
        The final progress.
    """
    pruning = Pruning(before)
    while True:
        report, positions = await store.read(pruning.find)
        for start in range(0, len(positions) if drops else 0, BATCH):
            await store.write_gently(drop, positions[start : start + BATCH])
        if told:
            told(report)
        if report.looked == report.last:
            return report


async def finish(store: Store) -> None:
    """Finish the projections after a rebuild, see `hooks.unfinished`; others can write in between.

    It takes half of the store's time, and a tenth while people play: after each event, for
    `QUIET` seconds.

    Raises:
        StoreError: something cannot be read or stored.
    """
    position, used = await store.position(), -QUIET
    for work in hooks.unfinished:
        while True:
            begun = monotonic()
            is_more = await store.write(work)
            took = monotonic() - begun
            if not is_more:
                break
            if (now := await store.position()) != position:
                position, used = now, monotonic()
            await store.pause(took * (BUSY_PAUSE if monotonic() < used + QUIET else 1))
