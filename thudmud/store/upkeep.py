"""Maintenance of a whole store while it is used: pruning events, finishing projections."""

from __future__ import annotations

from collections.abc import Callable

from thudmud.store import hooks
from thudmud.store.pruning import BATCH, PruneReport, Pruning, drop
from thudmud.store.store import Store


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

    Raises:
        StoreError: something cannot be read or stored.
    """
    for work in hooks.unfinished:
        while await store.write_gently(work):
            pass
