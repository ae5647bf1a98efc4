"""The targets without a fuzzer: the whole corpus and examples from Hypothesis."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.fuzz.targets import CORPUS, TARGETS, WILLING, check
from tests.fuzz.wire import reported
from thudmud.telnet.interface import Credentials, Overlong, Signal

IAC_SB, IAC_SE = b"\xff\xfa", b"\xff\xf0"
PACKAGES = [
    b'Core.Hello {"client": "x"}', b'Core.Supports.Set ["Thud 1", "Char.Login 1"]', b"Core.Ping",
    b'Char.Login {"name": "anna", "password": "haddock"}', b"Core.Ping [[", b"\xc3", b"\xe2\x99",
]  # fmt: skip


def subnegotiation(payload: bytes) -> bytes:
    return IAC_SB + payload.replace(b"\xff", b"\xff\xff") + IAC_SE


TYPES = [b"\x18\0XTERM", b"\x18\0MTTS 783", b"\x18\0", b"\x2a\x01;UTF-8", b"\x27\0\0MTTS\x014"]
UNWILLING = WILLING.translate(bytes.maketrans(b"\xfb\xfd", b"\xfc\xfe"))

FRAGMENTS = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([b"\r\n", b"\r\0", b"\r", b"\n", b"look", "é♖\U0001d518".encode(), b"x" * 11]),
    st.sampled_from([IAC_SB, IAC_SE, b"\xff", b"\xff\xff", b"\xff\xf7", b"\xff\xf8", b"\xff\xf6"]),
    st.builds(bytes, st.tuples(st.just(255), st.integers(240, 255), st.integers(0, 255))),
    st.binary(max_size=6).map(lambda size: subnegotiation(b"\x1f" + size)),
    st.sampled_from(TYPES).map(subnegotiation),
    st.sampled_from(PACKAGES).map(lambda package: subnegotiation(b"\xc9" + package)),
    st.sampled_from([IAC_SB + b"\x18", IAC_SB + b"\xc9", WILLING, UNWILLING]),
    st.integers(40, 200).map(lambda size: b"x" * size),
)
OPENINGS = st.sampled_from([b"", WILLING, b"\x16", b"\x16\x03", b"\x16\x03\x01", b"\x16\x03\xff"])


@examples(200)
@given(OPENINGS, st.lists(FRAGMENTS, max_size=12).map(b"".join), st.data())
def test_packet_boundaries_do_not_matter(opening: bytes, data: bytes, draw: st.DataObject) -> None:
    data = opening + data
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    packets = [data[a:b] for a, b in pairwise([0, *cuts, len(data)])]

    async def compare() -> None:
        whole = await reported([data])
        check(data, whole)
        for cut in (packets, [data[at : at + 1] for at in range(len(data))]):
            report = await reported(cut)
            assert (report.items, report.sent) == (whole.items, whole.sent)
            check(data, report)

    asyncio.run(compare())


INPUTS = [path for name in TARGETS for path in sorted((CORPUS / name).iterdir())]


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_corpus_input_passes(path: Path) -> None:
    asyncio.run(TARGETS[path.parent.name](path.read_bytes()))


@examples(100)
@given(st.sampled_from(sorted(TARGETS)), st.binary(max_size=300))
def test_arbitrary_bytes_pass_every_target(name: str, data: bytes) -> None:
    asyncio.run(TARGETS[name](data))


def test_corpus_exists_for_every_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert {path.parent.name for path in INPUTS} == set(TARGETS)


async def test_corpus_reaches_deep_states() -> None:
    """The corpus reaches a login, TLS, an overlong line and a query."""
    items = []
    for path in INPUTS:
        if path.parent.name == "bytes":
            first, rest = path.read_bytes()[:1], path.read_bytes()[1:]
            willing = WILLING if first >= b"\x80" else b""
            items += (await reported([willing, rest])).items
    assert {*Signal} - {*items} == {Signal.END_OF_INPUT}  # not caused by bytes
    assert Overlong.LINE in items
    assert any(isinstance(item, Credentials) for item in items)
