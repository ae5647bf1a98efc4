"""The log: one line of key=value pairs for each record, to standard error or to a file.

It holds nothing but printable ASCII, whatever text a client sent: it is safe to look at in a
terminal, and no record can be taken for two.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import re
import time
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import cast

from thudmud.errors import StartError

_PLAIN = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_DELETE = "\x7f"  # the one control character of ASCII that JSON does not escape
_OWN = {*vars(logging.makeLogRecord({})), "message", "asctime"}
"""What every record has; what else one has is written with a key of its own."""


class StructuredFormatter(logging.Formatter):
    """Writes a record as ``time="..." level=info from="..." event="..."``, and its own keys.

    Values that are more than letters and digits are written as JSON strings, so that a traceback is
    one line, too.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as it is written."""
        return " ".join(f"{key}={_value(text)}" for key, text in self._pairs(record))

    def _pairs(self, record: logging.LogRecord) -> Iterator[tuple[str, str]]:
        second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        yield "time", f"{second}.{int(record.msecs):03}Z"
        yield "level", record.levelname.lower()
        yield "from", record.name
        yield "event", record.getMessage()
        for key, value in vars(record).items():
            if key not in _OWN:
                yield key, str(value)
        if record.exc_info:
            yield "trace", self.formatException(record.exc_info)


class _LogFile(logging.handlers.WatchedFileHandler):
    """A file that is begun anew when it was moved away. Not all may read who comes from where."""

    def _open(self) -> TextIOWrapper:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags, 0o640)

        file = open(self.baseFilename, self.mode, encoding=self.encoding, opener=private)  # noqa: SIM115  (it stays open)
        return cast("TextIOWrapper", file)


def begin(level: str, path: Path | None = None) -> None:
    """Log records of ``level`` and above from now on, to a file, or to standard error.

    If the file is moved away, a new one is begun.

    Raises:
        StartError: the file cannot be written.
    """
    handler: logging.Handler
    try:
        handler = _LogFile(path, encoding="ascii") if path else logging.StreamHandler()
    except OSError as error:
        raise StartError(f"server.log_file: {path} cannot be written: {error.strerror}") from error
    handler.setFormatter(StructuredFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # telnetlib3 warns of things that any client can do as often as it likes.
    if level != "debug":
        logging.getLogger("telnetlib3").setLevel(logging.ERROR)


def _value(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return json.dumps(text).replace(_DELETE, "\\u007f")
