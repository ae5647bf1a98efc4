from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.telnet.interface import Line, Overlong
from thudmud.telnet.lines import LineSplitter, readable

LIMIT = 10


def split(*packets: bytes, limit: int = 1024) -> list[Line]:
    splitter = LineSplitter(limit)
    return [line for packet in packets for line in splitter.feed(packet)]


@pytest.mark.parametrize("end", [b"\r\n", b"\r\0", b"\n", b"\r"])
def test_line_ends_of_all_conventions_are_recognised(end: bytes) -> None:
    assert split(b"look" + end + end + b"who" + end) == ["look", "", "who"]


@pytest.mark.parametrize("end", [b"\r\n", b"\r\0"])
def test_line_end_split_across_packets_counts_once(end: bytes) -> None:
    assert split(b"look\r", end[1:] + b"who\r", end[1:]) == ["look", "who"]


def test_lone_carriage_return_ends_the_line_immediately() -> None:
    assert split(b"look\r") == ["look"]


def test_partial_line_is_kept_for_the_next_packet() -> None:
    assert split(b"lo", b"ok\nwh", b"o", b"\n") == ["look", "who"]


def test_line_longer_than_the_limit_is_rejected() -> None:
    assert split(b"x" * LIMIT + b"\n", limit=LIMIT) == ["x" * LIMIT]
    assert split(b"x" * (LIMIT + 1) + b"\nlook\n", limit=LIMIT) == [Overlong.LINE, "look"]


def test_limit_counts_characters_not_bytes() -> None:
    assert split("♖".encode() * LIMIT + b"\n", limit=LIMIT) == ["♖" * LIMIT]


def test_endless_line_uses_constant_memory() -> None:
    splitter, packet = LineSplitter(LIMIT), b"x" * 10_000
    tracemalloc.start()
    for _ in range(1000):
        assert splitter.feed(packet) == []
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10_000
    assert splitter.feed(b"\nlook\n") == [Overlong.LINE, "look"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"move a6 b6", "move a6 b6"),
        ("say é ♖ \u200d".encode(), "say é ♖ \u200d"),
        (b"say \xe9t\xe9", "say été"),  # Latin-1
        (b"say \xc3\xa9 \xe9", "say é é"),  # UTF-8 and Latin-1 in one line
        (b"lok\x08ok", "look"),
        (b"lok\x7fok", "look"),
        ("é\x7fe".encode(), "e"),
        (b"\x08\x08look", "look"),
        (b"nonsense\x15look", "look"),
        (b"move\ta6\xc2\xa0b6", "move a6 b6"),
        (b"lo\x00\x01\x07ok\x1b", "look"),
        (b"look\x1b[A\x1b[1;5C\x1bOP", "look"),  # cursor up, Control-right, F1
        (b"look\x1b[1", "look"),  # a truncated sequence
        (b"look\x1bO", "look"),
        (b"\x1b[[Ahelp\x1b[[E", "help"),  # F1 and F5 on the console of Linux
        (b"say \x1b[7$hello", "say hello"),  # rxvt: Shift-Home,
        (b"say \x1b[11^hello\x1b[a\x1bOa\x1b[23@", "say hello"),  # Control-F1, Shift-Up, ...
        (b"\x1bO5Plook\x1b\x1b[A", "look"),  # Control-F1 of old xterms, Alt-Up
        (b"\x1b[200~say [A\x1b[201~", "say [A"),  # bracketed paste
        (b"\x1b[?1;2$ylook", "look"),  # a terminal's answer about a mode
        (b"\xef\xbb\xbflook", "look"),  # a byte order mark
        (b"say \x1b[31mred", "say red"),
        (b"say \xc2\x9b31m \xe2\x80\xae \xe2\x80\xa8", "say 31m  "),  # C1, bidi, line separator
        (b"\xff\xfe", "ÿþ"),
    ],
)
def test_bytes_are_decoded_to_printable_text(raw: bytes, text: str) -> None:
    assert readable(raw) == text


@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from([b"\r", b"\n", b"\0", b"x" * 9])).map(b"".join),
    st.data(),
)
def test_packet_boundaries_do_not_affect_lines(data: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    packets = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert split(*packets, limit=LIMIT) == split(data, limit=LIMIT)
    assert split(*(data[i : i + 1] for i in range(len(data))), limit=LIMIT) == split(
        data, limit=LIMIT
    )


@given(st.binary())
def test_decoded_text_is_always_printable_and_encodable(data: bytes) -> None:
    text = readable(data)
    assert all(char.isprintable() or char in "\u200c\u200d" for char in text)
    text.encode("utf-8")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])))
def test_printable_text_is_unchanged(text: str) -> None:
    assert readable(text.encode()) == text
