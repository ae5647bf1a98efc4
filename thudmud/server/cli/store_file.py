"""The file that everything is kept in, for the subcommands that work on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from thudmud.server import config_file
from thudmud.server.cli.options import CommandError
from thudmud.store import Store


@asynccontextmanager
async def open_store(config: Path | None) -> AsyncIterator[Store]:
    """Open the store that a configuration names, beside a server that runs, and close it again.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: it names no file, or one that is not there.
        StoreError: the file cannot be used.
    """
    file = store_file(config)
    if not file.exists():
        raise CommandError(
            f"{file}: there is no such file. The server makes it when it is first started; if it is"
            " elsewhere, --config FILE names the configuration that tells where."
        )
    store = await Store.open(file)
    try:
        yield store
    finally:
        await store.close()


def store_file(config: Path | None, *, gateway: bool = False) -> Path:
    """Return the file that a configuration names, by default that of this folder, if any.

    Args:
        config: the file of the configuration.
        gateway: whether that of the gateway is meant, and not that of the server.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: by it nothing is kept in a file.
    """
    path = config_file.named_or_default(config)
    settings = config_file.load(path)
    if settings.storage.backend != "sqlite":
        backend = settings.storage.backend
        raise CommandError(f'{path}: storage.backend is "{backend}": nothing is in a file')
    named = settings.gateway.file if gateway else settings.storage.file
    return config_file.folder(path) / named
