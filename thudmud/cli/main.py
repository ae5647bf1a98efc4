"""The command line: `thudmud` and its subcommands.

The exit status is 0 for success, and 2 for a command line or a configuration that can't be used.
Each subcommand has a module in `thudmud.cli` that declares its options and names what runs
it. Only that of the subcommand that is wanted is loaded, so that the small ones start at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from thudmud.version import VERSION

SUBCOMMANDS = {
    "serve": ("serve", "listen for players"),
    "gateway": ("gateway", "let another MUD have boards, over lines of JSON"),
    "board": ("board", "list, open, close and rename the boards in the hall"),
    "user": ("user", "list and change the accounts of players"),
    "store": ("store", "check the file that everything is kept in"),
    "export": ("export", "write the battles that were played to files"),
    "import": ("import_", "bring records of battles in from files"),
    "perft": ("perft", "count the distinct outcomes of a number of plies"),
    "replay": ("replay", "check a game record and draw the board that it ends with"),
    "script": ("script", "play transcripts and compare what is seen"),
    "engine": ("engine", "answer questions about battles, and play, for other programs"),
}
"""The module of each subcommand, and the line that tells of it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default this process's; return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in {"-h", "--help", "--version"}):
        words.insert(0, "serve")
    options = _parser(words[0]).parse_args(words)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _parser(wanted: str) -> argparse.ArgumentParser:
    """Return the parser of a command line whose first word is the one that is wanted."""
    parser = argparse.ArgumentParser(
        prog="thudmud",
        description="A server on which people play Thud by telnet.",
        epilog='Without a subcommand it is "serve".',
    )
    parser.add_argument("--version", action="version", version=VERSION)
    subparsers = parser.add_subparsers(metavar="SUBCOMMAND")
    for name, (module, words) in SUBCOMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=words, description=f"{words[0].upper()}{words[1:]}."
        )
        if name == wanted:
            import_module(f"thudmud.cli.{module}").declare(subparser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
