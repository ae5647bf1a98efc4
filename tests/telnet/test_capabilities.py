from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from thudmud.telnet.capabilities import Capabilities, find_utf8, is_utf8, variables_in
from thudmud.views.view import PALETTE, SIXTEEN, TRUE_COLOUR, Terminal


@pytest.mark.parametrize(
    ("name", "colours"),
    [
        ("xterm", SIXTEEN),
        ("XTERM-COLOR", SIXTEEN),
        ("xterm-mono", 0),
        ("xterm-256color", PALETTE),
        ("ANSI-256COLOR", PALETTE),
        ("XTERM-TRUECOLOR", TRUE_COLOUR),
        ("ANSI-TRUECOLOR", TRUE_COLOUR),
        ("xterm-direct", TRUE_COLOUR),
        ("tmux-256color", PALETTE),
        ("linux", SIXTEEN),
        ("putty", SIXTEEN),
        ("ansi", SIXTEEN),
        ("vt100", 0),
        ("dumb", 0),
        ("unknown", 0),
        ("", 0),
        ("XTERMINATOR", 0),
    ],
)
def test_terminal_type_determines_colours(name: str, colours: int) -> None:
    client = Capabilities()
    client.add_type(name)
    assert client.terminal == Terminal(colours=colours)


@pytest.mark.parametrize(
    ("bits", "terminal"),
    [
        (0, Terminal()),
        (1, Terminal(colours=SIXTEEN, is_ascii_only=True)),
        (4, Terminal(supports_utf8=True)),
        (8, Terminal(colours=PALETTE, is_ascii_only=True)),
        (64, Terminal(has_reader=True, is_ascii_only=True)),
        (128, Terminal(is_ascii_only=True)),  # PROXY: says nothing about the display
        (137, Terminal(colours=PALETTE, is_ascii_only=True)),
        (256, Terminal(colours=TRUE_COLOUR, is_ascii_only=True)),
        (271, Terminal(supports_utf8=True, colours=TRUE_COLOUR)),
        (2349, Terminal(supports_utf8=True, colours=TRUE_COLOUR)),
    ],
)
def test_mtts_bitfield_determines_terminal(bits: int, terminal: Terminal) -> None:
    client = Capabilities()
    assert not client.add_type(f"MTTS {bits}")
    assert client.terminal == terminal


@pytest.mark.parametrize(
    ("known", "terminal"),
    [
        ({}, Terminal()),
        (
            {"width": 60, "colours": 16, "reader": True},
            Terminal(60, colours=SIXTEEN, has_reader=True),
        ),
        ({"width": 0, "colours": 1 << 30}, Terminal(colours=TRUE_COLOUR)),
        ({"width": 5, "colours": 255}, Terminal(20, colours=SIXTEEN)),
        ({"height": 24}, Terminal(height=24)),
        ({"width": -1, "colours": -1, "reader": "yes"}, Terminal()),
        ({"width": True, "height": True, "colours": True}, Terminal()),
        ({"width": 1e9, "height": None, "colours": []}, Terminal()),
    ],
)
def test_terminal_from_client_reported_facts(known: dict[str, object], terminal: Terminal) -> None:
    client = Capabilities()
    client.set_known(known)
    assert client.terminal == terminal
    client.set_known({})
    assert client.terminal == terminal


@cases("columns", range(0, 65536, 997))
def test_width_is_clamped_to_20_to_500(columns: int) -> None:
    client = Capabilities()
    client.set_size(columns, 24)
    assert 20 <= client.terminal.width <= 500
    assert client.terminal.height == 24
    if 20 <= columns <= 500:
        assert client.terminal.width == columns


@pytest.mark.parametrize("name", ["MTTS", "MTTS x", "MTTS 123456", "MTTS -1", "MTTS 4 4", "MTTS ٤"])
def test_malformed_mtts_is_taken_as_terminal_type(name: str) -> None:
    client = Capabilities()
    assert client.add_type(name)
    assert client.terminal == Terminal()


def test_overlong_terminal_type_is_ignored() -> None:
    assert not Capabilities().add_type("X" * 41)


@pytest.mark.parametrize(
    ("offer", "name"),
    [
        (b";UTF-8", b"UTF-8"),
        (b" LATIN1 utf8", b"utf8"),
        (b"[TTABLE]\x01;UTF-8;LATIN1", b"UTF-8"),
        (b"[TTABLE]", b""),
        (b";", b""),
        (b"", b""),
        (b";UTF-16;UTF-88", b""),
        (b"\xff\xff\xff", b""),
    ],
)
def test_utf8_is_found_in_charset_offer(offer: bytes, name: bytes) -> None:
    assert find_utf8(offer) == name
    assert not name or is_utf8(name.decode())


@pytest.mark.parametrize(
    ("payload", "variables"),
    [
        (b"", {}),
        (b"\0NAME\1VALUE", {"NAME": "VALUE"}),
        (b"\0name\1VALUE\3OTHER\1\0EMPTY", {"NAME": "VALUE", "OTHER": ""}),
        (b"\0A\1x\2\1y\2\2z", {"A": "x\1y\2z"}),
        (b"\1VALUE\1VALUE", {}),
        (b"\0\1VALUE", {}),
        (b"\0A\1x\2", {"A": "x"}),
    ],
)
def test_new_environ_variables_are_parsed(payload: bytes, variables: dict[str, str]) -> None:
    assert variables_in(payload) == variables


@given(st.binary(max_size=200))
def test_arbitrary_capability_bytes_never_raise(data: bytes) -> None:
    client = Capabilities()
    client.set_variables(variables_in(data))
    client.add_type(data.decode("ascii", "replace"))
    find_utf8(data)
    assert client.terminal.width == 80


@pytest.mark.parametrize("bits", ["", "x", "-1", "٤", "123456", "1.5"])
def test_invalid_environment_variables_are_ignored(bits: str) -> None:
    client = Capabilities()
    client.set_variables({"MTTS": bits, "CHARSET": "EBCDIC"})
    assert client.terminal == Terminal()
