"""Properties of the parser that hold for every command and every line."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import wcswidth

from tests.language.generated import commands, mutated_lines
from thudmud.features.talk.commands import Say
from thudmud.game.refusals import Mistake
from thudmud.language import MAX_LINE, VERBS, ParseError, clean, grammar, parse, slips, words
from thudmud.language.parsing import PLAIN_SIGNS
from thudmud.views.refusals import explain

ENDING = "<end>"
GENERAL = {
    Mistake.EMPTY_LINE, Mistake.UNKNOWN_COMMAND, Mistake.UNEXPECTED_WORD, Mistake.MISSING_WORD,
}  # fmt: skip
"""The codes without a more specific diagnosis."""


def refusal(line: str) -> ParseError | None:
    try:
        parse(line)
    except ParseError as error:
        return error
    return None


def check_that_it_parses_or_is_explained(line: str) -> None:
    error = refusal(line)
    if error is None:
        return
    cleaned = clean(line[:MAX_LINE])
    plain = cleaned.translate(PLAIN_SIGNS)  # the line that the error refers to if neither parses
    read_as = (cleaned, plain, plain[:-1], "'")
    assert error.line in {*read_as, *(each.rstrip(" .!") for each in read_as)}
    assert 0 <= error.column <= len(error.line)
    assert error.line.startswith(error.word, error.column)
    assert (error.word == "") is (error.column == len(error.line))
    assert error.understood_part == error.line[: error.column].strip()
    assert error.expected or error.code not in GENERAL
    for width in (20, 80):
        # A combining accent takes no column, a Han character two.
        assert all(0 <= wcswidth(row) < width for row in explain(error, width))


# Typed as `object`: comparing two unions of commands makes mypy check every pair of members.
@given(commands)
def test_command_survives_a_round_trip_through_text(command: object) -> None:
    assert parse(str(command)) == command


@given(commands, st.randoms(use_true_random=False))
def test_keywords_are_case_insensitive(command: object, random: object) -> None:
    line = str(command)
    assert type(parse(line.upper())) is type(command) or not line.isascii()
    assert parse(line.replace(" ", " \t ")) == command


@given(st.text(max_size=200))
@example("\ud800")
@example("move a1 b2 on \u202eoak")
@example("\x00")
@example("000\U00011a8a")
@example("000\u093e")
@example("\u6f22" * 40)
@example("\u2018move from a6 to\u2019")
@example("move \u2013 to b7.")
def test_arbitrary_text_parses_or_is_explained(line: str) -> None:
    check_that_it_parses_or_is_explained(line)


@given(mutated_lines())
def test_mutated_command_parses_or_is_explained(line: str) -> None:
    check_that_it_parses_or_is_explained(line)


@given(mutated_lines())
def test_expected_words_of_an_error_are_accepted_there(line: str) -> None:
    error = refusal(line)
    if error is None:
        return
    for word in error.expected:
        if word == ENDING:
            assert refusal(error.understood_part) is None
        elif not word.startswith("<"):
            longer = f"{error.understood_part} {word}".strip()
            then = refusal(longer)
            assert then is None or then.column == len(longer)


@given(mutated_lines())
def test_suggestion_moves_the_error_to_the_right(line: str) -> None:
    error = refusal(line)
    if error is None or error.suggestion is None or error.code not in GENERAL:
        return
    rest = error.line[error.column + len(error.word) :]
    then = refusal(f"{error.understood_part} {error.suggestion}{rest}")
    assert then is None or then.column > len(error.understood_part) + 1


@given(st.sampled_from([*VERBS, "SAY", "mvoe", "take"]), st.text(max_size=40))
@example("say", "capturing a6, and b7")
@example("tell", "Bert hello")
@example("help", "on")
@example("'", "well met")
def test_fast_path_returns_the_same_command_as_lark(verb: str, words: str) -> None:
    line = clean(f"{verb} {words}")
    command: object = grammar.read_any_words(line)
    if command is not None:
        assert command == grammar.read(line)


def test_fast_path_handles_verbs_with_free_text() -> None:
    assert grammar.read_any_words("say well met") == Say("well met")
    assert grammar.read_any_words("say") is None
    assert grammar.read_any_words("tell Bert well met") is None


@given(st.one_of(mutated_lines(), st.text(max_size=40)))
@example("mvoe a6 b6")
@example("")
def test_line_with_an_unknown_verb_fails_in_lark_at_column_zero(line: str) -> None:
    cleaned = clean(line)
    if not words.begins_with_terminal(words.FIRST, cleaned):
        with pytest.raises(words.UnexpectedTokenError) as caught:
            grammar.read(cleaned)
        assert caught.value.column == 0


@given(
    st.sampled_from(["", "scan", "scan row", "set", "options", "options colour special thud"]),
    st.one_of(
        st.sampled_from(["red", "5", "row", "rows", "ROW", "board", "colour", "#ff8800", "256"]),
        st.text("abrow5#-'\"", min_size=1, max_size=8),
    ),
)
def test_goes_on_agrees_with_lark(beginning: str, word: str) -> None:
    assert slips.can_follow(beginning, word) == slips.is_valid_beginning(
        f"{beginning} {word}".strip()
    )
