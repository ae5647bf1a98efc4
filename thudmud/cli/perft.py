"""`thudmud perft`: count the distinct outcomes of a number of plies."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.cli.common import refuse
from thudmud.cli.records import read, rules_option
from thudmud.errors import CommandError
from thudmud.rules import DEFAULT_RULES, Game, divide, perft

DEEPEST = 20
"""Maximum number of plies; far fewer already take longer than anybody waits."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.set_defaults(run=run)
    rules_option(parser)
    parser.add_argument("plies", type=_depth, nargs="?", metavar="N", help="the number of plies")
    parser.add_argument("--depth", type=_depth, metavar="N", help="the same, as an option")
    parser.add_argument("--divide", action="store_true", help="also print the count for each move")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="start from the end of this game record"
    )


def run(options: argparse.Namespace) -> int:
    """Print the perft number; with ``divide``, a line for each move before the total."""
    given = {options.plies, options.depth} - {None}
    if len(given) != 1:
        return refuse("expected one number of plies, such as: thudmud perft 2")
    (depth,) = given
    try:
        game = (
            read(options.record, options.rules)
            if options.record
            else Game.start(options.rules or DEFAULT_RULES)
        )
    except CommandError as error:
        return refuse(error)
    if game.outcome:
        return refuse(f"{options.record}: the battle is over, so there are no plies to count")
    if not options.divide or depth == 0:
        print(perft(game.ruleset, game.position, depth))
        return 0
    total = 0
    for move, count in divide(game.ruleset, game.position, depth):
        print(str(move), count)
        total += count
    print(total)
    return 0


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) <= DEEPEST):
        raise argparse.ArgumentTypeError(f"expected a number from 0 to {DEEPEST}, got {text!r}")
    return int(text)
