"""Differences in playing strength estimated from match results."""

from __future__ import annotations

import math

import pytest

from thudmud.bots.strength import BOUND, Results, elo_difference, expected_score


def test_elo_inverts_the_expected_share() -> None:
    assert elo_difference(0.5) == 0
    assert elo_difference(0.75) == pytest.approx(190.85, abs=0.01)
    for difference in (-300, -20, 0, 77, 400):
        assert elo_difference(expected_score(difference)) == pytest.approx(difference)
    assert (elo_difference(0), elo_difference(1)) == (-math.inf, math.inf)


def test_results_without_matches_are_inconclusive() -> None:
    assert Results().share == 0.5
    assert Results().interval == (0, 1)
    assert Results().likelihood_ratio(0, 50) == pytest.approx(0, abs=0.05)


def test_results_interval_is_wilsons() -> None:
    assert Results(won=10).interval == pytest.approx((0.7225, 1), abs=1e-4)
    assert all(Results(won=number).interval[1] == 1 for number in range(1, 60))
    assert all(Results(lost=number).interval[0] == 0 for number in range(1, 60))
    assert Results(won=5, drawn=10, lost=5).interval == pytest.approx((0.2993, 0.7007), abs=1e-4)


def test_results_of_more_matches_are_more_certain() -> None:
    few, many = Results(6, 0, 4), Results(600, 0, 400)
    assert few.share == many.share
    assert few.interval[0] < many.interval[0] < many.share < many.interval[1] < few.interval[1]
    assert few.likelihood_ratio(0, 50) < BOUND < many.likelihood_ratio(0, 50)
    assert Results(400, 0, 600).likelihood_ratio(0, 50) < -BOUND
