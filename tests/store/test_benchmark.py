"""The benchmark runs and prints a row for everything that it measures."""

from __future__ import annotations

from benchmarks.store import Row, report


def test_store_benchmark_reports_every_row() -> None:
    heading, *rows = list(report((0, 20), rounds=1, seconds=0.05))
    assert isinstance(heading, str)
    titles = [row.title for row in rows if isinstance(row, Row)]
    assert len(titles) == len(rows) == 28
    assert titles[3] == "start with 0 battles"
    assert titles[-4] == "making it smaller, seconds beside megabytes"
    assert titles[-1] == "the slowest of its answers, beside one row"
