"""The benchmark of PostgreSQL and of nodes sharing it runs and yields results."""

from __future__ import annotations

import pytest

from benchmarks.cluster import PARTS, Extent, report
from benchmarks.store import Row

LEAST = Extent(1, 0.05, tables=2, boards=2, plies=4, most=2, kills=1, starts=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS[:4])  # leases and starts take a minute in the others
def test_cluster_benchmark_part_reports_rows(part: str) -> None:
    heading, *rows = report([part], LEAST, 20)
    assert isinstance(heading, str)
    found = [row for row in rows if isinstance(row, Row)]
    assert len(found) == len(rows) > 0
    assert all(row.measured > 0 < row.yardstick for row in found)
