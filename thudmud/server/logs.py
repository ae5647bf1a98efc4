"""The log: one line for each record, as key=value pairs or as JSON, to standard error or a file.

It is printable ASCII, whatever text a client sent: so it is safe to show in a terminal, and no text
can look like another record.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

from thudmud.errors import StartError

_log = logging.getLogger(__name__)

_PLAIN = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_DELETE = "\x7f"  # the one control character of ASCII that JSON does not escape
_OWN = {*vars(logging.makeLogRecord({})), "message", "asctime"}
"""The attributes of every record; any other is written with a key of its own."""


class StructuredFormatter(logging.Formatter):
    """Writes a record as ``time="..." level=info from="..." event="..."``, and its own keys.

    Values of more than letters and digits are written as JSON strings, so that even a traceback is
    one line.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return " ".join(f"{key}={_value(str(told))}" for key, told in self._pairs(record))

    def _pairs(self, record: logging.LogRecord) -> Iterator[tuple[str, Any]]:
        second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        yield "time", f"{second}.{int(record.msecs):03}Z"
        yield "level", record.levelname.lower()
        yield "from", record.name
        yield "event", _with_short_lines(record.getMessage())
        for key, value in vars(record).items():
            if key not in _OWN:
                yield key, _short(value)
        if record.exc_info:
            yield "trace", _with_short_lines(self.formatException(record.exc_info))


class JsonFormatter(StructuredFormatter):
    """Writes a record as one JSON object, with the same keys; numbers stay numbers."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return json.dumps(dict(self._pairs(record))).replace(_DELETE, "\\u007f")


FORMATS = {"text": StructuredFormatter, "json": JsonFormatter}
"""The formats of the log."""


LONGEST_VALUE = 200
"""Characters of a value that are written, of messages and tracebacks in each line: strangers choose
some of the values, and JSON takes up to twelve bytes for a character."""


WINDOW = 60.0
"""Seconds in which the same message is logged only so often."""

MOST, MOST_INFO = 10, 5000
"""How often: a warning or worse, and anything else, which is not logged by default."""

STRANGERS = "thudmud.strangers"
"""The logger of records that anybody can cause, without a name, as often as they like."""

MOST_OF_STRANGERS = 200
"""How many of those are logged in a window, all together."""


class RepetitionFilter(logging.Filter):
    """Drops repeated records, and those of strangers beyond a number; later ones tell how many.

    Records are the same if they have the same logger, and the same first line of the message before
    formatting: asyncio puts sockets and tasks into the lines after it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str], _Repeated] = {}
        self._strangers = _OfStrangers()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write a record."""
        if "operator" in vars(record):
            return True  # operators' measures are recorded nowhere else
        if not 0 <= record.created - self._strangers.since < WINDOW:
            before, self._strangers = self._strangers, _OfStrangers(record.created)
            before.report()
        if record.name == STRANGERS and not self._strangers.admit(record):
            return False
        key = record.name, str(record.msg).partition("\n")[0]
        seen = self._seen.get(key)
        if seen is None or not 0 <= record.created - seen.since < WINDOW:
            if seen is not None and seen.left_out:
                vars(record)["left_out"] = seen.left_out
            self._forget(record.created)
            seen = self._seen[key] = _Repeated(record.created)
        seen.count += 1
        most = MOST if record.levelno >= logging.WARNING else MOST_INFO
        if seen.count > most:
            seen.left_out += 1
            return False
        if seen.count == most:
            vars(record)["note"] = f"the same is left out for up to {WINDOW:.0f} seconds"
        return True

    def _forget(self, now: float) -> None:
        """Forget expired entries that have nothing to report."""
        for key, seen in list(self._seen.items()):
            if not (seen.left_out or 0 <= now - seen.since < WINDOW):
                self._seen.pop(key, None)  # another thread may have done so


@dataclass(slots=True)
class _Repeated:
    since: float
    count: int = 0
    left_out: int = 0


@dataclass(slots=True)
class _OfStrangers:
    """Counts the records of strangers in a window."""

    since: float = 0.0
    count: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def admit(self, record: logging.LogRecord) -> bool:
        """Return whether to write a record; count it."""
        self.count += 1
        if self.count > MOST_OF_STRANGERS:
            self.left_out[str(record.msg)] += 1
        return self.count <= MOST_OF_STRANGERS

    def report(self) -> None:
        """Log how many records were left out."""
        if self.left_out:
            what = ", ".join(f"{event} {count}" for event, count in self.left_out.most_common())
            extra = {"number": self.left_out.total(), "what": what}
            _log.warning("records that strangers cause were left out", extra=extra)


class _ToFile(logging.handlers.WatchedFileHandler):
    """Writes to a file that is not world-readable, since it has players' addresses.

    A failure is reported once, on standard error, and has no other effect. The next record may be
    written again.
    """

    _has_failed = False

    def _open(self) -> TextIOWrapper:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags, 0o640)

        file = open(self.baseFilename, self.mode, encoding=self.encoding, opener=private)  # noqa: SIM115  (it stays open)
        return cast("TextIOWrapper", file)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:  # a new file cannot be opened
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name that logging calls)
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._has_failed:
            self._has_failed = True
            print(f"thudmud: {_problem(self.baseFilename, error)}", file=sys.stderr)

    def close(self) -> None:
        with suppress(OSError):  # unwritten records may be waiting
            super().close()


def begin(level: str, path: Path | None = None, form: str = "text") -> None:
    """Log records of a level and above from now on, to a file or to standard error.

    If the file is moved away, a new one is opened.

    Raises:
        StartError: the file cannot be written.
    """
    try:
        handler = _ToFile(path, encoding="ascii") if path else logging.StreamHandler()
    except OSError as error:
        raise StartError(_problem(path, error)) from error
    handler.addFilter(RepetitionFilter())
    handler.setFormatter(FORMATS[form]())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Any client can cause these loggers' records as often as it likes.
    for name in ("telnetlib3", "websockets"):
        logging.getLogger(name).setLevel(logging.NOTSET if level == "debug" else logging.ERROR)


def _problem(path: Path | str | None, error: OSError) -> str:
    return f"server.log_file: {path} cannot be written: {error.strerror}"


def _short(value: object) -> str | float | None:
    """Return a value as it is written; numbers stay numbers."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    more = len(text) - LONGEST_VALUE
    return text if more <= 0 else f"{text[:LONGEST_VALUE]}... ({more} more)"


def _with_short_lines(text: str) -> str:
    """Return what we say ourselves, which may hold a value of others."""
    return "\n".join(str(_short(line)) for line in text.split("\n"))


def _value(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return json.dumps(text).replace(_DELETE, "\\u007f")
