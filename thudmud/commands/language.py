"""The grammar, loaded: a cleaned line -> a command, or Lark's own error.

Owns the reading of ``grammar/thud.lark``, and what is known of its words. Must never clean a line
nor explain what is wrong with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import cast

from lark import Lark, UnexpectedInput

from thudmud.commands.building import Builder
from thudmud.commands.model import Command

END_OF_LINE = "$END"
"""Lark's name for the terminal that follows the last word."""

_WHATEVER = "[^ ].*"
"""The pattern of a terminal that takes all that is left of a line."""

_SAMPLE = "these words"

_SPELLING = re.compile(r"\(\?i:([a-z0-9\\ -]+)\)|\|([':])\)")
"""A quoted string of the grammar, as Lark writes it into a keyword's pattern: a word, or a sign
that may stand for one."""


def read(line: str) -> Command:
    """Return the command that a cleaned line asks for; ``lark.UnexpectedInput`` if it asks none."""
    return cast("Command", _LARK.parse(line))


def read_any_words(line: str) -> Command | None:
    """Return what `read` does of a verb that takes any words; None for every other line.

    To ask Lark each time what comes of such words takes as long as all the rest.
    """
    verb, _, words = line.partition(" ")
    if words and verb.lower() in _SPELLINGS and (made := _of_any_words(verb)) is not None:
        return made(words)
    return None


def following(beginning: str) -> frozenset[str]:
    """Return the terminals that may follow the beginning of a line that ``read`` understood."""
    reading = _LARK.parse_interactive(beginning)
    reading.exhaust_lexer()
    return frozenset(reading.accepts())  # type: ignore[no-untyped-call]  # Lark's own


def opens(terminals: frozenset[str], text: str) -> bool:
    """Whether a text begins with one of these terminals. To ask Lark in vain takes far longer."""
    return _opening(terminals).match(text) is not None


def openings(rule: str) -> frozenset[str]:
    """Return the terminals that a rule of the grammar can begin with, if it begins with one."""
    return frozenset(each.expansion[0].name for each in _LARK.rules if each.origin.name == rule)


@lru_cache(maxsize=256)
def _opening(terminals: frozenset[str]) -> re.Pattern[str]:
    patterns = [each.pattern.to_regexp() for each in _LARK.terminals if each.name in terminals]
    return re.compile("|".join(f"(?:{each})" for each in patterns) or "(?!)", _FLAGS)


@lru_cache(maxsize=256)
def _of_any_words(verb: str) -> Callable[[str], Command] | None:
    """Return what makes a command of a verb and any words behind it, if the grammar has one such.

    That is so if nothing may follow the verb but one terminal that takes whatever comes, and the
    command holds what it has taken and nothing else.
    """
    try:
        terminals = following(verb) - {END_OF_LINE}
    except UnexpectedInput:
        return None
    patterns = {each.name: each.pattern.value for each in _LARK.terminals}
    if [patterns[name] for name in terminals] != [_WHATEVER]:
        return None
    found = _LARK.parse(f"{verb} {_SAMPLE}")
    made = cast("Callable[[str], Command]", type(found))
    return made if found == made(_SAMPLE) else None


def grammar_file() -> Traversable | Path:
    """Return the grammar: in an installed package its own copy, in a checkout the only one."""
    installed = resources.files("thudmud") / "grammar" / "thud.lark"
    if installed.is_file():
        return installed
    return Path(__file__).parents[2] / "grammar" / "thud.lark"


_FLAGS = re.ASCII
"""Or U+017F would do for "s" and U+212A for "k"."""

_LARK = Lark(
    grammar_file().read_text(encoding="utf-8"),
    parser="lalr",
    lexer="contextual",
    transformer=Builder(),
    g_regex_flags=_FLAGS,
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

_SPELLINGS = frozenset(word for words in WORDS.values() for word in words)

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
