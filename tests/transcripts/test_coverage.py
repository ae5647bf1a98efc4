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
from thudmud.tables.events import (
    BattleEnded,
    Left,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    TableEvent,
)
from thudmud.tables.hall import Hall, Telling
from thudmud.text import house
from thudmud.text.telling import View, tell

FILES = sorted(Path(__file__).parent.glob("*.thud-script"))

Told = list[tuple[Any, View]]


@pytest.fixture(scope="module")
def tellings() -> list[tuple[Telling, View]]:
    """Return everything that the transcripts tell, and how it is seen."""
    seen: list[tuple[Telling, View]] = []

    def noting(hall: Hall, telling: Telling, view: View) -> list[str]:
        seen.append((telling, view))
        return tell(hall, telling, view)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(house, "tell", noting)
        for path in FILES:
            transcript = Transcript.parse(path.read_text(encoding="utf-8"))
            with open_stage(path, transcript) as stage:
                perform(transcript, stage)
    return seen


@pytest.fixture(scope="module")
def told(tellings: list[tuple[Telling, View]]) -> Told:
    """Return the events alone, and how they are seen."""
    return [(telling.event, view) for telling, view in tellings]


@pytest.fixture(scope="module")
def whole_matches(tellings: list[tuple[Telling, View]]) -> set[str]:
    """Return the rulesets by which a match is played to the end of its second battle."""
    return {
        telling.table.match.game.ruleset.name
        for telling, _ in tellings
        if isinstance(telling.event, BattleEnded)
        if telling.table and telling.table.match and telling.table.match.over
    }


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


def test_every_parting_and_offer(told: Told) -> None:
    assert {event.parting for event, _ in told if isinstance(event, Left)} == set(Parting)
    assert {event.offer for event, _ in told if isinstance(event, Offered)} == set(Offer)
    assert {event.offer for event, _ in told if isinstance(event, OfferLapsed)} == set(Offer)


def test_every_word_is_held() -> None:
    """What is seen stands there to the letter, without wildcards."""
    for path in FILES:
        steps = Transcript.parse(path.read_text(encoding="utf-8")).steps
        assert {
            each.sign for step in steps for seen in step.expected.values() for each in seen
        } == {"|"}
        assert [step.written() for step in steps if not step.expected] == []


def test_a_whole_match_by_every_ruleset(whole_matches: set[str]) -> None:
    assert whole_matches == set(RULESETS)
