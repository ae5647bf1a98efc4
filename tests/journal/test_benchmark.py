"""The benchmark runs, and prints a table of everything it is to measure."""

from __future__ import annotations

from benchmarks.journal import Row, report


def test_the_table() -> None:
    heading, *rows = list(report(games=80, rounds=1, seconds=0.2))
    assert isinstance(heading, str)
    titles = [row.title for row in rows if isinstance(row, Row)]
    assert titles == [
        "appends at 100 tables, beside one commit each",
        "start of a server with 80 battles, beside none",
        "the same, after it was killed",
        "the check of everything, beside reading",
        "size of a ply, beside its text",
    ]
    group, *_, size = [row for row in rows if isinstance(row, Row)]
    assert group.measured > 0, "nothing was counted"
    assert group.yardstick > 0, "nothing was counted"
    assert size.is_wanted
    assert len({line.index(" ms") for line in map(str, rows[1:4])}) == 1, "columns not aligned"
