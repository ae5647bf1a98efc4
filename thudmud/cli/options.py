"""What several subcommands share: how options are read, and how a refusal is told.

Nothing is loaded here that only some of them need.
"""

from __future__ import annotations

import argparse
import sys

from thudmud.errors import ThudmudError

UNUSABLE = 2
"""The exit status for a command line, a configuration or a file that can't be used."""

HIGHEST_PORT = 65535


class CommandError(ThudmudError):
    """A subcommand cannot do what is asked for; ``str()`` says why, in a line for its user."""


def port(text: str) -> int:
    """Return the port that an option gives; argparse tells of anything else."""
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        right = f"should be a whole number from 0 to {HIGHEST_PORT}, not {text!r}"
        raise argparse.ArgumentTypeError(right)
    return int(text)


def refuse(*problems: object) -> int:
    """Tell what can't be used, a line each; return the exit status."""
    for problem in problems:
        print(f"thudmud: {problem}", file=sys.stderr)
    return UNUSABLE
