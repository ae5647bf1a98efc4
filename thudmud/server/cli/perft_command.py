"""The subcommands that work on game records: `perft` and `replay`.

Owns their options and what they print. Must never count, judge or play by itself.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from thudmud.rules import (
    RULESETS,
    Game,
    RecordError,
    Ruleset,
    divide,
    perft,
    read_record,
)
from thudmud.server.cli.options import Subparsers, refuse
from thudmud.text.summary import summary

DEEPEST = 20
"""Plies. Far fewer outlast anybody's patience."""


def add_perft(subparsers: Subparsers) -> None:
    """Declare ``thudmud perft``."""
    words = "count the distinct outcomes of a number of plies"
    parser = subparsers.add_parser("perft", help=words, description=f"{words.capitalize()}.")
    parser.set_defaults(run=_perft)
    _rules_option(parser)
    parser.add_argument("--depth", type=_depth, required=True, metavar="N", help="plies to count")
    parser.add_argument("--divide", action="store_true", help="first list the count of each move")
    parser.add_argument("--record", type=Path, metavar="FILE", help="count from where it ends")


def _perft(options: argparse.Namespace) -> int:
    """Count the distinct outcomes; the last line printed is the total."""
    with suppress(BrokenPipeError):  # as in "... | head": nobody reads on
        return _count(options)
    sys.stderr.close()  # or Python would tell of the pipe again when it ends
    return 0


def _count(options: argparse.Namespace) -> int:
    ruleset: Ruleset = options.rules
    try:
        game = _read(options.record, ruleset) if options.record else Game.start(ruleset)
    except _UnusableError as error:
        return refuse(error)
    if game.outcome:
        print(f"thudmud: {options.record}: the battle has ended there", file=sys.stderr)
        print(1 if options.depth == 0 else 0)
        return 0
    if not options.divide or options.depth == 0:
        print(perft(ruleset, game.position, options.depth))
        return 0
    total = 0
    for move, count in divide(ruleset, game.position, options.depth):
        print(str(move), count)
        total += count
    print(total)
    return 0


def add_replay(subparsers: Subparsers) -> None:
    """Declare ``thudmud replay``."""
    words = "check a game record and draw the board that it ends with"
    parser = subparsers.add_parser("replay", help=words, description=f"{words.capitalize()}.")
    parser.set_defaults(run=_replay)
    _rules_option(parser)
    parser.add_argument("record", type=Path, metavar="FILE", help="a game record")


def _replay(options: argparse.Namespace) -> int:
    """Check a record, and draw the board that it ends with."""
    try:
        game = _read(options.record, options.rules)
    except _UnusableError as error:
        return refuse(error)
    print("\n".join(summary(game)))
    return 0


class _UnusableError(Exception):
    """A file that cannot be read, in a line that names it."""


def _read(path: Path, ruleset: Ruleset) -> Game:
    try:
        return read_record(_text(path), ruleset).game
    except RecordError as error:
        raise _UnusableError(f"{path}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise _UnusableError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _UnusableError(f"{path}: it is not text in UTF-8") from error


def _rules_option(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(f'"{name}"' for name in RULESETS)
    parser.add_argument(
        "--rules",
        type=_ruleset,
        default=next(iter(RULESETS)),
        metavar="NAME",
        help=f"{names}; by default the first",
    )


def _ruleset(name: str) -> Ruleset:
    wanted = " ".join(name.lower().replace("-", " ").split())
    if wanted not in RULESETS:
        raise argparse.ArgumentTypeError(f"should be one of {', '.join(RULESETS)}, not {name!r}")
    return RULESETS[wanted]


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) <= DEEPEST):
        raise argparse.ArgumentTypeError(f"should be a number from 0 to {DEEPEST}, not {text!r}")
    return int(text)
