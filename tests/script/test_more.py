"""Variables, includes, waits and several servers in transcripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.script import (
    HouseStage,
    Missed,
    Seen,
    StageError,
    Transcript,
    TranscriptError,
    perform,
)
from thudmud.script.reading import Include, IncludeError
from thudmud.script.transcript import Expectation, escaped, substitute


def house_stage() -> HouseStage:
    return HouseStage(House([BoardSpec("oak board")]), lambda: 0.0)


def among(files: Mapping[str, str]) -> Include:
    """Return an include function backed by an in-memory mapping."""

    def include(file: str) -> tuple[str, Include]:
        if file not in files:
            raise IncludeError("No such file")
        return files[file], include

    return include


def played(text: str, **variables: str) -> tuple[list[str], str]:
    transcript = Transcript.parse(text, variables=variables)
    mismatches, updated = perform(transcript, house_stage(), variables)
    return [str(mismatch) for mismatch in mismatches], updated.written()


GREETING = """\
@set who   everybody
@set greeting hello, ${who}

Bert+
Bert...
Anna> say ${greeting}
Anna| You say: ${greeting}
Bert~ * says: ${first=*}, ${who}
Bert> say ${first} yourself
Bert| You say: hello yourself
Anna~ Bert*${first}*
"""


class TestVariables:
    def test_variable_values_are_substituted_in_input_and_expectations(self) -> None:
        assert played(GREETING) == ([], GREETING)

    def test_given_variable_overrides_set(self) -> None:
        assert played(GREETING, who="Bert, you") == ([], GREETING)

    def test_captured_value_applies_from_the_next_step(self) -> None:
        text = "Anna> say ${x}\nAnna~ You say: given ${x=*}\nAnna> say ${x}\nAnna| You say: now\n"
        assert played(text, x="given now") == ([], text)

    def test_captured_value_is_shared_between_players(self) -> None:
        text = "Bert+\nAnna+\nAnna> say 17\nAnna~ You say: ${n=*}\nBert| Anna says: ${n}\n"
        assert played(text)[0] == []
        assert "+ Anna says: 17" in played(text.replace("says: ${n}", "says: ${n}8"))[0][0]

    def test_mismatch_shows_variable_values(self) -> None:
        text = "@set x hello\nAnna> say hi\nAnna| You say: ${x}\n"
        assert played(text)[0] == [
            'line 2: after "Anna> say hi", Anna should see (-) but saw (+):\n'
            "- You say: hello\n"
            "+ You say: hi"
        ]

    def test_update_keeps_matching_lines_verbatim(self) -> None:
        said = "Anna> say ${x}\nAnna| You say: ${x}\n"
        text = f"@set x  hi\nAnna> who\nAnna| Nobody.\n{said}Anna| No\n"
        updated = played(text)[1]
        assert updated.startswith("@set x  hi\nAnna> who\nAnna| ")
        assert "Nobody" not in updated
        assert updated.endswith(said)
        assert played(updated) == ([], updated)

    def test_update_escapes_literal_dollar_signs(self) -> None:
        text = "Anna> say $${x}, $$5 and $5\n"
        updated = played(text)[1]
        assert updated == text + "Anna| You say: $${x}, $$5 and $5\n"
        assert played(updated) == ([], updated)

    def test_asterisk_in_a_value_is_literal(self) -> None:
        text = "Anna> say ab\nAnna~ You say: ${x}\n"
        assert played(text, x="ab")[0] == []
        assert len(played(text, x="a*")[0]) == 1

    def test_unset_variable_error_includes_the_mismatch(self) -> None:
        text = "Anna> say hi\nAnna~ You say: no ${x=*}\nAnna> say ${x}\n"
        with pytest.raises(StageError, match=r"^line 3: \$\{x\} has no value$") as raised:
            played(text)
        (mismatch,) = raised.value.mismatches
        assert "- You say: no ${x=*}" in str(mismatch)

    def test_capture_succeeds_despite_other_mismatches(self) -> None:
        text = "Anna> say hi\nAnna~ You say: ${x=*}\nAnna| No.\nAnna> say ${x}\nAnna| You say: hi\n"
        assert len(played(text)[0]) == 1

    @given(st.text(), st.text(), st.text())
    def test_escaped_text_round_trips(self, before: str, value: str, after: str) -> None:
        assume(not before.endswith("$"))  # not expressible right before a variable
        text = f"{escaped(before)}${{x}}{escaped(after)}"
        assert substitute(text, {"x": value}) == f"{before}{value}{after}"

    @pytest.mark.parametrize(
        ("pattern", "seen", "values"),
        [
            ("${x=*}", "", {"x": ""}),
            ("a ${x=*} c", "a b c", {"x": "b"}),
            ("${x=*} ${y=*}", "a b c", {"x": "a", "y": "b c"}),
            ("*: ${x=*}.", "Anna: hi.", {"x": "hi"}),
            ("${x=*}*z", "abz", {"x": ""}),
            ("a${x=*}", "b", None),
        ],
    )
    def test_capture_pattern_values(
        self, pattern: str, seen: str, values: dict[str, str] | None
    ) -> None:
        assert Expectation("~", pattern).pattern({}).match(seen) == values

    def test_capture_after_any_number_of_lines(self) -> None:
        text = "Anna> boards\nAnna...\nAnna~ *1. ${board=*} (*\nAnna...\nAnna> say ${board}\n"
        assert played(text)[1] == f"{text}Anna| You say: oak board\n"


class TestIncludes:
    MAIN = "@set x one\n@include part\n\n@set x two\n@include part\n# The end.\n"
    PART = "# A part.\nAnna> say ${x}\nAnna~ You say: *\n# Its end.\n"

    def test_included_steps_are_played_in_place(self) -> None:
        transcript = Transcript.parse(self.MAIN, among({"part": self.PART}))
        mismatches, updated = perform(transcript, house_stage())
        assert mismatches == []
        assert updated == transcript
        assert updated.written() == self.MAIN
        assert [step.line for step in transcript.steps] == [2, 2]

    def test_mismatch_names_the_chain_of_includes(self) -> None:
        files = {"a": "\n@include b\n", "b": "Anna> say hi\nAnna| You say: ho\n"}
        (mismatch,) = perform(Transcript.parse("@include a", among(files)), house_stage())[0]
        assert str(mismatch).startswith('line 1: a: line 2: b: line 1: after "Anna> say hi", Anna')

    def test_unplayable_step_names_the_chain_of_includes(self) -> None:
        transcript = Transcript.parse("@include a", among({"a": "Anna+\nAnna+\n"}))
        with pytest.raises(StageError, match=r"^line 1: a: line 2: Anna is already here$"):
            perform(transcript, house_stage())


def north_and_south() -> dict[str, HouseStage]:
    return {"north": house_stage(), "south": house_stage()}


class TestServers:
    TEXT = """\
@server north
@server south south.toml
Anna> say Is anybody here?
Anna| You say: Is anybody here?
Bert+ south
Bert...
Carla+ north
Anna| Carla comes into the hall.
Carla...
Bert> say Nobody.
Bert| You say: Nobody.
Bert-
Bert+
Bert...
"""

    def test_players_are_assigned_to_servers(self) -> None:
        transcript = Transcript.parse(self.TEXT)
        assert dict(transcript.servers) == {"north": None, "south": "south.toml"}
        mismatches, updated = perform(transcript, north_and_south())
        assert mismatches == []
        assert updated.written() == self.TEXT


class PatientHouse(HouseStage):
    """A house that delivers its pending lines only to a waiting player."""

    def __init__(self, *lines: str) -> None:
        super().__init__(House([BoardSpec("oak board")]), lambda: 0.0)
        self.lines = list(lines)
        self.waited: list[float] = []

    def wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        self.waited.append(seconds)
        came = []
        while self.lines:
            came.append(self.lines.pop(0))
            if fits(came[-1]):
                break
        return {who: came, "Bert": ["A bell rings."]}


WAITING = """\
Anna> say hello
Anna? 5s You say: ${x=*}
Anna> say ${x} again
Anna| You say: hello again
"""


class TestWaits:
    def test_wait_in_a_house_finds_the_line_already_there(self) -> None:
        mismatches, updated = perform(Transcript.parse(WAITING), house_stage())
        assert mismatches == []
        filled_in = "Anna? 5s You say: ${x=*}\nAnna| You say: hello\nAnna> say ${x}"
        assert filled_in in updated.written()
        assert perform(updated, house_stage()) == ([], updated)

    def test_line_already_seen_needs_no_waiting(self) -> None:
        stage = PatientHouse()
        assert perform(Transcript.parse(WAITING), stage)[0] == []
        assert stage.waited == []

    def test_awaited_line_is_compared_with_the_lines_before_it(self) -> None:
        text = """\
Anna> say hello
Anna? 2.5s Two
Anna| You say: hello
Anna| One
Anna| Two
Bert| A bell rings.
Anna? 1s Three
"""
        stage = PatientHouse("One", "Two", "Three")
        assert perform(Transcript.parse(text), stage)[0] == []
        assert stage.waited == [2.5, 1]

    def test_line_ends_one_wait_and_later_lines_end_the_next(self) -> None:
        text = "Anna> say a\nBert+\nAnna? 5s You say: *\nAnna? 5s Bert comes*\n"
        assert perform(Transcript.parse(text), house_stage())[0] == []
        (missed,) = perform(Transcript.parse(text + "Anna? 5s Bert comes*\n"), house_stage())[0]
        assert str(missed) == 'line 5: Anna waited 5 s for "Bert comes*" but saw nothing'

    def test_wait_considers_only_lines_after_the_last_step(self) -> None:
        text = "Anna> say a\nAnna> say b\nAnna? 5s You say: a\n"
        (missed,) = perform(Transcript.parse(text), house_stage())[0]
        assert isinstance(missed, Missed)
        assert str(missed) == (
            'line 3: Anna waited 5 s for "You say: a" but saw (+):\n+ You say: b'
        )

    def test_player_entering_with_their_first_line_is_announced(self) -> None:
        text = "Anna+\nBert> say hi\nAnna? 5s Bert comes*\nAnna? 5s Bert says: hi\n"
        assert perform(Transcript.parse(text), house_stage())[0] == []

    def test_compared_line_does_not_end_a_wait(self) -> None:
        text = "Anna> say a\nAnna| You say: a\nAnna? 5s You say: a\n"
        (missed,) = perform(Transcript.parse(text), house_stage())[0]
        assert "saw nothing" in str(missed)

    def test_missed_wait_stops_playing_and_updating(self) -> None:
        text = "Anna> say a\nAnna| You say: b\nBert+\n\nAnna? 1s never\nCarla> quit\n"
        transcript = Transcript.parse(text)
        stage = PatientHouse("Two")
        mismatches, updated = perform(transcript, stage)
        assert [type(each).__name__ for each in mismatches] == ["Mismatch", "Missed"]
        assert updated == transcript
        assert stage.enter("Carla")["Carla"]

    def test_wait_of_an_absent_player_is_an_error(self) -> None:
        with pytest.raises(StageError, match=r"^line 1: Anna is not here"):
            perform(Transcript.parse("Anna? 1s x"), house_stage())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Anna> say ${x}", "line 1: ${x} has no value here"),
        ("Anna+\nAnna| a\nBert| b\nAnna| ${x}", "line 4: ${x} has no value here"),
        ("@set x ${y}", "line 1: ${y} has no value here"),
        ("Anna+\nAnna~ ${x=*}\nAnna| ${x}", "line 3: ${x} has no value here"),
        ("Anna> a\nAnna? 5s ${x}", "line 2: ${x} has no value here"),
        ("Anna> say ${x y}", "line 1: expected ${NAME}"),
        ("Anna> say ${", "line 1: expected ${NAME}"),
        ("Anna> say ${x=*}", "line 1: ${x=*} captures text, and is only valid in a line with ~"),
        ("Anna+\nAnna| ${x=*}", "line 2: ${x=*} captures text"),
        ("@set", 'line 1: expected "@set", a variable name, and its value, got "@set"'),
        ("@set x", 'line 1: expected "@set", a variable name, and its value, got "@set x"'),
        ("@set 1 x", 'line 1: expected "@set", a variable name, and its value, got "@set 1 x"'),
        ("@include", 'line 1: expected "@include" and a file name'),
        ("\n@include gone", "line 2: gone: No such file"),
        ("@include bad", "line 1: bad: line 2: expected a name"),
        ("@include deep", "line 1: deep: line 1: bad: line 2: expected a name"),
        ("@include unset", "line 1: unset: line 1: ${x} has no value here"),
        ("@include whole", 'line 1: whole: line 1: "@config" belongs in the main transcript'),
        ("@include fine\nAnna| x", "line 2: expected lines must directly follow their step"),
        ("@set x y\nAnna| x", "line 2: expected lines must directly follow their step"),
        ("@server", 'line 1: expected "@server", a name'),
        ("@server ä", 'line 1: expected "@server", a name'),
        ("@server a\n@server a", 'line 2: the server "a" is already defined'),
        ("Anna+\n@server a", 'line 2: "@server" must come before the first step'),
        ("@config x\n@server a", 'line 2: with "@server", name the configuration there'),
        ("@server a\n@config x", 'line 2: with "@server", name the configuration there'),
        ("@server a\n@server b\nAnna+ c", 'line 3: unknown server "c"; expected one of a, b'),
        (
            "@server a\n@server b\nAnna> x\nAnna+ b",
            "line 4: Anna is on a, and cannot change servers",
        ),
        (
            "@server a\n@server b\nAnna+ b\nAnna+ a",
            "line 4: Anna is on b, and cannot change servers",
        ),
        (
            "Anna+\nAnna? never",
            'line 2: expected "Anna? 5s" and a line to wait for, got "Anna? never"',
        ),
        ("Anna+\nAnna? 5 x", 'line 2: expected "Anna? 5s" and a line to wait for, got "Anna? 5 x"'),
        ("Anna+\nAnna? 5s", 'line 2: expected "Anna? 5s" and a line to wait for, got "Anna? 5s"'),
        (
            "Anna+\nAnna? -1s x",
            'line 2: expected "Anna? 5s" and a line to wait for, got "Anna? -1s x"',
        ),
        (
            "Anna+\nAnna? 123456s x",
            'line 2: expected "Anna? 5s" and a line to wait for, got "Anna? 123456s x"',
        ),
    ],
)
def test_invalid_line_is_reported_with_its_number(text: str, problem: str) -> None:
    files = {
        "bad": "Anna+\nWhat!\n",
        "deep": "@include bad",
        "unset": "Anna> say ${x}",
        "whole": "@config x",
        "fine": "Anna+",
    }
    with pytest.raises(TranscriptError, match="^" + re.escape(problem)):
        Transcript.parse(text, among(files))


def test_include_without_a_file_source_is_an_error() -> None:
    with pytest.raises(TranscriptError, match=r"^line 1: x: files cannot be included here$"):
        Transcript.parse("@include x")
