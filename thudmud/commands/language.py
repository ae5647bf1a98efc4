"""The grammar, loaded: a cleaned line -> a command, or Lark's own error.

Owns the reading of ``grammar/thud.lark``, and what is known of its words. Must never clean a line
nor explain what is wrong with one.
"""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import cast

from lark import Lark

from thudmud.commands.building import Builder
from thudmud.commands.model import Command

END_OF_LINE = "$END"
"""Lark's name for the terminal that follows the last word."""

_SPELLING = re.compile(r"\(\?i:([a-z0-9\\ -]+)\)|\|([':])\)")
"""A quoted string of the grammar, as Lark writes it into a keyword's pattern: a word, or a sign
that may stand for one."""


def read(line: str) -> Command:
    """Return the command that a cleaned line asks for; ``lark.UnexpectedInput`` if it asks none."""
    return cast("Command", _LARK.parse(line))


def following(beginning: str) -> frozenset[str]:
    """Return the terminals that may follow the beginning of a line that ``read`` understood."""
    reading = _LARK.parse_interactive(beginning)
    reading.exhaust_lexer()
    return frozenset(reading.accepts())  # type: ignore[no-untyped-call]  # Lark's own


def openings(rule: str) -> frozenset[str]:
    """Return the terminals that a rule of the grammar can begin with, if it begins with one."""
    return frozenset(each.expansion[0].name for each in _LARK.rules if each.origin.name == rule)


def grammar_file() -> Traversable | Path:
    """Return the grammar: in an installed package its own copy, in a checkout the only one."""
    installed = resources.files("thudmud") / "grammar" / "thud.lark"
    if installed.is_file():
        return installed
    return Path(__file__).parents[2] / "grammar" / "thud.lark"


_LARK = Lark(
    grammar_file().read_text(encoding="utf-8"),
    parser="lalr",
    lexer="contextual",
    transformer=Builder(),
    g_regex_flags=re.ASCII,  # or U+017F would do for "s" and U+212A for "k"
)

WORDS: dict[str, tuple[str, ...]] = {
    terminal.name: words
    for terminal in _LARK.terminals
    if (words := tuple(
        (found[1] or found[2]).replace("\\", "")
        for found in _SPELLING.finditer(terminal.pattern.to_regexp())
    ))
}  # fmt: skip
"""The lower-case spellings of every keyword's terminal, in the order of the grammar."""

_FREE_RULES = ("query", "option")
"""How the rules begin whose own words nobody would misread in the place of a name."""

RESERVED_WORDS: tuple[str, ...] = tuple(
    word
    for name, words in WORDS.items()
    if any(
        symbol.name == name and not rule.origin.name.startswith(_FREE_RULES)
        for rule in _LARK.rules
        for symbol in rule.expansion
    )
    for word in words
)
"""The spellings of those terminals that stand in other rules, too."""
