"""`thudmud serve`: run the server."""

from __future__ import annotations

import argparse
import logging
from functools import partial
from pathlib import Path

from thudmud.cli.common import port
from thudmud.cli.configured import config_option, reports_errors
from thudmud.cli.output import has_terminal
from thudmud.errors import StartError
from thudmud.server.config import (
    Settings,
    config_folder,
    host_name,
    load_settings,
    named_or_default,
)
from thudmud.server.runtime import run_in_loop, serve, set_up_logging
from thudmud.store import StoreError

_log = logging.getLogger(__name__)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Run the server until SIGINT or SIGTERM, or until its terminal closes. Without a "
        "terminal, SIGHUP reloads the configuration and the certificates."
    )
    config_option(parser)
    parser.add_argument(
        "--host", type=_host, help="the address to listen on, instead of server.host and web.host"
    )
    parser.add_argument(
        "--port", type=port, help="the telnet port, instead of server.port; 0 for any free ports"
    )
    parser.add_argument(
        "--web-port", type=port, help="the port of the web page, instead of web.port"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help='only say why the server could not start, if so, like "thudmud config check"',
    )
    parser.set_defaults(run=run, is_output_needed=False)


def _host(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected an address or a host name")
    return host_name(text)


def _given_options(**options: object) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Run the server until a signal arrives."""
    path = named_or_default(options.config)
    settings, folder = _settings(path, options), config_folder(path)
    if options.check:
        from thudmud.cli.config import check  # noqa: PLC0415  (the start does not wait for it)

        return check(settings, path)
    set_up_logging(settings, folder)
    reread = None if has_terminal() else partial(_settings, path, options)
    try:
        run_in_loop(serve(settings, folder, partial(print, flush=True), reread))
    except (StartError, StoreError) as error:
        if settings.server.log_file:  # otherwise the log goes to where the error is printed anyway
            _log.error("cannot serve", extra={"why": str(error)})
        raise
    return 0


def _settings(path: Path | None, options: argparse.Namespace) -> Settings:
    """Load the settings and override them by the options.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    settings = load_settings(path)
    web_port = 0 if options.port == 0 and options.web_port is None else options.web_port
    hosts = options.host and (options.host,)
    server = settings.server.model_copy(update=_given_options(host=hosts, port=options.port))
    web = settings.web.model_copy(update=_given_options(host=hosts, port=web_port))
    return settings.model_copy(update={"server": server, "web": web})
