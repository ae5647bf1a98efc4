"""Stores letters before they are announced, and counts them for members who come in."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from thudmud.errors import RefusedError
from thudmud.features.letters import storage
from thudmud.features.letters.model import (
    LetterLimits,
    LetterSent,
    LettersForgotten,
    LettersRead,
    LettersRefusal,
)
from thudmud.game.archive import LetterCountLookup
from thudmud.game.feature import FeatureContext
from thudmud.store import NoSuchAccountError, StoreError

if TYPE_CHECKING:
    from thudmud.store import Store

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> None:
    """Register the handlers that store letters, and the lookup for members who come in."""
    store: Store = service.store

    def count(name: str) -> LetterCountLookup | None:
        return LetterCountLookup(name) if service.hall.limits(LetterLimits).letters else None

    async def post(sent: LetterSent) -> None:
        work = partial(storage.post, to=sent.to, sender=sent.player, text=sent.text)
        try:
            await store.write(work)
        except NoSuchAccountError:
            raise RefusedError(LettersRefusal.NO_SUCH_MEMBER, words=sent.to) from None

    async def mark_read(read: LettersRead) -> None:
        work = partial(storage.mark_read, player=read.player, numbers=read.numbers)
        try:
            await store.write(work)
        except StoreError as error:  # harmless: they are shown as new again
            _log.error("could not mark messages as read: %s", error, extra={"player": read.player})

    async def forget(gone: LettersForgotten) -> None:
        await store.write(partial(storage.forget, player=gone.player, numbers=gone.numbers))

    service.register_aside_store(LetterSent, post)
    service.register_aside_store(LettersRead, mark_read)
    service.register_aside_store(LettersForgotten, forget)
    service.register_entry_lookup(count)
