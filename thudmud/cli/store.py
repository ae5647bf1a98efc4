"""`thudmud store`: checks the file of the server, or that of the gateway."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.cli.common import refuse
from thudmud.cli.configured import config_option, store_file, tells_errors
from thudmud.store import checking


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = "Look after the file in which everything is kept."
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser("check", help="check that everything in it is as it was written")
    check.description = (
        "Check that everything that is stored is as it was written. The server may be running; it"
        " does the same by itself after each start. The exit status is 0 if all is in order, 1 if"
        " the file is damaged, and 2 if the file cannot be checked."
    )
    check.set_defaults(run=run)
    file = "the file; default: the one that the configuration names"
    check.add_argument("file", type=Path, nargs="?", metavar="FILE", help=file)
    check.add_argument(
        "--gateway",
        action="store_true",
        help="check the file of the gateway instead of the server's",
    )
    config_option(check)


@tells_errors
def run(options: argparse.Namespace) -> int:
    """Check a file; print what was found."""
    if options.file and (options.gateway or options.config):
        return refuse("name either the FILE, or the configuration that names it")
    return checking.run(options.file or store_file(options.config, gateway=options.gateway))
