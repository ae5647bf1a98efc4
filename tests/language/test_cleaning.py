"""Lines as they come from anywhere."""

from __future__ import annotations

import pytest

from thudmud.language import clean


@pytest.mark.parametrize(
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
    ],
)
def test_clean(typed: str, cleaned: str) -> None:
    assert clean(typed) == cleaned


def test_a_cleaned_line_can_always_be_sent() -> None:
    every_character = "".join(map(chr, range(0x11000)))
    cleaned = clean(every_character)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean(cleaned) == cleaned
