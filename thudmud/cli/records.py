"""Records in files, and rules and players as they are named, for `perft`, `replay`, `import`."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.cli.options import CommandError
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
    """Return the battle that a file tells.

    Args:
        path: the file.
        ruleset: its rules, if they were given; else they are those of its headers, or the default.

    Raises:
        CommandError: it tells none.
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
        help=f"{names}; by default those that a record says, else the first",
    )


def ruleset_named(name: str) -> Ruleset:
    """Return the ruleset that an option names; argparse tells of any other name."""
    rules = ruleset_called(name)
    if rules is None:
        raise argparse.ArgumentTypeError(f"should be one of {', '.join(RULESETS)}, not {name!r}")
    return rules


def is_player(name: str) -> bool:
    """Whether somebody who played a battle can be called that."""
    return name.isascii() and name.isalpha() and 2 <= len(name) <= 20


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: it is not text in UTF-8") from error
