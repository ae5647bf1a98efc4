"""Helpers for all subcommands: exit statuses, option types, file output and progress.

This module imports little, so that small subcommands start quickly.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from pathlib import Path
from time import monotonic

from thudmud.errors import CommandError

UNUSABLE = 2
"""Exit status for an unusable command line, configuration or file."""

TRY_LATER = 75
"""Exit status for a temporary failure, such as when another server is still running.

It is EX_TEMPFAIL of sysexits.h.
"""

HIGHEST_PORT = 65535


def port(text: str) -> int:
    """Parse a port; an option type for argparse."""
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        right = f"expected a whole number from 0 to {HIGHEST_PORT}, got {text!r}"
        raise argparse.ArgumentTypeError(right)
    return int(text)


def write_whole(path: Path, data: bytes, *, beginning: int = 0) -> None:
    """Write a file atomically; an existing file keeps its mode.

    Args:
        path: the file. Symbolic links are followed; devices and pipes are written directly.
        data: the new content.
        beginning: number of leading bytes that an existing file has to share with `data`, so that
            only files of the same kind are overwritten; 0 for no check.

    Raises:
        CommandError: there is no such folder, or the existing file begins with other bytes.
        OSError: the file cannot be written.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    if beginning and path.exists():
        with path.open("rb") as file:
            if file.read(beginning) not in {b"", data[:beginning]}:
                raise CommandError(f"{path}: exists and contains something else; not overwritten")
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(target.stat().st_mode & 0o7777)
        part.replace(target)
    except FileNotFoundError as error:
        raise CommandError(f"{path}: no folder {path.parent}") from error
    except OSError as error:
        part.unlink(missing_ok=True)
        error.filename = str(path)
        raise


class Progress:
    """Progress line on standard error, if that is a terminal; erased at the end."""

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
        """Update the line, at most five times a second.

        Args:
            done: number of items that are done.
            in_all: total number of items.
        """
        if monotonic() < self._due:
            return
        self._due, self._shown = monotonic() + 0.2, True
        share = f"{100 * done // max(1, in_all)} %"
        line = f"{done:,} of {in_all:,} {self._what}, {share}"
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def refuse(*problems: object, status: int = UNUSABLE) -> int:
    """Print problems to standard error, one per line; return the exit status."""
    for problem in problems:
        print(f"thudmud: {problem}", file=sys.stderr)
    return status
