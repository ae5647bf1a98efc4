"""The transcripts together: no event, style, ending or ruleset goes without its exact words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from thudmud.commands.model import Style
from thudmud.engine import RULESETS, Ending
from thudmud.script import Transcript, perform
from thudmud.server.tools import open_stage
from thudmud.tables.asides import Asked, Happening, Question
from thudmud.tables.events import BattleEnded, BattleStarted, TableEvent
from thudmud.tables.hall import Hall, Telling
from thudmud.text import house
from thudmud.text.telling import View, tell

FILES = sorted(Path(__file__).parent.glob("*.thud-script"))

Told = list[tuple[Any, View]]


@pytest.fixture(scope="module")
def told() -> Told:
    """Return everything that the transcripts tell, and how it is seen."""
    seen: Told = []

    def noting(hall: Hall, telling: Telling, view: View) -> list[str]:
        seen.append((telling.event, view))
        return tell(hall, telling, view)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(house, "tell", noting)
        for path in FILES:
            transcript = Transcript.parse(path.read_text(encoding="utf-8"))
            with open_stage(path, transcript) as stage:
                perform(transcript, stage)
    return seen


def test_every_table_event_in_both_styles(told: Told) -> None:
    seen = {(type(event), view.style) for event, view in told}
    expected = {(event, style) for event in get_args(TableEvent) for style in Style}
    assert expected - seen == set()


def test_every_aside_and_answer(told: Told) -> None:
    asides = {type(event) for event, _ in told}
    assert set(get_args(Happening)) - asides == set()
    answers = {type(event.question) for event, _ in told if isinstance(event, Asked)}
    assert set(get_args(Question)) - answers == set()


def test_every_way_to_end(told: Told) -> None:
    endings = {event.outcome.ending for event, _ in told if isinstance(event, BattleEnded)}
    assert set(Ending) - endings == set()


def test_a_whole_match_by_every_ruleset(told: Told) -> None:
    second = {
        event.rules for event, _ in told if isinstance(event, BattleStarted) and event.number == 2
    }
    assert set(RULESETS) - second == set()
