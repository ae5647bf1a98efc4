"""The benchmark beside Evennia runs, and finds something."""

from __future__ import annotations

import pytest

from benchmarks.evennia import Extent, report
from benchmarks.load.busy import Pains


@pytest.mark.slow
@pytest.mark.usefixtures("evennia_bin")
def test_it_measures_both() -> None:
    rows = list(report(Extent(Pains(1, 0.1), players=2, pace=20)))
    assert [row.title for row in rows[::3]] == [
        "look, 2 at one room", "say, 2 at one room", "look, 2 at one board", "say, 2 at one board",
    ]  # fmt: skip
    assert all(row.measured > 0 < row.yardstick for row in rows)
