"""What all subcommands share: an error of theirs, how it is told, options, how far one has come.

Small subcommands start at once because little is imported here.
"""

from __future__ import annotations

import argparse
import sys
from time import monotonic

from thudmud.errors import ThudmudError

UNUSABLE = 2
"""The exit status for a command line, a configuration or a file that can't be used."""

TRY_LATER = 75
"""The exit status if the same may work later, such as when another server has ended.

The C library calls it EX_TEMPFAIL.
"""

HIGHEST_PORT = 65535


class CommandError(ThudmudError):
    """A subcommand cannot do what is asked for; ``str()`` is a line that says why."""


def port(text: str) -> int:
    """Return the port that an option gives; else raise what makes argparse tell what is wrong."""
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        right = f"should be a whole number from 0 to {HIGHEST_PORT}, not {text!r}"
        raise argparse.ArgumentTypeError(right)
    return int(text)


class Progress:
    """Tells on standard error how far something long has come; the line goes at its end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._due = monotonic() + 0.5 if sys.stderr.isatty() else float("inf")
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __call__(self, done: int, in_all: int) -> None:
        """Tell how many of how many are done."""
        if monotonic() < self._due:
            return
        self._due, self._shown = monotonic() + 0.2, True
        share = f"{100 * done // max(1, in_all)} %"
        line = f"{done:,} of {in_all:,} {self._what}, {share}"
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def refuse(*problems: object, status: int = UNUSABLE) -> int:
    """Print problems to standard error, a line each; return the exit status."""
    for problem in problems:
        print(f"thudmud: {problem}", file=sys.stderr)
    return status
