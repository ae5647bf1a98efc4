"""Second process with a store open: ``python -m tests.store.other FILE WHAT``."""

from __future__ import annotations

import asyncio
import sys

from tests.store.deeds import OAK, joined
from thudmud.store import Store, StoreError, accounts
from thudmud.store.database import Database


async def main(path: str, what: str) -> None:
    try:
        store = await Store.open(path, serving=what in {"serve", "play"})
    except StoreError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return
    version = (await store.read(Database.stream_versions)).get(OAK, 0)
    if what == "append":
        await store.append({OAK: (version, [joined(version)])})
    elif what == "serve":
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
    elif what == "play":  # until it is killed; it prints the entries it receives
        while True:
            await store.append({OAK: (version, [joined(version), joined(version + 1)])})
            version += 2
            await store.write(accounts.record_last_seen, {"Anna": float(version)})
            print(version, flush=True)
    await store.close()
    print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
