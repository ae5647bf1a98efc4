"""The command line: `thudmud` and its subcommands.

Owns the options and the exit status: 0 for success, 2 for a command line or a configuration that
can't be used. Each subcommand adds its own parser, which names the function that runs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from thudmud.errors import StartError
from thudmud.journal import JournalError
from thudmud.server import config_file, logs, loops
from thudmud.server.cli.engine_tool import add_engine
from thudmud.server.cli.exporting import add_export
from thudmud.server.cli.gateway_command import add_gateway
from thudmud.server.cli.importing import add_import
from thudmud.server.cli.options import Subparsers, port, refuse
from thudmud.server.cli.script_command import add_script
from thudmud.server.cli.tools import add_perft, add_replay
from thudmud.server.cli.users import add_user
from thudmud.server.members.account_file import AccountsError
from thudmud.server.serve import serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default this process's; return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in {"-h", "--help", "--version"}):
        words.insert(0, "serve")
    options = _parser().parse_args(words)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="thudmud",
        description="A server on which people play Thud by telnet.",
        epilog='Without a subcommand it is "serve".',
    )
    parser.add_argument("--version", action="version", version=version("thudmud"))
    subparsers = parser.add_subparsers(metavar="SUBCOMMAND")
    for add in SUBCOMMANDS:
        add(subparsers)
    return parser


def _add_serve(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("serve", help="listen for players", description="Listen.")
    parser.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")
    parser.add_argument(
        "--host", type=_host, help="the address to listen on, instead of server.host"
    )
    parser.add_argument("--port", type=port, help="the port, instead of server.port")
    parser.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
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
    except (StartError, JournalError, AccountsError) as error:
        return refuse(error)
    return 0


def _host(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("should be an address or a host's name")
    return text


def _announce(line: str) -> None:
    print(line, flush=True)


SUBCOMMANDS: tuple[Callable[[Subparsers], None], ...] = (
    _add_serve,
    add_gateway,
    add_user,
    add_export,
    add_import,
    add_perft,
    add_replay,
    add_script,
    add_engine,
)

if __name__ == "__main__":
    sys.exit(main())
