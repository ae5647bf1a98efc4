"""What the subcommands share that read a configuration: its option, the store, and errors."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path

from thudmud.cli.common import CommandError, refuse
from thudmud.errors import StartError
from thudmud.server.config import ConfigError, config_folder, load_settings, named_or_default
from thudmud.store import Store, StoreError

Run = Callable[[argparse.Namespace], int]


def config_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--config``."""
    words = "the configuration; default: config.toml in this folder, if it is there"
    parser.add_argument("--config", type=Path, metavar="FILE", help=words)


def tells_errors(run: Run) -> Run:
    """Have a subcommand tell what keeps it from its work, a line for each problem."""

    @wraps(run)
    def telling(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except ConfigError as error:
            return refuse(*error.problems)
        except (CommandError, StartError, StoreError) as error:
            return refuse(error)

    return telling


@asynccontextmanager
async def open_store(config: Path | None) -> AsyncIterator[Store]:
    """Open the store that a configuration names, also while a server runs on it; then close it.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: it names no file, or one that is not there.
        StoreError: the file cannot be used.
    """
    file = store_file(config)
    if not file.exists():
        raise CommandError(
            f"{file}: there is no such file. The server makes it when it first starts. If it is"
            " elsewhere, --config FILE names the configuration that says where."
        )
    store = await Store.open(file)
    try:
        yield store
    finally:
        await store.close()


def store_file(config: Path | None, *, gateway: bool = False) -> Path:
    """Return the file in which the server, or the gateway, keeps everything.

    Args:
        config: the file of the configuration; if None, that of this folder, or else the defaults.
        gateway: whether the gateway's file is meant.

    Raises:
        ConfigError: the configuration cannot be used.
        CommandError: it says that nothing is kept in a file.
    """
    path = named_or_default(config)
    settings = load_settings(path)
    if settings.storage.backend != "sqlite":
        backend = settings.storage.backend
        raise CommandError(f'{path}: storage.backend is "{backend}": nothing is in a file')
    named = settings.gateway.file if gateway else settings.storage.file
    return config_folder(path) / named
