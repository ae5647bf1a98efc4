from __future__ import annotations

import textwrap

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import wcswidth

from thudmud.views.words import columns, wrap


def test_lines_are_narrower_than_the_screen() -> None:
    assert wrap("x" * 9 + " y", 10) == ["x" * 9, "y"]


def test_indent_applies_to_continuation_lines() -> None:
    assert wrap("one two three", 10, "  ") == ["one two", "  three"]


def test_lines_do_not_break_at_hyphens() -> None:
    assert wrap("a word well-known to all", 14) == ["a word", "well-known to", "all"]


def test_quoted_command_is_not_broken() -> None:
    assert wrap('Say "end game on oak" now.', 20) == ["Say", '"end game on oak"', "now."]
    assert wrap('Say "end game on oak".', 20) == ["Say", '"end game on oak".']


def test_quoted_command_wider_than_the_screen_is_broken() -> None:
    text = 'Say "join game as dwarf on oak board" now.'
    assert wrap(text, 20) == ['Say "join game as', 'dwarf on oak board"', "now."]


def test_quoted_speech_may_be_broken() -> None:
    said = 'Anna says: "one two three"'
    assert wrap(said, 20, glued=False) == ['Anna says: "one two', 'three"']


@given(st.text(st.sampled_from('ab "'), max_size=200).map(str.strip), st.integers(20, 60))
@example('aaaaaaaaaaaaaaaaa" "', 20)
def test_wrapping_keeps_all_text_within_the_width(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(len(line) < width and line == line.strip() for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
ACCENTED = "e\N{COMBINING ACUTE ACCENT}"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("plain words", 11),
        ("Käse", 4),
        ("你好", 4),
        (ACCENTED, 1),
        ("a\N{COMBINING ACUTE ACCENT}\N{COMBINING GRAVE ACCENT}", 1),
        ("\N{THUMBS UP SIGN}", 2),
        (FAMILY, 6),
        ("\N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16}", 2),
        ("\N{DEVANAGARI LETTER KA}\N{DEVANAGARI VOWEL SIGN AA}", 2),
    ],
)
def test_columns_counts_wide_and_combining_characters(text: str, count: int) -> None:
    assert columns(text) == count


def test_wide_characters_take_two_columns() -> None:
    assert wrap("Anna says: 你好 你好", 20) == ["Anna says: 你好", "你好"]
    assert wrap("你" * 12, 20) == ["你" * 9, "你" * 3]
    assert wrap("a" + "你" * 12, 20, "  ") == ["a" + "你" * 9, "  你你你"]


def test_combining_characters_take_no_column_and_are_never_split_off() -> None:
    assert wrap(ACCENTED * 38, 20) == [ACCENTED * 19, ACCENTED * 19]


def test_joined_emoji_is_not_broken() -> None:
    assert wrap("a" * 15 + FAMILY * 2, 20) == ["a" * 15, FAMILY * 2]
    assert wrap("a" * 20 + FAMILY * 3, 20) == ["a" * 19, "a" + FAMILY * 3]


def test_joined_emoji_wider_than_the_screen_is_broken() -> None:
    crowd = "\N{ZERO WIDTH JOINER}".join("\N{MAN}" * 20)
    lines = wrap(crowd, 20)
    assert "".join(lines) == crowd
    assert max(map(columns, lines)) == 18


def test_quoted_command_after_wide_characters_is_not_broken() -> None:
    assert wrap('你好 "go to oak board"', 20) == ["你好", '"go to oak board"']


@pytest.mark.parametrize("text", ["", "   ", "\N{COMBINING GRAVE ACCENT}", "\u200b"])
def test_invisible_text_is_kept(text: str) -> None:
    assert "".join(wrap(text, 20)) == text.strip()


MIXED = st.text(
    st.sampled_from([*'ab  "ä你が\u0301\u200d\ufe0f\u0915\u093e👍❤']),
    max_size=200,
)


@given(MIXED, st.integers(20, 60), st.sampled_from(["", "  ", "    "]), st.booleans())
def test_mixed_text_wraps_within_the_width(text: str, width: int, indent: str, glued: bool) -> None:  # noqa: FBT001
    lines = wrap(text, width, indent, glued=glued)
    assert all(columns(line) < width for line in lines)
    assert all(wcswidth(line) < width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


WORDS = (
    st.lists(st.text("ab", min_size=1, max_size=30) | st.just(" "), max_size=30)
    .map(" ".join)
    .filter(lambda text: len(text) - len(text.lstrip()) < 20)
)
"""Texts whose first word starts within the screen width."""


@given(WORDS, st.integers(20, 60), st.sampled_from(["", "  ", "    "]))
@example(" " * 12 + "a" * 7, 20, "  ")
def test_wrapping_by_columns_agrees_with_wrapping_by_characters(
    text: str, width: int, indent: str
) -> None:
    # The combining accent takes no column; it only keeps the text off the fast path for narrow
    # texts, so that both ways of breaking lines are compared.
    lines = wrap(text, width, indent, glued=False)
    other = wrap(f"{text}z\u0301", width, indent, glued=False)
    assert [line.rstrip() for line in wrap(f"{text}z", width, indent, glued=False)] == [
        line.replace("\u0301", "") for line in other
    ]
    assert len(lines) <= len(other)


@given(st.text(st.sampled_from("ab \té"), max_size=30), st.integers(20, 40))
def test_wrapping_of_narrow_text_agrees_with_textwrap(text: str, width: int) -> None:
    expected = textwrap.wrap(text, width - 1, break_on_hyphens=False)
    if columns(text) == len(text):
        assert wrap(text, width, glued=False) == expected
