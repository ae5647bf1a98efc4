"""What subcommands share that deal with game records: files, rules, and names of players."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.cli.common import CommandError
from thudmud.rules import (
    DEFAULT_RULES,
    RULESETS,
    Game,
    RecordError,
    Ruleset,
    read_record,
    ruleset_called,
)


def read(path: Path, ruleset: Ruleset | None) -> Game:
    """Return the battle of the record in a file.

    Args:
        path: the file.
        ruleset: its rules; if None, those that its headers name, or else the default.

    Raises:
        CommandError: the file cannot be read, or is no record.
    """
    try:
        return read_record(_text(path), ruleset, default=DEFAULT_RULES).game
    except RecordError as error:
        from thudmud.views.refusals import unread  # noqa: PLC0415  (only a mistake needs it)

        raise CommandError(f"{path}: {unread(error)}") from error


def rules_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--rules``."""
    names = ", ".join(f'"{name}"' for name in RULESETS)
    parser.add_argument(
        "--rules",
        type=ruleset_named,
        metavar="NAME",
        help=f"one of {names}; default: the one that the record names, or else the first",
    )


def ruleset_named(name: str) -> Ruleset:
    """Return the ruleset that an option names; argparse tells of any other name."""
    rules = ruleset_called(name)
    if rules is None:
        raise argparse.ArgumentTypeError(f"should be one of {', '.join(RULESETS)}, not {name!r}")
    return rules


def is_player(name: str) -> bool:
    """Whether this can be the name of somebody who played a battle."""
    return name.isascii() and name.isalpha() and 2 <= len(name) <= 20


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: it is not text in UTF-8") from error
