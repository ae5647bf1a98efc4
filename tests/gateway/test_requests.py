"""Parsing of client lines into requests or faults."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from thudmud.game.options import Style
from thudmud.gateway.requests import (
    KINDS,
    Ack,
    Code,
    Hello,
    LineRequest,
    OpenRequest,
    Ping,
    Request,
    RequestError,
    Sent,
    parse_request,
)

LINE = {"type": "line", "id": 3, "board": "oak", "player": "Anna", "line": "look"}
OPEN = {"type": "open", "id": 3, "board": "oak"}
COUNT = "a whole number from 0 to 9007199254740991, or null"
GREETING = {"type": "hello", "version": 1, "client": "my-mud.2", "secret": "Grüße"}


def outcome(line: bytes) -> Sent | RequestError:
    try:
        return parse_request(line)
    except RequestError as fault:
        return fault


def fault(line: bytes) -> RequestError:
    with pytest.raises(RequestError) as caught:
        parse_request(line)
    return caught.value


def written(**data: Any) -> bytes:
    return json.dumps(data).encode()


def test_valid_request_is_parsed() -> None:
    assert parse_request(written(**LINE)) == LineRequest(
        id=3, board="oak", player="Anna", line="look"
    )
    assert parse_request(written(**OPEN)) == OpenRequest(
        id=3, board="oak", rules="discworld", style=Style.FULL
    )
    assert parse_request(b' { "type" : "ping" } ') == Ping()
    hello = parse_request(written(**GREETING))
    assert isinstance(hello, Hello)
    assert (hello.client, hello.secret, hello.session) == ("my-mud.2", "Grüße", "")


def test_byte_order_mark_before_the_first_object_is_skipped() -> None:
    line = json.dumps(GREETING).encode()
    assert parse_request(BOM_UTF8 + line) == parse_request(line)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"hello", "Expected a line of JSON."),
        (b"", "Expected a line of JSON."),
        (b'{"type":"ping"', "Expected a line of JSON."),
        (b'{"type":"ping"}{"type":"ping"}', "Expected a line of JSON."),
        (b'{"type":"ack","seen":NaN}', "Expected a line of JSON."),
        (b'{"type":"ack","seen":' + b"9" * 5000 + b"}", "Expected a line of JSON."),
        (b"[" * 100_000, "Expected a line of JSON."),
        (b'{"type":' * 100_000, "Expected a line of JSON."),
        (b'{"type":"ping\xff"}', "Expected UTF-8."),
        (b'\xfe\xff\x00{\x00"', "Expected UTF-8."),
        (b"3", "Expected a JSON object."),
        (b'["ping"]', "Expected a JSON object."),
        (b"null", "Expected a JSON object."),
    ],
)
def test_non_object_line_is_malformed(line: bytes, text: str) -> None:
    found = fault(line)
    assert (found.code, found.text, found.number) == (Code.MALFORMED, text, None)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"type": "lin"}, f'"type": expected one of {", ".join(KINDS)}.'),
        ({"type": ["line"]}, f'"type": expected one of {", ".join(KINDS)}.'),
        (
            {"liine": ""},
            'Unknown key "liine"; expected one of id, board, seen, player, line, at_ver',
        ),
        ({"line": 3}, '"line": expected a string, got 3.'),
        ({"line": [[[["x" * 50]]]]}, '"line": expected a string, got a list.'),
        ({"line": {"x": {}}}, '"line": expected a string, got an object.'),
        ({"style": "x" * 50}, 'Unknown key "style"'),
        (
            {"at_version": "x" * 50},
            f'"at_version": expected {COUNT}, got "{"x" * 39}...',
        ),
        ({"line": "\ud800"}, '"line" should not contain unpaired surrogates.'),
        ({"board": ""}, '"board": expected 1 to 120 printable ASCII characters without spaces'),
        ({"board": "oak\n"}, '"board": expected 1 to 120 printable ASCII characters without'),
        ({"key": "k\n"}, '"key": expected 1 to 80 printable ASCII characters without spaces'),
        ({"board": "oak board"}, '"board": expected 1 to 120 printable ASCII characters with'),
        ({"board": "eiché"}, '"board": expected 1 to 120 printable ASCII characters without'),
        ({"at_version": -1}, f'"at_version": expected {COUNT}, got -1.'),
        ({"at_version": "x"}, f'"at_version": expected {COUNT}, got "x".'),
        ({"seen": True}, f'"seen": expected {COUNT}, got true.'),
        (
            {"seen": 2**200},
            f'"seen": expected {COUNT}, got 1606938044258990275541962092341162602522...',
        ),
        ({"seen": 1.0}, f'"seen": expected {COUNT}, got 1.0.'),
        (
            {"\ud800": ""},
            r'Unknown key "\ud800"; expected one of id, board, seen, player, line, at_ver',
        ),
    ],
)
def test_invalid_request_fault_carries_its_id(change: dict[str, Any], text: str) -> None:
    found = fault(written(**LINE | change))
    assert (found.code, found.number) == (Code.BAD_REQUEST, 3)
    assert found.text.startswith(text)


@pytest.mark.parametrize("number", [0, -1, 2**53, 3.0, "3", True, None, []])
def test_invalid_id_is_a_bad_request(number: object) -> None:
    found = fault(written(**LINE | {"id": number}))
    assert (found.code, found.number) == (Code.BAD_REQUEST, None)
    assert found.text.startswith('"id": expected ')


@pytest.mark.parametrize("key", ["id", "board", "player", "line"])
def test_missing_key_is_named(key: str) -> None:
    data = {name: value for name, value in LINE.items() if name != key}
    assert fault(written(**data)).text == f'"{key}" is missing.'


@pytest.mark.parametrize(
    ("kind", "key", "value", "right"),
    [
        ("open", "rules", "chess", "one of discworld, classic, koom valley"),
        ("open", "rules", "discworld\n", "one of discworld, classic, koom valley"),
        ("open", "style", "long", "one of full, brief"),
        ("open", "style", ["full"], "one of full, brief"),
        ("enter", "style", "long", "one of full, brief, or null"),
        ("enter", "room", "garden", "one of board, hall"),
        ("enter", "width", 19, "a whole number from 20 to 500"),
        ("show", "width", 501, "a whole number from 20 to 500"),
        ("enter", "utf8", 1, "true or false"),
        ("enter", "colours", 3, "one of 0, 16, 256, 16777216"),
        ("enter", "colours", False, "one of 0, 16, 256, 16777216"),
        ("enter", "colours", 16.0, "one of 0, 16, 256, 16777216"),
        ("leave", "parting", "restart", "one of lost, left, quit, idle"),
    ],
)
def test_value_outside_the_choices_is_refused(
    kind: str, key: str, value: object, right: str
) -> None:
    data = {"type": kind, "id": 3, "board": "oak", key: value}
    if kind in {"enter", "leave"}:
        data["player"] = "Anna"
    shown = "a list" if isinstance(value, list) else json.dumps(value)
    assert fault(written(**data)).text == f'"{key}": expected {right}, got {shown}.'


def test_misspelt_key_is_reported_before_a_missing_one() -> None:
    data = {"type": "ack", "sene": 3}
    assert fault(written(**data)).text == 'Unknown key "sene"; expected one of seen.'


def test_duplicate_key_takes_the_last_value() -> None:
    assert parse_request(b'{"type": "ack", "seen": "x", "seen": 3}') == Ack(seen=3)


@pytest.mark.parametrize("client", ["", "a b", "ä", "a" * 41, "a/b", "a\n"])
def test_invalid_client_name_is_refused(client: str) -> None:
    found = fault(written(type="hello", version=1, client=client))
    assert found.text.startswith('"client": expected 1 to 40 letters')


def test_wrong_version_is_reported_before_other_faults() -> None:
    assert fault(written(type="hello", version=2, name={})).code is Code.WRONG_VERSION


@given(st.binary())
def test_arbitrary_bytes_are_a_request_or_a_fault(line: bytes) -> None:
    found = outcome(line)
    assert not isinstance(found, RequestError) or found.text.endswith(".")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@examples(50)
@given(
    st.sampled_from(sorted(KINDS)),
    st.dictionaries(
        st.sampled_from(["id", "board", "player", "line", "seen", "version", "client", "width"]),
        JSON,
    ),
)
def test_arbitrary_object_is_a_request_or_a_fault(kind: str, data: dict[str, object]) -> None:
    found = outcome(json.dumps({"type": kind, **data}).encode())
    if isinstance(found, RequestError):
        assert found.number is None or found.number == data["id"]
    else:
        assert isinstance(found, KINDS[kind])
        assert not isinstance(found, Request) or found.id == data["id"]
