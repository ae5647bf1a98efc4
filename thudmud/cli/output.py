"""Standard output and error which may be closed, or on a full disk.

Python leaves `sys.stdout` as None if it is closed, and the next file that is opened gets its
number: what a library or a program that we start prints would be written into a database. An error
while something is printed looks like one of whatever file a subcommand has just to do with.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


_UNUSABLE = 2  # as in `thudmud.cli.common`, which small command lines do without


class StandardStream(io.FileIO):
    """A standard stream that remembers the first error instead of raising it.

    Nobody may read on: then a subcommand ends, unless it has more to do than to print.

    Attributes:
        is_needed: whether printing is what the subcommand is for.
        failure: why something could not be printed, if that is so.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self.is_needed = True
        self.failure: OSError | None = None

    def write(self, data: Buffer) -> int:
        """Write, or pretend to."""
        try:
            return super().write(data)
        except OSError as error:
            if self.is_needed and isinstance(error, BrokenPipeError):
                raise
            self.failure = self.failure or error
            return memoryview(data).nbytes


def guard_streams() -> StandardStream:
    """Open standard streams that are closed, guard those for output, and return the first."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (until the process ends)
    output, errors = StandardStream(1), StandardStream(2)
    errors.is_needed = False
    sys.stdout = _text(output, sys.stdout, buffered=not output.isatty())
    sys.stderr = _text(errors, sys.stderr, buffered=False)
    return output


_ESCAPED = "thudmud.escaped"
"""How characters are written that the encoding lacks, as in the locale C."""


def _escape(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return undecodable bytes of the command line as they came, anything else as an escape."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.backslashreplace_errors(error)


codecs.register_error(_ESCAPED, _escape)


def _text(raw: StandardStream, before: object, *, buffered: bool) -> io.TextIOWrapper:
    """Return a text stream as Python has made it before, if it has made one."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors=_ESCAPED,
        line_buffering=not buffered,
        write_through=getattr(before, "write_through", False),
    )


def report_failure(output: StandardStream, status: int) -> int:
    """Return the exit status, and say so if what was to be printed could not be."""
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
