"""Structured logging: one line per record, as key=value pairs (logfmt) or JSON.

The output goes to standard error or to a file. It is always printable ASCII, whatever clients send:
safe to show in a terminal, and proof against log injection.
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
_DELETE = "\x7f"  # the only ASCII control character that JSON does not escape
_OWN = {*vars(logging.makeLogRecord({})), "message", "asctime"}
"""The standard attributes of log records; any other is written under its own key."""


class StructuredFormatter(logging.Formatter):
    """Formats a record as ``time="..." level=info from="..." event="..."``, then its own keys.

    Values are written as JSON strings unless they consist of letters and digits. So even a
    traceback takes one line.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line."""
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
    """Formats a record as a JSON object with the same keys; numbers stay numbers."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line."""
        return json.dumps(dict(self._pairs(record))).replace(_DELETE, "\\u007f")


FORMATS = {"text": StructuredFormatter, "json": JsonFormatter}
"""Formatter classes by the value of the setting ``log.format``."""


LONGEST_VALUE = 200
"""The most characters of a value, or of a line in a message or traceback. Strangers choose some of
the values, and JSON escapes take up to twelve bytes for a character."""


WINDOW = 60.0
"""Length of the rate-limiting window in seconds."""

MOST, MOST_INFO = 10, 5000
"""Repetitions per window: of warnings and above, and of levels that are off by default."""

STRANGERS = "thudmud.strangers"
"""Logger of records that anybody can cause at will, without logging in."""

MOST_OF_STRANGERS = 200
"""The most records of `STRANGERS` per window, of all messages together."""


class RepetitionFilter(logging.Filter):
    """Filter that drops repeated records, and excess records of strangers.

    A later record reports the number of dropped ones. Records count as equal if they share the
    logger and the first line of the message before formatting: asyncio puts sockets and tasks into
    further lines.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str], _Repeated] = {}
        self._strangers = _OfStrangers()

    def filter(self, record: logging.LogRecord) -> bool:
        """Count a record; return whether the limits allow writing."""
        if "operator" in vars(record):
            return True  # operators' actions are recorded nowhere else
        if not 0 <= record.created - self._strangers.since < WINDOW:
            before, self._strangers = self._strangers, _OfStrangers(record.created)
            before.report()
        if record.name == STRANGERS and not self._strangers.should_write(record):
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
            vars(record)["note"] = f"further repeats are dropped for up to {WINDOW:.0f} seconds"
        return True

    def _forget(self, now: float) -> None:
        """Remove expired entries without dropped records to report."""
        for key, seen in list(self._seen.items()):
            if not (seen.left_out or 0 <= now - seen.since < WINDOW):
                self._seen.pop(key, None)  # another thread may have removed it


@dataclass(slots=True)
class _Repeated:
    since: float
    count: int = 0
    left_out: int = 0


@dataclass(slots=True)
class _OfStrangers:
    """Counter of strangers' records in the current window."""

    since: float = 0.0
    count: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def should_write(self, record: logging.LogRecord) -> bool:
        """Count a record; return whether the limit allows writing."""
        self.count += 1
        if self.count > MOST_OF_STRANGERS:
            self.left_out[str(record.msg)] += 1
        return self.count <= MOST_OF_STRANGERS

    def report(self) -> None:
        """Log the number of dropped records, by message."""
        if self.left_out:
            what = ", ".join(f"{event} {count}" for event, count in self.left_out.most_common())
            extra = {"number": self.left_out.total(), "what": what}
            _log.warning("dropped records caused by strangers", extra=extra)


class _ToFile(logging.handlers.WatchedFileHandler):
    """File handler whose file isn't world-readable, since it holds players' addresses.

    The first write error is reported on standard error, later ones are ignored. Each record is a
    new attempt.
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
        except OSError:  # after rotation, the new file cannot be opened
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name that logging calls)
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._has_failed:
            self._has_failed = True
            print(f"thudmud: {_problem(self.baseFilename, error)}", file=sys.stderr)

    def close(self) -> None:
        with suppress(OSError):  # flushing buffered records may fail
            super().close()


def configure_logging(level: str, path: Path | None = None, form: str = "text") -> None:
    """Configure the root logger; can be called again to change the configuration.

    Args:
        level: the lowest level to log, such as "info".
        path: the log file, reopened when log rotation moves it; None for standard error.
        form: a key of `FORMATS`.

    Raises:
        StartError: the file can't be written.
    """
    try:
        handler = _ToFile(path, encoding="ascii") if path else logging.StreamHandler()
    except OSError as error:
        raise StartError(_problem(path, error)) from error
    handler.addFilter(RepetitionFilter())
    handler.setFormatter(FORMATS[form]())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Clients can cause any number of records by these loggers.
    for name in ("telnetlib3", "websockets"):
        logging.getLogger(name).setLevel(logging.NOTSET if level == "debug" else logging.ERROR)


def _problem(path: Path | str | None, error: OSError) -> str:
    return f"server.log_file: cannot write {path}: {error.strerror}"


def _short(value: object) -> str | float | None:
    """Return a value as text of at most `LONGEST_VALUE` characters; numbers stay numbers."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    more = len(text) - LONGEST_VALUE
    return text if more <= 0 else f"{text[:LONGEST_VALUE]}... ({more} more)"


def _with_short_lines(text: str) -> str:
    """Shorten each line of a string of ours, which may contain values chosen by strangers."""
    return "\n".join(str(_short(line)) for line in text.split("\n"))


def _value(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return json.dumps(text).replace(_DELETE, "\\u007f")
