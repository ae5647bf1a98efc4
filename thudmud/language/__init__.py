"""The command language: parses lines of text into commands, and diagnoses mistakes. Pure.

`parse` returns the command of a line; ``str(command)`` is a line that parses to that command. No
other package imports lark.

Attributes:
    VERBS: the words and signs that a line can begin with.
    KEYWORDS: the lower-case words of the language, which can't be players' names.
    MAX_LINE: the maximum number of characters in a line.
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
