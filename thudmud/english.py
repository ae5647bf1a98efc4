"""The little grammar that sentences need: numbers of things, lengths of time, who does what."""

from __future__ import annotations

from math import ceil

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_IRREGULAR = {"go": "goes", "have": "has"}


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 square``, ``2 squares``, ``2 plies``."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def lasting(seconds: float) -> str:
    """Return a length of time in words, rounded up: ``50 seconds``, ``5 minutes``, ``3 hours``."""
    whole = max(1, ceil(seconds))
    for unit, size in _UNITS:
        if whole >= 2 * size:
            return counted(-(-whole // size), unit)
    return counted(whole, "second")


def capitalised(words: str) -> str:
    """Return words as they begin a sentence; other capitals than the first stay as they are."""
    return words[:1].upper() + words[1:]


def does(actor: str, me: str | None, verb: str) -> str:
    """Return an actor doing a verb (its plain form), as "you move" or "Anna moves"."""
    if actor == me:
        return f"you {verb}"
    return f"{actor} {_IRREGULAR.get(verb, verb + 's')}"
