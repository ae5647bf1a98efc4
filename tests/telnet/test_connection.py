"""Hostile, broken and slow clients affect no connection but their own."""

from __future__ import annotations

import asyncio
import zlib

import pytest

from tests.server.plain import Client, Serving

IAC_SB, IAC_SE = b"\xff\xfa", b"\xff\xf0"


async def well(client: Client) -> bool:
    """Whether the server still answers this client normally."""
    await client.send(b"\r\n")
    await client.fence()
    await client.send(b"look\r\n")
    return await client.fence() == b"echo look\r\n> "


@pytest.mark.parametrize(
    "attack",
    [
        IAC_SB + b"\x45\x01a\x02\x03x" + IAC_SE,  # MSDP: an unterminated array
        IAC_SB + b"\x57" + IAC_SE + zlib.compress(b"\0" * 10_000_000),  # MCCP3: a zip bomb
        IAC_SB + IAC_SE,
        IAC_SB + b"\x1f" + IAC_SE,  # NAWS: empty
        IAC_SB + b"\x1f\0\x50\0\x18\0" + IAC_SE,  # NAWS: a byte too many
        IAC_SB + b"\x1f\xff\0\x18" + IAC_SE,  # NAWS: an unescaped 255
        b"\xff\xfb\x22" + IAC_SB + b"\x22\x03\x01\x02" + IAC_SE,  # LINEMODE: half an SLC triplet
        b"\xff\xfb\x2a" + IAC_SB + b"\x2a\x01" + IAC_SE,  # CHARSET: an empty request
        b"\xff\xfd\x45\xff\xfe\x45\xff\xfe\x22",  # MSDP and LINEMODE withdrawn
        IAC_SB + b"\xff\xff" * 100 + IAC_SE,
        IAC_SB + b"\x1f\0" + b"\xff\xfd\x01" + IAC_SE,  # a command inside a sub-negotiation
        IAC_SB + b"\x18" + b"x" * 6000 + IAC_SE,
        b"\xff\xfd\xff\xff\xfb\xff",
        b"\xff\xf4\xff\xf2" * 3,  # IP and DM: Control-C in some clients
        b"\xff\xfb\x06\xff\xfb\x01\xff\xfc\x12\xff\xfe\x12",  # telnetlib3 raises on these
    ],
    ids=lambda attack: repr(attack[:10]),
)
async def test_malformed_telnet_leaves_all_connections_working(
    serving: Serving, attack: bytes
) -> None:
    setup = await serving()
    bob = await setup.connect("Bob")
    for name in ("", "Anna"):
        client = await setup.connect(name)
        await client.send(attack)
        await client.fence()
        assert await well(bob)
        if name:
            assert await well(client)


async def test_arbitrary_bytes_and_commands_are_survived(serving: Serving) -> None:
    setup = await serving()
    for name in ("", "Anna"):
        client = await setup.connect(name)
        for value in range(256):
            byte = bytes([value])
            await client.send(byte + b"\r\n" + b"x" + byte + b"y\r\n")
            await client.send(b"\xff" + byte)
            if value >= 0xFA:  # SB and the option commands take an argument
                await client.send(b"\xc9" + IAC_SE)
        await client.fence()
        await client.send(bytes(range(255)) * 100 + b"\r\n")
        await client.fence()
        if name:
            assert await well(client)


@pytest.mark.parametrize(
    ("sent", "line"),
    [
        ([b"a\xff\xffb\r\n"], "a\xffb"),
        ([b"a\xff", b"\xffb\r\n"], "a\xffb"),
        ([b"a\xff\xff\xff\xff", b"b\r\n"], "a\xff\xffb"),
        ([b"a\xff\xff\xff", b"\xf1b\r\n"], "a\xffb"),
        ([b"\xc3\xff\xf1\xbc\r\n"], "\xfc"),
        ([b"\xc3\xff", b"\xf1", b"\xbc\r\n"], "\xfc"),
        ([b"\xf0\x9f", b"\x98", b"\x80\r\n"], "\U0001f600"),
        ([b"a\r\xff", b"\xf1\0"], "a"),
    ],
)
async def test_text_survives_embedded_0xff_bytes_and_commands(
    serving: Serving, sent: list[bytes], line: str
) -> None:
    setup = await serving()
    client = await setup.connect("Anna")
    for piece in sent:
        await client.send(piece)
        await asyncio.sleep(0)
    await client.until(f"echo {line}\r\n".encode())
    assert await well(client)
    assert setup.service.typed == [line, "", "look"]


async def test_endless_line_is_rejected_without_delaying_others(serving: Serving) -> None:
    setup = await serving()
    bob, anna = await setup.connect("Bob"), await setup.connect("Anna")
    for _ in range(10):
        await anna.send(b"x" * 1_000_000)
        assert await well(bob)
    assert await anna.fence() == b""
    await anna.send(b"\r\n")
    assert await anna.until(b"> ") == (
        b"That line is longer than 1,024 characters, so it was ignored.\r\n> "
    )
    assert await well(anna)


async def test_pasted_commands_are_answered_in_order(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    lines = [f"line {number}" for number in range(1000)]
    await client.send("\r\n".join([*lines, ""]).encode())
    answer = (await client.fence()).decode().replace("> ", "")
    assert answer == "".join(f"echo {line}\r\n" for line in lines)


async def test_paste_does_not_delay_other_players(serving: Serving) -> None:
    setup = await serving(commands_per_turn=1)
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.send(b"x\n" * 5_000)
    await anna.until(b"echo x")
    await bob.send(b"look\n")
    await bob.until(b"echo look")
    assert setup.service.typed.count("x") < 5_000
    assert (await anna.fence()).count(b"echo x") == 4_999


async def test_short_queue_loses_no_lines(serving: Serving) -> None:
    setup = await serving(queue_length=1, commands_per_turn=1)
    client = await setup.connect("Anna")
    lines = [f"line {number}" for number in range(5000)]
    await client.send("\n".join([*lines, ""]).encode())
    await client.fence()
    assert setup.service.typed == lines


async def test_disconnect_with_queued_lines_is_noticed(serving: Serving) -> None:
    setup = await serving(commands_per_second=5, commands_at_once=5)
    bob, anna = await setup.connect("Bob"), await setup.connect("Anna")
    await anna.send(b"\n" * 10_000)  # enough for more than half an hour
    await anna.until(b"> ")
    await anna.close()
    await bob.until(b"Anna is lost.")


async def test_stalled_reader_is_cut_off_while_others_play_on(
    serving: Serving,
) -> None:
    setup = await serving(outbox_bytes=65_536)
    anna, bob, cara = [await setup.connect(name) for name in ("Anna", "Bob", "Cara")]
    await asyncio.gather(anna.fence(), cara.fence())
    bob.stop_reading()
    floods = 0
    while "Bob" in setup.service.widths:
        await anna.send(b"flood 10000\r\n")
        seen = await asyncio.gather(anna.fence(), cara.fence())
        assert all(b"x" * 10_000 in each for each in seen)
        floods += 1
        assert floods < 10_000, "the outbox does not fill"
    assert b"Bob is lost.\r\n> " in seen[0] + await anna.fence()
    assert await well(anna)
    assert await well(cara)


async def test_slow_reader_throttles_its_own_commands(serving: Serving) -> None:
    setup = await serving(outbox_bytes=65_536)
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    anna.stop_reading()
    await anna.send(b"big 20000\r\n" * 1000)  # 20 MB of answers
    handled = -1
    # The server stops reading once the socket buffers on both sides are full.
    while setup.service.typed.count("big 20000") > handled:
        handled = setup.service.typed.count("big 20000")
        assert await well(bob)
    assert handled < 1000
    assert "Anna" in setup.service.widths
    anna.read_on()
    assert (await anna.fence()).count(b"x" * 20_000) == 1000


async def test_option_requests_are_answered_up_to_the_budget(
    serving: Serving,
) -> None:
    setup = await serving(option_changes=50)
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.fence()
    await anna.speak()
    await anna.send(b"\xff\xfd\x22" * 2000)
    assert await well(bob)
    assert await anna.fence() == b"\xff\xfc\x22" * 50
    await anna.send(b"\xff\xfd\xc9\xff\xfb\x03register\r\n")
    assert (await anna.until(b"word: ")).endswith(b"\r\n\xff\xfb\x01New password: ")
    await anna.send(b"\xff\xfd\x01\r\n")  # answers to our own requests are still processed
    assert (await anna.until(b"> ")).endswith(b"guest.\r\n\xff\xfc\x01> ")


async def test_two_hundred_simultaneous_connections_are_greeted(serving: Serving) -> None:
    setup = await serving()
    clients = await asyncio.gather(*(setup.connect() for _ in range(200)))
    await asyncio.gather(*(client.until(b"name? ") for client in clients))
