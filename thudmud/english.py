"""The little grammar that sentences need: numbers and lists of things, lengths of time, deeds."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_IRREGULAR = {"go": "goes", "have": "has", "kibitz": "kibitzes"}

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}

LONGEST_ECHO = 40
"""How many characters of what somebody typed are repeated to them."""


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 ply``, ``2 plies``, ``2 days``, ``2 matches``."""
    if number == 1:
        return f"{number} {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


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


def precisely(seconds: float) -> str:
    """Return a length of time in its two greatest units, rounded down: ``4 minutes 10 seconds``."""
    left, told = int(seconds), list[tuple[int, str]]()
    for unit, size in (*_UNITS, ("second", 1)):
        number, left = divmod(left, size)
        if number or told:
            told.append((number, unit))
    both = [counted(number, unit) for number, unit in told[:2] if number]
    return " ".join(both) or "0 seconds"


_LENGTHS = (("week", 604_800), *_UNITS, ("second", 1))


def length(seconds: int) -> str:
    """Return a length of time exactly, as it is typed: ``10 minutes``, ``1 week``."""
    unit, size = next(each for each in _LENGTHS if seconds % each[1] == 0)
    return counted(seconds // size, unit)


def length_of(words: str) -> int:
    """Return the seconds of a length of time as it is typed: ``10 minutes``, ``an hour``."""
    number, unit = words.lower().split()
    return (1 if number in {"a", "an"} else int(number)) * dict(_LENGTHS)[unit.removesuffix("s")]


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
