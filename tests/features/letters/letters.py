"""Helpers that read and write letters directly in a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from thudmud.features.letters import storage
from thudmud.store import Store


async def post(store: Store, to: str, sender: str, text: str) -> int:
    return await store.write(partial(storage.post, to=to, sender=sender, text=text))


async def mark_read(store: Store, player: str, numbers: Collection[int]) -> None:
    await store.write(partial(storage.mark_read, player=player, numbers=numbers))


async def forget(store: Store, player: str, numbers: Collection[int]) -> int:
    return await store.write(partial(storage.forget, player=player, numbers=numbers))


async def count_from(
    store: Store, player: str, sender: str, followed: Iterable[str] = ()
) -> tuple[int, int, int | None]:
    count = partial(storage.count_from, player=player, sender=sender, followed=followed)
    return await store.read(count)
