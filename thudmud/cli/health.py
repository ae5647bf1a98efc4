"""`thudmud health`: check that the server or the gateway runs and can write to its store."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from thudmud.cli.common import refuse
from thudmud.cli.configured import config_option, open_existing_store, reports_errors, storage_of
from thudmud.english import rounded_duration
from thudmud.server.config import StorageSettings
from thudmud.store import LEASE, OutdatedStoreError, nodes
from thudmud.store.checking import last_stored


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Check whether the server is running and can store events, by looking at the configured "
        "file or database. If several servers share a database, one of them is enough. The exit "
        "status is 0 if all is well, 1 if not, and 2 if that can't be determined."
    )
    parser.add_argument("--gateway", action="store_true", help="check the gateway instead")
    config_option(parser)
    parser.set_defaults(run=run, is_output_needed=False)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Check the store's last heartbeat and print the result."""
    storage, folder = storage_of(options.config, gateway=options.gateway)
    if storage.backend == "sqlite":
        file = folder / storage.file
        where, seconds = str(file), last_stored(file) if file.exists() else None
    else:
        try:
            seconds = asyncio.run(_seconds_since_heartbeat(storage, folder))
        except OutdatedStoreError as error:
            return refuse(error)
        where = "the database"
    if seconds is None:
        print(f"No server is running on {where}.", file=sys.stderr)
    elif seconds > LEASE:
        print(
            f"The server on {where} has stored nothing for {rounded_duration(seconds)}: it hangs, "
            "was killed, or cannot write. See its log.",
            file=sys.stderr,
        )
    else:
        print(f"thudmud is healthy: it last wrote to {where} {rounded_duration(seconds)} ago.")
        return 0
    return 1


async def _seconds_since_heartbeat(storage: StorageSettings, folder: Path) -> float | None:
    async with open_existing_store(storage, folder, reading=True) as store:
        return await store.read(nodes.seconds_since_heartbeat)
