"""Opens the store that the settings name."""

from __future__ import annotations

from pathlib import Path

from thudmud.errors import StartError
from thudmud.server.config import StorageSettings
from thudmud.store import Store

NEEDS_PSYCOPG = 'PostgreSQL needs psycopg, which this brings: pip install "thudmud[postgres]"'


async def open_store(storage: StorageSettings, folder: Path, *, serving: bool) -> Store:
    """Open a store as the settings say.

    Args:
        storage: the settings.
        folder: the folder of its file, if that has a relative name.
        serving: whether boards are served from it.

    Raises:
        StartError: psycopg is needed and not installed.
        StoreError: it cannot be used.
    """
    if storage.backend == "memory":
        return Store.in_memory(serving=serving)
    if storage.backend == "sqlite":
        return await Store.open(folder / storage.file, serving=serving)
    try:
        return await Store.connect(storage.dsn)
    except ImportError as error:
        raise StartError(f"storage.backend: {NEEDS_PSYCOPG}") from error
