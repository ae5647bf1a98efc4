"""The endings of battles as data and as words."""

from __future__ import annotations

import pytest

from tests.rules.shorthand import board
from tests.rules.test_game import played
from thudmud.rules import CLASSIC, KOOM_VALLEY, Ending, Outcome, Ruleset, Score, Side
from thudmud.views.data import outcome_data
from thudmud.views.sentences import past_ending


@pytest.mark.parametrize(
    ("rules", "pieces", "move", "told", "past"),
    [
        (CLASSIC, "d A6 B7 T A7 X H8", "hurl A6 A7", "all_captured", "every troll was captured"),
        (
            CLASSIC,
            "d E2 F2 G2 H2 I1 T F1 G1 X H8",
            "move I1 H1",
            "no_move",
            "one side had no move left",
        ),
    ],
)
def test_capture_of_all_pieces_is_not_called_no_move(
    rules: Ruleset, pieces: str, move: str, told: str, past: str
) -> None:
    game = played(rules, board(pieces), move)
    assert game.outcome
    assert outcome_data(game.outcome, rules)["outcome"] == told
    assert outcome_data(game.outcome, rules, game.position)["outcome"] == told
    assert past_ending(game.outcome, rules, "somebody") == past


def test_capture_of_all_pieces_is_told_by_the_position_without_points() -> None:
    outcome = Outcome(Ending.NO_MOVE, Side.DWARF, Score(1, 0))
    position = board("d A6 R H1", Side.TROLL)
    assert outcome_data(outcome, KOOM_VALLEY)["outcome"] == "no_move"
    assert outcome_data(outcome, KOOM_VALLEY, position)["outcome"] == "all_captured"
