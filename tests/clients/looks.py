"""What holds of every screen that people read, whatever their client."""

from __future__ import annotations

import itertools
import re

from tests.clients.kinds import Client
from tests.clients.window import Window

PROMPT = re.compile(r"> ?(.*)")
HEADING = re.compile(r" {3,4}A B C ")
ROW = re.compile(r"( \d|1\d)[ ╎]")


def board(window: Window) -> list[str]:
    """Return the rows of the last board on the screen, which has to be whole and upright."""
    lines = window.lines
    last = max(number for number, line in enumerate(lines) if HEADING.match(line))
    rows = [line for line in lines[last + 1 : last + 18] if ROW.match(line)]
    assert [row[:2] for row in rows] == [f"{number:>2}" for number in range(1, 16)], lines
    columns = [lines[last].index(f" {letter} ") + 1 for letter in "ABCDEFGHIJKLMNO"]
    assert all(rows[5][column] != " " for column in columns), "row 6 is as wide as the board"
    return rows


def check(window: Window, client: Client, typed: set[str]) -> None:
    """Check that a screen is laid out well; ``typed`` is all that has been typed at a prompt."""
    lines = game(window.lines, client)
    assert max(map(len, lines)) < 80, lines
    for one, next_one in itertools.pairwise(lines):
        assert one or next_one, lines
    for line in lines:
        if match := PROMPT.match(line):
            assert match[1] in typed | {""}, f"a prompt in front of {match[1]!r}"
        assert not line.endswith(" >"), f"a prompt behind {line!r}"
    if not client.input_apart:
        assert window.cursor[1] == 2, "the cursor is not behind the prompt"


def game(lines: list[str], client: Client) -> list[str]:
    """Return what a screen shows of the game, without what the client says and types by itself."""
    first = next((number for number, line in enumerate(lines) if line.startswith("Welcome")), 0)
    if not client.input_apart:
        return lines[first:]
    bar = max(number for number, line in enumerate(lines) if line.startswith("____"))
    return lines[first:bar]
