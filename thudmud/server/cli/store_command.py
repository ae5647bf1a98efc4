"""The options of `thudmud store`. `thudmud.server.cli.checking` is what runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.server.cli.options import later


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
    check.set_defaults(run=later("checking"))
    file = "by default the one that the configuration names"
    check.add_argument("file", type=Path, nargs="?", metavar="FILE", help=file)
    check.add_argument(
        "--gateway", action="store_true", help="the file of the gateway, not that of the server"
    )
    check.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")
