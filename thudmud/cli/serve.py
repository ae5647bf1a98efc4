"""`thudmud serve`: the server, as its configuration and the command line want it."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.cli.options import port, refuse
from thudmud.errors import StartError
from thudmud.server import logs
from thudmud.server.config import ConfigError, config_folder, load_settings, named_or_default
from thudmud.server.serve import run_in_loop, serve
from thudmud.store import StoreError


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = "Listen."
    parser.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")
    parser.add_argument(
        "--host", type=_host, help="the address to listen on, instead of server.host"
    )
    parser.add_argument("--port", type=port, help="the port, instead of server.port")
    parser.set_defaults(run=run)


def _host(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("should be an address or a host's name")
    return text


def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    path = named_or_default(options.config)
    given = {"host": options.host, "port": options.port}
    try:
        settings = load_settings(path)
        changed = {key: value for key, value in given.items() if value is not None}
        server = settings.server.model_copy(update=changed)
        folder = config_folder(path)
        logs.begin(server.log_level, folder / server.log_file if server.log_file else None)
        settings = settings.model_copy(update={"server": server})
        run_in_loop(serve(settings, folder, _announce))
    except ConfigError as error:
        return refuse(*error.problems)
    except (StartError, StoreError) as error:
        return refuse(error)
    return 0


def _announce(line: str) -> None:
    print(line, flush=True)
