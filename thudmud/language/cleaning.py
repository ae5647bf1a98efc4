"""Cleans lines of invisible characters, whatever their source.

Unicode's data decide which are invisible: a character's category, name and width.
"""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category, name

MOST_MARKS = 4
"""The maximum number of combining marks on a letter. Spelling needs no more, and dozens of marks
would cover other lines."""

_BLANKS = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Unicode categories that become blanks: controls, invisible formatting (including all changes of
writing direction) and all kinds of spaces."""

_JOINERS = frozenset("\u200c\u200d")
"""Invisible characters that emoji, and words of several scripts, need."""

_SELECTORS = frozenset("\N{VARIATION SELECTOR-15}\N{VARIATION SELECTOR-16}")
"""Variation selectors after a sign, which choose between text and emoji presentation."""

_MARKS = frozenset({"Mn", "Me"})
_SHAPELESS_MARKS = ("VARIATION SELECTOR", "GRAPHEME JOINER", "VOWEL INHERENT", "FILLER")
_BLANK_SIGNS = ("HANGUL FILLER", "SEONG FILLER", "PATTERN BLANK", "NULL NOTEHEAD")
"""Parts of the names of marks without a shape, and endings of the names of letters and signs
without one. Other fillers are drawn as strokes."""

_SURROGATE = "Cs"
_UNASSIGNED = "Cn"
_REPLACEMENT = "\ufffd"


def clean(line: str) -> str:
    """Return a line with single blanks between words and none at either end.

    Control characters, invisible formatting, unusual white space and letters that are drawn blank
    count as blanks. A lone surrogate (a byte that could not be decoded) becomes U+FFFD, so that the
    result can always be encoded. Invisible marks are dropped, except those that words and emoji
    need, and so are marks without a letter and excess marks on one letter.
    """
    # Nearly all lines pass one of these cheap tests.
    if not (line.isascii() and line.isprintable()) and not all(map(_is_always_kept, set(line))):
        line = "".join(_visible_characters(line))
    return " ".join(line.split())


def _visible_characters(line: str) -> list[str]:
    """Return the visible characters of a line, with blanks in place of invisible ones.

    ``joiner`` is a joiner still waiting for a visible character after it; ``marks`` is the number
    of combining marks on the current letter.
    """
    seen, joiner, marks = [" "], "", 0
    for character in line:
        if character in _JOINERS:  # kept only between two visible characters
            joiner = joiner or character
        elif character in _SELECTORS:
            if not joiner and _has_two_looks(seen[-1], character):
                seen.append(character)
        elif (plain := _plain(character)) == " ":
            joiner, marks = "", 0
            seen.append(plain)
        elif plain:
            marks = marks + 1 if category(plain) in _MARKS else 0
            if marks > MOST_MARKS or (marks and seen[-1] == " "):
                continue
            if joiner and seen[-1] != " ":
                seen.append(joiner)
            joiner = ""
            seen.append(plain)
    return seen


@lru_cache(maxsize=4096)
def _is_always_kept(character: str) -> bool:
    """Whether a character stays in any context."""
    depends = character in _JOINERS or category(character) in _MARKS
    return not depends and _plain(character) == character


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return a character or its replacement: a blank, "" or U+FFFD."""
    kind = category(character)
    if kind == _SURROGATE:
        return _REPLACEMENT
    if kind in _BLANKS:
        return " "
    if kind == _UNASSIGNED:  # some code points are reserved for invisible characters
        from wcwidth import wcwidth  # noqa: PLC0415  (few lines have need of it)

        return character if wcwidth(character) else ""
    called = name(character, "")
    if kind in _MARKS:
        return "" if any(each in called for each in _SHAPELESS_MARKS) else character
    return " " if called.endswith(_BLANK_SIGNS) else character


@lru_cache(maxsize=4096)
def _has_two_looks(sign: str, selector: str) -> bool:
    """Whether a variation selector changes the presentation of the preceding sign."""
    from wcwidth import wcswidth  # noqa: PLC0415  (as above)

    return wcswidth(sign + selector) != wcswidth(sign)
