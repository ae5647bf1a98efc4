from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.script import HouseStage, Seen, StageError, Transcript, TranscriptError, perform
from thudmud.script.transcript import Expectation, escaped

TALK = """\
# Two people talk.
Anna+
Anna...

Bert+
Anna| Bert comes into the hall.
Bert...
Anna> say hello
Anna| You say: hello
Bert~ Anna says: h*o
Anna-
Bert| Anna has lost the connection.
# The end.
"""


def house_stage() -> HouseStage:
    return HouseStage(House([BoardSpec("oak board")]), lambda: 0.0)


def test_matching_transcript_has_no_mismatches() -> None:
    transcript = Transcript.parse(TALK)
    mismatches, updated = perform(transcript, house_stage())
    assert mismatches == []
    assert updated == transcript
    assert updated.written() == TALK


@pytest.mark.parametrize(
    ("said", "should", "who"),
    [
        ("Bert~ Anna says: h*o", "Bert| Anna says: hi", "Bert"),
        ("Anna| You say: hello", "Anna| You say: hello\nAnna| And more", "Anna"),
        ("Anna| You say: hello\n", "", "Anna"),
        ("Anna| Bert comes into the hall.\n", "", "Anna"),
        ("Bert| Anna has lost the connection.", "Anna| You are gone.", "Bert"),
    ],
)
def test_mismatch_is_reported_and_can_be_updated(said: str, should: str, who: str) -> None:
    transcript = Transcript.parse(TALK.replace(said, should))
    mismatches, updated = perform(transcript, house_stage())
    assert who in {mismatch.who for mismatch in mismatches}
    assert perform(updated, house_stage())[0] == []


def test_mismatch_is_a_diff_with_a_line_number() -> None:
    transcript = Transcript.parse(TALK.replace("h*o", "h*i"))
    (mismatch,) = perform(transcript, house_stage())[0]
    assert str(mismatch) == (
        'line 8: after "Anna> say hello", Bert should see (-) but saw (+):\n'
        "- Anna says: h*i\n"
        "+ Anna says: hello"
    )


def test_step_without_expectations_is_updated_but_not_compared() -> None:
    transcript = Transcript.parse("Anna> say hello\n")
    mismatches, updated = perform(transcript, house_stage())
    assert mismatches == []
    assert updated.written() == "Anna> say hello\nAnna| You say: hello\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Anna says hello", "line 1: expected a name"),
        ("\nAnna| hello", "line 2: expected a step before the first expectation"),
        ("@config", 'line 1: expected "@config" and a file name'),
        ("@colour on", "line 1: expected one of @config, @include"),
        ("Anna+\n@config x", 'line 2: "@config" must come once, before the first step'),
        ("Anna+\n\nAnna| x", "line 3: expected lines must directly follow their step"),
        ("A> x", "line 1: expected a name"),
        ("Anna+\nAnna... more", 'line 2: expected nothing after "Anna..."'),
        ("Anna+ in", 'line 1: expected nothing after "Anna+"'),
        ("Anna+\nAnna- out", 'line 2: expected nothing after "Anna-"'),
        ("Anna+\nAnna|", "line 2: empty lines are never compared"),
    ],
)
def test_invalid_line_is_reported_with_its_number(text: str, problem: str) -> None:
    with pytest.raises(TranscriptError, match="^" + re.escape(problem)):
        Transcript.parse(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Anna+\nANna+", "line 2: Anna is already here"),
        ("Anna> join game as dwarf on oak\nAnna-\nANna+", "line 3: Anna has a seat"),
        ("Who> say hello", 'line 1: "Who" is a command'),
        ("Anna> quit\nAnna> who", "line 2: Anna is not here"),
        ("Anna-", "line 1: Anna is not here"),
    ],
)
def test_unplayable_step_is_reported_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(StageError, match=problem):
        perform(Transcript.parse(text), house_stage())


names = st.sampled_from(["Anna", "Bert"])
texts = st.text(st.characters(min_codepoint=32, max_codepoint=126)).map(str.strip).map(escaped)
acts = st.one_of(
    st.builds("{}+".format, names),
    st.builds("{}-".format, names),
    st.builds(lambda who, text: f"{who}> {text}".rstrip(), names, texts),
    st.builds("@set x {}\n{}? 2.5s {}".format, texts.filter(bool), names, texts.filter(bool)),
)
sights = st.one_of(
    st.builds("{}...".format, names),
    st.builds("{}{} {}".format, names, st.sampled_from("|~"), texts.filter(bool)),
)
steps = st.builds(lambda act, seen: "\n".join([act, *sorted(seen)]), acts, st.lists(sights))


@given(st.lists(steps).map("\n\n".join))
def test_parsed_transcript_round_trips(text: str) -> None:
    transcript = Transcript.parse(text)
    assert Transcript.parse(transcript.written()).written() == transcript.written()


@pytest.mark.parametrize(
    ("pattern", "seen", "fits"),
    [
        ("*", "", True),
        ("a*", "a", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*a*", "bab", True),
        ("*a*", "bb", False),
        ("a*b*c", "abc", True),
        ("a*b*c", "acb", False),
        ("*ab*ab*", "xabxab", True),
        ("*ab*ab*", "xabab", True),
        ("*ab*ab*", "xaba", False),
        ("a.c*", "abcd", False),
        ("*a" * 40 + "*b", "a" * 5000, False),
    ],
)
def test_wildcard_matching(pattern: str, seen: str, *, fits: bool) -> None:
    assert Expectation("~", pattern).pattern({}).is_match(seen) is fits


class SilentStage:
    def enter(self, who: str) -> Seen:
        return {}

    def type(self, who: str, line: str) -> Seen:
        return {}

    def vanish(self, who: str) -> Seen:
        return {}


class LoudStage(SilentStage):
    def enter(self, who: str) -> Seen:
        return {who: [str(number) for number in range(300)]}


def test_ellipses_in_sequence_match_without_backtracking() -> None:
    """Backtracking over the ways to split 300 lines among 20 ellipses would never finish."""
    many = "Anna...\n" * 20
    assert perform(Transcript.parse(f"Anna+\n{many}"), LoudStage())[0] == []
    (mismatch,) = perform(Transcript.parse(f"Anna+\n{many}Anna| 300\n"), LoudStage())[0]
    assert mismatch.who == "Anna"


def test_pattern_represents_one_line_in_a_diff() -> None:
    transcript = Transcript.parse("Anna+\nAnna~ *1*\nAnna| 300\n")
    (mismatch,) = perform(transcript, LoudStage())[0]
    shown = str(mismatch).splitlines()
    assert shown.count("  *1*") == 1
    assert "+ 10" in shown


def test_ellipsis_matches_zero_lines() -> None:
    assert perform(Transcript.parse("Anna+\nAnna...\nBert..."), SilentStage())[0] == []
