"""The little grammar that sentences need: numbers and lists of things, lengths of time, deeds."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_IRREGULAR = {"go": "goes", "have": "has"}

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}

LONGEST_ECHO = 40
"""How many characters of what somebody typed are repeated to them."""


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 square``, ``2 squares``, ``2 plies``."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def nth(number: int) -> str:
    """Return an ordinal in figures: ``1st``, ``12th``, ``23rd``."""
    is_teen = number % 100 // 10 == 1
    return f"{number}{'th' if is_teen else _ENDINGS.get(number % 10, 'th')}"


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


def listed(names: Iterable[object], conjunction: str = "and") -> str:
    """Return "oak", "oak and pine" or "oak, pine and elm"; "nothing" for none."""
    words = [str(name) for name in names]
    if len(words) < 2:
        return words[0] if words else "nothing"
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def shortened(words: str) -> str:
    """Return what somebody typed, cut short if it would fill the screen."""
    return words if len(words) <= LONGEST_ECHO else f"{words[:LONGEST_ECHO]}..."
