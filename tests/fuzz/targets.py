"""What is fuzzed: each target takes any bytes, and raises if something is wrong with our answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path

from tests.fuzz.wire import TERMS, Report, reported
from thudmud.commands import MAX_LINE, ParseError, clean, parse
from thudmud.server.lines import LineSplitter
from thudmud.text.mistakes import explain
from thudmud.text.words import columns

CORPUS = Path(__file__).parent / "corpus"

WILLING = (
    b"\xff\xfb\x1f\xff\xfb\x18\xff\xfd\x2a\xff\xfd\x19\xff\xfd\xc9\xff\xfd\x46"
    b"\xff\xfb\x2a\xff\xfb\x27"
)
"""WILL NAWS, TTYPE; DO CHARSET, EOR, GMCP, MSSP; WILL CHARSET, NEW-ENVIRON: there is more to say
on such a connection."""

_JOINERS = "\u200c\u200d"
_WIDTHS = (20, 80)


async def byte_path(data: bytes) -> None:
    """Any bytes mean the same in any packets, and never more is kept than the caps allow.

    The first byte tells how to cut the others, and whether the client is willing.
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
    """Hold what came of bytes to what must be true of it whatever they are."""
    assert report.line <= 4 * TERMS.max_line
    assert report.subnegotiation <= TERMS.max_subnegotiation
    assert len(report.sent) <= 1000 + 20 * len(data), "little input has a large answer"
    assert len(report.items) <= len(data)
    for line in report.items:
        if isinstance(line, str):
            assert len(line) <= TERMS.max_line
            assert all(char.isprintable() or char in _JOINERS for char in line)


async def parser(data: bytes) -> None:
    """Any line is a command that prints as itself, or a mistake that can be explained."""
    for line in LineSplitter(MAX_LINE).feed(data + b"\n"):
        if isinstance(line, str):
            _check_line(line)


def _check_line(line: str) -> None:
    try:
        command = parse(line)
    except ParseError as error:
        _check_mistake(line, error)
    else:
        assert parse(str(command)) == command


def _check_mistake(line: str, error: ParseError) -> None:
    assert error.line == clean(line[:MAX_LINE])
    assert error.line.startswith(error.word, error.column)
    assert (error.word == "") is (error.column == len(error.line))
    assert error.expected or error.detail
    for width in _WIDTHS:
        assert all(columns(row) < width for row in explain(error, width))


Target = Callable[[bytes], Coroutine[None, None, None]]

TARGETS: dict[str, Target] = {"bytes": byte_path, "lines": parser}
"""By the names of their folders in the corpus."""
