"""Smoke test of the gateway benchmark."""

from __future__ import annotations

from benchmarks.gateway import report


def test_benchmark_measures_plies() -> None:
    rows = report(rounds=1, plies=20, boards=2)
    assert [row.measured > 0 < row.yardstick for row in rows] == [True, True]
