"""English text fragments: plurals, articles, ordinals, lists, durations and verb forms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from math import ceil

from thudmud.errors import InvalidValueError

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_HISSES = ("s", "x", "z", "ch", "sh")
_IRREGULAR = {"be": "is", "have": "has"}
_AN = re.compile(
    r"[aeio8]|u(?!ni[^mn]|[rs][aeiu]|t[ei]|k)|hour|heir|honest|honour|1[18](?![0-9])", re.IGNORECASE
)
_A = re.compile(r"eu|ewe|on(e|ce)\b", re.IGNORECASE)
"""Beginnings of words that take "an", and exceptions among them that take "a" by their sound."""

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}

LONGEST_ECHO = 40
"""Maximum number of typed characters that an answer repeats."""


def pluralize(number: int, noun: str) -> str:
    """Return a number and its noun, in the plural if needed: ``1 ply``, ``2 matches``."""
    return f"{number} {noun if number == 1 else _with_s(noun)}"


@cache  # nearly every line of output uses one of a few words
def _with_s(word: str) -> str:
    """Return the plural of a noun, or the third person of a verb: ``bosses``, ``plies``."""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(_HISSES) else f"{word}s"


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article: ``an oak board``, ``a unicorn``."""
    return f"{'an' if _AN.match(noun) and not _A.match(noun) else 'a'} {noun}"


def ordinal(number: int) -> str:
    """Return an ordinal in digits: ``1st``, ``12th``, ``23rd``."""
    is_teen = number % 100 // 10 == 1
    return f"{number}{'th' if is_teen else _ENDINGS.get(number % 10, 'th')}"


def rounded_duration(seconds: float) -> str:
    """Return a duration in round figures: ``50 seconds``, ``5 minutes``, ``2 weeks``.

    The unit is the largest that fits at least twice. The number is rounded up, so that nobody comes
    back too early, unless the excess is at most a tenth of a unit. Above 100 seconds or minutes it
    is rounded up to tens.
    """
    told, noun, size = _rounded_up(max(1.0, seconds)), "second", 1
    for greater, larger in reversed(_UNITS):
        if told * size < 2 * larger:
            return pluralize(told, noun)
        told, noun, size = max(2, _rounded_up(seconds / larger)), greater, larger
    days = ceil(seconds / size - _LITTLE)
    weeks, more = divmod(days, 7)
    return pluralize(days, noun) if more or weeks < 2 else pluralize(weeks, "week")


_LITTLE = 0.1
"""Largest fraction of a unit that is rounded down."""


def _rounded_up(number: float) -> int:
    whole = ceil(number - _LITTLE)
    return whole if whole <= 100 else -(-whole // 10) * 10


def two_unit_duration(seconds: float) -> str:
    """Return a duration in its two largest units, rounded down: ``4 minutes 10 seconds``."""
    left, told = int(seconds), list[tuple[int, str]]()
    for unit, size in (*_UNITS, ("second", 1)):
        number, left = divmod(left, size)
        if number or told:
            told.append((number, unit))
    both = [pluralize(number, unit) for number, unit in told[:2] if number]
    return " ".join(both) or "0 seconds"


LENGTHS = {"week": 604_800, **dict(_UNITS), "second": 1}
"""Seconds in each unit in which players type durations."""
_SHORT = {"w": "week", "wk": "week", "d": "day", "h": "hour", "hr": "hour", "m": "minute",
          "min": "minute", "s": "second", "sec": "second"}  # fmt: skip
_TYPED = re.compile("(an?|[0-9]+) ?([a-z]+?)s?")


def typed_duration(seconds: int) -> str:
    """Return the exact duration in the syntax of commands: ``10 minutes``, ``1 week``."""
    unit, size = next(each for each in LENGTHS.items() if seconds % each[1] == 0)
    return pluralize(seconds // size, unit)


def parse_duration(words: str) -> int:
    """Parse a duration such as ``10 minutes``, ``an hour`` or ``3d``, and return its seconds.

    Raises:
        InvalidValueError: the string isn't a duration.
    """
    found = _TYPED.fullmatch(words.lower())
    size = LENGTHS.get(_SHORT.get(found[2], found[2])) if found else None
    if found is None or size is None:
        raise InvalidValueError(f"expected a duration such as 10 minutes, got {words!r}")
    return size * (int(found[1]) if found[1].isdigit() else 1)


def capitalised(words: str) -> str:
    """Return ``text`` with its first letter capitalised and the rest unchanged."""
    return words[:1].upper() + words[1:]


def conjugate(actor: str, me: str | None, verb: str) -> str:
    """Return a subject with its conjugated verb, such as "you move" or "Anna moves".

    Args:
        actor: the name of the subject.
        me: the reader's name, for whom the subject becomes "you".
        verb: the plain form of the verb.
    """
    if actor == me:
        return f"you {verb}"
    return f"{actor} {_third_person(verb)}"


@cache
def _third_person(verb: str) -> str:
    return _IRREGULAR.get(verb) or (f"{verb}es" if verb.endswith("o") else _with_s(verb))


def rules_title(name: str) -> str:
    """Capitalise words that begin with a ruleset: "Discworld", "Koom Valley, untimed"."""
    return capitalised(name).replace("Koom valley", "Koom Valley")


def join_words(names: Iterable[object], conjunction: str = "and") -> str:
    """Join names into a list: "oak", "oak and pine" or "oak, pine and elm"; "nothing" if empty."""
    words = [str(name) for name in names]
    if len(words) < 2:
        return words[0] if words else "nothing"
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def shortened(words: str) -> str:
    """Truncate typed text to `LONGEST_ECHO` characters, so that an echo can't fill the screen."""
    return words if len(words) <= LONGEST_ECHO else f"{words[:LONGEST_ECHO]}..."
