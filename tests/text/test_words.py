from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thudmud.text.words import wrapped


def test_lines_are_narrower_than_the_screen() -> None:
    assert wrapped("x" * 9 + " y", 10) == ["x" * 9, "y"]


def test_an_indent_goes_before_later_lines() -> None:
    assert wrapped("one two three", 10, "  ") == ["one two", "  three"]


def test_hyphens_do_not_break() -> None:
    assert wrapped("a word well-known to all", 14) == ["a word", "well-known to", "all"]


def test_words_to_be_typed_stay_together() -> None:
    assert wrapped('Say "end game on oak" now.', 20) == ["Say", '"end game on oak"', "now."]
    assert wrapped('Say "end game on oak".', 20) == ["Say", '"end game on oak".']


def test_words_to_be_typed_are_parted_where_they_must_be() -> None:
    text = 'Say "join game as dwarf on oak board" now.'
    assert wrapped(text, 20) == ['Say "join game as', 'dwarf on oak board"', "now."]


def test_speech_is_not_glued() -> None:
    said = 'Anna says: "one two three"'
    assert wrapped(said, 20, glued=False) == ['Anna says: "one two', 'three"']


@given(st.text(st.sampled_from('ab "'), max_size=200).map(str.strip), st.integers(20, 60))
def test_nothing_is_lost_and_nothing_too_wide(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert all(len(line) < width and line == line.strip() for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
