"""English for sentences: plurals, lists, lengths of time, verbs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from math import ceil

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_HISSES = ("s", "x", "z", "ch", "sh")
_IRREGULAR = {"be": "is", "have": "has"}
_AN = re.compile(
    r"[aeio8]|u(?!ni[^mn]|[rs][aeiu]|t[ei]|k)|hour|heir|honest|honour|1[18](?![0-9])", re.IGNORECASE
)
_A = re.compile(r"eu|ewe|on(e|ce)\b", re.IGNORECASE)
"""Beginnings of words that have "an", and of some among them that have "a", since they sound so."""

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}

LONGEST_ECHO = 40
"""The most characters of typed text that are repeated in an answer."""


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 ply``, ``2 plies``, ``2 days``, ``2 matches``."""
    return f"{number} {noun if number == 1 else _with_s(noun)}"


@cache  # nearly every line has one of few
def _with_s(word: str) -> str:
    """Return a noun in the plural, or a verb in the third person: ``bosses``, ``plies``."""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(_HISSES) else f"{word}s"


def with_article(noun: str) -> str:
    """Return a noun with its article: ``an oak board``, ``a unicorn``."""
    return f"{'an' if _AN.match(noun) and not _A.match(noun) else 'a'} {noun}"


def nth(number: int) -> str:
    """Return an ordinal in figures: ``1st``, ``12th``, ``23rd``."""
    is_teen = number % 100 // 10 == 1
    return f"{number}{'th' if is_teen else _ENDINGS.get(number % 10, 'th')}"


def lasting(seconds: float) -> str:
    """Return a length of time in round figures: ``50 seconds``, ``5 minutes``, ``2 weeks``.

    The unit is the largest of which there are two. It is rounded up, except by a tenth of a unit,
    so that nobody comes back too early; above 100 seconds or minutes, to tens.
    """
    told, noun, size = _rounded_up(max(1.0, seconds)), "second", 1
    for greater, larger in reversed(_UNITS):
        if told * size < 2 * larger:
            return counted(told, noun)
        told, noun, size = max(2, _rounded_up(seconds / larger)), greater, larger
    days = ceil(seconds / size - _LITTLE)
    weeks, more = divmod(days, 7)
    return counted(days, noun) if more or weeks < 2 else counted(weeks, "week")


_LITTLE = 0.1
"""The part of a unit that is not rounded up."""


def _rounded_up(number: float) -> int:
    whole = ceil(number - _LITTLE)
    return whole if whole <= 100 else -(-whole // 10) * 10


def precisely(seconds: float) -> str:
    """Return a length of time in its two greatest units, rounded down: ``4 minutes 10 seconds``."""
    left, told = int(seconds), list[tuple[int, str]]()
    for unit, size in (*_UNITS, ("second", 1)):
        number, left = divmod(left, size)
        if number or told:
            told.append((number, unit))
    both = [counted(number, unit) for number, unit in told[:2] if number]
    return " ".join(both) or "0 seconds"


LENGTHS = {"week": 604_800, **dict(_UNITS), "second": 1}
"""The seconds of each unit in which lengths of time are typed."""
_SHORT = {"w": "week", "wk": "week", "d": "day", "h": "hour", "hr": "hour", "m": "minute",
          "min": "minute", "s": "second", "sec": "second"}  # fmt: skip
_TYPED = re.compile("(an?|[0-9]+) ?([a-z]+?)s?")


def length(seconds: int) -> str:
    """Return a length of time exactly, as it is typed: ``10 minutes``, ``1 week``."""
    unit, size = next(each for each in LENGTHS.items() if seconds % each[1] == 0)
    return counted(seconds // size, unit)


def length_of(words: str) -> int:
    """Return the seconds of a length of time as it is typed: ``10 minutes``, ``an hour``, ``3d``.

    Raises:
        ValueError: it is none.
    """
    found = _TYPED.fullmatch(words.lower())
    size = LENGTHS.get(_SHORT.get(found[2], found[2])) if found else None
    if found is None or size is None:
        raise ValueError(f"{words!r} is no length of time")
    return size * (int(found[1]) if found[1].isdigit() else 1)


def capitalised(words: str) -> str:
    """Return words with the first letter as a capital; the others stay as they are."""
    return words[:1].upper() + words[1:]


def does(actor: str, me: str | None, verb: str) -> str:
    """Return an actor doing a verb (its plain form), as "you move" or "Anna moves"."""
    if actor == me:
        return f"you {verb}"
    return f"{actor} {_third_person(verb)}"


@cache
def _third_person(verb: str) -> str:
    return _IRREGULAR.get(verb) or (f"{verb}es" if verb.endswith("o") else _with_s(verb))


def listed(names: Iterable[object], conjunction: str = "and") -> str:
    """Return "oak", "oak and pine" or "oak, pine and elm"; "nothing" for none."""
    words = [str(name) for name in names]
    if len(words) < 2:
        return words[0] if words else "nothing"
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def shortened(words: str) -> str:
    """Return what somebody typed, cut short if it would fill the screen."""
    return words if len(words) <= LONGEST_ECHO else f"{words[:LONGEST_ECHO]}..."
