"""Text that fits a screen: wrapping by columns, and transliteration to ASCII.

Also days such as 2026-11-20 and times such as 14:05, in UTC.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from unicodedata import category

from thudmud.english import join_words
from thudmud.errors import InvalidValueError
from thudmud.rules import Move, Piece

UNKNOWN = "?"

MOST_BOARDS = 8
"""The maximum number of boards to list unless a player asks for all of them."""

_OWN = {
    **dict.fromkeys("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
    **dict.fromkeys("\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}", '"'),
    **dict.fromkeys("\N{EN DASH}\N{EM DASH}\N{HYPHEN}\N{MINUS SIGN}", "-"),
    "\N{LATIN SMALL LETTER SHARP S}": "ss",
    "\N{LATIN SMALL LETTER AE}": "ae",
    "\N{LATIN CAPITAL LETTER AE}": "AE",
    "\N{LATIN SMALL LIGATURE OE}": "oe",
    "\N{LATIN CAPITAL LIGATURE OE}": "OE",
    "\N{LATIN SMALL LETTER O WITH STROKE}": "o",
    "\N{LATIN CAPITAL LETTER O WITH STROKE}": "O",
    "\N{LATIN SMALL LETTER L WITH STROKE}": "l",
    "\N{LATIN CAPITAL LETTER L WITH STROKE}": "L",
}
"""ASCII replacements for characters that Unicode doesn't decompose."""


def plain(text: str) -> str:
    """Transliterate a string to ASCII: letters without accents, ``?`` for other characters.

    The length may change, so do this before wrapping.
    """
    return text if text.isascii() else "".join(map(_plain, text))


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    if char.isascii():
        return char
    if char in _OWN:
        return _OWN[char]
    if _is_unseen(char):
        return ""
    parts = [part for part in unicodedata.normalize("NFKD", char) if not _is_unseen(part)]
    spelled = "".join(_OWN.get(part, part) for part in parts)
    return spelled if spelled.isascii() and spelled else UNKNOWN


def _is_unseen(char: str) -> bool:
    """Whether a character has no shape of its own, such as a combining accent."""
    return unicodedata.category(char) in {"Mn", "Me", "Cf"}


_COMMAND = re.compile(r'"[^"]{1,60}"[.,;:?]?')
GLUE = "\0"
"""A non-breaking blank, which `wrap` replaces by a blank. Displayed text never contains it."""
_NARROW = "\N{COMBINING GRAVE ACCENT}"
"""The first character that doesn't take one column. (The soft hyphen takes one.)"""
_EMOJI = "\N{VARIATION SELECTOR-16}"
_CHUNK = re.compile(r"(?<! )( *)([^ ]+)")
_BLANKS = dict.fromkeys(map(ord, "\t\n\v\f\r"), " ")


_SENTENCE_ENDS = re.compile(r'(?:(?<=[.!?])|(?<=[.!?]")) (?=[A-Z"{])')
_TYPED = re.compile(r'"([a-z]+)')
_HOW_TO_TYPE = re.compile(r'(?: by typing|:) "')


def sentences_without(text: str, verbs: frozenset[str]) -> list[str]:
    """Return the sentences of ``text``, except those that suggest typing one of the verbs."""
    sentences = _SENTENCE_ENDS.split(text)
    return [each for each in sentences if verbs.isdisjoint(_TYPED.findall(each))]


def without_commands(text: str) -> str:
    """Return the sentences of ``text`` without the commands that they suggest, for who clicks.

    A sentence keeps what it says before a colon, or before "by typing", and a command.
    """
    kept = []
    for sentence in _SENTENCE_ENDS.split(text):
        told, *typed = _HOW_TO_TYPE.split(sentence, maxsplit=1)
        if '"' not in told:
            kept.append(f"{told}." if typed else told)
    return " ".join(kept)


def wrap(
    text: str, width: int, indent: str = "", *, glued: bool = True, private: bool = False
) -> list[str]:
    """Wrap a string into lines of fewer than `width` columns.

    A line as wide as the screen would make some clients add an empty one.

    Args:
        text: the text.
        width: the width of the screen, in columns.
        indent: prefix of all lines but the first.
        glued: whether quoted commands stay on one line if possible; False for what players write.
        private: whether to keep the text out of the cache, for what a player has typed.

    Raises:
        InvalidValueError: no line can be so short.
    """
    if width <= len(indent) + 1:
        raise InvalidValueError(f"expected a width above {len(indent) + 1}, got {width}")
    if len(text) < width:
        # A shortcut for nearly all sentences: splitting would take most of the time.
        short = text.replace(GLUE, " ").rstrip(" ")
        if short.isprintable() and (short.isascii() or _is_narrow(short)):
            return [short] if short else []
    if not glued:
        return _broken(text, width, indent)
    return list((_broken_at_quotes if private else _broken_as_told)(text, width, indent))


def wrap_each(texts: Iterable[str], width: int, indent: str = "") -> list[str]:
    """Wrap several strings, starting each on a new line."""
    return [line for text in texts for line in wrap(text, width, indent)]


def columns(text: str) -> int:
    """Return the maximum number of columns that a string may take.

    Terminals differ about sequences drawn as one character, such as flags. Characters are counted
    one by one, so lines may be too short on some terminals, but never too wide.
    """
    return len(text) if text.isascii() or _is_narrow(text) else sum(map(_columns, text))


def _is_narrow(text: str) -> bool:
    """Whether every character takes one column. Nearly all strings are ASCII: a quick check."""
    return text.isascii() or max(text) < _NARROW


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    # An emoji selector may widen a sign to two columns. On some terminals, Indic vowel signs take a
    # column of their own.
    if char in {_EMOJI, GLUE} or category(char) == "Mc":
        return 1
    from wcwidth import wcwidth  # noqa: PLC0415  (not needed for ASCII text)

    return max(0, wcwidth(char))


def _broken(text: str, width: int, indent: str) -> list[str]:
    """Break a string into lines of fewer than `width` columns."""
    if _is_narrow(text):
        lines = textwrap.wrap(text, width - 1, subsequent_indent=indent, break_on_hyphens=False)
    else:
        lines = _broken_by_columns(text, width - 1, indent)
    # A word too long for a line may have been broken at the glue.
    return [line.strip(GLUE).replace(GLUE, " ") for line in lines]


def _broken_at_quotes(text: str, width: int, indent: str) -> tuple[str, ...]:
    """Break a string as `_broken` does, but keep quoted commands together."""
    room = width - 1 - len(indent)

    def glue(quoted: re.Match[str]) -> str:
        return quoted[0].replace(" ", GLUE) if columns(quoted[0]) < room else quoted[0]

    return tuple(_broken(_COMMAND.sub(glue, text), width, indent))


_broken_as_told = lru_cache(maxsize=256)(_broken_at_quotes)
"""Cached, since pages and answers are long, and many readers get the same ones."""


def _broken_by_columns(text: str, width: int, indent: str) -> list[str]:
    """Break a string as ``textwrap`` would if it counted columns."""
    lines: list[str] = []
    line, used = "", 0
    for blanks, word in _CHUNK.findall(text.expandtabs().translate(_BLANKS)):
        gap, needed = blanks if line or not lines else "", columns(word)
        most = width - len(indent) if lines else width
        # Like `textwrap`, start a new line only for a word that fits there as a whole.
        if used + len(gap) + needed > width and needed <= most:
            if line:
                lines.append(line)
                line, used = indent, len(indent)
            gap = ""
        line, used = line + gap, used + len(gap)
        if used + needed <= width:
            line, used = line + word, used + needed
            continue
        # A word too long for any line begins on this one if a part fits.
        for part, cost in _parts(word, width - len(indent)):
            if used + cost > width:
                lines.append(line.rstrip(" "))
                line, used = indent, len(indent)
            line, used = line + part, used + cost
    return [each for each in [*lines, line] if each.strip(" ")]


def _parts(word: str, width: int) -> Iterator[tuple[str, int]]:
    """Yield the parts at which a word can be broken, with their widths in columns.

    Sequences drawn as one character stay together if they fit.
    """
    from wcwidth import iter_graphemes  # noqa: PLC0415  (as above)

    for cluster in iter_graphemes(word):
        cost = sum(map(_columns, cluster))
        if cost <= width:
            yield cluster, cost
        else:
            yield from ((char, _columns(char)) for char in cluster)


def time_of_day(at: float) -> str:
    """Return the time of day in UTC. `at` is in seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M")


def day(at: float) -> str:
    """Return the date in UTC. `at` is in seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def minute(at: float) -> str:
    """Return the date and minute in UTC. `at` is in seconds since the epoch."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


def moment(at: float) -> str:
    """Return an ISO 8601 time such as ``2026-11-20T12:00:00Z``. `at` is seconds since the epoch."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def because(why: str) -> str:
    """Return a reason as the end of a sentence, without the full stop; "" without a reason."""
    return f", because {why.rstrip('. ')}" if why else ""


def pages_of(things: int, on_a_page: int) -> int:
    """Return the number of pages of a list; at least 1."""
    return max(1, -(-things // on_a_page))


def victims_phrase(move: Move, prey: Piece) -> str:
    """Return the captured pieces and their squares, such as ``the dwarfs at F6 and G6``."""
    noun = prey.noun + ("s" if len(move.captures) > 1 else "")
    return f"the {noun} at {join_words(move.captures)}"


def in_few_words(move: Move) -> str:
    """Return a ply as a short phrase, suitable for reading aloud."""
    taking = f" taking {join_words(map(str, move.captures))}" if move.captures else ""
    return f"{move.origin} to {move.target}{taking}"
