"""Links with misbehaving peers: too talkative, too quiet, or not reading."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PassTime
from tests.gateway.client import SECRET, Client, opened
from tests.gateway.conftest import Connect
from thudmud.gateway.gateway import BETWEEN_WRONG, FREE_WRONG, LOG_WHILE
from thudmud.gateway.link import LONGEST_HELLO, LineBuffer
from thudmud.gateway.session import GatewayPolicy

HELLO = {"type": "hello", "version": 1, "client": "mud", "secret": SECRET}
BAD_LINES = {
    b"nonsense": "malformed",
    b"[" * 5000: "malformed",
    b'{"type":"line","id":' + b"[" * 500 + b"]" * 500 + b"}": "bad_request",
    b"[1,2,3]": "malformed",
    b"\xff\xfe\x00": "malformed",
    b"x" * 9000: "too_long",
    b'{"type":"nothing"}': "bad_request",
    b'{"type":"ack"}': "bad_request",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: line[:20].decode("latin1"))
async def test_malformed_line_is_answered_and_the_link_survives(
    client: Client, line: bytes
) -> None:
    client.write(line + b"\n")
    heard = await client.hear()
    assert (heard["type"], heard["code"], heard["id"]) == ("error", BAD_LINES[line], None)
    assert heard["fatal"] is False
    assert (await client.answer("open", board="oak"))["ok"]


async def test_bad_request_with_an_id_is_answered_and_consumes_it(client: Client) -> None:
    client.say(type="open", id=1, board="two words")
    first = await client.hear()
    assert (first["type"], first["id"], first["seq"]) == ("answer", 1, 1)
    assert first["code"] == "bad_request"
    client.say(type="open", id=1, board="oak", seen=1)  # the id is used up
    assert await client.hear() == first


async def test_blank_lines_and_crlf_are_accepted(client: Client) -> None:
    client.write(b'\r\n  \n{"type":"ping"}\r\n')
    assert await client.hear() == {"type": "pong"}


@given(st.lists(st.binary(max_size=40), max_size=8))
async def test_arbitrary_bytes_only_cause_errors(pieces: list[bytes]) -> None:
    gateway = await opened()
    client = Client(gateway)
    await client.greet()
    for piece in pieces:
        client.write(piece)
    client.write(b'\n{"type":"ping"}\n')
    while (heard := await client.hear())["type"] != "pong":
        assert heard["type"] == "error"
    await gateway.close()
    assert [each["code"] for each in await client.end()] == ["closing"]


async def test_client_that_stops_reading_is_dropped_and_can_resume(connect: Connect) -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, outbox_bytes=65_536, close_grace=0))
    client = Client(gateway)
    token = (await client.greet())["session"]
    await client.seat()
    seen = client.heard[-1]["seq"]
    client.wire.stuck = True
    asked = 0
    while not client.running.done():
        asked += 1
        client.say(type="line", id=6 + asked, board="oak", player="Anna", line="view game")
        await asyncio.sleep(0)
    *_, last = await client.end()
    assert (last["code"], last["fatal"]) == ("too_slow", True)
    assert client.wire.aborted
    assert len(client.wire.written) < 65_536
    # No answer is lost.
    again = Client(gateway)
    welcome = await again.greet(session=token, seen=seen)
    assert welcome["resumed"] is True
    answered: list[int] = []
    while len(answered) < welcome["received"] - 6:
        heard = await again.hear()
        assert heard["seq"] == seen + 1
        seen += 1
        if heard["type"] == "answer":
            answered.append(heard["id"])
    assert answered == list(range(7, welcome["received"] + 1))
    # After acknowledging them the client is not dropped again.
    assert (await again.answer_as(welcome["received"] + 1, "show", board="oak", seen=seen))["ok"]
    await gateway.close()


async def test_client_that_never_acknowledges_is_dropped() -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, outbox_bytes=65_536))
    client = Client(gateway)
    await client.greet()
    await client.answer("open", board="oak")
    for number in range(2, 100):
        client.say(type="show", id=number, board="oak")
    assert (await client.end())[-1]["code"] == "too_slow"
    await gateway.close()


async def test_resumed_client_without_acknowledgements_gets_nothing_done() -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, outbox_bytes=65_536))
    client = Client(gateway)
    token = (await client.greet())["session"]
    await client.answer("open", board="oak")
    for number in range(2, 100):
        client.say(type="show", id=number, board="oak")
    told = await client.end()
    last = max(each.get("seq", 0) for each in told)
    received, waiting = 0, 0
    for request in ({"type": "show", "board": "oak"}, {"type": "line"}):
        for _ in range(5):
            client = Client(gateway)
            welcome = await client.greet(session=token)
            assert received in {0, welcome["received"]}
            received = welcome["received"]
            for number in range(received + 1, received + 50):
                client.say(id=number, **request)
            *told, error = await client.end()
            assert error["code"] == "too_slow"
            # All waiting messages are sent, so that the client can continue.
            numbers = [each["seq"] for each in told]
            assert numbers == list(range(1, len(told) + 1))
            assert waiting in {0, len(told)}
            waiting = len(told)
    assert waiting >= last
    client = Client(gateway)
    await client.greet(session=token, seen=waiting)
    assert (await client.answer_as(received + 1, "show", board="oak"))["ok"]
    await gateway.close()


async def test_acknowledged_messages_leave_the_outbox() -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, outbox_bytes=65_536))
    client = Client(gateway)
    await client.greet()
    await client.answer("open", board="oak")
    for _ in range(100):
        shown = await client.answer("show", board="oak")
        client.say(type="ack", seen=shown["seq"])
    assert len(client.wire.written) > 2 * 65_536
    await gateway.close()


@pytest.mark.parametrize("seen", [2, 10**9])
async def test_acknowledgement_of_unsent_messages_is_refused(client: Client, seen: int) -> None:
    await client.answer("open", board="oak")
    client.say(type="ack", seen=seen)
    [heard] = await client.end()
    assert (heard["code"], heard["text"]) == (
        "bad_seen",
        f'"seen": expected 0 to 1, got {seen}.',
    )


async def test_silent_client_is_pinged_and_then_dropped(pass_time: PassTime) -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, heartbeat=60, resume_grace=600))
    client = Client(gateway)
    token = (await client.greet())["session"]
    await pass_time(60)
    assert await client.hear() == {"type": "ping"}
    client.say(type="pong")
    await pass_time(60)
    await pass_time(60)
    assert await client.hear() == {"type": "ping"}  # the pong was received
    await pass_time(60)
    assert [each["code"] for each in await client.end()] == ["silent"]
    assert (await Client(gateway).greet(session=token))["resumed"] is True
    await gateway.close()


async def test_lost_connection_is_not_aborted(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone() -> None:
        raise BrokenPipeError

    monkeypatch.setattr(client.wire, "wait_closed", gone)
    client.reader.feed_eof()
    await client.end()
    assert client.wire.closed
    assert not client.wire.aborted


async def test_ping_is_answered_with_pong(client: Client) -> None:
    client.say(type="ping")
    assert await client.hear() == {"type": "pong"}


async def test_half_closed_connection_still_receives_answers(client: Client) -> None:
    client.say(type="open", id=1, board="oak")
    client.write(json.dumps({"type": "show", "id": 2, "board": "oak"}).encode())  # no line end
    client.reader.feed_eof()
    assert [(each["id"], each["ok"]) for each in await client.end()] == [(1, True), (2, True)]


async def test_session_ends_with_bye(client: Client, connect: Connect) -> None:
    await client.seat()
    client.say(type="show", id=7, board="oak")
    client.say(type="bye")
    assert [each["id"] for each in await client.end()] == [7]
    again = connect()
    welcome = await again.greet(session="token-1")
    assert (welcome["resumed"], welcome["session"]) == (False, "token-2")
    assert (await again.answer("open", board="oak", name="oak board"))["players"] == []


# Connections without a hello.


@pytest.mark.parametrize("said", [b"\n" * 1_000_000, b"\r\n", b" \n", b"\n"])
async def test_blank_line_is_not_a_hello(connect: Connect, said: bytes) -> None:
    stranger = connect()
    stranger.write(said)
    assert [each["code"] for each in await stranger.end()] == ["hello_first"]


async def test_hello_has_a_maximum_length(connect: Connect) -> None:
    stranger = connect()
    words = b'{"type":"hello","version":1,"client":"mud","secret":"' + SECRET.encode() + b'"'
    stranger.write(words.ljust(LONGEST_HELLO - 1) + b"}\n")
    assert (await stranger.hear())["type"] == "welcome"
    for before in (b"", words):
        stranger = connect()
        stranger.write(before.ljust(LONGEST_HELLO))
        stranger.write(b" ")
        assert [each["code"] for each in await stranger.end()] == ["hello_first"]


async def test_request_sent_along_with_hello_is_executed(connect: Connect) -> None:
    client = connect()
    asked = {"type": "open", "id": 1, "board": "oak"}
    client.write(b"".join(json.dumps(each).encode() + b"\n" for each in (HELLO, asked)))
    assert (await client.hear())["type"] == "welcome"
    assert (await client.hear())["ok"]


async def test_hello_after_a_blank_line_is_ignored(connect: Connect) -> None:
    stranger = connect()
    stranger.write(b"\n" + json.dumps(HELLO).encode() + b"\n")
    assert [each["code"] for each in await stranger.end()] == ["hello_first"]
    assert (await connect().greet())["type"] == "welcome"


async def test_wrong_secrets_are_rate_limited_and_logged_once(
    connect: Connect, pass_time: PassTime, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = HELLO | {"secret": "a secret that somebody guesses"}
    links = [connect() for _ in range(FREE_WRONG + 3)]
    for link in links:
        link.say(**wrong)
    for link in links[:FREE_WRONG]:
        assert [each["code"] for each in await link.end()] == ["wrong_secret"]
    assert (await connect().greet())["type"] == "welcome"
    # They are answered one by one, even if a new one only follows the last answer.
    for done in range(FREE_WRONG, len(links) + 3):
        if done == len(links):
            links.append(connect())
            links[-1].say(**wrong)
        for _ in range(10):  # enough for a second answer, if one were due
            await pass_time(0)
        assert sum(link.running.done() for link in links) == done
        await pass_time(BETWEEN_WRONG)
        waiting = [link.running for link in links if not link.running.done()]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    told = [await link.end() for link in links[FREE_WRONG:]]
    assert {each["code"] for heard in told for each in heard} == {"wrong_secret"}
    await pass_time(LOG_WHILE)
    first, rest = caplog.records
    assert first.getMessage() == "wrong secret"
    assert rest.getMessage() == "more wrong secrets"
    assert vars(rest)["count"] == len(links) - 1
    assert SECRET not in caplog.text


@pytest.mark.parametrize("more", [b"", b"more\n"], ids=["gone", "goes_on"])
async def test_early_end_of_a_delayed_wrong_secret_gets_no_answer(
    connect: Connect, more: bytes
) -> None:
    wrong = HELLO | {"secret": "a secret that somebody guesses"}
    for _ in range(FREE_WRONG):
        link = connect()
        link.say(**wrong)
        assert [each["code"] for each in await link.end()] == ["wrong_secret"]
    link = connect()
    link.say(**wrong)
    for _ in range(10):  # by then the hello has been read and is being delayed
        await asyncio.sleep(0)
    if more:
        link.write(more)
    else:
        link.reader.feed_eof()
    assert await link.end() == []


# Line splitting.


def test_line_buffer_splits_lines_and_flags_overlong_ones() -> None:
    lines = LineBuffer(4)
    assert list(lines.feed(b"ab\r\ncd")) == [b"ab"]
    assert list(lines.feed(b"ef\n\nabcde")) == [b"cdef", b"", None]
    assert list(lines.feed(b"and so on")) == []
    assert list(lines.feed(b"\nabcd\nabcdefgh\nx")) == [b"abcd", None]
    assert list(lines.end()) == [b"x"]
    assert [*lines.feed(b"\nab\r"), *lines.end()] == [b"x", b"ab"]


@given(st.lists(st.binary(max_size=12)), st.integers(1, 8))
def test_line_buffer_is_independent_of_chunking(pieces: list[bytes], longest: int) -> None:
    whole, cut = LineBuffer(longest), LineBuffer(longest)
    expected = [*whole.feed(b"".join(pieces)), *whole.end()]
    assert [*(each for piece in pieces for each in cut.feed(piece)), *cut.end()] == expected
