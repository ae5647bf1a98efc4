"""Helpers for subcommands that use a store: options, opening the store, error messages."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path

from thudmud.cli.common import TRY_LATER, refuse
from thudmud.errors import CommandError, NotYetError, StartError
from thudmud.game.days import day_begins
from thudmud.server import shared_store
from thudmud.server.config import (
    ConfigError,
    StorageSettings,
    config_folder,
    load_settings,
    named_or_default,
)
from thudmud.store import Store, StoreError

Run = Callable[[argparse.Namespace], int]


def config_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--config``."""
    words = "the configuration; default: config.toml in this folder, if it exists"
    parser.add_argument("--config", type=Path, metavar="FILE", help=words)


def day(text: str) -> float:
    """Parse a day as its first moment, in seconds since the epoch; an option type for argparse."""
    begins = day_begins(text)
    if begins is None:
        raise argparse.ArgumentTypeError(f"expected a day such as 2026-11-20, got {text!r}")
    return begins


def reports_errors(run: Run) -> Run:
    """Decorate a subcommand so that it prints expected errors and returns an exit status."""

    @wraps(run)
    def telling(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except ConfigError as error:
            return refuse(*error.problems)
        except NotYetError as error:
            return refuse(error, status=TRY_LATER)
        except (CommandError, StartError, StoreError) as error:
            return refuse(*str(error).splitlines())

    return telling


@asynccontextmanager
async def open_store(config: Path | None) -> AsyncIterator[Store]:
    """Open the configured store for the duration of the context, even beside a running server.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: the configuration names no file or database, or a file that doesn't exist.
        StartError: the packages for a database are not installed.
        StoreError: the store cannot be used.
    """
    storage, folder = storage_of(config)
    async with open_existing_store(storage, folder) as store:
        yield store


@asynccontextmanager
async def open_existing_store(
    storage: StorageSettings, folder: Path, *, serving: bool = False
) -> AsyncIterator[Store]:
    """Open an existing store; close it at the end.

    Args:
        storage: settings of the store.
        folder: folder to which its file is relative.
        serving: whether to open the store as a server does, which excludes other servers.

    Raises:
        CommandError: the store's file doesn't exist.
        StartError: the packages for a database are not installed.
        StoreError: the store cannot be used.
    """
    file = folder / storage.file
    if storage.backend == "sqlite" and not file.exists():
        raise CommandError(
            f"{file}: no such file. The server creates it when it first starts. If it is "
            "elsewhere, name the configuration with --config FILE."
        )
    store = await shared_store.open_store(storage, folder, serving=serving)
    try:
        yield store
    finally:
        await store.close()


def storage_of(config: Path | None, *, gateway: bool = False) -> tuple[StorageSettings, Path]:
    """Return the storage settings of the server or the gateway, and the folder of its files.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: the storage backend is "memory".
    """
    path = named_or_default(config)
    settings = load_settings(path)
    storage = settings.storage
    if storage.backend == "memory":
        raise CommandError(f'{path}: storage.backend is "memory": nothing is stored')
    if gateway:
        storage = StorageSettings(file=settings.gateway.file)
    return storage, config_folder(path)
