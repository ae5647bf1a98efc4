"""A line of text <-> a command, and what was wrong with the line. The only importer of lark. Pure.

`parse` reads a line; ``str()`` of the command that it returns is a line that asks for the same.

Attributes:
    VERBS: the words and signs that a line can begin with.
    KEYWORDS: the lower-case words of the language, which no player may be named like.
    MAX_LINE: the most characters that a line may have.
"""

from thudmud.language.cleaning import clean
from thudmud.language.parsing import (
    KEYWORDS,
    MAX_LINE,
    VERBS,
    ParseError,
    parse,
    second_words,
)
from thudmud.language.slips import near_miss

__all__ = [
    "KEYWORDS",
    "MAX_LINE",
    "VERBS",
    "ParseError",
    "clean",
    "near_miss",
    "parse",
    "second_words",
]
