"""English: the little grammar that sentences need, here and in whatever tells of a battle.

Owns numbers of things, capitals, and who does what in whose eyes. Must never know what the things
are.
"""

from __future__ import annotations

_IRREGULAR = {"go": "goes"}


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 square``, ``2 squares``, ``2 plies``."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def capitalised(words: str) -> str:
    """Return words as they begin a sentence; other capitals than the first stay as they are."""
    return words[:1].upper() + words[1:]


def does(actor: str, me: str | None, verb: str) -> str:
    """Return an actor doing a verb (its plain form), as "you move" or "Anna moves"."""
    if actor == me:
        return f"you {verb}"
    return f"{actor} {_IRREGULAR.get(verb, verb + 's')}"
