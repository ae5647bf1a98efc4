"""Column charts in text, drawn in ASCII or with Braille patterns."""

from __future__ import annotations

from collections.abc import Sequence

from thudmud.views.view import Display

_UP, _DOWN = " .:#", " ':#"
_BRAILLE = "\N{BRAILLE PATTERN BLANK}"
"""The first Braille pattern. Each pattern has two columns of four dots in a single cell."""

_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""Bits of the dots in either column of a pattern, from the bottom up."""


def parts(display: Display) -> tuple[int, int]:
    """Return the resolution of a character cell: columns side by side, and levels in height."""
    return (2, 4) if display.uses_utf8 else (1, 3)


def rows(heights: Sequence[int], count: int, display: Display, *, hangs: bool = False) -> list[str]:
    """Return a chart as rows of text, the top row first.

    Args:
        heights: the height of each column, in levels; negative values draw nothing.
        count: the number of rows.
        display: the reader's display.
        hangs: whether columns hang from the top edge, rather than rise from the bottom.
    """
    across, _ = parts(display)
    even = [*heights, *[0] * (-len(heights) % across)]
    cells = [even[first : first + across] for first in range(0, len(even), across)]
    drawn = [_row(cells, row, display, hangs=hangs) for row in range(count)]
    return drawn if hangs else drawn[::-1]


def _row(cells: Sequence[Sequence[int]], row: int, display: Display, *, hangs: bool) -> str:
    """Return a row of the chart. Row 0 is next to the base line."""
    _, up = parts(display)
    filled = [[max(0, min(up, height - row * up)) for height in cell] for cell in cells]
    if not display.uses_utf8:
        return "".join((_DOWN if hangs else _UP)[height] for (height,) in filled)
    order = -1 if hangs else 1
    dots = [
        sum(sum(each[::order][:height]) for each, height in zip(_DOTS, cell, strict=True))
        for cell in filled
    ]
    return "".join(chr(ord(_BRAILLE) + each) if each else " " for each in dots)
