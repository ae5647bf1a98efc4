"""Helpers for subcommands that read game records: files, rules and error messages."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from thudmud.errors import CommandError, ThudmudError
from thudmud.rules import (
    DEFAULT_RULES,
    RULESETS,
    Game,
    RecordError,
    Ruleset,
    find_ruleset,
    read_record,
)

LARGEST = 1_048_576
"""Maximum size of a record in bytes; a thousand plies take about 10,000."""
MOST_LINES = 10_000
"""Maximum number of lines of a record: a ply has one, another for its time, and comments."""
LONGEST_REASON = 200


class RefusedFileError(ThudmudError):
    """A file is not a valid record; ``str()`` is the reason, in one line without the file name."""


def read(path: Path, ruleset: Ruleset | None) -> Game:
    """Read the battle in a record file.

    Args:
        path: the record file.
        ruleset: the rules; None for those named by the headers, or else the default.

    Raises:
        CommandError: the file cannot be read, or is not a record.
    """
    try:
        text, _ = text_in(path)
        return read_record(text, ruleset, default=DEFAULT_RULES).game
    except RefusedFileError as refusal:
        raise CommandError(f"{path}: {refusal}") from refusal
    except RecordError as error:
        from thudmud.views.refusals import record_error_text  # noqa: PLC0415  (only a mistake needs it)

        raise CommandError(f"{path}: {one_line(record_error_text(error))}") from error


def rules_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--rules``."""
    names = ", ".join(f'"{name}"' for name in RULESETS)
    parser.add_argument(
        "--rules",
        type=ruleset_named,
        metavar="NAME",
        help=f"one of {names}; default: the one in the record, or else the first",
    )


def ruleset_named(name: str) -> Ruleset:
    """Look up a ruleset by name or its beginning; an option type for argparse."""
    if (rules := find_ruleset(name)) is not None:
        return rules
    beginning = " ".join(name.lower().replace("-", " ").split())
    candidates = [rules for known, rules in RULESETS.items() if known.startswith(beginning)]
    if not beginning or len(candidates) != 1:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(RULESETS)}, got {name!r}")
    return candidates[0]


def text_in(path: Path) -> tuple[str, float]:
    """Read a text file that may be a record; devices and oversized files are not read.

    Returns:
        The text, and the file's modification time in seconds since the epoch.

    Raises:
        RefusedFileError: the file cannot be a record.
    """
    try:
        if not path.is_file():
            raise RefusedFileError("not a file" if path.exists() else "no such file")
        status = path.stat()
        content = b""
        if status.st_size <= LARGEST:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)  # the file may have grown since `stat`
    except OSError as error:
        raise RefusedFileError(f"cannot be read: {error.strerror}") from None
    if max(status.st_size, len(content)) > LARGEST:
        raise RefusedFileError(f"larger than {LARGEST} bytes, too large for a record")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise RefusedFileError("not UTF-8 text")
    if len(text.splitlines()) > MOST_LINES:
        raise RefusedFileError(f"more than {MOST_LINES:,} lines")
    return text, min(max(status.st_mtime, 0.0), time.time())


def one_line(reason: str) -> str:
    """Make a reason printable in one short line, because it may quote the file."""
    shown = (each if each.isprintable() else " " for each in reason[: 2 * LONGEST_REASON])
    line = " ".join("".join(shown).split())
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}..."
