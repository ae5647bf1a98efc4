"""The rows that the benchmark of the player prints."""

from __future__ import annotations

from typing import Any

from benchmarks.bots import Contest, row


def summary(dwarfs: float | None, failures: int) -> dict[str, Any]:
    """Return what a match tells in which the player has won 3 and lost 1."""
    one = {
        "margin_as_dwarfs": dwarfs, "error_as_dwarfs": None,
        "margin_as_trolls": 4.25, "error_as_trolls": 1.75, "cpu_seconds_a_ply": None,
        "illegal_plies": 0, "time_outs": 0, "failures": failures,
    }  # fmt: skip
    return {"matches": {"won": 3, "drawn": 0, "lost": 1}, "bots": [one, one]}


def test_a_row_tells_what_is_not_as_is_wanted() -> None:
    contest = Contest("greedy", "classic", ("thudmud", "x"), (), 4, 0.75, dwarfs=-5.0)
    assert row(contest, summary(-5.0, 0)) == (
        "| greedy | classic | 3 | 0 | 1 | 75% | -5.0 | +4.2 ± 1.8 |  /  |  |"
    )
    assert "| 75% ! | -6.0 |" in row(contest, summary(-6.0, 0))


def test_a_side_whose_battles_all_ended_by_faults_has_no_margin() -> None:
    contest = Contest("greedy", "classic", ("thudmud", "x"), (), 4, 0.75, dwarfs=-5.0)
    assert row(contest, summary(None, 4)).endswith("| 75% |  | +4.2 ± 1.8 |  /  | 4 |")
