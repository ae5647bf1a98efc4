"""Several server processes on one PostgreSQL database: failover, sharing and restarts."""

from __future__ import annotations

import asyncio
import re
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.accounts.dialogues import CHEAP
from tests.server.nodes import LONG, WORD, Nodes, line_of, port_of
from tests.server.plain import PATIENCE, Client
from tests.server.relays import Handler, relaying
from thudmud.cli.common import TRY_LATER
from thudmud.features.notifications import storage
from thudmud.store import Store, accounts

pytestmark = pytest.mark.slow

BOTS = '[{name = "Chip", level = "Chalk", pause = 0}]'
SUPPORTS = b'\xff\xfd\xc9\xff\xfa\xc9Core.Supports.Set ["Thud 1"]\xff\xf0'
Start = Callable[..., Awaitable[Process]]
clients: list[Client] = []
"""Those of the test that runs; they are closed at its end."""


@pytest.fixture
async def start(tmp_path: Path, dsn: str) -> AsyncIterator[Start]:
    """Start servers, which are ended after the test."""
    nodes = Nodes(tmp_path, dsn)
    clients.clear()

    async def one(*, standby: bool = False, bots: str = "[]", quiet: int = 200) -> Process:
        storage = f"standby = {str(standby).lower()}"
        return await nodes.start(bot=bots, storage=storage, game=f"quiet_plies = {quiet}")

    yield one
    for client in clients:
        client.writer.close()
    await nodes.close()


async def come(port: int, *lines: str, supports: bool = False) -> tuple[Client, bytes]:
    """Connect and type some lines; return the client and the output.

    With ``supports``, the client requests GMCP, which delivers resume words.
    """
    client = Client(*await asyncio.open_connection("127.0.0.1", port))
    clients.append(client)
    told = b""
    if supports:
        await client.send(SUPPORTS)
    for line in lines:
        told += await says(client, line)
    return client, told


async def says(client: Client, line: str) -> bytes:
    await client.send(line.encode() + b"\r\n")
    return await client.fence()


async def until_says(client: Client, line: str, wanted: bytes) -> None:
    """Repeat a line until its answer contains the given string."""
    async with asyncio.timeout(LONG):
        while wanted not in await says(client, line):  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # about as fast as a person types


def word_in(told: bytes) -> str:
    found = WORD.search(told)
    assert found, told
    return found[1].decode()


async def test_standby_takes_over_from_a_killed_server(start: Start) -> None:
    first = await start(standby=True)
    port = await port_of(first)
    anna, told = await come(port, "Anna", "join game as dwarf on oak board")
    word = word_in(told)
    _, told = await come(port, "Bert", "join game as troll on oak board", "start")
    words = [word, word_in(told)]
    await anna.until(b"begin a match")
    assert b"You move" in await says(anna, "move a6 to b6")
    second = await start(standby=True)
    assert "stands by" in await line_of(second)
    first.kill()
    port = await port_of(second)
    anna, told = await come(port, "Anna", words[0])
    assert b"It is Bert's turn" in told
    bert, told = await come(port, "Bert", words[1])
    assert b"Move 1: Anna moves the dwarf from A6 to B6" in await says(bert, "last")
    assert b"You move" in await says(bert, "move g7 to f7")
    await anna.until(b"Bert moves the troll from G7 to F7")


async def refused(server: Process) -> str:
    """Wait until a server has refused to start; return its error message."""
    async with asyncio.timeout(LONG):
        out, said = await server.communicate()
    assert not out
    assert server.returncode == TRY_LATER
    return " ".join(said.decode().split())


async def test_two_servers_share_play_and_run_bots_on_one(start: Start) -> None:
    first = await start(bots=BOTS)
    ports = [await port_of(first), await port_of(await start(bots=BOTS))]
    anna, _ = await come(ports[0], "Anna", "join game as dwarf on oak board")
    bert, _ = await come(ports[1], "Bert", "join game as troll on oak board", "start")
    await anna.until(b"begin a match")
    assert b"You move" in await says(anna, "move a6 to b6")
    await bert.until(b"Anna moves the dwarf from A6 to B6")
    await says(bert, "move g7 to f7")
    await anna.until(b"Bert moves the troll from G7 to F7")
    await says(anna, "say Well met.")
    await bert.until(b"Well met.")
    assert b"You tell Bert" in await says(anna, "tell bert ".ljust(1_000, "\N{GRINNING FACE}"))
    await bert.until(b"Anna tells you")
    await until_says(bert, "who", b"Chip (a bot)")  # known from the first server
    cora, told = await come(ports[1], "Cora", "match chip")
    assert b"You walk to the ash board" in told
    await says(cora, "move a6 to b6")
    await cora.until(b"your turn")  # the line may wrap before it
    first.kill()  # Chip runs on this one
    await bert.until(b"Anna has lost the connection")
    await says(cora, "move a7 to b7")
    await cora.until(b"your turn")  # the line may wrap before it


async def test_seek_and_ban_apply_on_all_servers(start: Start, dsn: str) -> None:
    servers = [await start(), await start()]
    ports = [await port_of(each) for each in servers]
    anna, _ = await come(ports[0], "Anna", "register", *["correct horse"] * 2)
    store = await Store.connect(dsn)
    await store.write(accounts.set_operator, "Anna", is_one=True)
    await store.close()
    await anna.until(b"You are an operator now")
    bert, _ = await come(ports[1], "Bert", "seek classic as dwarf")
    await anna.until(b'"accept 1" starts it')
    assert b"Your match" in b" ".join((await says(anna, "accept 1")).split())
    await bert.until(b"begin a match")
    await says(anna, "ban bert because of rudeness")
    await bert.until(b"rudeness")
    assert not await bert.reader.read()
    for port in ports:
        client, _ = await come(port)
        await client.send(b"Bert\r\n")
        await client.until(b"rudeness")


async def test_logout_everywhere_applies_on_all_servers(start: Start, dsn: str) -> None:
    ports = [await port_of(await start()), await port_of(await start())]
    registering = "Anna", "register", *["correct horse"] * 2
    first, told = await come(ports[0], *registering, supports=True)
    words = [members_word(told)]
    second, told = await come(ports[1], "Anna", words[0], supports=True)  # valid there, too
    assert b"The name Anna is registered" in told
    await first.until(b"You have connected from somewhere else")
    words.append(members_word(told))
    told = await says(second, "logout everywhere")
    latest = members_word(told)
    for word in words:
        _, told = await come(ports[0], "Anna", word)
        assert b"That isn't the password of Anna" in told
    third, told = await come(ports[0], "Anna", latest, supports=True)
    await second.until(b"You have connected from somewhere else")
    words = [latest, members_word(told)]
    store = await Store.connect(dsn)  # like `thudmud user reset` on any machine
    await store.write(accounts.set_password, "Anna", CHEAP.hash("battery staple"))
    await store.close()
    await third.until(b"You've been logged out")
    assert b"Thud.Goodbye" in await third.rest()
    for port in ports:
        for word in words:
            _, told = await come(port, "Anna", word)
            assert b"That isn't the password of Anna" in told
    _, told = await come(ports[1], "Anna", "battery staple")
    assert b"You come into the hall" in told


def members_word(told: bytes) -> str:
    """Return the last resume word that a member's client was sent."""
    *_, last = MEMBERS_WORD.findall(told)
    return str(last, "ascii")


MEMBERS_WORD = re.compile(rb'Thud\.Word {"player": ?"Anna", ?"word": ?"([a-z-]+)"}')


async def test_server_with_different_settings_is_refused(start: Start) -> None:
    first = await start(bots=BOTS)
    await port_of(first)
    said = await refused(await start(bots=BOTS, quiet=100))
    assert "game.quiet_plies is 200 there, but 100 here." in said
    second = await start(quiet=100)
    first.terminate()
    await port_of(second)  # the last server with the old settings has gone
    said = await refused(await start(bots=BOTS))
    assert "game.quiet_plies is 100 there, but 200 here" in said
    assert "the bot Chip is missing there, but Chalk, pause 0.0 here" in said


async def test_rolling_restart_keeps_all_seats(start: Start) -> None:
    servers = [await start(), await start()]
    ports = [await port_of(each) for each in servers]
    anna, told = await come(ports[0], "Anna", "join game as dwarf on oak board")
    words = [word_in(told)]
    bert, told = await come(ports[1], "Bert", "join game as troll on oak board", "start")
    words.append(word_in(told))
    await anna.until(b"begin a match")
    await says(anna, "move a6 to b6")
    servers[0].terminate()
    anna, told = await come(ports[1], "Anna", words[0])
    assert b"It is Bert's turn" in told
    await says(bert, "move g7 to f7")
    await anna.until(b"Bert moves the troll from G7 to F7")
    assert await servers[0].wait() == 0
    ports[0] = await port_of(await start())
    servers[1].terminate()
    anna, told = await come(ports[0], "Anna", words[0])
    bert, told = await come(ports[0], "Bert", words[1])
    assert b"It is Anna's turn" in told
    await says(anna, "move a7 to b7")
    await bert.until(b"Anna moves the dwarf from A7 to B7")


async def test_standalone_server_refuses_a_second(start: Start, tmp_path: Path) -> None:
    await port_of(await start(standby=True))
    assert "storage.standby = true" in await refused(await start())
    *_, last = (tmp_path / "log-2").read_text("ascii").splitlines()
    assert 'event="cannot serve"' in last
    assert "storage.standby = true" in last


async def test_standby_server_can_be_stopped(start: Start) -> None:
    await port_of(await start())
    second = await start(standby=True)
    assert "stands by" in await line_of(second)
    second.terminate()
    async with asyncio.timeout(PATIENCE):
        assert await second.wait() == 0


async def test_mail_of_a_killed_server_is_sent_by_another(tmp_path: Path, dsn: str) -> None:
    relay, nodes = Handler(), Nodes(tmp_path, dsn)
    relay.late = asyncio.Event()
    async with relaying(relay) as port:
        mail = f'[mail]\nrelay = "127.0.0.1"\nport = {port}\ntls = "none"\n'
        web = f'public_url = "https://thud.example.org"\n{mail}sender = "thud@example.org"'
        first = await nodes.start(web=web)
        await port_of(first)
        second = await nodes.start(web=web)
        await port_of(second)
        store = await Store.connect(dsn)
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(storage.ask_code, "Anna", "anna@example.org")
        async with asyncio.timeout(LONG):
            await relay.has_taken.wait()  # accepted, but the server doesn't know yet
        relay.has_taken.clear()
        first.kill()
        relay.late.set()
        relay.late = None
        async with asyncio.timeout(LONG):
            while await store.read(storage.due, mails=True):  # noqa: ASYNC110  (no event to wait for)
                await asyncio.sleep(0.1)
        sent, again = relay.mails
        assert sent["Message-ID"] == again["Message-ID"]
        assert sent.get_content() == again.get_content()
        await store.close()
        await nodes.close()
