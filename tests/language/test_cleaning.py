"""Cleaning of lines: control characters, blanks, invisible characters and stacked marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from thudmud.game.refusals import Mistake
from thudmud.language import ParseError, clean, parse


@cases(
    ("typed", "cleaned"),
    [
        ("  look   at\tboard ", "look at board"),
        ("look\x00\x07at\x1b[1mboard", "look at [1mboard"),
        ("look\u00a0at\u2003board\u2028", "look at board"),
        ("say \u202ereversed\u202c \u2066x\u2069", "say reversed x"),
        ("say zero\u200bwidth\ufeff", "say zero width"),
        ("say \U0001f468\u200d\U0001f469", "say \U0001f468\u200d\U0001f469"),
        ("say caf\u00e9", "say caf\u00e9"),
        ("say \udcff", "say \ufffd"),
        ("", ""),
        (" \r\n ", ""),
        # Invisible letters, signs and marks
        ("say \u2800\u3164\u115f\u1160\uffa0", "say"),
        ("say a\u3164b\u2800c", "say a b c"),
        ("say a\u034fb\u180b\u17b4c\U000e0100", "say abc"),
        ("say \u2060\u206f\u2065\ufff9x\ufffb\ufff0\U000e0041\U000e0080", "say x"),
        ("say \u200d\u200c", "say"),
        ("say a\u200d\u200d\u200cb\u200d c", "say a\u200db c"),
        ("say x\ufe0f\ufe0e", "say x"),
        # Stacked marks, and marks without a base character
        ("say e" + "\u0301" * 99 + "!", "say e" + "\u0301" * 4 + "!"),
        ("say e" + "\u0301\u200d" * 99 + "!", "say e\u0301" + "\u200d\u0301" * 3 + "\u200d!"),
        ("say \u0301\u0489", "say"),
    ],
)
def test_clean_normalizes_whitespace_and_invisible_characters(typed: str, cleaned: str) -> None:
    assert clean(typed) == cleaned


@pytest.mark.parametrize(
    "words",
    [
        "\u2764\ufe0f\u200d\U0001f525",  # a heart on fire
        "\U0001f441\ufe0f\u200d\U0001f5e8\ufe0f",  # an eye in a speech bubble
        "1\ufe0f\u20e3",  # a keycap
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with a non-joiner
        "\u0915\u094d\u200d\u0937",  # Hindi, with a joiner
        "\u1112\u1161\u11ab\u1100\u1173\u11af",  # Korean in conjoining jamo
        "\u05e9\u05b8\u05bc\u05c1\u0591",  # Hebrew with points and a cantillation mark
        "\u0e01\u0e47\u0e48 Vie\u0302\u0323t \u03b1\u0314\u0301\u0345",
        "\u4f60\u597d \ud55c\uae00 \u2603 \u280b\u2811",
    ],
)
def test_joiners_and_marks_of_words_and_emoji_are_kept(words: str) -> None:
    assert clean(f"say {words}") == f"say {words}"


@pytest.mark.parametrize("verb", ["say", "emote", "tell anna"])
@pytest.mark.parametrize("nothing", ["\u3164", "\u2800 \u2800", "\u200d\u200d", "\u0301", "\u034f"])
def test_speech_of_invisible_characters_counts_as_empty(verb: str, nothing: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"{verb} {nothing}")
    assert caught.value.code is Mistake.MISSING_WORD


@given(st.text(st.sampled_from("ab \u200d\u200c\ufe0f\ufe0e\u2764\u0301\u3164\u034f\u2028")))
def test_cleaning_is_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_cleaned_line_is_encodable_as_utf_8() -> None:
    every_character = "".join(map(chr, range(0x11000)))
    cleaned = clean(every_character)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean(cleaned) == cleaned
