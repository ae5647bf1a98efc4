"""English: the little grammar that sentences need, here and in whatever tells of a battle.

Owns numbers of things and capitals. Must never know what the things are.
"""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 square``, ``2 squares``, ``2 plies``."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def capitalised(words: str) -> str:
    """Return words as they begin a sentence; other capitals than the first stay as they are."""
    return words[:1].upper() + words[1:]
