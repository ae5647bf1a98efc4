"""`thudmud replay`: check a game record and draw its final position."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.cli.common import refuse
from thudmud.cli.records import read, rules_option
from thudmud.errors import CommandError
from thudmud.views.standing import summary


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.set_defaults(run=run)
    rules_option(parser)
    parser.add_argument("record", type=Path, metavar="FILE", help="a game record")


def run(options: argparse.Namespace) -> int:
    """Check a record and draw its final position."""
    try:
        game = read(options.record, options.rules)
    except CommandError as error:
        return refuse(error)
    print("\n".join(summary(game)))
    return 0
