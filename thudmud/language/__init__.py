"""Parses lines of text into commands, and explains mistakes. The only importer of lark. Pure.

`parse` returns the command of a line; ``str()`` of the command is a line that parses to it.

Attributes:
    VERBS: the words and signs that a line can begin with.
    KEYWORDS: the lower-case words of the language, which cannot be players' names.
    MAX_LINE: the most characters that a line may have.
"""

from thudmud.language.cleaning import clean
from thudmud.language.parsing import KEYWORDS, MAX_LINE, VERBS, ParseError, parse, second_words
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
