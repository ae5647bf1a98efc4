"""`thudmud store`: whether all that is stored is as it was written."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from thudmud.cli.options import CommandError, refuse
from thudmud.server.config import ConfigError, config_folder, load_settings, named_or_default
from thudmud.store import Store, checking


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = "Look after the file that everything is kept in."
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser("check", help="check that all of it is as it was written")
    check.description = (
        "Check that all that is stored is as it was written. The server may be running: it does the"
        " same by itself after each start. The exit status is 0 if all is in order, 1 if the file"
        " is damaged, and 2 if that cannot be told."
    )
    check.set_defaults(run=run)
    file = "by default the one that the configuration names"
    check.add_argument("file", type=Path, nargs="?", metavar="FILE", help=file)
    check.add_argument(
        "--gateway", action="store_true", help="the file of the gateway, not that of the server"
    )
    check.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")


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
    path = named_or_default(config)
    settings = load_settings(path)
    if settings.storage.backend != "sqlite":
        backend = settings.storage.backend
        raise CommandError(f'{path}: storage.backend is "{backend}": nothing is in a file')
    named = settings.gateway.file if gateway else settings.storage.file
    return config_folder(path) / named


def run(options: argparse.Namespace) -> int:
    """Check the file that is named, or else the one of the configuration; say what was found."""
    if options.file and (options.gateway or options.config):
        return refuse("either FILE is checked, or what the configuration names: say one of them")
    try:
        file = options.file or store_file(options.config, gateway=options.gateway)
    except ConfigError as error:
        return refuse(*error.problems)
    except CommandError as error:
        return refuse(error)
    return checking.run(file)
