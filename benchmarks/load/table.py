"""The printed table: measurements beside their yardsticks and targets.

Owns its columns, its saved form, and the comparison of two tables. Must never measure anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

WIDTH = 58
"""Width of the title column."""

WORSE = 0.2
"""Relative change for the worse that counts as noise."""

COLUMNS = ("", "thudmud", "telnetlib3", "bare", "unit", "ratio", "by CPU", "wanted")


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        title: the measured quantity.
        unit: of the values.
        values: figures of thudmud, of telnetlib3's documented echo, and of a bare server; the
            latter two may be missing.
        ratio: median over the rounds of the ratio to the yardstick; if `what` is set, another
            quantity with a target.
        cpu: the same ratio in CPU time.
        least: minimum acceptable ratio.
        most: maximum acceptable ratio.
        what: unit of `ratio`, if it isn't a ratio.
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
        """Whether the ratio meets its target, in wall time or, which is steadier, in CPU time."""
        found = [each for each in (self.ratio, self.cpu) if each is not None]
        if self.least is not None:
            return max(found) >= self.least
        return self.most is None or min(found) <= self.most

    @property
    def gauge(self) -> tuple[str, float] | None:
        """The name and value by which to compare this row between runs, or None.

        The value is the ratio, in CPU time if measured, or a size of memory, which hardly depends
        on the machine. Rows with only milliseconds or rates have none.
        """
        if self.ratio is not None and not self.what:
            return ("ratio", self.ratio) if self.cpu is None else ("ratio by CPU", self.cpu)
        size = self.values[0] if self.unit == "KiB" else None
        return None if size is None else ("KiB", size)

    @property
    def is_better_higher(self) -> bool:
        """Whether larger is better: true for rates, and for values with a minimum."""
        return self.unit == "a second" or self.least is not None

    @property
    def cells(self) -> tuple[str, ...]:
        """Formatted cells, one for each of `COLUMNS`."""
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


def to_text(rows: Iterable[Row]) -> str:
    """Return a table as JSON, one row per line."""
    return "[\n" + ",\n".join(json.dumps(asdict(row)) for row in rows) + "\n]\n"


def from_text(text: str) -> list[Row]:
    """Parse a table saved by `to_text`."""
    return [Row(**each) for each in json.loads(text)]


def compared(now: Iterable[Row], before: Iterable[Row]) -> tuple[list[str], list[str]]:
    """Compare two tables by `Row.gauge`.

    Returns:
        A sentence for each row that got worse by more than a fifth, and one for each row that only
        one of the tables has.
    """
    ours, theirs = ({row.title: row for row in rows} for rows in (now, before))
    worse = [_worse(row, theirs[title]) for title, row in ours.items() if title in theirs]
    return list(filter(None, worse)), [
        *(f"{title}: not measured before." for title in ours if title not in theirs),
        *(f"{title}: no longer measured." for title in theirs if title not in ours),
    ]


def plain(cells: Sequence[str]) -> str:
    """Format a row for a terminal."""
    title, thudmud, telnetlib3, bare, unit, *rest = cells
    numbers = "".join(f"{each:>12}" for each in (thudmud, telnetlib3, bare))
    return f"{title:{WIDTH}}{numbers} {unit:12}" + "".join(f"{each:>11}" for each in rest)


def markdown(cells: Sequence[str]) -> str:
    """Format a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _worse(row: Row, before: Row) -> str:
    """Return a sentence on the regression of a row, empty if there is none."""
    if row.gauge is None or before.gauge is None:
        return ""
    (name, now), (_, then) = row.gauge, before.gauge
    if row.is_better_higher:
        is_worse, way = now < then * (1 - WORSE), "fell"
    else:
        is_worse, way = now > then * (1 + WORSE), "rose"
    return f"{row.title}: {name} {way} from {then:.2f} to {now:.2f}." if is_worse else ""


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
