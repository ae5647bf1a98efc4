"""What all subcommands share: an error of theirs, how it is told, and ports as options.

Small subcommands start at once because little is imported here.
"""

from __future__ import annotations

import argparse
import sys

from thudmud.errors import ThudmudError

UNUSABLE = 2
"""The exit status for a command line, a configuration or a file that can't be used."""

HIGHEST_PORT = 65535


class CommandError(ThudmudError):
    """A subcommand cannot do what is asked for; ``str()`` is a line that says why."""


def port(text: str) -> int:
    """Return the port that an option gives; else raise what makes argparse tell what is wrong."""
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        right = f"should be a whole number from 0 to {HIGHEST_PORT}, not {text!r}"
        raise argparse.ArgumentTypeError(right)
    return int(text)


def refuse(*problems: object) -> int:
    """Print problems to standard error, a line each; return the exit status."""
    for problem in problems:
        print(f"thudmud: {problem}", file=sys.stderr)
    return UNUSABLE
