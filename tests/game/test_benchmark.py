"""The tournament benchmark: its measure of agreement, and a short run."""

from __future__ import annotations

from benchmarks.tournaments import agreement, simulated
from thudmud.game.events import TournamentKind


def test_agreement_counts_concordant_pairs() -> None:
    assert agreement("dcba", ord) == 1
    assert agreement("abcd", ord) == -1
    assert agreement("cdab", ord) == (4 - 2) / 6


def test_swiss_ranks_better_than_chance_and_worse_than_round_robin() -> None:
    swiss = [simulated(TournamentKind.SWISS, 30, 5, seed) for seed in range(3)]
    assert all(each.met == 1 and each.balance <= 2 for each in swiss)
    all_play_all = simulated(TournamentKind.ROUND_ROBIN, 30, 29, 0)
    assert 0.4 < min(each.agreement for each in swiss) < all_play_all.agreement
