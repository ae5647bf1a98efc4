"""Lines as they come from anywhere, made plain: what has no shape is dropped from them.

What that is, Unicode tells of each character: its category, its name, which never changes, and the
columns that it takes.
"""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category, name

MOST_MARKS = 4
"""How many marks above and below it a letter may have. Spelling needs no more; dozens would be
drawn over the lines around it."""

_BLANKS = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Unicode categories that become blanks: controls, invisible formatting (which includes everything
that turns the direction of writing round) and every kind of space."""

_JOINERS = frozenset("\u200c\u200d")
"""Invisible, but part of words in several scripts, and of emoji."""

_SELECTORS = frozenset("\N{VARIATION SELECTOR-15}\N{VARIATION SELECTOR-16}")
"""Whether a sign is drawn as one or as an emoji, they say behind it."""

_MARKS = frozenset({"Mn", "Me"})
_SHAPELESS_MARKS = ("VARIATION SELECTOR", "GRAPHEME JOINER", "VOWEL INHERENT", "FILLER")
_BLANK_SIGNS = ("HANGUL FILLER", "SEONG FILLER", "PATTERN BLANK", "NULL NOTEHEAD")
"""What is in the names of marks, and at the end of the names of letters and signs, without a
shape. That of other fillers is a stroke."""

_SURROGATE = "Cs"
_UNASSIGNED = "Cn"
_REPLACEMENT = "\ufffd"


def clean(line: str) -> str:
    """Return ``line`` with every run of white space one blank, and none at either end.

    Control characters, invisible formatting, odd white space and letters that are drawn blank count
    as blanks; a lone surrogate (a byte that could not be decoded) becomes U+FFFD, so that the
    result can always be encoded. Invisible marks are dropped, but for what words and emoji need,
    and so are visible ones beyond the first few of a letter, or without any.
    """
    if not (line.isascii() and line.isprintable()) and not all(map(_stays, set(line))):
        line = "".join(_seen(line))
    return " ".join(line.split())


def _seen(line: str) -> list[str]:
    """Return the characters of a line that can be seen, and blanks."""
    seen, joiner, marks = [" "], "", 0
    for character in line:
        if character in _JOINERS:  # it stays only between two that can be seen
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
def _stays(character: str) -> bool:
    """Whether a character stays as it is, whatever stands around it."""
    depends = character in _JOINERS or category(character) in _MARKS
    return not depends and _plain(character) == character


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return a character, or the blank or nothing that becomes of it."""
    kind = category(character)
    if kind == _SURROGATE:
        return _REPLACEMENT
    if kind in _BLANKS:
        return " "
    if kind == _UNASSIGNED:  # some are set aside for more invisible ones
        from wcwidth import wcwidth  # noqa: PLC0415  (few lines have need of it)

        return character if wcwidth(character) else ""
    called = name(character, "")
    if kind in _MARKS:
        return "" if any(each in called for each in _SHAPELESS_MARKS) else character
    return " " if called.endswith(_BLANK_SIGNS) else character


@lru_cache(maxsize=4096)
def _has_two_looks(sign: str, selector: str) -> bool:
    """Whether it makes a difference that a selector stands behind a sign."""
    from wcwidth import wcswidth  # noqa: PLC0415  (as above)

    return wcswidth(sign + selector) != wcswidth(sign)
