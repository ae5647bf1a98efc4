"""The pager: shows a long text one screen at a time. Pure."""

from __future__ import annotations

import re
from collections import deque

from thudmud.views.words import columns

MORE_PROMPT = "(more: Enter, or q) "
"""The prompt while a part of a text is left."""

_COLOUR = re.compile("\x1b\\[[0-9;]*m")


class Pager:
    """The part of a text that hasn't been shown yet.

    Args:
        text: the text, with its lines joined by line feeds.
    """

    def __init__(self, text: str) -> None:
        self._lines = deque(text.split("\n"))

    @property
    def is_done(self) -> bool:
        """Whether all of the text has been shown."""
        return not self._lines

    def next_page(self, rows: int, width: int) -> str:
        """Return the next lines that fit a screen together with the prompt, but at least one.

        Args:
            rows: the height of the screen; 0 for all the lines that are left.
            width: the width of the screen, in columns.
        """
        page, left = list[str](), rows - 1 if rows else 0
        while self._lines:
            left -= _rows_taken(self._lines[0], width)
            if rows and page and left < 0:
                break
            page.append(self._lines.popleft())
        return "\n".join(page)


def _rows_taken(line: str, width: int) -> int:
    """Return the rows that a line takes on a screen, which breaks it where it is too wide."""
    return max(1, -(-columns(_COLOUR.sub("", line)) // width))
