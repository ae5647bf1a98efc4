"""Layout checks that apply to the screens of all clients."""

from __future__ import annotations

import itertools
import re
import time

from tests.clients.kinds import Client
from tests.clients.window import PATIENCE, Window

PROMPT = re.compile(r"> ?(.*)")
HEADING = re.compile(r" {3,4}A B C ")
ROW = re.compile(r"( \d|1\d)[ |╎]")
AMOUNTS = {0: "off", 16: "16 colours", 256: "256 colours", 2**24: "true colour"}


def board(window: Window) -> list[str]:
    """Return the rows of the last board on the screen, after checking its layout."""
    lines = window.lines
    last = sorted(number for number, line in enumerate(lines) if HEADING.match(line))[-2]
    rows = [line for line in lines[last + 1 : last + 18] if ROW.match(line)]
    assert [row[:2] for row in rows] == [f"{number:>2}" for number in range(1, 16)], lines
    columns = [lines[last].index(letter) for letter in "ABCDEFGHIJKLMNO"]
    assert all(rows[5][column] != " " for column in columns), "row 6 is as wide as the board"
    return rows


def come_in(window: Window, name: str) -> None:
    window.until("What is your name? ")
    window.type(name)
    window.until("You come into the hall.")
    window.until("> ")


def until_told(window: Window, *words: str) -> None:
    """Repeat "options" until its answer contains all of these words.

    Negotiating a client's capabilities takes several rounds, and typing can be faster.
    """
    end, said = time.monotonic() + PATIENCE, ""
    while not all(each in said for each in words):
        assert time.monotonic() < end, f"no {words} in {said}"
        window.type("options")
        said = window.until("set machine on")
        window.until("> ")


def until_known(window: Window, client: Client) -> None:
    """Wait until the server knows the client's capabilities."""
    until_told(
        window,
        f"boards in {'UTF-8' if client.utf8 else 'ASCII'} here",
        f"which is {AMOUNTS[client.colours]} here",
    )


def check(window: Window, client: Client, typed: set[str]) -> None:
    """Check the layout of a screen; ``typed`` holds every line typed at a prompt."""
    lines = game(window.lines, client)
    assert max(map(len, lines)) < 80, lines
    for one, next_one in itertools.pairwise(lines):
        assert one or next_one, lines
    for line in lines:
        if match := PROMPT.match(line):
            assert match[1] in typed | {""}, f"a prompt in front of {match[1]!r}"
        assert not line.endswith(" >"), f"a prompt after {line!r}"
    if not client.input_apart:
        assert window.cursor[1] == 2, "the cursor is not after the prompt"


def game(lines: list[str], client: Client) -> list[str]:
    """Return the lines that belong to the game, without the client's own messages and input."""
    first = next((number for number, line in enumerate(lines) if line.startswith("Welcome")), 0)
    if not client.input_apart:
        return lines[first:]
    bar = max(number for number, line in enumerate(lines) if line.startswith("____"))
    return lines[first:bar]
