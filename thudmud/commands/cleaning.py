"""What somebody typed -> a line of printable characters and single blanks.

Owns what may be in a line. Must never know what the line means.
"""

from __future__ import annotations

import unicodedata

MAX_LINE = 1024
"""The most characters that a line may have, as typed."""

_BLANKS = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Unicode categories that become blanks: controls, invisible formatting (which includes everything
that turns the direction of writing round) and every kind of space."""

_JOINERS = frozenset("\u200c\u200d")
"""Invisible, but part of words in several scripts, and of emoji."""

_SURROGATE = "Cs"
_REPLACEMENT = "\ufffd"


def clean(line: str) -> str:
    """Return ``line`` with every run of white space one blank, and none at either end.

    Control characters, invisible formatting and odd white space count as blanks; a lone surrogate
    (a byte that could not be decoded) becomes U+FFFD, so that the result can always be encoded.
    """
    if not (line.isascii() and line.isprintable()):
        line = "".join(map(_clean_character, line))
    return " ".join(line.split())


def _clean_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == _SURROGATE:
        return _REPLACEMENT
    return " " if category in _BLANKS and character not in _JOINERS else character
