"""What is done to a whole store beside play: old events are dropped, projections are finished."""

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
    """Drop events that nothing needs any more. Others can write in between.

    Args:
        store: where they are stored.
        before: only events before that time, in seconds since the epoch.
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
    """Do what is left to do after the projections were made anew, see `hooks.unfinished`.

    Others can write in between.

    Raises:
        StoreError: something cannot be read or stored.
    """
    for work in hooks.unfinished:
        while await store.write_gently(work):
            pass
