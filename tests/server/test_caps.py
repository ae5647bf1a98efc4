"""Caps on what one player does: commands, talk, new names, and the time to log in."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.accounts.desks import CHEAP
from tests.conftest import PassTime
from tests.server.plain import Client, Serving
from thudmud.accounts.throttles import Newcomers, Talk
from thudmud.language import parse
from thudmud.server import session
from thudmud.server.acceptor import Server
from thudmud.server.config import Settings
from thudmud.server.serve import open_lobby

# Commands


async def test_a_paste_passes_at_once_and_the_rest_holds_nobody_else_up(serving: Serving) -> None:
    setup = await serving(commands_per_second=1, commands_at_once=130)
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.send("".join(f"line {number}\n" for number in range(200)).encode())
    await anna.until(b"echo line 120\r\n")
    await bob.send(b"look\n")
    await bob.until(b"echo look")
    assert "line 199" not in setup.service.lines


async def test_the_rest_of_a_paste_waits_without_loss(serving: Serving) -> None:
    setup = await serving(commands_per_second=20, commands_at_once=30)
    anna = await setup.connect("Anna")
    lines = [f"line {number}" for number in range(60)]
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await anna.send("".join(f"{line}\n" for line in lines).encode())
    await anna.until(b"echo line 59\r\n> ")
    assert loop.time() - begun > (60 - 30 - 1) / 20
    assert [line for line in setup.service.lines if line in lines] == lines


async def test_what_is_not_a_line_counts_as_well(serving: Serving) -> None:
    setup = await serving(commands_per_second=10, commands_at_once=5)
    anna = await setup.connect("Anna")
    await anna.fence()
    begun = asyncio.get_running_loop().time()
    await anna.send(b"\xff\xf6" * 10)
    assert (await anna.fence()).count(b"thudmud is here") == 10
    assert asyncio.get_running_loop().time() - begun > (10 - 5 - 1) / 10


async def test_more_than_may_wait_is_not_read(serving: Serving) -> None:
    setup = await serving(commands_per_second=1, commands_at_once=5, queue_length=3)
    anna = await setup.connect("Anna")
    bob = await setup.connect("Bob")
    transport = anna.writer.transport
    anna.writer.write(b"x\n" * 10_000_000)
    while setup.service.lines.count("x") < 6:
        await bob.send(b"look\n")
        await bob.until(b"echo look")
    # The rest is where it came from: no more than the sockets between them hold has been sent.
    assert transport.get_write_buffer_size() > 5_000_000


# The time to log in


async def test_who_gives_no_name_in_time_is_told_and_shown_out(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving(login_limit=60)
    bob = await setup.connect("Bob")
    _, slow, asked = clients = [await setup.connect() for _ in range(3)]
    for client in clients:
        await client.until(b"name? ")
    await slow.send(b"An")
    await asked.send(b"Bob\r\n")
    await asked.until(b"Resume word: ")
    await pass_time(60)
    for client in clients:
        assert (await client.rest()).endswith(
            b"\r\nThis connection ends: it has had no name for 60 seconds. Goodbye!\r\n"
        )
    await bob.send(b"look\r\n")
    await bob.until(b"echo look")


async def test_there_may_be_all_the_time_in_the_world() -> None:
    timed = session.Idleness(0, 0, 0, is_excused=lambda: False, warn=pytest.fail, end=pytest.fail)
    timed.start()
    assert timed._naming is None
    timed.named()
    timed.stop()


# Talk


@pytest.mark.parametrize("line", ["say hi", "emote waves", "tell bob hi", "'hi", "invite bob"])
def test_talk_has_a_bucket_of_its_own_for_each_player(line: str) -> None:
    talk, command = Talk(30, 3), parse(line)
    assert [talk.problem("Anna", command, 0.0) for _ in range(3)] == [None] * 3
    problem = "That was not passed on: you can say something again in 2 seconds."
    assert talk.problem("anna", command, 0.0) == problem
    assert talk.problem("Bob", command, 0.0) is None
    assert talk.problem("Anna", parse("look"), 0.0) is None
    assert talk.problem("Anna", command, 2.0) is None
    assert talk.problem("Anna", command, 2.0) == problem


async def test_who_talks_too_much_is_told_and_nobody_hears_it(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "server": {"port": 0, "shutdown_grace": 0.2},
            "players": {"chat_at_once": 3, "chat_per_minute": 1},
            "storage": {"backend": "memory"},
        }
    )
    server = Server(settings.server, settings.players, CHEAP)
    [(host, port)] = await server.bind()
    async with open_lobby(settings, tmp_path) as lobby:
        await server.start(lobby)
        anna, bob = [Client(*await asyncio.open_connection(host, port)) for _ in range(2)]
        for client, name in ((anna, "Anna"), (bob, "Bob")):
            await client.until(b"name? ")
            await client.login(name)
        await anna.send(b"say one\r\nemote waves\r\ntell bob two\r\nsay three\r\nwho\r\n")
        told = (await anna.fence()).decode()
        assert told.count("That was not passed on: you can say something again in") == 1
        await bob.send(b"say four\r\n")
        heard = (await bob.fence()).decode()
        assert "one" in heard
        assert "two" in heard
        assert "three" not in heard
        assert "four" in heard
        for client in (anna, bob):
            await client.close()
        await server.stop()


# New names


def test_names_are_counted_for_an_address() -> None:
    newcomers = Newcomers(3)
    assert [newcomers.problem("2001:db8::1", 0.0) for _ in range(3)] == [None] * 3
    problem = newcomers.problem("2001:db8::2", 0.0)
    assert problem
    assert "another one in 20 minutes" in problem
    assert newcomers.problem("192.0.2.1", 0.0) is None
    assert newcomers.problem("2001:db8::2", 1200.0) is None


async def test_who_takes_too_many_names_is_told_and_may_come_back_under_one(
    serving: Serving,
) -> None:
    setup = await serving(names_per_hour=2)
    anna, bob = await setup.connect(), await setup.connect("Bob")
    await anna.until(b"name? ")
    word = (await anna.login("Anna")).partition(b"come back as Anna: ")[2].split()[0]
    other = await setup.connect()
    await other.until(b"name? ")
    await other.send(b"Cara\r\n")
    assert b"Many new names have been taken" in await other.until(b"name? ")
    await other.send(b"Anna\r\n")
    await other.until(b"Resume word: ")
    await other.send(word + b"\r\n")
    await other.until(b"> ")
    await bob.send(b"look\r\n")
    await bob.until(b"echo look")
