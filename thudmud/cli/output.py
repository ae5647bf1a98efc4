"""Robust standard streams, which may be closed or on a full disk.

If a standard stream is closed, Python sets `sys.stdout` to None, and the next opened file gets its
descriptor: output of a library or a child process could then end up in a database. An error during
printing, on the other hand, looks like an error of the file that a subcommand is working on.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


_UNUSABLE = 2  # as in `thudmud.cli.common`, which isn't imported for a quick start


class StandardStream(io.FileIO):
    """A standard stream that records the first error instead of raising it.

    A broken pipe is still raised if the output is needed, and ends the subcommand.

    Attributes:
        is_needed: whether the subcommand is useless without its output.
        failure: first error; None if everything was printed.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self.is_needed = True
        self.failure: OSError | None = None

    def write(self, data: Buffer) -> int:
        """Write data; after a recorded error, report it as written."""
        try:
            return super().write(data)
        except OSError as error:
            if self.is_needed and isinstance(error, BrokenPipeError):
                raise
            self.failure = self.failure or error
            return memoryview(data).nbytes


def guard_streams() -> StandardStream:
    """Open closed standard streams, and guard standard output and error; return the former."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (until the process ends)
    output, errors = StandardStream(1), StandardStream(2)
    errors.is_needed = False
    sys.stdout = _text(output, sys.stdout, buffered=not output.isatty())
    sys.stderr = _text(errors, sys.stderr, buffered=False)
    return output


_ESCAPED = "thudmud.escaped"
"""Name of the error handler for characters that the encoding lacks, as in the locale C."""


def _escape(error: UnicodeError) -> tuple[str | bytes, int]:
    """Restore undecodable bytes of the command line, and escape any other character."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.backslashreplace_errors(error)


codecs.register_error(_ESCAPED, _escape)


def _text(raw: StandardStream, before: object, *, buffered: bool) -> io.TextIOWrapper:
    """Wrap a raw stream as text, with the settings of the stream that it replaces, if any."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors=_ESCAPED,
        line_buffering=not buffered,
        write_through=getattr(before, "write_through", False),
    )


def report_failure(output: StandardStream, status: int) -> int:
    """Return the final exit status; print an error if needed output could not be written."""
    if status or output.failure is None or not output.is_needed:
        return status
    print(f"thudmud: standard output: {output.failure.strerror}", file=sys.stderr)
    return _UNUSABLE


def has_terminal() -> bool:
    """Return whether there is a controlling terminal, which sends SIGHUP when it is closed."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
