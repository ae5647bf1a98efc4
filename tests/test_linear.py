"""Untrusted input is processed in linear time.

Each regular expression in the package is extracted from the source and run on hostile strings:
the beginning of a match, then a part of it repeated many times, then an end that may not match. The
same is done with the parsers, and with sentences of the command language wherever they can
continue.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice, product
from pathlib import Path
from re import _constants as sre  # re has no public parser
from re import _parser
from typing import Any, NamedTuple, cast

import h11
import pytest
from werkzeug.exceptions import HTTPException

from tests.cases import cases
from tests.growth import exponent
from tests.web.asked import ANY, NoPictures, ask, nothing
from thudmud.accounts.passwords import is_same_word, word_hash
from thudmud.errors import ThudmudError
from thudmud.features import NAMES
from thudmud.features.notifications import pages
from thudmud.game.hall import Hall
from thudmud.game.resolution import split_board
from thudmud.game.table import BoardSpec
from thudmud.gateway import requests
from thudmud.language import clean
from thudmud.language.parsing import parse_uncached, player_problem
from thudmud.language.slips import possible_terminals
from thudmud.language.words import UnexpectedTokenError
from thudmud.rules import RULESETS, Game
from thudmud.rules.records import read_record, write_record
from thudmud.script.reading import Transcript
from thudmud.server.proxies import Proxies
from thudmud.store import Store
from thudmud.telnet import gmcp
from thudmud.telnet.capabilities import find_utf8, variables_in
from thudmud.telnet.lines import LineSplitter, readable
from thudmud.views.words import columns, plain, wrap
from thudmud.web.http import plain as answer
from thudmud.web.http import read_request, require_strict_head
from thudmud.web.pictures import Site
from thudmud.web.routes import Route, Routes, routes_of

ROOT = Path(__file__).parents[1]

LINEAR = 1.5
"""The exponent above which growth counts as superlinear; quadratic growth has 2."""

Text = tuple[str, str, str]
"""The beginning, the repeated part and the end of a string."""

SIGNS = (" ", "\t", "0", "9", "a", "A", ",", ".", "-", '"', "\\", "[", "(", "\x1b", "é")
ENDS = ("", "\0", "! x")


def growth(run: Callable[[str], object], text: Text, longest: int, quick: float) -> float:
    """Return the exponent by which the time of ``run`` grows with the length of a string."""
    before, pump, end = text

    def work(size: int) -> None:
        run(before + pump * (size // len(pump)) + end)

    return exponent(work, longest, quick)


# Regular expressions.

LONGEST, QUICK = 2048, 0.0004
"""The length of the strings for expressions, in characters, and a time limit in seconds with a
tenfold margin. Quadratic time takes ten times as long."""

GIVEN = {"cli/staging.py", "language/words.py", "language/tables.py"}
"""Modules whose expressions are not constant: from the configuration, or from the grammar, which is
covered by the test of lines."""

OURS = {"pictures/pieces.py", "store/rows.py", "web/viewer.py"}
"""Modules whose expressions are only applied to files of the package."""

METHODS = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}


class Expression(NamedTuple):
    """A regular expression, its place in the source, and the methods called on it."""

    place: str
    pattern: re.Pattern[Any]
    methods: Iterable[str]


@cache
def sources() -> dict[str, ast.Module]:
    """Return the syntax tree of each module."""
    package = ROOT / "thudmud"
    return {
        path.relative_to(package).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(package.rglob("*.py"))
    }


@cache
def expressions() -> list[Expression]:
    """Return all regular expressions except those applied only to files of the package."""
    found = []
    for name, tree in sources().items():
        names = {
            id(node.value): node.targets[0].id
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree) if name not in OURS else ():
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr="compile")):
                    own = names.get(id(node), "")
                    methods = uses(name, own)
                case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=method)) if (
                    method in METHODS
                ):
                    own, methods = "", {method}
                case _:
                    continue
            if pattern := made(name, node, own):
                found.append(Expression(f"{name}:{node.lineno}", pattern, methods))
    return found


def made(name: str, call: ast.Call, own: str) -> re.Pattern[Any] | None:
    """Return the expression compiled by a call, or None if its pattern is not constant."""
    flags = [*call.args[1:], *(each.value for each in call.keywords)]
    parts = [call.args[0], *(each for each in flags if ast.unparse(each).startswith("re."))]
    with suppress(NameError):
        return re.compile(*(eval(ast.unparse(each), {"re": re}) for each in parts))  # noqa: S307
    if own:
        module = importlib.import_module(f"thudmud.{name.removesuffix('.py').replace('/', '.')}")
        found: re.Pattern[Any] = getattr(module, own)
        return found
    assert name in GIVEN, f"{name}:{call.lineno}: expected a constant of the module"
    return None


def uses(name: str, own: str) -> Iterable[str]:
    """Return the methods called on an expression."""
    trees = [sources()[name]] if own.startswith("_") else sources().values()
    used = {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == own
    }
    return METHODS & used or {"search", "fullmatch"}


def hostile_to(pattern: str | bytes) -> Iterator[Text]:
    """Yield strings that may cause excessive backtracking in an expression."""
    parsed = _parser.parse(pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern)
    repeats = list(repeats_in(parsed, ""))
    befores = {"", *(before for before, _ in repeats)}
    pumps = {*SIGNS, *literals_in(parsed)}
    for before, body in repeats:
        pumps |= {body, before + body}
    yield from product(befores, pumps - {""}, ENDS)


def parts_of(op: Any, value: Any) -> list[Any]:
    """Return the subsequences of a node of a parsed expression."""
    if op is sre.BRANCH:
        return list(value[1])
    if op in {sre.SUBPATTERN, *REPEATS}:
        return [value[-1]]
    if op in {sre.ASSERT, sre.ASSERT_NOT}:
        return [value[1]]
    return [value] if op is sre.ATOMIC_GROUP else []


REPEATS = {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}


def literals_in(nodes: Any) -> Iterator[str]:
    """Yield the literal characters of an expression."""
    for op, value in nodes:
        if op in {sre.LITERAL, sre.NOT_LITERAL}:
            yield chr(value)
        for inner in parts_of(op, value):
            yield from literals_in(inner)


def repeats_in(nodes: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield sample strings for the part before each repetition and for its body."""
    for op, value in nodes:
        for inner in parts_of(op, value):
            if op in REPEATS:
                yield before, sample(inner)
            yield from repeats_in(inner, before)
        before += sample([(op, value)])


def sample(nodes: Any) -> str:
    """Return a string that matches a sequence, ignoring lookaround assertions."""
    text = ""
    for op, value in nodes:
        if op is sre.LITERAL:
            text += chr(value)
        elif op is sre.ANY:
            text += "x"
        elif op is sre.IN:
            text += member(value)
        elif op is sre.NOT_LITERAL:
            text += next(sign for sign in SIGNS if ord(sign) != value)
        elif op in REPEATS:
            text += sample(value[-1]) * max(1, value[0])
        elif op not in {sre.ASSERT, sre.ASSERT_NOT} and (parts := parts_of(op, value)):
            text += sample(parts[0])
    return text


CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def member(items: Any) -> str:
    """Return a member of a character class."""
    form, own = "", list[str]()
    for op, value in items:
        if op is sre.NEGATE:
            form += "^"
        elif op is sre.CATEGORY:
            form += CATEGORIES[value]
        else:
            first, last = value if op is sre.RANGE else (value, value)
            form += f"{re.escape(chr(first))}-{re.escape(chr(last))}"
            own.append(chr(first))
    fits = re.compile(f"[{form}]").match
    return next(sign for sign in (*own, *SIGNS, *map(chr, range(32, 127))) if fits(sign))


def calls(expression: Expression) -> Iterator[Callable[[str], object]]:
    """Yield functions that apply an expression to a string, one for each method."""
    pattern, is_bytes = expression.pattern, isinstance(expression.pattern.pattern, bytes)
    for method in expression.methods:
        call = getattr(pattern, method)

        def use(text: str, call: Any = call, method: str = method) -> None:
            given = text.encode("latin-1") if is_bytes else text
            found = call(given[:0], given) if method == "sub" else call(given)
            if method == "finditer":
                list(found)

        yield use


def superlinear(expression: Expression) -> Iterator[tuple[str, Text, float]]:
    """Yield the strings on which an expression takes superlinear time."""
    for text in hostile_to(expression.pattern.pattern):
        for use in calls(expression):
            # A busy machine may slow down a single measurement.
            grown = growth(use, text, LONGEST, QUICK)
            if grown > LINEAR and (again := growth(use, text, LONGEST, QUICK)) > LINEAR:
                yield expression.place, text, again


@cases(
    ("pattern", "method", "is_linear"),
    [
        (r" +\d+$", "sub", False),
        (r"(?<! ) +\d+$", "sub", True),
        (r"[a-z]+:[ \t]*([^\r\n\0]*?)[ \t]*", "fullmatch", False),
        (r"[a-z]+:([^\r\n\0]*)", "fullmatch", True),
        (r"0*([0-9]+)x", "match", False),
        (r"0*+([0-9]+)x", "match", True),
        (r"(a|aa)+b", "match", False),
        (r"(?:[a-z]+ ?)*;", "match", False),
        (r"(?:[a-z]+ )*;", "match", True),
        (r"<b>.*?</b>", "search", False),
        (r"[0-9]{1,64}[0-9]{1,64}x", "match", True),
    ],
)
def test_superlinear_expression_is_distinguished_from_a_linear_one(
    pattern: str, method: str, *, is_linear: bool
) -> None:
    found = next(superlinear(Expression("", re.compile(pattern), {method})), None)
    assert (found is None) is is_linear, found


@pytest.mark.slow
def test_expressions_take_linear_time() -> None:
    assert len(expressions()) > 90
    assert not [first for each in expressions() for first in islice(superlinear(each), 1)]


# Parsers.


def split(text: str) -> None:
    splitter = LineSplitter(1 << 20)
    data = text.encode()
    for start in range(0, len(data), 7):
        splitter.feed(data[start : start + 7])


def supports(text: str) -> None:
    gmcp.supported(frozenset(), "set", [text, *text.split(",")])
    gmcp.read(b"Core.Supports.Set " + json.dumps([text]).encode())


ROUTES = Routes(
    [
        *routes_of(Site(nothing, NoPictures(), NAMES, "", ANY)),
        *(
            Route(each.path, lambda *_, **__: answer(200, ""))
            for each in pages.routes(Hall([]), cast("Store", None))
        ),
    ]
)


def asked(text: str) -> None:
    fields = dict.fromkeys(("host", "if-none-match", "accept-encoding"), text)
    for path in ("/game/1.svg", "/board/", "/embed/board/", "/oembed", "/feed/", "/"):
        ask(path + text, ROUTES, query=f"url={text}", fields=fields)


def sent(text: str) -> None:
    """Feed a string to the web server."""
    http = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    http.receive_data(text.encode("latin-1") + b"\r\n\r\n")
    with suppress(h11.RemoteProtocolError, HTTPException):
        require_strict_head(text.encode("latin-1"))
        event = http.next_event()
        if isinstance(event, h11.Request):
            read_request(event, lambda: False)


RECORD = write_record(Game.start(RULESETS["discworld"]))
HALL = Hall([BoardSpec("oak board"), BoardSpec("yew board")])

PARSERS: dict[Callable[[str], object], tuple[str, ...]] = {
    split: ("\r", "\n", "\r\0", "\b", "\x15", "\x1b[", "\x1b[1", "x\b"),
    lambda text: readable(text.encode()): ("\b", "\x15", "\x1b[", "\x1b[1 ", "\x1bO"),
    lambda text: gmcp.read(text.encode()): ("A [", "[[", '{"a":', "\\u00", "1e", "[1,"),
    supports: ("a 1", "1 ", " 1,"),
    lambda text: variables_in(text.encode("latin-1")): ("\0a\1b", "\1", "\2", "\3a"),
    lambda text: find_utf8(text.encode("latin-1")): (";", ";UTF-8", "[TTABLE]"),
    clean: ("\u200d", "a\u200d", "\u0301", "a\u0301", "\ufe0f", "\u202e"),
    lambda text: wrap(text, 80): ("a ", '"a', '" ', "\u0301", "\N{PILE OF POO}", "\u200d"),
    columns: ("\u0301", "\N{PILE OF POO}\u200d", "\ufe0f"),
    plain: ("\u0301", "\N{PILE OF POO}\u200d"),
    sent: ("GET ", "X:", "X: \r\n", "\r\n", "GET / HTTP/1.1\r\n", "a: b\r\nA: b\r\n"),
    lambda text: sent(f"GET / HTTP/1.1\r\nHost: x\r\nX:{text}"): ("a ", "\r\na:", "\r\n "),
    lambda text: sent(f"GET http://{text} HTTP/1.1\r\nHost: {text}"): ("a.", ":1", "/", "%"),
    asked: ("/", "?a", "?ply=1", "&a=b", "%20", "%", ":1", ".svg", 'W/"', '"a",', "a;q=1,", ";a="),
    lambda text: requests.parse_request(text.encode()): ("[", '{"a":', '{"type":"line",', "\\"),
    lambda text: requests.parse_request(f'{{"type": "line", "line": "{text}"}}'.encode()): ("\\n",),
    lambda text: read_record(RECORD + text): (
        '[A "', "; a: ", "\n", "dA6-B6\n", "dA1,", "x", ";", "xA1",
    ),
    Transcript.parse: ("A> x\n", "${", "$$", "@set ", "A: ", "...", "${a=*}"),
    lambda text: Proxies(["127.0.0.1"]).client("127.0.0.1", {"x-forwarded-for": text}): (
        "1.", "1.1.1.1,", ":", "::", "[",
    ),
    lambda text: split_board(HALL, text): (" on ", "x on ", " on oak", "on oak."),
    player_problem: (),
    lambda text: is_same_word(text, word_hash("a-b")): ("- ", "a-"),
}  # fmt: skip
"""The parsers of untrusted text, each with additional hostile pieces."""

LONG, SOON = 8192, 0.05
"""The length of the strings for parsers in characters, and a generous time limit in seconds."""


@pytest.mark.slow
def test_parsers_take_linear_time() -> None:
    assert not [
        (parser, text, grown)
        for parser, own in PARSERS.items()
        for text in product(("", "a "), (*SIGNS, *own), ENDS)
        if (grown := growth(forgiven(parser), text, LONG, SOON)) > LINEAR
    ]


def forgiven(parser: Callable[[str], object]) -> Callable[[str], object]:
    """Wrap a parser so that errors are ignored."""

    def run(text: str) -> None:
        with suppress(ValueError, ThudmudError):
            parser(text)

    return run


# Lines.

PIECES = (
    *SIGNS, "0,", "a ", "a, ", "x1 ", "a1", "a6-b6", "on ", "and ", "one ", "0 ", "capturing ",
    "move ", "e9", "(a",
)  # fmt: skip

LINE, TOLD = 2048, 0.003
"""The length of a line, twice the maximum, and the time limit in seconds for its diagnosis."""


def beginnings() -> Iterable[str]:
    """Return one beginning of a line for each distinct set of possible next words."""
    found: dict[frozenset[str], str] = {}
    for path in sorted((ROOT / "tests" / "transcripts").glob("*.thud-script")):
        for line in re.findall(r"^[A-Z][a-z]+> (.*)", path.read_text("utf-8"), re.MULTILINE):
            words = clean(line).split()
            for count in range(min(len(words), 8)):
                before = " ".join(words[:count])
                with suppress(UnexpectedTokenError):
                    found.setdefault(possible_terminals(before), f"{before} " if before else "")
    return found.values()


@forgiven
def read(line: str) -> None:
    parse_uncached(clean(line))


@pytest.mark.slow
def test_lines_are_parsed_in_linear_time() -> None:
    texts = list(product(beginnings(), PIECES, ("", '"')))
    assert len(texts) > 5000
    assert not [
        (text, grown) for text in texts if (grown := growth(read, text, LINE, TOLD)) > LINEAR
    ]
