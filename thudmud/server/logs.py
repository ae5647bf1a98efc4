"""The log: to standard error, and safe to look at in a terminal.

Owns how a record is written. No control character gets into it, whatever text a client sent.
"""

from __future__ import annotations

import logging

_CONTROLS = {code: f"\\x{code:02x}" for code in [*range(0x20), *range(0x7F, 0xA0)]}


class PlainFormatter(logging.Formatter):
    """Writes a record with its control characters spelt out.

    The lines of a traceback stay lines, but indented: nothing that is logged can pass for a record
    of its own.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as it is written."""
        first, *others = super().format(record).split("\n")
        return "\n    ".join(line.translate(_CONTROLS) for line in (first, *others))


def begin(level: str) -> None:
    """Log to standard error from now on, records of ``level`` and above."""
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # telnetlib3 logs at "warning" what any client can make it log as often as it likes.
    if level != "debug":
        logging.getLogger("telnetlib3").setLevel(logging.ERROR)
