"""What the subcommands share that use a store: options, the store that is named, and errors."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path

from thudmud.cli.common import TRY_LATER, refuse
from thudmud.errors import CommandError, NotYet, StartError
from thudmud.game.days import day_begins
from thudmud.server import stores
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
    words = "the configuration; default: config.toml in this folder, if there is one"
    parser.add_argument("--config", type=Path, metavar="FILE", help=words)


def day(text: str) -> float:
    """Return when the day begins that an option gives, in seconds since the epoch; else raise."""
    begins = day_begins(text)
    if begins is None:
        raise argparse.ArgumentTypeError(f"should be a day such as 2026-11-20, not {text!r}")
    return begins


def tells_errors(run: Run) -> Run:
    """Have a subcommand tell what keeps it from its work, a line for each problem."""

    @wraps(run)
    def telling(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except ConfigError as error:
            return refuse(*error.problems)
        except NotYet as error:
            return refuse(error, status=TRY_LATER)
        except (CommandError, StartError, StoreError) as error:
            return refuse(error)

    return telling


@asynccontextmanager
async def open_store(config: Path | None) -> AsyncIterator[Store]:
    """Open the store that a configuration names, also while a server runs on it; then close it.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: it names no file or database, or a file that is not there.
        StartError: what a database needs is not installed.
        StoreError: the store cannot be used.
    """
    storage, folder = storage_of(config)
    async with opened(storage, folder) as store:
        yield store


@asynccontextmanager
async def opened(
    storage: StorageSettings, folder: Path, *, serving: bool = False
) -> AsyncIterator[Store]:
    """Open a store that is there; then close it. ``serving`` says that no server can be on it.

    Raises:
        CommandError: it is in a file that is not there.
        StartError: what a database needs is not installed.
        StoreError: it cannot be used.
    """
    file = folder / storage.file
    if storage.backend == "sqlite" and not file.exists():
        raise CommandError(
            f"{file}: there is no such file. The server makes it when it first starts. If it is"
            " elsewhere, --config FILE names the configuration that says where."
        )
    store = await stores.open_store(storage, folder, serving=serving)
    try:
        yield store
    finally:
        await store.close()


def storage_of(config: Path | None, *, gateway: bool = False) -> tuple[StorageSettings, Path]:
    """Return where the server, or the gateway, keeps everything, and the folder of its files.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: it says that nothing is kept.
    """
    path = named_or_default(config)
    settings = load_settings(path)
    storage = settings.storage
    if storage.backend == "memory":
        raise CommandError(f'{path}: storage.backend is "memory": nothing is kept')
    if gateway:
        storage = StorageSettings(file=settings.gateway.file)
    return storage, config_folder(path)
