"""Lines that fit a screen.

Owns the wrapping of prose. Must never know an event. Columns are counted as characters: one that
takes two columns, as in Chinese, counts as one.
"""

from __future__ import annotations

import re
import textwrap

_COMMAND = re.compile(r'"[^"]{1,60}"[.,;:?]?')
_GLUE = "\0"  # no text that is shown holds it


def wrapped(text: str, width: int, indent: str = "", *, glued: bool = True) -> list[str]:
    """Return ``text`` as lines of fewer than ``width`` columns.

    A line as wide as the screen would make some clients add an empty one. ``indent`` goes before
    every line but the first. Words to be typed, in quotes, stay on one line where they fit on one,
    unless ``glued`` is False, as it is for what players say.
    """
    room = width - 1 - len(indent)

    def glue(quoted: re.Match[str]) -> str:
        return quoted[0].replace(" ", _GLUE) if len(quoted[0]) < room else quoted[0]

    words = _COMMAND.sub(glue, text) if glued else text
    lines = textwrap.wrap(words, width - 1, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(_GLUE, " ") for line in lines]
