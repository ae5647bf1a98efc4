"""The fuzz targets: each accepts arbitrary bytes and raises if the response is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from operator import eq
from pathlib import Path

from tests.fuzz.wire import POLICY, Report, reported
from thudmud.game.options import Style
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.language import MAX_LINE, ParseError, clean, parse
from thudmud.language.words import STOPS
from thudmud.rules import RULESETS
from thudmud.telnet.lines import LineSplitter
from thudmud.views import Message
from thudmud.views.refusals import explain
from thudmud.views.view import Terminal
from thudmud.views.words import columns

CORPUS = Path(__file__).parent / "corpus"

WILLING = (
    b"\xff\xfb\x1f\xff\xfb\x18\xff\xfd\x2a\xff\xfd\x19\xff\xfd\xc9\xff\xfd\x46"
    b"\xff\xfb\x2a\xff\xfb\x27"
)
"""WILL NAWS, TTYPE; DO CHARSET, EOR, GMCP, MSSP; WILL CHARSET, NEW-ENVIRON: enables more of the
protocol."""

_JOINERS = "\u200c\u200d"
_WIDTHS = (20, 80)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PLAYERS = ("Anna", "Bert")
_BEGINNING = ["join game as dwarf", "@join game as troll", "start"]


async def byte_path(data: bytes) -> None:
    """Check that packet boundaries do not matter and that buffers stay within their caps.

    The first byte determines the packet boundaries and whether the client is willing.
    """
    first, rest = data[:1] or b"\0", data[1:]
    if first[0] & 0x80:
        rest = WILLING + rest
    size = 1 + first[0] % 0x20
    whole = await reported([rest])
    check(rest, whole)
    for step in {1, size}:
        cut = await reported(rest[at : at + step] for at in range(0, len(rest), step))
        check(rest, cut)
        assert cut.items == whole.items, step
        assert cut.sent == whole.sent, step


def check(data: bytes, report: Report) -> None:
    """Check the invariants of a report, which hold for arbitrary bytes."""
    assert report.line <= 4 * POLICY.max_line
    assert report.subnegotiation <= POLICY.max_subnegotiation
    assert len(report.sent) <= 1000 + 20 * len(data), "little input has a large answer"
    assert len(report.items) <= len(data)
    for line in report.items:
        if isinstance(line, str):
            assert len(line) <= POLICY.max_line
            assert all(char.isprintable() or char in _JOINERS for char in line)


async def parser(data: bytes) -> None:
    """Check that any line is either a command that round-trips or an explainable mistake."""
    for line in LineSplitter(MAX_LINE).feed(data + b"\n"):
        if isinstance(line, str):
            _check_line(line)


def _check_line(line: str) -> None:
    try:
        command = parse(line)
    except ParseError as error:
        _check_mistake(line, error)
    else:
        # A separate function, since mypy would check every pair of command types in a comparison.
        assert eq(parse(str(command)), command)


def _check_mistake(line: str, error: ParseError) -> None:
    read = clean(line[:MAX_LINE])
    assert error.line in {read, read.rstrip(f" {STOPS}")}  # a line may end with punctuation
    assert error.line.startswith(error.word, error.column)
    assert (error.word == "") is (error.column == len(error.line))
    assert error.expected or error.details["most"]
    for width in _WIDTHS:
        assert all(columns(row) < width for row in explain(error, width))


async def house(data: bytes) -> None:
    """Check that two players' arbitrary input causes no error and no text moves the cursor.

    The first byte selects the board and the kind of client; text after a line feed and "@" is
    typed by the second player.
    """
    first, lines = (data[:1] or b"\0")[0], LineSplitter(MAX_LINE).feed(data[1:] + b"\n")
    place = House([BoardSpec("oak board", sorted(RULESETS)[first % 3], Style.BRIEF)])
    for name in _PLAYERS:
        packages = frozenset({"thud"}) if first & 0x40 else frozenset[str]()
        terminal = Terminal(40, supports_utf8=first & 0x20 > 0, packages=packages)
        for message in place.enter(name, 0.0, terminal):
            _check_message(message)
    typed = [*_BEGINNING, *(line for line in lines if isinstance(line, str))]
    for now, line in enumerate(typed):
        name = _PLAYERS[line.startswith("@")]
        if name in place:
            for message in place.obey(name, line.removeprefix("@"), float(now)):
                _check_message(message)


def _check_message(message: Message) -> None:
    if message.package:
        json.loads(message.text)
    for row in _COLOURS.sub("", message.text).split("\n"):
        assert all(char.isprintable() or char in _JOINERS for char in row), message


Target = Callable[[bytes], Coroutine[None, None, None]]

TARGETS: dict[str, Target] = {"bytes": byte_path, "lines": parser, "house": house}
"""The targets by the names of their folders in the corpus."""
