"""`thudmud serve`: the server as its configuration and the command line want it."""

from __future__ import annotations

import argparse

from thudmud.errors import StartError
from thudmud.server import config_file, logs, loops
from thudmud.server.cli.options import refuse
from thudmud.server.serve import serve
from thudmud.store import StoreError


def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    path = config_file.named_or_default(options.config)
    given = {"host": options.host, "port": options.port}
    try:
        settings = config_file.load(path)
        changed = {key: value for key, value in given.items() if value is not None}
        server = settings.server.model_copy(update=changed)
        folder = config_file.folder(path)
        logs.begin(server.log_level, folder / server.log_file if server.log_file else None)
        settings = settings.model_copy(update={"server": server})
        loops.run(serve(settings, folder, _announce))
    except config_file.ConfigError as error:
        return refuse(*error.problems)
    except (StartError, StoreError) as error:
        return refuse(error)
    return 0


def _announce(line: str) -> None:
    print(line, flush=True)
