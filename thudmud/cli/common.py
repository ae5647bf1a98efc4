"""What all subcommands share: an error of theirs, how it is told, options, how far one has come.

Small subcommands start at once because little is imported here.
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
"""The exit status for a command line, a configuration or a file that can't be used."""

TRY_LATER = 75
"""The exit status if the same may work later, such as when another server has ended.

The C library calls it EX_TEMPFAIL.
"""

HIGHEST_PORT = 65535


def port(text: str) -> int:
    """Return the port that an option gives; else raise what makes argparse tell what is wrong."""
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        right = f"should be a whole number from 0 to {HIGHEST_PORT}, not {text!r}"
        raise argparse.ArgumentTypeError(right)
    return int(text)


def write_whole(path: Path, data: bytes, *, beginning: int = 0) -> None:
    """Write a file whole or not at all; what is there stays until then, and its mode.

    Args:
        path: the file; a symbolic link is followed, and a device or a pipe is written as it is.
        data: what it is to hold.
        beginning: how many bytes tell that a file which is there already is one of the same kind.

    Raises:
        CommandError: a file is there that begins otherwise.
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    if beginning and path.exists():
        with path.open("rb") as file:
            if file.read(beginning) not in {b"", data[:beginning]}:
                raise CommandError(f"{path}: it holds something else, and is left as it is")
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
    except OSError as error:
        part.unlink(missing_ok=True)
        error.filename = str(path)
        raise


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
