"""Curves in text: columns filled to some height, in ASCII or Braille patterns."""

from __future__ import annotations

from collections.abc import Sequence

from thudmud.views.view import Display

_UP, _DOWN = " .:#", " ':#"
_BRAILLE = "\N{BRAILLE PATTERN BLANK}"
"""The first Braille pattern. All have two columns of four dots, and are one column wide."""

_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""The dots of each column of a pattern, from below."""


def parts(display: Display) -> tuple[int, int]:
    """Return how many heights a character shows side by side, and how many levels each has."""
    return (2, 4) if display.utf8 else (1, 3)


def rows(heights: Sequence[int], count: int, display: Display, *, hangs: bool = False) -> list[str]:
    """Return rows of characters filled to some heights, the top row first.

    Args:
        heights: the heights, in levels; below 0 is not shown.
        count: how many rows to return.
        display: the reader's display.
        hangs: whether to fill from above.
    """
    across, _ = parts(display)
    even = [*heights, *[0] * (-len(heights) % across)]
    cells = [even[first : first + across] for first in range(0, len(even), across)]
    drawn = [_row(cells, row, display, hangs=hangs) for row in range(count)]
    return drawn if hangs else drawn[::-1]


def _row(cells: Sequence[Sequence[int]], row: int, display: Display, *, hangs: bool) -> str:
    """Return a row; row 0 is the one at height 0."""
    _, up = parts(display)
    filled = [[max(0, min(up, height - row * up)) for height in cell] for cell in cells]
    if not display.utf8:
        return "".join((_DOWN if hangs else _UP)[height] for (height,) in filled)
    order = -1 if hangs else 1
    dots = [
        sum(sum(each[::order][:height]) for each, height in zip(_DOTS, cell, strict=True))
        for cell in filled
    ]
    return "".join(chr(ord(_BRAILLE) + each) if each else " " for each in dots)
