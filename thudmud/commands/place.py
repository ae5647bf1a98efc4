"""Where a line stopped making sense, and what might have stood there instead.

Owns how the line is looked at there. Must never say what is wrong with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lark import UnexpectedInput

from thudmud.commands.language import WORDS, following, opens

Finding = tuple[str | None, str | None] | None
"""A sentence for a mistake, if it needs one of its own, and what was probably meant if that is
known."""


possible = lru_cache(maxsize=256)(following)
"""Return the terminals that may follow the beginning of a line, as `language.following` does."""


def goes_on(beginning: str, word: str) -> bool:
    """Whether a line that may begin like that may go on with a word."""
    return opens(possible(beginning), word) and is_sound(f"{beginning} {word}".strip())


def is_sound(beginning: str) -> bool:
    """Whether a line may begin like that."""
    try:
        possible(beginning)
    except UnexpectedInput:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stopped making sense.

    Attributes:
        line: the line.
        column: in which of its columns.
        before: what made sense.
        rest: what did not, to the end of the line.
        word: what stands there, up to a blank or a comma; a comma is a word of its own.
        terminals: which might have come.
    """

    line: str
    column: int
    before: str
    rest: str
    word: str
    terminals: frozenset[str]

    @classmethod
    def of(cls, line: str, column: int) -> Place:
        """Return the place in a column of a line that makes sense up to there."""
        before, rest = line[:column].strip(), line[column:]
        word = "," if rest.startswith(",") else _unbroken(rest)
        return cls(line, column, before, rest, word, possible(before))

    @property
    def whole_word(self) -> str:
        """The same with the letters right before it, if it is the end of a word."""
        return _unbroken(self.line[: self.column][::-1])[::-1] + self.word

    @property
    def spellings(self) -> tuple[str, ...]:
        """All keywords that might have stood there."""
        return _spellings(self.terminals)


_UNBROKEN = re.compile("[^ ,]*")


def _unbroken(text: str) -> str:
    found = _UNBROKEN.match(text)
    return found[0] if found else ""


@lru_cache(maxsize=256)
def _spellings(terminals: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for name, words in WORDS.items() if name in terminals for word in words)
