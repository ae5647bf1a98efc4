"""Time to parse a line, beside a bare regular expression that matches the same line.

Run ``python -m benchmarks.parser``. It prints microseconds per line, and the ratio to the
yardstick, which is comparable between machines. ``remembered`` is a line in the cache of ``parse``;
the others bypass that cache.
"""

from __future__ import annotations

import re
import timeit
from collections.abc import Callable
from contextlib import suppress

from thudmud.language import ParseError, parse
from thudmud.language.parsing import parse_uncached

POSITION = r"[a-o] *(?:1[0-5]|[1-9])\b"
YARDSTICK = re.compile(
    rf"(move|shove|hurl|leave game) *(?:(?:from +)?({POSITION}) *(?:to +)?({POSITION}))?"
    rf"(?: *on +(.*?))?(?: *capturing +({POSITION}(?: *, *{POSITION})*))?",
    re.IGNORECASE,
)

LINES = {
    "long move": "move from c5 to c7 on the second oak board capturing d8, e 8, b 7, c9",
    "short move": "move a6 b6",
    "short command": "leave game on oak board",
    "refused line": "move from a6 tu b6 on oak board",
}


def microseconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the fastest time of a call, in microseconds."""
    timer = timeit.Timer(work)
    number, _ = timer.autorange()
    return min(timer.repeat(repeats, number)) / number * 1e6


def attempt(line: str) -> None:
    with suppress(ParseError):
        parse_uncached(line)


def main() -> None:
    yardstick = microseconds(lambda: YARDSTICK.fullmatch(LINES["long move"]))
    print(f"yardstick: a regular expression matches the long move in {yardstick:.2f} us")
    for name, line in LINES.items():
        taken = microseconds(lambda line=line: attempt(line))  # type: ignore[misc]  # loop variable
        print(f"{name:16} {taken:8.2f} us {taken / yardstick:8.1f} x")
    parse(LINES["long move"])
    taken = microseconds(lambda: parse(LINES["long move"]))
    print(f"{'remembered':16} {taken:8.2f} us {taken / yardstick:8.1f} x")


if __name__ == "__main__":
    main()
