"""Coverage of the transcripts: every event, style, ending and ruleset appears verbatim."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from thudmud.cli.staging import Setup, open_stages, play
from thudmud.features.analysis.model import Analysing, AnalysisCancelled, BattleAnalysed
from thudmud.features.letters.commands import Letters
from thudmud.features.letters.model import LetterSent, LettersForgotten, LettersRead
from thudmud.features.matchmaking.commands import PlayNow
from thudmud.features.moderation.commands import Bans, Mutes, Reports
from thudmud.features.moderation.model import (
    Announced,
    ReportClosed,
    ReportsAnnounced,
    ReportsClosed,
    Sanctioned,
    SanctionLifted,
    ShutdownAnnounced,
)
from thudmud.features.notifications.commands import Notify
from thudmud.features.notifications.model import BrowserAdded, CodeAsked, CodeTyped, NotifyChosen
from thudmud.features.options.commands import (
    SetCharset,
    SetColour,
    SetElement,
    SetOrient,
    SetReader,
    SetScheme,
    SetSize,
    SetToggle,
    SetWidth,
    ShowOptions,
    ShowScheme,
)
from thudmud.features.options.model import OptionChosen
from thudmud.features.people.commands import PlanChosen
from thudmud.features.playing.queries import PieceQuery
from thudmud.features.variations.model import Evaluating
from thudmud.game.asides import Active, Aside, TimeShort, TookOver
from thudmud.game.command import COMMANDS, Asked, Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import (
    Absent,
    BattleEnded,
    ClockHeld,
    Declined,
    IdleWarned,
    Left,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    TableEvent,
)
from thudmud.game.hall import Hall
from thudmud.game.options import (
    WIDTHS,
    Charset,
    Element,
    Orient,
    Scheme,
    SetOption,
    Size,
    Style,
    Switch,
    Toggle,
)
from thudmud.rules import RULESETS, Ending
from thudmud.script import Transcript, perform
from thudmud.script.transcript import Act, Expectation, Part, TranscriptStep
from thudmud.values import replace
from thudmud.views import messages
from thudmud.views.registry import words
from thudmud.views.telling import renderer_for
from thudmud.views.view import View

WHEN = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}( at [0-9]{2}:[0-9]{2})?|^[0-9]{2}:[0-9]{2}(?= )"
    '|(?<="at":)[0-9]+(?=[,}])|(?<= in )[0-9]+(?= hours)'
)
"""Dates and times of day in words, ply times in lines for programs, and hours until a start."""
FILES = sorted(Path(__file__).parents[1].rglob("*.thud-script"))

VALUES: dict[type, Iterable[object]] = {
    SetCharset: Charset,
    SetColour: Switch,
    SetOrient: Orient,
    SetSize: Size,
    SetReader: Switch,
    SetScheme: Scheme,
}
"""The possible values of each option, except widths and colours, which are too many."""

Told = list[tuple[Any, View]]


@pytest.fixture(scope="module")
def tellings() -> list[tuple[Delivery, View]]:
    """Return everything delivered in the transcripts, with its view."""
    seen: list[tuple[Delivery, View]] = []

    def noting(hall: Hall, telling: Delivery) -> Callable[[View], list[str]]:
        tell = renderer_for(hall, telling)

        def noted(view: View) -> list[str]:
            seen.append((telling, view))
            return tell(view)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "renderer_for", noting)
        for path in FILES:
            play(path, Setup())
    return seen


@pytest.fixture(scope="module")
def told(tellings: list[tuple[Delivery, View]]) -> Told:
    """Return the delivered events alone, with their views."""
    return [(telling.event, view) for telling, view in tellings]


@pytest.fixture(scope="module")
def whole_matches(tellings: list[tuple[Delivery, View]]) -> set[str]:
    """Return the rulesets under which a match is played to the end of its second battle."""
    return {
        telling.table.match.game.ruleset.name
        for telling, _ in tellings
        if isinstance(telling.event, BattleEnded)
        if telling.table and telling.table.match and telling.table.match.is_over
    }


def test_transcripts_cover_every_table_event_in_both_styles(told: Told) -> None:
    seen = {(type(event), view.style) for event, view in told}
    timed = {ClockHeld, IdleWarned}  # no transcript waits that long
    expected = {(event, style) for event in {*get_args(TableEvent)} - timed for style in Style}
    assert expected - seen == set()


def test_transcripts_cover_every_aside_and_answer(told: Told) -> None:
    asides = {type(event) for event, _ in told}
    ours = {each for each in Aside.KINDS if each.__module__.startswith("thudmud.")}
    # Missing in transcripts: taking over from another connection, as players have one each; waiting
    # for an analysis, an evaluation or for time pressure, as a house never waits; all that needs an
    # account, such as messages, plans, notifications, moderation and rated matches; and typing
    # indicators.
    untold = {TookOver, Analysing, AnalysisCancelled, Evaluating, TimeShort}
    untold |= {LetterSent, LettersForgotten, LettersRead, PlanChosen, Active, CodeAsked, CodeTyped}
    untold |= {BrowserAdded, NotifyChosen, BattleAnalysed}
    untold |= {Announced, Sanctioned, SanctionLifted, ShutdownAnnounced}
    untold |= {ReportsAnnounced, ReportClosed, ReportsClosed}
    assert ours - {Asked} - asides == untold
    answers = {type(event.question) for event, _ in told if isinstance(event, Asked)}
    questions = {kind for kind in words.registry if issubclass(kind, Command)}
    # No transcript plays against a bot.
    assert questions - answers == {PlayNow, Letters, Bans, Mutes, Notify, Reports} & questions


def test_transcripts_cover_every_ending(told: Told) -> None:
    endings = {event.outcome.ending for event, _ in told if isinstance(event, BattleEnded)}
    assert set(Ending) - endings == {Ending.TIME, Ending.LENGTH}


def test_transcripts_cover_every_parting_and_offer(told: Told) -> None:
    left = {event.parting for event, _ in told if isinstance(event, Left)}
    assert left == {Parting.LEFT, Parting.QUIT, Parting.LOST}
    # No transcript waits for a server's clock or for its shutdown.
    absent = {event.parting for event, _ in told if isinstance(event, Absent)}
    assert absent == {Parting.LOST, Parting.QUIT}
    assert {event.offer for event, _ in told if isinstance(event, Offered)} == set(Offer)
    assert {event.offer for event, _ in told if isinstance(event, OfferLapsed)} == set(Offer)
    assert {event.offer for event, _ in told if isinstance(event, Declined)} == set(Offer)


def test_transcripts_cover_every_query_with_and_without_a_reader(told: Told) -> None:
    asked = {
        (type(event.question), view.display.is_for_reader)
        for event, view in told
        if _is_query(event)
    }
    queries = get_args(PieceQuery)
    assert asked == {(query, reader) for query in queries for reader in (True, False)}


def _is_query(event: Any) -> bool:
    return isinstance(event, Asked) and isinstance(event.question, PieceQuery)


def test_transcripts_cover_every_value_of_every_option(told: Told) -> None:
    choices = [event.choice for event, _ in told if isinstance(event, OptionChosen)]
    values = {(type(choice), choice.value) for choice in choices if type(choice) in VALUES}
    assert values == {(kind, value) for kind, every in VALUES.items() for value in every}
    widths = {choice.value for choice in choices if isinstance(choice, SetWidth)}
    assert widths > {None}
    elements = {choice.element for choice in choices if isinstance(choice, SetElement)}
    assert elements == set(Element)
    toggles = {(each.toggle, each.value) for each in choices if isinstance(each, SetToggle)}
    assert toggles == set(product(Toggle, (True, False)))
    assert {type(choice) for choice in choices} == {
        each for each in COMMANDS if issubclass(each, SetOption)
    }


def test_transcripts_cover_option_lists_with_and_without_a_reader(told: Told) -> None:
    lists = {
        (type(event.question), view.display.is_for_reader, view.width)
        for event, view in told
        if isinstance(event, Asked) and isinstance(event.question, ShowOptions | ShowScheme)
    }
    assert {each[:2] for each in lists} == {
        (question, reader) for question in (ShowOptions, ShowScheme) for reader in (True, False)
    }
    assert {width for _, _, width in lists} == {20, 40, 80, WIDTHS[-1]}  # the last for readers


def test_transcripts_expect_the_exact_text() -> None:
    """Expected lines are verbatim, with wildcards for times only.

    Exceptions: evaluations in an analysis and the reply expected in a hint depend on the engine,
    and waiting for a hint may add a line.
    """
    for path in FILES:
        if path.stem == "analysis":
            continue
        transcript = Transcript.parse(path.read_text(encoding="utf-8"))
        silent = replace(transcript, parts=tuple(map(_silent, transcript.parts)))
        with open_stages(path, silent) as stages:
            seen = perform(silent, stages)[1].steps
        following = [*(step.act for step in transcript.steps[1:]), None]
        for step, then, played in zip(transcript.steps, following, seen, strict=True):
            # Delayed output is expected below its wait.
            assert step.expected or then is Act.WAIT, step.written()
            assert step.expected.keys() == played.expected.keys()
            for who, lines in step.expected.items():
                held = [
                    each
                    for each in lines
                    if not each.accepts_many_lines or step.act is not Act.WAIT
                ]
                found = [
                    each
                    for each in played.expected[who]
                    if not each.text.startswith("The likely reply: ")
                ]
                assert all(map(_is_held, held, found)), step.written()
                assert len(held) == len(found)


def _silent(part: Part) -> Part:
    return replace(part, expected={}) if isinstance(part, TranscriptStep) else part


def _is_held(line: Expectation, seen: Expectation) -> bool:
    """Whether an expected line is verbatim, apart from wildcards for times."""
    text, times = WHEN.subn("*", seen.text)
    return line in ([seen, Expectation("~", text)] if times else [seen])


def test_transcripts_cover_a_whole_match_by_every_ruleset(whole_matches: set[str]) -> None:
    assert whole_matches == set(RULESETS)
