"""Curves of growth: measured points, the exponents fitted to them, their table and their picture.

Must never measure anything. Only `draw` needs matplotlib, from the dependency group "plots".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import groupby
from pathlib import Path

TITLES = {
    "connections": "idle connections",
    "hall": "players in one hall",
    "boards": "boards under way",
    "watchers": "watchers of one board",
    "battles": "stored battles",
    "members": "members",
    "nodes": "nodes on PostgreSQL",
}
"""What is counted on the horizontal axis, by the name of the measurement."""

QUANTITIES = {
    "cpu": ("CPU, ms", "#0072b2", "o-"),
    "half": ("median delay, ms", "#009e73", "s--"),
    "late": ("99th percentile, ms", "#d55e00", "^--"),
    "memory": ("memory, MiB", "#666666", "D:"),
}
"""Label, colour and style of each quantity; colour-blind readers can tell the colours apart."""

SUPERFLUOUS = r"(?<=\n)\s+|<!--.*?-->\s*| id=\"(line2d|text|[xy]tick|patch|use)_\d+\""
"""What matplotlib writes and no reader needs: indentation, comments, and ids of lines and texts."""

COLUMNS = 2
"""Panels beside each other in the picture."""


@dataclass(frozen=True)
class Point:
    """The cost of a unit of work at one size.

    Attributes:
        name: of the measurement, a key of `TITLES`.
        work: the unit of work.
        size: number of connections, players, boards and so on.
        cpu: CPU milliseconds of the server for a unit of work, apart from what it uses at rest.
        half: median delay in milliseconds, if measured.
        late: 99th percentile of the delays in milliseconds, if measured.
        memory: growth of resident memory in MiB since the server was ready.
        rest: CPU milliseconds in each second in which nobody types.
    """

    name: str
    work: str
    size: int
    cpu: float
    half: float | None = None
    late: float | None = None
    memory: float | None = None
    rest: float | None = None


def exponent(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the least-squares line through points on logarithmic axes.

    The value grows like the size to the power of this: 0 is constant, 1 linear, 2 quadratic.

    Args:
        pairs: positive sizes, at least two different ones, with positive values.
    """
    logs = [(math.log(size), math.log(value)) for size, value in pairs]
    middle = sum(x for x, _ in logs) / len(logs)
    return sum((x - middle) * y for x, y in logs) / sum((x - middle) ** 2 for x, _ in logs)


def exponents(points: Sequence[Point], what: str) -> tuple[float, float] | None:
    """Return the exponent of a quantity over all sizes, and between the two largest, or None.

    Args:
        points: a curve.
        what: one of `QUANTITIES`.
    """
    pairs = [(each.size, value) for each in points if (value := getattr(each, what))]
    return (exponent(pairs), exponent(pairs[-2:])) if len(pairs) > 1 else None


def curves(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Yield the points of each unit of work, in the order of `TITLES` and of size."""
    points, names = list(points), list(TITLES)
    works = list(dict.fromkeys((each.name, each.work) for each in points))

    def key(point: Point) -> tuple[int, int]:
        return names.index(point.name), works.index((point.name, point.work))

    for _, group in groupby(sorted(points, key=lambda each: (*key(each), each.size)), key):
        yield list(group)


def merged(points: Iterable[Point], before: Iterable[Point]) -> list[Point]:
    """Return all points, the older ones only of measurements that were not repeated."""
    points = list(points)
    names = {each.name for each in points}
    return [*(each for each in before if each.name not in names), *points]


def to_text(machine: str, points: Iterable[Point]) -> str:
    """Return the points as JSON, one per line."""
    lines = ",\n".join(json.dumps(asdict(each)) for curve in curves(points) for each in curve)
    return f'{{"machine": {json.dumps(machine)},\n"points": [\n{lines}\n]}}\n'


def from_text(text: str) -> tuple[str, list[Point]]:
    """Parse the machine and the points saved by `to_text`."""
    saved = json.loads(text)
    return saved["machine"], [Point(**each) for each in saved["points"]]


def to_table(points: Iterable[Point]) -> list[str]:
    """Return the lines of a Markdown table of all curves, with the exponents below each."""
    titles = [
        "",
        "size",
        *(label for label, _, _ in QUANTITIES.values()),
        "CPU at rest, ms a second",
    ]
    lines = [_row(titles), _row(["---", *["---:"] * (len(titles) - 1)])]
    for curve in curves(points):
        for each in curve:
            values = (*(getattr(each, what) for what in QUANTITIES), each.rest)
            title = f"{TITLES[each.name]}: {each.work}" if each is curve[0] else ""
            lines.append(_row([title, f"{each.size:,}", *map(_rounded, values)]))
        found = [exponents(curve, what) for what in QUANTITIES]
        for place, title in enumerate(("exponent", "at the end")):
            cells = ["" if each is None else f"**{_signed(each[place])}**" for each in found]
            lines.append(_row([f"*{title}*", "", *cells, ""]))
    return lines


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _signed(slope: float) -> str:
    """Return an exponent with two decimals, and zero without a sign."""
    return f"{round(slope, 2) + 0.0:.2f}"


def _rounded(value: float | None) -> str:
    """Return a value with three significant digits."""
    if value is None:
        return ""
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if value else "0"


def draw(points: Iterable[Point], path: Path) -> None:
    """Draw all curves on logarithmic axes as SVG, the same bytes for the same points."""
    import matplotlib as mpl  # noqa: PLC0415  (of the dependency group "plots")
    from matplotlib.figure import Figure  # noqa: PLC0415  (likewise)

    found = list(curves(points))
    rows = math.ceil(len(found) / COLUMNS)
    settings = {"svg.fonttype": "none", "svg.hashsalt": "thudmud", "font.size": 9}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(5 * COLUMNS, 3.1 * rows), layout="constrained", facecolor="white")
        panels = figure.subplots(rows, COLUMNS, squeeze=False).flat
        for panel, curve in zip(panels, found, strict=False):
            panel.set_title(f"{TITLES[curve[0].name]}: {curve[0].work}", fontsize=9)
            for what, (label, colour, style) in QUANTITIES.items():
                pairs = [(each.size, value) for each in curve if (value := getattr(each, what))]
                if slopes := exponents(curve, what):
                    legend = f"{label}: n^{_signed(slopes[0])}"
                    panel.plot(*zip(*pairs, strict=True), style, color=colour, label=legend, ms=4)
            panel.set(xscale="log", yscale="log")
            panel.margins(y=0.3)  # room for the legend
            panel.minorticks_off()
            for axis in (panel.xaxis, panel.yaxis):
                axis.set_major_formatter("{x:,.10g}")
            panel.spines[["top", "right"]].set_visible(False)
            panel.grid(color="#dddddd", linewidth=0.5)
            panel.legend(fontsize=7, frameon=False)
        for panel in list(panels):
            panel.set_axis_off()
        picture = StringIO()
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    path.write_text(re.sub(SUPERFLUOUS, "", picture.getvalue()), "utf-8")
