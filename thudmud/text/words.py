"""Lines that fit a screen.

Owns the wrapping of prose and how many columns it takes. Must never know an event, nor a colour.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category

from wcwidth import iter_graphemes, wcwidth

_COMMAND = re.compile(r'"[^"]{1,60}"[.,;:?]?')
GLUE = "\0"
"""A blank at which no line is broken, until `wrapped` has made it one: no text that is shown holds
it."""
_NARROW = "\N{COMBINING GRAVE ACCENT}"
"""The first character that does not take one column; the soft hyphen, too, takes one."""
_EMOJI = "\N{VARIATION SELECTOR-16}"
_CHUNK = re.compile(r"( *)([^ ]+)")
_BLANKS = dict.fromkeys(map(ord, "\t\n\v\f\r"), " ")


def wrapped(text: str, width: int, indent: str = "", *, glued: bool = True) -> list[str]:
    """Return ``text`` as lines of fewer than ``width`` columns.

    A line as wide as the screen would make some clients add an empty one. ``indent`` goes before
    every line but the first. Words to be typed, in quotes, stay on one line where they fit on one,
    unless ``glued`` is False, as it is for what players say.
    """
    if len(text) < width:
        # As nearly all sentences are; taking them apart costs more than all else about them.
        short = text.replace(GLUE, " ").rstrip(" ")
        if short.isprintable() and _is_narrow(short):
            return [short] if short else []
    room = width - 1 - len(indent)

    def glue(quoted: re.Match[str]) -> str:
        return quoted[0].replace(" ", GLUE) if columns(quoted[0]) < room else quoted[0]

    words = _COMMAND.sub(glue, text) if glued else text
    if _is_narrow(words):
        lines = textwrap.wrap(words, width - 1, subsequent_indent=indent, break_on_hyphens=False)
    else:
        lines = _broken(words, width - 1, indent)
    # A word too long for any line may have been broken right there.
    return [line.strip(GLUE).replace(GLUE, " ") for line in lines]


def columns(text: str) -> int:
    """Return how many columns ``text`` takes at most.

    Terminals differ about characters that are drawn as one, as families and flags are: they are
    counted as if each stood by itself, so that a line is too short on some rather than too wide.
    """
    return len(text) if _is_narrow(text) else sum(map(_columns, text))


def _is_narrow(text: str) -> bool:
    """Whether every character takes one column. Nearly all texts are ASCII, which is known."""
    return text.isascii() or max(text) < _NARROW


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    # What can be drawn over two columns may be, where an emoji is asked for; and a vowel sign that
    # combines with a letter of India stands beside it on many terminals, inside it on others.
    if char in {_EMOJI, GLUE} or category(char) == "Mc":
        return 1
    return max(0, wcwidth(char))


def _broken(text: str, width: int, indent: str) -> list[str]:
    """Return ``text`` as ``textwrap`` would break it if it counted columns."""
    lines: list[str] = []
    line, used = "", 0
    for blanks, word in _CHUNK.findall(text.expandtabs().translate(_BLANKS)):
        gap, needed = blanks if line or not lines else "", columns(word)
        most = width - len(indent) if lines else width
        if used + len(gap) + needed > width and needed <= most:
            if line:
                lines.append(line)
                line, used = indent, len(indent)
            gap = ""
        line, used = line + gap, used + len(gap)
        if used + needed <= width:
            line, used = line + word, used + needed
            continue
        # A word too long for any line begins on this one, if a part of it still fits.
        for part, cost in _parts(word, width - len(indent)):
            if used + cost > width:
                lines.append(line.rstrip(" "))
                line, used = indent, len(indent)
            line, used = line + part, used + cost
    return [each for each in [*lines, line] if each.strip(" ")]


def _parts(word: str, width: int) -> Iterator[tuple[str, int]]:
    """Yield what a word can be broken into, and how many columns that takes.

    What is drawn as one character stays whole if it can.
    """
    for cluster in iter_graphemes(word):
        cost = sum(map(_columns, cluster))
        if cost <= width:
            yield cluster, cost
        else:
            yield from ((char, _columns(char)) for char in cluster)
