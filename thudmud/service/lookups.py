"""Looking up what a decision asks for."""

from __future__ import annotations

from typing import Any

from thudmud.language.parsing import ignored_of
from thudmud.play.archive import Lookup
from thudmud.play.letters import Postbox, PostboxLookup
from thudmud.store import Store


async def look_up(store: Store, lookup: Lookup[Any], realm: str) -> Any:
    """Return the answer to a lookup, from the store.

    Raises:
        StoreError: it cannot be read.
    """
    if isinstance(lookup, PostboxLookup):
        return await _postbox(store, lookup)
    return await store.look_up(lookup, realm=realm)


async def _postbox(store: Store, lookup: PostboxLookup) -> Postbox | None:
    account = await store.find(lookup.name)
    if account is None or account.banned:
        return None
    ignored = {name.lower() for name in ignored_of(account.preferences)}
    counts = await store.letters_from(account.name, lookup.sender)
    return Postbox(account.name, lookup.sender.lower() in ignored, *counts)
