"""WebSocket connections to a real server: handshake, frames, login and limits."""

from __future__ import annotations

import asyncio
import gc
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.typing import Origin, Subprotocol

from tests.conftest import PassTime
from tests.server.plain import Client, Serving, Setup
from tests.telnet.test_tls import AUTHORITY, trusting
from tests.web.browsers import GMCP, WANTS, Browser, browser
from thudmud.accounts.passwords import word_hash
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.store import accounts
from thudmud.web.connection import MAX_HEAD
from thudmud.web.sockets import READ_AT_ONCE, FrameConnection

WEB = {"port": 0}
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: gmcp.mudstandards.org\r\n\r\n"
)


def frame(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


async def raw(setup: Setup, name: str = "") -> Client:
    """Return a client with a WebSocket on a bare socket, for hand-made frames."""
    client = await setup.connect_web()
    await client.send(HANDSHAKE)
    await client.until(b"\r\n\r\n")
    await client.until(b"name? ")
    if name:
        await client.send(frame(Opcode.BINARY, name.encode()))
        await client.until(b"> ")
    return client


async def test_telnet_and_web_players_share_the_game(serving: Serving) -> None:
    setup = await serving(web=WEB)
    bert = await setup.connect("Bert")
    async with browser(setup, "Anna") as anna:
        await bert.until(b"Anna comes in.")
        await anna.type("say Grüße")
        await bert.until("Anna says: Grüße".encode())
        await bert.send(b"say hello\r\n")
        await anna.until("Bert says: hello\r\n> ")
        await anna.type("quit")
        assert (await anna.end(), anna.text) == (4000, "Anna leaves.\r\n")
    await bert.until(b"Anna leaves.")


async def test_closed_page_is_lost_after_its_last_line(serving: Serving) -> None:
    setup = await serving(web=WEB)
    bert = await setup.connect("Bert")
    async with browser(setup, "Anna") as anna:
        await anna.type("say one", "say two")
    await bert.until(b"Anna says: two")
    await bert.until(b"Anna is lost.")


async def test_message_is_a_line_regardless_of_ending_and_fragments(serving: Serving) -> None:
    setup = await serving(web=WEB)
    client = await raw(setup, "Anna")
    for data in (b"one", b"two\n", b"three\r\n", b"four\r", b"five\nsix", b"se\bseven"):
        await client.send(frame(Opcode.BINARY, data))
    cut = frame(Opcode.BINARY, b"ei", fin=False) + frame(Opcode.PING, b"?")
    cut += frame(Opcode.CONT, b"gh", fin=False) + frame(Opcode.CONT, b"t")
    for byte in cut:
        await client.send(bytes([byte]))
    await client.until(b"echo eight")
    lines = ["one", "two", "three", "four", "five", "six", "sseven", "eight"]
    assert setup.service.typed == lines


def frame_connections() -> list[FrameConnection]:
    return [each for each in gc.get_objects() if type(each) is FrameConnection]


async def test_frames_sent_with_a_delayed_handshake_are_limited(
    serving: Serving, pass_time: PassTime
) -> None:
    limits = {"requests_at_once": 10, "requests_per_second": 1}
    limits |= {"frames_at_once": 10, "frames_per_second": 1}
    setup = await serving(web=WEB | limits)
    bob, client = await setup.connect("Bob"), await setup.connect_web()
    name, ping = frame(Opcode.BINARY, b"Anna"), frame(Opcode.PING, b"")
    # The handshake waits for the rate limit, with enough data behind it to stop reading.
    await client.send(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" * 10 + HANDSHAKE)
    await client.send(name + ping * (MAX_HEAD // len(ping) + 1))
    for _ in range(10):
        await client.until(b"\r\n\r\n")
    await bob.fence()
    await pass_time(1.1)
    await bob.until(b"Anna comes in.")
    await client.send(frame(Opcode.PING, b"one too many"))
    for _ in range(5):
        await bob.fence()
    await bob.send(b"say hello\r\n")
    assert b"one too many" not in await client.until(b"Bob says: hello")


async def test_empty_fragments_are_not_kept(serving: Serving) -> None:
    before = frame_connections()  # those of earlier tests, not yet garbage-collected
    web = WEB | {"frames_at_once": 1_000_000, "frames_per_second": 100_000}
    client = await raw(await serving(web=web), "Anna")
    await client.send(frame(Opcode.BINARY, b"o", fin=False))
    empty = frame(Opcode.CONT, b"", fin=False)
    await client.send(empty * 10_000 + frame(Opcode.PING, b"!"))
    await client.until(b"!")
    [connection] = [each for each in frame_connections() if each not in before]
    assert connection._message == [b"o"]
    await client.send(frame(Opcode.CONT, b"ne"))
    await client.until(b"echo one")


async def test_frames_sent_with_the_handshake_are_processed(serving: Serving) -> None:
    setup = await serving(web=WEB)
    client = await setup.connect_web()
    await client.send(HANDSHAKE + frame(Opcode.BINARY, b"Anna") + frame(Opcode.BINARY, b"one"))
    await client.until(b"echo one")


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"origin": "https://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "https://{}"}, 403),
        ({"origin": "http://{}.elsewhere.example"}, 403),
        ({"subprotocols": None}, 400),
        ({"subprotocols": [Subprotocol("chat")]}, 400),
        ({"origin": "http://{}"}, 101),
        ({"origin": "https://friend.example"}, 101),
        ({}, 101),
    ],
)
async def test_handshake_checks_origin_and_subprotocol(
    serving: Serving, how: dict[str, Any], status: int
) -> None:
    setup = await serving(web=WEB | {"origins": ["https://friend.example"]})
    [(host, port)] = setup.web_places
    if "origin" in how:
        how = {"origin": how["origin"].format(f"{host}:{port}")}
    if status == 101:
        async with browser(setup, "Anna", **how):
            return
    with pytest.raises(InvalidStatus) as refused:
        async with browser(setup, "Anna", **how):
            pass
    assert refused.value.response.status_code == status


@pytest.mark.parametrize(
    ("public_url", "host", "scheme", "origin", "status"),
    [
        ("", "thud.example:80", "http", "http://thud.example", 101),
        ("", "Thud.Example", "https", "https://thud.example", 101),
        ("", "thud.example", "https", "https://thud.example:443", 101),
        ("https://thud.example", "thud.example.", "https", "https://thud.example.", 101),
        ("http://thud.example:81", "thud.example.:81", "http", "http://thud.example.:81", 101),
        ("", "thud.example", "https", "https://thud.example.:443", 101),
        ("https://thud.example", "x", "https", "https://thud.example..", 403),
        ("", "thud.example:443", "http", "http://thud.example", 403),
        ("", "thud.example:8443", "https", "https://thud.example", 403),
        ("https://thud.example", "backend:8485", "http", "https://thud.example", 101),
        ("https://thud.example", "evil.example", "https", "https://evil.example", 403),
        ("https://thud.example", "thud.example", "http", "http://thud.example", 403),
    ],
)
async def test_websocket_origin_is_compared_with_the_page(
    serving: Serving, *, public_url: str, host: str, scheme: str, origin: str, status: int
) -> None:
    setup = await serving(web=WEB | {"public_url": public_url, "forwarders": ["127.0.0.1"]})
    client = await setup.connect_web()
    fields = f"Origin: {origin}\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: {scheme}\r\n"
    await client.send(HANDSHAKE.replace(b"Host: x\r\n", f"Host: {host}\r\n{fields}".encode()))
    assert (await client.until(b"\r\n")).startswith(b"HTTP/1.1 %d " % status)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(Opcode.BINARY, b"x" * 8193), 1009),
        (b"\x82\xff\x7f" + b"\xff" * 7 + b"mask", 1009),
        (frame(Opcode.BINARY, b"x" * 5000, fin=False) + frame(Opcode.CONT, b"x" * 5000), 1009),
        (Frame(Opcode.BINARY, b"x").serialize(mask=False), 1002),
        (frame(Opcode.CONT, b"x"), 1002),
        (frame(Opcode.TEXT, b"x", fin=False) * 2, 1002),
        (b"\x83\x80mask", 1002),
        (b"\xf2\x80mask", 1002),
        (b"\x89\xfe\x00\x80mask" + b"x" * 128, 1002),
        (b"\x88\x81mask!", 1002),
        (b"GET / HTTP/1.1\r\n\r\n", 1002),
        (bytes(range(128, 256)) * 20, 1002),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "sent",  # masks are random
)
async def test_invalid_frame_ends_only_its_own_connection(
    serving: Serving, sent: bytes, code: int
) -> None:
    setup = await serving(web=WEB, max_line=80)
    async with browser(setup, "Bert") as bert:
        client = await raw(setup, "Anna")
        await client.send(sent)
        assert code.to_bytes(2, "big") in (await client.rest())[-200:]
        await bert.until("Anna is lost.")
        await bert.type("one")
        await bert.until("echo one")
    assert setup.service.typed == ["one"]


async def test_fragmented_message_survives_interleaved_control_frames(
    serving: Serving,
) -> None:
    setup = await serving(web=WEB)
    client = await raw(setup, "Anna")
    line = "Gr\xfc\xdfe \U0001f600".encode()
    pieces = [line[at : at + 1] for at in range(len(line))]
    for at, piece in enumerate(pieces):
        opcode = Opcode.CONT if at else Opcode.BINARY
        await client.send(frame(opcode, piece, fin=at == len(pieces) - 1))
        await client.send(frame(Opcode.PING, b"p%d" % at) + frame(Opcode.PONG, b""))
    told = await client.until(b"echo " + line)
    for at in range(len(pieces) - 1):
        assert Frame(Opcode.PONG, b"p%d" % at).serialize(mask=False) in told
    package = b'Core.Ping ""'
    await client.send(frame(Opcode.TEXT, package[:5], fin=False) + frame(Opcode.PING, b"q"))
    await client.send(frame(Opcode.CONT, package[5:]))
    await client.until(Frame(Opcode.TEXT, b"Core.Ping").serialize(mask=False))


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        (b"", b""),
        *((code, code) for code in (1000, 1001, 3000, 4999)),
        *((code, 1002) for code in (0, 999, 1004, 1005, 1006, 1015, 2999, 5000)),
    ],
)
async def test_reserved_close_code_is_not_echoed(
    serving: Serving, code: int | bytes, answer: int | bytes
) -> None:
    setup = await serving(web=WEB)
    client = await raw(setup, "Anna")
    sent, expected = (
        each.to_bytes(2, "big") if isinstance(each, int) else each for each in (code, answer)
    )
    await client.send(frame(Opcode.CLOSE, sent))
    last = await client.rest()
    assert last[:1] == bytes([0x80 | Opcode.CLOSE])
    assert last[2:4] == expected


async def test_overlong_line_is_refused(serving: Serving) -> None:
    setup = await serving(web=WEB, max_line=80)
    async with browser(setup, "Anna") as anna:
        await anna.type("x" * 81, "short")
        assert "longer than 80 characters" in await anna.until("echo short")


@pytest.mark.parametrize(
    "package",
    [
        "Core.Supports.Set",
        "Core.Supports.Set {",
        "Thud.Watch 1",
        'Thud.Watch {"battle": -1}',
        'Thud.Watch {"battle": 1e400}',
        'Thud.Watch {"battle": true}',
        'Thud.Watch {"battle": 1, "explore": -1}',
        'Thud.Watch {"battle": 1, "explore": "all"}',
        'Thud.Watch {"explore": 1}',
        'Thud.Terminal {"width": 1e9, "colours": -5, "reader": "yes"}',
        'Thud.Terminal {"width": 99999999999999999999}',
        "Thud.Ask 7",
        'Thud.Ask "quit"',
        "Char.Login.Credentials []",
        "Nonsense.Package " + "[" * 50,
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
async def test_malformed_packages_are_ignored(serving: Serving, package: str) -> None:
    setup = await serving(web=WEB)
    async with browser(setup) as anna:
        await anna.until("name? ")
        await anna.socket.send(package)
        await anna.tell("Core.Ping", None)
        assert await anna.fact("Core.Ping") is None
        await anna.type("Anna")
        await anna.until("> ")
        await anna.socket.send(package)
        await anna.type("one")
        await anna.until("echo one")


async def test_prompt_facts_hide_passwords(serving: Serving) -> None:
    setup = await serving(web=WEB)
    async with browser(setup) as anna:
        await anna.until("name? ")
        await anna.socket.send(WANTS)
        assert await anna.fact("Thud.Prompt") == {"asks": "name", "hidden": False}
        await anna.type("Anna")
        word = await anna.fact("Thud.Word")
        assert word["player"] == "Anna"
        assert await anna.fact("Thud.Prompt") == {"asks": "command", "hidden": False}
        await anna.type("register")
        assert await anna.fact("Thud.Prompt") == {"asks": "new_password", "hidden": True}
        await anna.type("correct horse")
        assert await anna.fact("Thud.Prompt") == {"asks": "again", "hidden": True}
        await anna.type("correct horse")
        assert await anna.fact("Thud.Prompt") == {"asks": "command", "hidden": False}
    async with browser(setup) as anna:
        await anna.socket.send(WANTS)
        assert await anna.fact("Thud.Prompt") == {"asks": "name", "hidden": False}
        await anna.type("anna")
        assert await anna.fact("Thud.Prompt") == {"asks": "password", "hidden": True}


@pytest.mark.parametrize("who", ["a guest", "who has registered", "a member"])
async def test_resume_word_restores_the_session_after_a_reload(serving: Serving, who: str) -> None:
    setup = await serving(web=WEB)
    async with browser(setup) as anna:
        await anna.socket.send(WANTS)
        await anna.type("Anna")
        word = await anna.fact("Thud.Word")
        if who != "a guest":
            await anna.type("register", "correct horse", "correct horse")
            word = await anna.fact("Thud.Word")
        await anna.type("one")
        await anna.until("echo one")
    if who == "a member":
        async with browser(setup) as anna:
            await anna.socket.send(WANTS)
            login = {"account": "Anna", "password": "correct horse"}
            await anna.tell("Char.Login.Credentials", login)
            word = await anna.fact("Thud.Word")
    for secret, succeeds in ((word["word"], True), ("not that word", False)):
        async with browser(setup) as anna:
            await anna.socket.send(WANTS)
            login = {"account": "anna", "password": secret}
            await anna.tell("Char.Login.Credentials", login)
            assert (await anna.fact("Char.Login.Result"))["success"] is succeeds


async def test_goodbye_and_close_code_give_the_reason(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving(web=WEB, idle_warning=0, idle_limit=60)
    async with browser(setup) as anna, browser(setup) as again, browser(setup, "Bert") as bert:
        await anna.socket.send(WANTS)
        await anna.type("Anna")
        word = await anna.fact("Thud.Word")
        await again.socket.send(WANTS)
        login = {"account": "Anna", "password": word["word"]}
        await again.tell("Char.Login.Credentials", login)
        assert await anna.fact("Thud.Goodbye") == {"why": "elsewhere"}
        assert (await anna.end(), anna.socket.close_reason) == (4001, "elsewhere")
        assert (await again.fact("Char.Login.Result"))["success"]
        setup.sessions.apply_order(Order(bans={"bert": Sanction(Measure.BAN, "Bert")}))
        assert await bert.end() == 4003
        await pass_time(61)
        assert await again.fact("Thud.Goodbye") == {"why": "idle"}
        assert await again.end() == 4002


async def test_login_during_a_password_change_is_revoked(serving: Serving) -> None:
    setup = await serving(web=WEB)
    async with browser(setup) as anna, browser(setup) as thief:
        await anna.socket.send(WANTS)
        await anna.type("Anna", "register", "correct horse", "correct horse")
        words = [await anna.fact("Thud.Word") for _ in range(2)]
        await anna.type("password", "correct horse")
        await anna.until("New password: ")
        await thief.socket.send(WANTS)
        login = {"account": "Anna", "password": words[-1]["word"]}
        await thief.tell("Char.Login.Credentials", login)
        assert await anna.fact("Thud.Goodbye") == {"why": "elsewhere"}
        assert (await thief.fact("Char.Login.Result"))["success"]
        while await setup.sessions.store.read(
            accounts.has_resume_word, "Anna", word_hash(words[-1]["word"])
        ):
            pass
        await setup.sessions.end_logged_out()  # as the server does when notified
        assert await thief.fact("Thud.Goodbye") == {"why": "logged_out"}


async def test_takeover_during_registration_keeps_the_login(
    serving: Serving,
) -> None:
    setup = await serving(web=WEB)
    async with browser(setup) as anna, browser(setup) as again:
        await anna.socket.send(WANTS)
        await anna.type("Anna")
        word = await anna.fact("Thud.Word")
        await anna.type("register")
        await anna.until("New password: ")
        await again.socket.send(WANTS)
        login = {"account": "Anna", "password": word["word"]}
        await again.tell("Char.Login.Credentials", login)
        assert await anna.fact("Thud.Goodbye") == {"why": "elsewhere"}
        await anna.end()
        assert anna.text.endswith("so this session is being closed.\r\n")
        assert (await again.fact("Char.Login.Result"))["success"]
        await again.type("one")
        await again.until("echo one")


async def test_ended_logins_close_the_connection(serving: Serving) -> None:
    setup = await serving(web=WEB)
    async with browser(setup) as anna:
        await anna.socket.send(WANTS)
        await anna.type("Anna", "register", "correct horse", "correct horse")
        await anna.until("is yours now")
        await anna.type("one")
        await anna.until("echo one")
        await setup.sessions.store.write(accounts.end_logins, "Anna")
        await setup.sessions.end_logged_out()
        await anna.until("You've been logged out")
        assert await anna.fact("Thud.Goodbye") == {"why": "logged_out"}
        assert (await anna.end(), anna.socket.close_reason) == (4005, "logged_out")


async def test_banned_network_is_told_the_reason(serving: Serving) -> None:
    setup = await serving(web=WEB)
    banned = Sanction(Measure.BAN, "127.0.0.0/8", why="of spam")
    setup.sessions.apply_order(Order(networks={ip_network(banned.whom): banned}))
    async with browser(setup) as anna:
        assert await anna.end() == 4003
        assert "has banned 127.0.0.0/8 (your network), because of\r\nspam." in anna.text
        assert "name?" not in anna.text


async def test_frame_limit_delays_only_its_own_client(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving(web=WEB | {"frames_at_once": 20, "frames_per_second": 1})
    client = await raw(setup, "Anna")
    ping = frame(Opcode.PING, b"")
    await client.send(ping * (READ_AT_ONCE // len(ping)) + frame(Opcode.BINARY, b"late"))
    async with browser(setup, "Bert") as bert:
        await bert.type("one")
        await bert.until("echo one")
        assert setup.service.typed == ["one"]
        await pass_time(1000)
        await client.until(b"echo late")


async def test_stalled_reader_is_throttled_and_then_cut_off(serving: Serving) -> None:
    setup = await serving(web=WEB, outbox_bytes=65_536)
    anna = await raw(setup, "Anna")
    anna.stop_reading()
    await anna.send(frame(Opcode.BINARY, b"big 20000") * 500)
    async with browser(setup, "Bert") as bert:
        await bert.type("one")
        await bert.until("echo one")
        assert setup.service.typed.count("big 20000") < 500  # the rest are still queued
        heard = ""
        while "Anna is lost." not in heard:
            await bert.type("flood 20000")
            heard += await bert.until("x\r\n")


async def test_unanswered_ping_ends_the_connection(serving: Serving, pass_time: PassTime) -> None:
    setup = await serving(web=WEB | {"ping": 20})
    async with browser(setup, "Bert") as bert:
        await raw(setup, "Anna")
        await bert.until("Anna comes in.")
        await pass_time(21)
        await bert.type("one")  # by then the library has answered the ping
        await bert.until("echo one")
        await pass_time(21)
        await bert.until("Anna is lost.")


async def test_server_stop_is_announced_with_close_code_1012(serving: Serving) -> None:
    setup = await serving(web=WEB)
    idle = await setup.connect_web()
    async with browser(setup, "Anna") as anna:
        stopping = asyncio.create_task(setup.stop())
        assert await anna.end() == 1012
        assert "shutting down" in anna.text
        await stopping
    assert await idle.rest() == b""


async def test_data_after_a_close_frame_is_ignored(serving: Serving, pass_time: PassTime) -> None:
    setup = await serving(web=WEB, commands_at_once=5, commands_per_second=1)
    client = await raw(setup, "Anna")
    async with browser(setup, "Bert") as bert:
        lines = [frame(Opcode.BINARY, line) for line in (b"say hi", *[b"two"] * 6, b"one")]
        await client.send(b"".join(lines) + frame(Opcode.CLOSE, b""))
        await bert.until("Anna says: hi")
        await client.send(b"x")
        await bert.type("three", "four")
        await bert.until("echo four")
        await pass_time(1000)
        await client.until(b"echo one")
        assert (await client.rest()).endswith(Frame(Opcode.CLOSE, b"").serialize(mask=False))


async def test_talk_is_sent_as_plain_text(serving: Serving) -> None:
    setup = await serving(web=WEB)
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)> \x1b]0;x\x07"
    async with browser(setup, "Anna") as anna, browser(setup, "Bert") as bert:
        await anna.type(f"say {hostile}")
        told = await bert.until("onerror=alert(1)> ")
        assert "\x1b" not in told
        assert "<script>alert(1)</script>" in told


async def test_certificate_serves_https_and_wss(serving: Serving, tmp_path: Path) -> None:
    pem = tmp_path / "both.pem"
    AUTHORITY.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    setup = await serving(web=WEB | {"tls_certificate": str(pem)})
    [(host, port)] = setup.web_places
    link = f"https://{host}:{port}"
    async with httpx.AsyncClient(verify=trusting()) as asking:
        assert (await asking.get(link)).status_code == 200
        assert (await asking.get(f"{link}/nowhere")).status_code == 404
    wss = f"wss://{host}:{port}/ws"
    for origin, status in ((f"http://{host}:{port}", 403), (link, 101)):
        opening = connect(
            wss,
            ssl=trusting(),
            origin=Origin(origin),
            subprotocols=[Subprotocol(GMCP)],
            compression=None,
        )
        if status == 101:
            async with opening as socket:
                anna = Browser(socket)
                await anna.login("Anna")
                await anna.type("say hello", "quit")
                await anna.end()
                assert "Anna says: hello" in anna.text
        else:
            with pytest.raises(InvalidStatus):
                await opening
