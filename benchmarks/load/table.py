"""The table that is printed: what was measured, beside yardsticks and what is wanted.

Owns its columns. Must never measure anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 58
"""How many columns the titles take."""

COLUMNS = ("", "thudmud", "telnetlib3", "bare", "unit", "ratio", "by CPU", "wanted")


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        title: what was measured.
        unit: in what.
        values: how much it was; then, where there is one, the same of telnetlib3's documented echo;
            then of what does nothing else.
        ratio: to the yardstick, the median of those of all rounds; or whatever else is wanted to
            have a certain size, if `what` says so.
        cpu: the same, by what processors worked for it.
        least: what the ratio is to be at least.
        most: what it is to be at most.
        what: the unit of the ratio, if it is none.
    """

    title: str
    unit: str
    values: Sequence[float | None]
    ratio: float | None = None
    cpu: float | None = None
    least: float | None = None
    most: float | None = None
    what: str = ""

    @property
    def is_wanted(self) -> bool:
        """Whether the ratio is as it should be, on the clock or, which is steadier, by CPU."""
        found = [each for each in (self.ratio, self.cpu) if each is not None]
        if self.least is not None:
            return max(found) >= self.least
        return self.most is None or min(found) <= self.most

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns."""
        wanted = f">= {self.least:g}" if self.least is not None else ""
        if self.most is not None:
            wanted = f"<= {self.most:g}{self.what}"
        return (
            self.title,
            *(_number(each) for each in (*self.values, None, None)[:3]),
            self.unit,
            "" if self.ratio is None else f"{self.ratio:.2f}{self.what}",
            "" if self.cpu is None else f"{self.cpu:.2f}",
            wanted + ("" if self.is_wanted else " !"),
        )


def plain(cells: Sequence[str]) -> str:
    """Return a line for a terminal."""
    title, thudmud, telnetlib3, bare, unit, *rest = cells
    numbers = "".join(f"{each:>12}" for each in (thudmud, telnetlib3, bare))
    return f"{title:{WIDTH}}{numbers} {unit:12}" + "".join(f"{each:>11}" for each in rest)


def markdown(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
