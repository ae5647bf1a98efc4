"""Wording of the refusals to explore, and of the progress of counting."""

from __future__ import annotations

import pytest

from thudmud.errors import RefusedError
from thudmud.features.explorer.messages import _left
from thudmud.features.explorer.model import ExplorerRefusal as E
from thudmud.features.explorer.model import PositionStatistics
from thudmud.views.refusals import refusal_text

REFUSALS = [
    (
        RefusedError(E.NO_EXPLORING_RATED, board="oak board"),
        "Your battle at the oak board is rated, so there's no exploring until it's over.",
    ),
    (
        RefusedError(E.NO_EXPLORING_PLAYING, board="oak board"),
        "You're playing at the oak board. You can explore that battle when it's over.",
    ),
    (
        RefusedError(E.EXPLORE_LATER, number=12),
        "Battle 12 isn't over yet. You can explore it afterwards.",
    ),
]


@pytest.mark.parametrize(("refusal", "text"), REFUSALS)
def test_explorer_refusal_wording(refusal: RefusedError, text: str) -> None:
    assert refusal_text(refusal) == text


@pytest.mark.parametrize(
    ("seconds", "line"),
    [
        (None, "Not all battles are counted yet: 200 battles to go."),
        (120.0, "Not all battles are counted yet: 200 battles to go, which takes about 2 minutes."),
    ],
)
def test_progress_of_counting_says_how_long_it_takes(seconds: float | None, line: str) -> None:
    assert _left(PositionStatistics(left=200, seconds_left=seconds), 90) == [line]
    assert _left(PositionStatistics(), 80) == []
