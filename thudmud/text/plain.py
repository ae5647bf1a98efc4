"""Text for those who are to be shown ASCII alone.

Owns what stands in for each other character. Must never change a text that is ASCII already.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

UNKNOWN = "?"

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
"""What Unicode does not take apart, though everybody knows how it is typed."""


def plain(text: str) -> str:
    """Return ``text`` in ASCII alone: letters without their accents, a ``?`` for what has none.

    A character may become several, as ``ss``, or none, as an accent of its own: what is to fit a
    screen is made plain before it is wrapped.
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
    """Whether a character only changes the one before it, or the way of the others."""
    return unicodedata.category(char) in {"Mn", "Me", "Cf"}
