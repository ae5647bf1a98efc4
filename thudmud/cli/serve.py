"""`thudmud serve`: runs the server."""

from __future__ import annotations

import argparse
from functools import partial

from thudmud.cli.common import port
from thudmud.cli.configured import config_option, tells_errors
from thudmud.server import logs
from thudmud.server.config import config_folder, load_settings, named_or_default
from thudmud.server.serve import run_in_loop, serve


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = "Run the server, until it gets SIGINT, SIGTERM or SIGHUP."
    config_option(parser)
    parser.add_argument(
        "--host", type=_host, help="the address to listen on, instead of server.host"
    )
    parser.add_argument("--port", type=port, help="the port, instead of server.port")
    parser.set_defaults(run=run)


def _host(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("should be an address or a host's name")
    return text


@tells_errors
def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    path = named_or_default(options.config)
    given = {"host": options.host, "port": options.port}
    settings = load_settings(path)
    changed = {key: value for key, value in given.items() if value is not None}
    server = settings.server.model_copy(update=changed)
    folder = config_folder(path)
    logs.begin(server.log_level, folder / server.log_file if server.log_file else None)
    settings = settings.model_copy(update={"server": server})
    run_in_loop(serve(settings, folder, partial(print, flush=True)))
    return 0
