"""Which thing a player means by a noun phrase.

Owns the matching of words such as ``oak board``, ``2nd board`` or ``last board`` against names. A
name's last word is its noun, the words before it are adjectives. Must never know what the things
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ORDINAL_WORDS = {
    word: number
    for number, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"), 1
    )
} | {"last": -1}
LONGEST_ECHO = 40
"""How many characters of what somebody typed are repeated to them."""

ARTICLES = {"the", "a", "an"}
RESERVED = frozenset(
    {
        "it",
        "hall",
        "here",
        "round",
        "around",
        "me",
        "myself",
        "capturing",
        *ARTICLES,
        *ORDINAL_WORDS,
    }
)
"""Words that mean something else where a name is expected."""

_ORDINAL = re.compile(r"([0-9]{1,6})(?:st|nd|rd|th)?")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase taken apart: its words, and which of those that fit it picks out.

    ``ordinal`` counts from 1; -1 is the last; None picks out none in particular.
    """

    words: tuple[str, ...]
    ordinal: int | None = None

    @classmethod
    def parse(cls, text: str) -> Phrase:
        """Return ``text`` as a phrase: any case, articles dropped, an ordinal before or behind."""
        words = [word for word in text.lower().split() if word not in ARTICLES]
        for place in (0, -1):
            if words and (ordinal := _ordinal(words[place])) is not None:
                del words[place]
                return cls(tuple(words), ordinal)
        return cls(tuple(words))

    def fits(self, name: str) -> bool:
        """Whether ``name`` holds these words in this order: adjectives, the noun, or both.

        A mere ordinal fits every name.
        """
        rest = iter(name.lower().split())
        return all(word in rest for word in self.words)

    def among(self, names: Sequence[str]) -> list[str]:
        """Return those of ``names`` that the words fit, in their order, the ordinal left out."""
        exact = [name for name in names if tuple(name.lower().split()) == self.words]
        if exact and self.ordinal is None:
            return exact
        return [name for name in names if self.fits(name)]

    def pick(self, fitting: Sequence[str]) -> str | None:
        """Return the one that is meant of those that fit; None if it is not one.

        Without an ordinal the only one that fits is meant.
        """
        if self.ordinal is None:
            return fitting[0] if len(fitting) == 1 else None
        index = self.ordinal if self.ordinal < 0 else self.ordinal - 1
        return fitting[index] if -len(fitting) <= index < len(fitting) and self.ordinal else None


def listed(names: Iterable[object], conjunction: str = "and") -> str:
    """Return "oak", "oak and pine" or "oak, pine and elm"; "nothing" for none."""
    words = [str(name) for name in names]
    if len(words) < 2:
        return words[0] if words else "nothing"
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def shortened(words: str) -> str:
    """Return what somebody typed, cut short if it would fill the screen."""
    return words if len(words) <= LONGEST_ECHO else f"{words[:LONGEST_ECHO]}..."


def _ordinal(word: str) -> int | None:
    if word in ORDINAL_WORDS:
        return ORDINAL_WORDS[word]
    found = _ORDINAL.fullmatch(word)
    return int(found[1]) if found else None
