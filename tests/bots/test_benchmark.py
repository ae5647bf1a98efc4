"""The rows that the benchmark of the player prints, and the opponents that it has there."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from benchmarks.bots import THUD, Contest, row
from benchmarks.strangers.__main__ import STRANGERS
from thudmud.rules import RULESETS, Game


def summary(dwarfs: float | None, failures: int) -> dict[str, Any]:
    """Return what a match tells in which the player has won 3 and lost 1."""
    one = {
        "margin_as_dwarfs": dwarfs, "error_as_dwarfs": None,
        "margin_as_trolls": 4.25, "error_as_trolls": 1.75, "cpu_seconds_a_ply": None,
        "illegal_plies": 0, "time_outs": 0, "failures": failures,
    }  # fmt: skip
    return {"matches": {"won": 3, "drawn": 0, "lost": 1}, "bots": [one, one]}


def test_a_row_tells_what_is_not_as_is_wanted() -> None:
    contest = Contest("greedy", "classic", ("thudmud", "x"), (), 4, 0.75)
    assert row(contest, summary(-5.0, 0)) == (
        "| greedy | classic | 3 | 0 | 1 | 75% | -5.0 | +4.2 ± 1.8 |  /  |  |"
    )
    wanted = replace(contest, share=0.8)
    assert "| 80% ! | -5.0 |" in row(wanted, summary(-5.0, 0))


def test_a_side_whose_battles_all_ended_by_faults_has_no_margin() -> None:
    contest = Contest("greedy", "classic", ("thudmud", "x"), (), 4, 0.75)
    assert row(contest, summary(None, 4)).endswith("| 75% |  | +4.2 ± 1.8 |  /  | 4 |")


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("rules", THUD)
def test_strangers_play_by_the_rules(name: str, rules: str) -> None:
    game = Game.start(RULESETS[rules])
    player = STRANGERS[name](game.ruleset)
    for _ in range(6):
        looks = count()
        move = player.choose(game, lambda looks=looks: next(looks) >= 3)  # type: ignore[misc]
        assert move in game.legal_moves()
        game = game.play(move)
