"""The table that is printed: what was measured, beside yardsticks and what is wanted.

Owns its columns, how it is kept, and what is worse in one table than in another. Must never measure
anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

WIDTH = 58
"""How many columns the titles take."""

WORSE = 0.2
"""By which part a figure may be worse than it was without a word about it."""

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
    def gauge(self) -> tuple[str, float] | None:
        """What the row is compared by with the same one of another run, and its name.

        It is the ratio, by CPU where there is one, or memory, which is much the same on every
        machine. Rows of nothing but milliseconds or lines a second have none.
        """
        if self.ratio is not None and not self.what:
            return ("ratio", self.ratio) if self.cpu is None else ("ratio by CPU", self.cpu)
        size = self.values[0] if self.unit == "KiB" else None
        return None if size is None else ("KiB", size)

    @property
    def is_better_higher(self) -> bool:
        """Whether more is better: of lines a second, and of what is to have a size at least."""
        return self.unit == "a second" or self.least is not None

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


def to_text(rows: Iterable[Row]) -> str:
    """Return a table as it is kept: JSON, a line for each row."""
    return "[\n" + ",\n".join(json.dumps(asdict(row)) for row in rows) + "\n]\n"


def from_text(text: str) -> list[Row]:
    """Return the table of a text that `to_text` has made."""
    return [Row(**each) for each in json.loads(text)]


def compared(now: Iterable[Row], before: Iterable[Row]) -> tuple[list[str], list[str]]:
    """Return a sentence for each row that is worse by more than a fifth, and for each missing.

    A row is missing if only one of the tables has it. What `Row.gauge` leaves out is not compared.
    """
    ours, theirs = ({row.title: row for row in rows} for rows in (now, before))
    worse = [_worse(row, theirs[title]) for title, row in ours.items() if title in theirs]
    return list(filter(None, worse)), [
        *(f"{title}: not measured before." for title in ours if title not in theirs),
        *(f"{title}: no longer measured." for title in theirs if title not in ours),
    ]


def plain(cells: Sequence[str]) -> str:
    """Return a line for a terminal."""
    title, thudmud, telnetlib3, bare, unit, *rest = cells
    numbers = "".join(f"{each:>12}" for each in (thudmud, telnetlib3, bare))
    return f"{title:{WIDTH}}{numbers} {unit:12}" + "".join(f"{each:>11}" for each in rest)


def markdown(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _worse(row: Row, before: Row) -> str:
    """Return how a row is worse than before; nothing if it is not."""
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
