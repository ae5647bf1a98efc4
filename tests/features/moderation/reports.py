"""Helpers that write and read reports in a store."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from thudmud.features.moderation import storage
from thudmud.features.moderation.model import Report
from thudmud.store import Store


async def report(store: Store, by: str, about: str, text: str, said: Sequence[str] = ()) -> int:
    return await store.write(partial(storage.report, by=by, about=about, text=text, said=said))


async def reports(store: Store, *, open_only: bool = True, most: int = 50) -> Sequence[Report]:
    return await store.read(partial(storage.reports, open_only=open_only, most=most))


async def close_report(store: Store, number: int) -> bool:
    return await store.write(partial(storage.close_report, number=number))


async def close_reports(store: Store, last: int, about: str = "", by: str = "") -> int:
    return await store.write(partial(storage.close_reports, last=last, about=about, by=by))
