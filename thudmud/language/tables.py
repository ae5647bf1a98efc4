"""Lark's parser tables: generated from the grammar, cached beside Python's bytecode, and loaded.

Lark takes far longer to generate tables than to load them, so the tables are cached like bytecode,
and only where bytecode is written. That's as safe as bytecode: an attacker who could write there
could change the bytecode as well. The cached tables are valid for one grammar, one version of Lark
and this version of the module.

All uses of Lark beyond its documented interface are here: ``_plugins``, to skip the lexer's checks;
`Lark.memo_serialize`, whose result `Lark.save` pickles; and ``_load_from_dict``, which accepts a
transformer, as `Lark.load` doesn't. ``tests/test_borrowed.py`` reports any that a later Lark lacks.
"""

from __future__ import annotations

import marshal
import re
import sys
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lark import Lark, Token, Transformer
    from lark.common import LexerConf

FLAGS = re.ASCII
"""The flags of all terminals. Without ASCII, U+017F would match "s" and U+212A "k"."""


class Tables(NamedTuple):
    """The tables generated from the grammar, as plain data.

    Attributes:
        terminals: the regular expressions of the terminals by name, in the order of the grammar.
        rules: each expansion of a rule: the rule's name, and the names of its symbols.
        first: the terminals that a line can begin with.
        lark: Lark's serialized parser, and the objects that it refers to.
    """

    terminals: dict[str, str]
    rules: list[tuple[str, list[str]]]
    first: list[str]
    lark: tuple[dict[str, Any], dict[int, Any]]


def make_tables(grammar: str) -> Tables:
    """Generate the tables of a grammar with Lark."""
    from lark import Lark  # noqa: PLC0415  (only needed to make tables or read a line)
    from lark.grammar import Rule  # noqa: PLC0415
    from lark.lexer import ContextualLexer, TerminalDef  # noqa: PLC0415

    class Lexer(ContextualLexer):
        """Skips Lark's checks of the grammar, which a test makes in Lark's strict mode.

        Where ``interegular`` is installed, Lark would search all terminals for collisions.
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
    # Leave out options that aren't plain data; `load_parser` passes them to Lark again.
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
    """Return a value with Lark's subclasses of str, such as tokens, replaced by str."""
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


def cached_tables(grammar: str) -> Tables:
    """Return the tables of a grammar, from the cache if possible."""
    loader = getattr(__spec__, "loader", None)
    try:
        lark = find_spec("lark")
        if not (lark and lark.origin and isinstance(loader, SourceFileLoader)):
            return make_tables(grammar)
        path = cache_from_source(__file__, optimization="").removesuffix("pyc") + "tables"
        # Lark's version is in this file, which is read without importing Lark.
        made_of = [grammar, loader.get_data(lark.origin), loader.get_data(__file__)]
    except (OSError, ValueError, NotImplementedError):  # for instance, modules not in files
        return make_tables(grammar)
    try:
        kept_of, kept = marshal.loads(loader.get_data(path))  # noqa: S302  (as Python does)
    except (OSError, EOFError, ValueError, TypeError, MemoryError):  # missing or damaged
        kept_of, kept = None, ()
    if kept_of == made_of:
        return Tables(*kept)
    tables = make_tables(grammar)
    if not sys.dont_write_bytecode:
        # The tables of a later Lark may not be plain data, and the folder may not be writable.
        with suppress(ValueError, OSError):
            loader.set_data(path, marshal.dumps([made_of, tuple(tables)]))
            # As with bytecode, no more users may write the tables than the module.
            Path(path).chmod(Path(__file__).stat().st_mode & 0o666)
    return tables


def load_parser(
    tables: Tables,
    transformer: Transformer[Token, Any],
    lexer_callbacks: Mapping[str, Callable[[Token], Token]],
) -> Lark:
    """Return a parser with these tables, which passes matched parts to the transformer."""
    from lark import Lark  # noqa: PLC0415

    parser: Lark = Lark._load_from_dict(  # type: ignore[no-untyped-call]  # noqa: SLF001
        *tables.lark,
        transformer=transformer,
        g_regex_flags=FLAGS,
        lexer_callbacks=dict(lexer_callbacks),
    )
    return parser
