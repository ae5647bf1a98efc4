"""Smoke test of the benchmark and its table."""

from __future__ import annotations

from benchmarks.engine import Row, report


def test_benchmark_prints_every_row_of_the_table() -> None:
    lines = list(report(rounds=1, seconds=0.01, depth=2))
    rows = [line for line in lines if isinstance(line, Row)]
    assert [(row.title, row.wanted) for row in rows] == [
        ("discworld: lists of the opening's 656 moves", 30),
        ("classic: lists of the opening's 656 moves", 30),
        ("koom valley: lists of the opening's 388 moves", 30),
        ("discworld: plies of random playouts", 5),
        ("classic: plies of random playouts", 5),
        ("koom valley: plies of random playouts", 5),
    ]
    assert all(row.engine > 0 and row.yardstick > 0 for row in rows), "nothing was counted"
    assert len({len(str(row)) for row in rows}) == 1, "the columns are not aligned"
    counts = [line.split(" is ")[1].split()[0] for line in lines[-3:] if isinstance(line, str)]
    assert counts == ["22,624", "22,624", "33,974"]
