from __future__ import annotations

import logging
import sys

from thudmud.server.logs import PlainFormatter


def formatted(message: str, *arguments: object, failed: bool = False) -> str:
    error = sys.exc_info() if failed else None
    record = logging.LogRecord("x", logging.INFO, __file__, 1, message, arguments, error)
    return PlainFormatter("%(levelname)s %(message)s").format(record)


def test_a_plain_record_is_written_plainly() -> None:
    assert formatted("%s é", "Anna") == "INFO Anna é"


def test_no_control_character_gets_into_the_log() -> None:
    every = "".join(map(chr, range(0x100)))
    written = formatted("%s", every)
    assert all(char == "\n" or char.isprintable() or char in "\xa0\xad" for char in written)
    assert formatted("%s", "\x1b[2J\r\x07\x9b") == "INFO \\x1b[2J\\x0d\\x07\\x9b"


def test_nothing_logged_can_pass_for_a_record_of_its_own() -> None:
    assert formatted("%s", "a\nERROR b") == "INFO a\n    ERROR b"


def test_a_traceback_is_lines_of_its_record() -> None:
    try:
        int("boom \x1b[31m\nERROR c")
    except ValueError:
        first, *others = formatted("failed", failed=True).split("\n")
    assert first == "INFO failed"
    assert all(line.startswith("    ") and line.isprintable() for line in others)
    assert "boom \\x1b[31m" in others[-1]
