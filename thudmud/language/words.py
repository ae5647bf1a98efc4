"""What the grammar says without Lark: its terminals, its keywords, and Lark's tables, to be loaded.

``grammar/thud.lark`` is read here. Making the tables takes Lark far longer than loading them,
so they are kept beside Python's bytecode of this module, as Python keeps that: where bytecode may
not be written or cannot be, nothing is kept; and whoever could write other tables there could have
us run whatever they like anyway. They hold for one grammar, one Lark and this module as it is.
"""

from __future__ import annotations

import marshal
import re
import sys
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from importlib.machinery import SourceFileLoader
from importlib.resources.abc import Traversable
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from thudmud.errors import ThudmudError

if TYPE_CHECKING:
    from lark.common import LexerConf

FLAGS = re.ASCII
"""Of all terminals; or U+017F would do for "s" and U+212A for "k"."""

STOPS = ".!"
"""What may end a line as it ends a sentence."""

END_OF_LINE = "$END"
"""Lark's name for the terminal that follows the last word."""


class Stumbled(ThudmudError):
    """A line makes no sense beyond a column.

    Attributes:
        column: which; the line's length if it only ends too early.
    """

    def __init__(self, column: int) -> None:
        super().__init__(column)
        self.column = column


class Tables(NamedTuple):
    """What is made of the grammar, as plain data.

    Attributes:
        terminals: the regular expression of each, by its name, in the order of the grammar.
        rules: for each expansion of a rule the rule's name, and those of what it expands to.
        first: the terminals that a line can begin with.
        lark: Lark's own form of a parser, and what that refers to.
    """

    terminals: dict[str, str]
    rules: list[tuple[str, list[str]]]
    first: list[str]
    lark: tuple[dict[str, Any], dict[int, Any]]


def grammar_file() -> Traversable | Path:
    """Return the grammar: in an installed package its own copy, in a checkout the only one."""
    installed = resources.files("thudmud") / "grammar" / "thud.lark"
    if installed.is_file():
        return installed
    return Path(__file__).parents[2] / "grammar" / "thud.lark"


def make_tables(grammar: str) -> Tables:
    """Return what Lark makes of a grammar."""
    from lark import Lark  # noqa: PLC0415  (only who makes tables, or reads a line, waits for it)
    from lark.grammar import Rule  # noqa: PLC0415
    from lark.lexer import ContextualLexer, TerminalDef  # noqa: PLC0415

    class Lexer(ContextualLexer):
        """Takes the grammar as it is: a test checks it once, in Lark's strict mode.

        Wherever there is ``interegular``, Lark would search all terminals for collisions.
        """

        def __init__(self, conf: LexerConf, *states: Any, **others: Any) -> None:
            conf.skip_validation = True
            super().__init__(conf, *states, **others)

    made = Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        g_regex_flags=FLAGS,
        _plugins={"ContextualLexer": Lexer},
    )
    data, memo = made.memo_serialize([TerminalDef, Rule])
    # What is no plain data, `grammar` tells Lark again when it loads them.
    told = {"g_regex_flags", "_plugins"}
    data["options"] = {
        name: each for name, each in made.options.options.items() if name not in told
    }
    data["parser"]["lexer_conf"]["g_regex_flags"] = None
    beginning = made.parse_interactive("")
    tables = Tables(
        {each.name: each.pattern.to_regexp() for each in made.terminals},
        [(each.origin.name, [symbol.name for symbol in each.expansion]) for each in made.rules],
        sorted(beginning.accepts()),  # type: ignore[no-untyped-call]  # Lark's own
        (data, memo),
    )
    return Tables(*map(_plain, tables))


def _plain(value: Any) -> Any:
    """Return the same without Lark's own kinds of text, such as tokens."""
    match value:
        case dict():
            return {_plain(key): _plain(each) for key, each in value.items()}
        case list():
            return [*map(_plain, value)]
        case tuple():
            return (*map(_plain, value),)
        case str():
            return str(value)
    return value


def kept_tables(grammar: str) -> Tables:
    """Return what `make_tables` made of a grammar once, or makes of it now."""
    loader = getattr(__spec__, "loader", None)
    try:
        lark = find_spec("lark")
        if not (lark and lark.origin and isinstance(loader, SourceFileLoader)):
            return make_tables(grammar)
        path = cache_from_source(__file__, optimization="").removesuffix("pyc") + "tables"
        # The version of Lark is in this file of it, which is not loaded for that.
        made_of = [grammar, loader.get_data(lark.origin), loader.get_data(__file__)]
    except (OSError, ValueError, NotImplementedError):  # they are in no files, say
        return make_tables(grammar)
    try:
        kept_of, kept = marshal.loads(loader.get_data(path))  # noqa: S302  (as Python does)
    except (OSError, EOFError, ValueError, TypeError, MemoryError):  # none, or it is not whole
        kept_of, kept = None, ()
    if kept_of == made_of:
        return Tables(*kept)
    tables = make_tables(grammar)
    if not sys.dont_write_bytecode:
        # Who may not write this module must not write its tables: so Python has it for bytecode.
        keep = loader._cache_bytecode  # type: ignore[attr-defined]  # noqa: SLF001  (as Python does)
        with suppress(ValueError):  # a later Lark may have what is no plain data
            keep(__file__, path, marshal.dumps([made_of, tuple(tables)]))
    return tables


TABLES = kept_tables(grammar_file().read_text(encoding="utf-8"))

_SPELLING = re.compile(r"\(\?i:([a-z0-9\\ -]+)\)|\|(\\?[':.?])\)")
"""A quoted string of the grammar, as Lark writes it into a keyword's pattern: a word, or a sign
that may stand for one."""

WORDS: dict[str, tuple[str, ...]] = {
    name: words
    for name, pattern in TABLES.terminals.items()
    if (words := tuple(
        (found[1] or found[2]).replace("\\", "") for found in _SPELLING.finditer(pattern)
    ))
}  # fmt: skip
"""The lower-case spellings of every keyword's terminal, in the order of the grammar."""

FIRST = frozenset(TABLES.first)
"""The terminals that a line can begin with."""

_FREE_RULES = ("query", "setup", "option", "time_class")
"""How the rules begin whose own words nobody would misread in the place of a name."""

_NEEDED = {
    name
    for rule, expansion in TABLES.rules
    if not rule.lstrip("_").startswith(_FREE_RULES)
    for name in expansion
}

RESERVED_WORDS: tuple[str, ...] = tuple(
    word for name, words in WORDS.items() if name in _NEEDED for word in words
)
"""The spellings of those terminals that stand in other rules, too."""


def spoken(terminal: str) -> str:
    """Return the word that a terminal is named for: ``_UTF_8`` -> utf-8."""
    return re.sub("_(?=[0-9])", "-", terminal.strip("_")).replace("_", " ").lower()


def opens(terminals: frozenset[str], text: str) -> bool:
    """Whether a text begins with one of these terminals. To ask Lark in vain takes far longer."""
    return _opening(terminals).match(text) is not None


def openings(rule: str) -> frozenset[str]:
    """Return the terminals that a rule of the grammar can begin with, if it begins with one."""
    return frozenset(expansion[0] for origin, expansion in TABLES.rules if origin == rule)


@lru_cache(maxsize=256)
def _opening(terminals: frozenset[str]) -> re.Pattern[str]:
    patterns = [each for name, each in TABLES.terminals.items() if name in terminals]
    return re.compile("|".join(f"(?:{each})" for each in patterns) or "(?!)", FLAGS)
