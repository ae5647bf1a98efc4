"""Clients that send too much, too slowly, or do not read, against a server process.

During and after each attack a game between two others continues; the server holds no more memory
afterwards than after the first such attack, and its log contains no errors. The caps are the
defaults, except those per address, since all clients connect from one address here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fuzz.stage import Stage, open_stage
from tests.fuzz.targets import WILLING
from tests.server.plain import PATIENCE, Client
from tests.telnet.test_intake import flood
from thudmud.server.config import PlayerSettings

pytestmark = pytest.mark.slow

PLAYERS = PlayerSettings()
MEGABYTE = 1_000_000
ROUNDS = 3
"""Repetitions of each attack after the first, which also fills caches."""

MOST_KEPT = 5 * MEGABYTE
"""Allowed growth in bytes over all rounds, which is less than the attacks send."""

IAC, SB, SE = b"\xff", b"\xfa", b"\xf0"
GMCP = IAC + SB + b"\xc9"
OPTIONS = b"".join(bytes([255, verb, option]) for option in range(256) for verb in range(251, 255))
PACKAGES = b"".join(
    GMCP + each + IAC + SE
    for each in [
        b"",
        b"Core.Ping",
        b"[" * 4000,
        b"A " + b"[" * 500 + b"]" * 500,
        b"A " + b"9" * 1000,
        b"Core.Supports.Add " + b'["' + b"x" * 1000 + b'"]',
        b'Core.Supports.Add ["Thud 1"]',
        b'Char.Login {"name": "Anna", "password": "haddock"}',
        bytes(range(240)) * 4,
    ]
)

Attack = Callable[[Stage], Awaitable[object]]


async def swallowed(stage: Stage, client: Client, flood: bytes) -> None:
    """Flood the server with input it has to accept at once; it serves the client afterwards."""
    sending = asyncio.create_task(client.send(flood))
    while not sending.done():
        await stage.play()
    await sending
    await client.fence()


async def held_back(stage: Stage, client: Client, flood: bytes) -> None:
    """Flood the server with input it holds back, while others play, then disconnect."""
    client.writer.write(flood)
    for _ in range(5):
        await stage.play()
    waiting = client.writer.transport.get_write_buffer_size()
    assert waiting, "all of that was read, whatever the caps say"


def ended_for_telnet(stage: Stage) -> int:
    return sum('event="too many telnet commands"' in line for line in stage.log)


async def ended(stage: Stage, data: bytes, *clients: Client) -> None:
    """Have clients send data that ends their connections, while others play."""
    before = ended_for_telnet(stage)
    flooding = asyncio.gather(*(flood(client, data) for client in clients))
    while not flooding.done():
        await stage.play()
    await flooding  # the flooder may be cut off before reading the reason
    assert ended_for_telnet(stage) == before + len(clients)
    for client in clients:
        await client.close()


async def every_option(stage: Stage) -> None:
    for connect in (stage.connect, stage.stranger):
        await ended(stage, OPTIONS, await connect())


async def no_end_of_a_subnegotiation(stage: Stage) -> None:
    client = await stage.stranger()
    await client.send(WILLING + GMCP)
    await ended(stage, b"x" * 100_000, client)


async def no_end_of_nothing(stage: Stage) -> None:
    await ended(stage, b"\xff\xf1" * 50_000, *[await stage.connect() for _ in range(25)])


async def no_end_of_a_line(stage: Stage) -> None:
    client = await stage.stranger()
    await swallowed(stage, client, b"x" * 20 * MEGABYTE)
    await client.send(b"\r\n")
    assert b"longer than 1,024 characters, so it was ignored" in await client.fence()
    await client.close()


async def no_end_of_a_name(stage: Stage) -> None:
    client = await stage.connect()
    await swallowed(stage, client, b"x" * 20 * MEGABYTE + b"\r\n")
    await client.login(next(stage.names))
    await client.close()


async def are_you_there(stage: Stage) -> None:
    client = await stage.stranger()
    await held_back(stage, client, b"\xff\xf6" * 2 * MEGABYTE)
    await client.close()


async def empty_lines(stage: Stage) -> None:
    client = await stage.stranger()
    await held_back(stage, client, b"\n" * 8 * MEGABYTE)
    await client.close()


async def empty_names(stage: Stage) -> None:
    client = await stage.connect()
    await held_back(stage, client, b"\r\n" * 4 * MEGABYTE)
    await client.close()


async def packages(stage: Stage) -> None:
    for connect in (stage.connect, stage.stranger):
        client = await connect()
        await client.send(WILLING)
        await ended(stage, PACKAGES, client)


async def talk(stage: Stage) -> None:
    client = await stage.stranger()
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await held_back(stage, client, (b"say " + b"x" * 1000 + b"\r\n") * 10_000)
    told = client.unread + await client.until(b"Not so fast")
    minutes = (loop.time() - begun) / 60
    assert told.count(b"You say") <= PLAYERS.chat_at_once + PLAYERS.chat_per_minute * minutes + 1
    await client.close()


async def questions_by_who_does_not_read(stage: Stage) -> None:
    client = await stage.stranger()
    client.stop_reading()
    await held_back(stage, client, b"help\r\nview possible on oak board\r\n" * 200_000)
    await client.close()


async def requests_by_who_does_not_read(stage: Stage) -> None:
    client = await stage.connect()
    client.stop_reading()
    await client.send(OPTIONS + b"\xff\xfd\x06" * 1000)
    await held_back(stage, client, b"MSSP-REQUEST\r\n" * 500_000)
    await client.close()


async def a_byte_at_a_time(stage: Stage) -> None:
    slow = [await stage.connect() for _ in range(20)]
    text = b"\xff\xfb\x1f\xff\xfa\x1f\0\x28\0\x18\xff\xf0Mallory\xff\xfd\x06\r"
    for number in range(len(text)):
        for client in slow:
            await client.send(text[number : number + 1])
        await stage.play()
    for client in slow:
        await client.until(b"\xff\xfb\x06")
        await client.close()


async def coming_and_going(stage: Stage) -> None:
    """Clients that leave at once, leave in the middle of something, or are not welcome."""
    last_words = [
        b"", b"x", b"\xff", GMCP, b"Mallory\r\n", b"Anna\r\nno-such-word\r\n", b"quit\r\n",
        b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0\x01", b"MSSP-REQUEST\r\n",
    ]  # fmt: skip
    for _ in range(5):
        clients = await asyncio.gather(*(stage.connect() for _ in range(100)))
        for number, client in enumerate(clients):
            with suppress(OSError):
                await client.send(last_words[number % len(last_words)])
        await stage.play()
        for client in clients:
            client.cut()
        await asyncio.gather(*(client.close() for client in clients))


SWALLOWED: list[Attack] = [no_end_of_a_line, no_end_of_a_name]
HELD_BACK: list[Attack] = [
    are_you_there, empty_lines, empty_names, talk, questions_by_who_does_not_read,
    requests_by_who_does_not_read,
]  # fmt: skip
ENDED: list[Attack] = [every_option, no_end_of_a_subnegotiation, no_end_of_nothing, packages]
CROWDS: list[Attack] = [a_byte_at_a_time, coming_and_going]


@pytest.mark.parametrize("attack", SWALLOWED + HELD_BACK + ENDED + CROWDS)
async def test_attack_neither_disturbs_players_nor_leaks_memory(
    tmp_path: Path, attack: Attack
) -> None:
    async with open_stage(tmp_path) as stage:
        await attack(stage)
        await stage.all_others_gone()
        before = stage.memory
        for _ in range(ROUNDS):
            await attack(stage)
            await stage.play()
        await stage.all_others_gone()
        assert stage.memory - before < MOST_KEPT
        print(f"{attack.__name__}: {stage.memory - before:,} bytes more than {before:,},")
        print(f"and at most {stage.slowest:.3f} s for a ply to be played and seen")
        assert [line for line in stage.log if "level=info" not in line] == []


async def test_connection_storm_is_refused_with_one_line_each(tmp_path: Path) -> None:
    limits = {"accepts_at_once": 100, "connections_per_address": 32}
    async with open_stage(tmp_path, server=limits) as stage:
        clients = await asyncio.gather(*(stage.connect() for _ in range(300)))
        await stage.play()
        told = [await asyncio.wait_for(client.reader.readline(), PATIENCE) for client in clients]
        # A long storm lets more connections in, but never more than the limit per address.
        refused = [line for line in told if line.startswith((b"Too many", b"There are too many"))]
        assert len(refused) >= 300 - 32
        for client, line in zip(clients, told, strict=True):
            if line in refused:
                assert await client.rest() == b""
            await client.close()
        await stage.all_others_gone()
        async with asyncio.timeout(PATIENCE):
            while b"Too many" in await (last := await stage.connect()).reader.readline():
                await last.close()
        await last.login("Mallory")
        await last.close()
        await stage.play()
