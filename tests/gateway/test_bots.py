"""Bots at the boards of a gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.client import SECRET, Client, Heard, opened, stored
from tests.server.bots import program
from thudmud.bots.workers import Workers
from thudmud.gateway.bots import GatewayBots
from thudmud.gateway.session import GatewayPolicy
from thudmud.server.config import BotSettings

ANSWERS_LATE = program("import sys, time; time.sleep(600)")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """Return a client of a gateway with a quick bot, and with one whose program never answers."""
    profiles = [
        BotSettings(name="Grog", level="Chalk", pause=0, hello="Ugh."),
        BotSettings(name="Moss", command=tuple(ANSWERS_LATE)),
    ]
    workers = Workers(1)
    gateway = await opened(bots=GatewayBots(profiles, workers, tmp_path, 300.0))
    client = Client(gateway)
    await client.greet()
    yield client
    client.running.cancel()
    await gateway.close()
    await workers.close()


async def hear_until(client: Client, words: str) -> Heard:
    """Return the first message from now on that has the words in its text."""
    while words not in (heard := await client.hear()).get("text", ""):
        pass
    return heard


async def test_bot_is_invited_and_plays(client: Client) -> None:
    opening = await client.answer("open", board="oak", name="oak board", style="brief")
    assert opening["players"] == []
    await client.answer("enter", board="oak", player="Anna")
    for line in ("join game as dwarf", "invite grog", "start"):
        assert (await client.answer("line", board="oak", player="Anna", line=line))["done"]
    told = await hear_until(client, "Grog says: Ugh.")
    assert (told["id"], told["to"]) == (None, ["Anna"])
    await client.answer("line", board="oak", player="Anna", line="move f15 f8")
    assert (await hear_until(client, "Grog moves"))["to"] == ["Anna"]
    assert all("Grog" not in heard.get("to", ()) for heard in client.heard)


async def test_bot_keeps_its_seat_while_the_board_is_closed(client: Client) -> None:
    await client.answer("open", board="oak", name="oak board", style="brief")
    await client.answer("enter", board="oak", player="Anna")
    for line in ("join game as troll", "invite grog", "start"):
        await client.answer("line", board="oak", player="Anna", line=line)
    await client.answer("close", board="oak")
    await client.answer("open", board="oak", name="oak board")
    await client.answer("enter", board="oak", player="Anna")
    shown = await client.answer("show", board="oak")
    assert [seat["player"] for seat in shown["table"]["seats"]] == ["Grog", "Anna"]


async def test_name_of_a_bot_is_taken(client: Client) -> None:
    await client.answer("open", board="oak")
    answer = await client.answer("enter", board="oak", player="grog")
    assert (answer["code"], answer["text"]) == ("bad_name", "Grog is a bot. Choose another name.")


async def test_board_without_bots_has_none(client: Client) -> None:
    await client.answer("open", board="oak", without="bots")
    await client.answer("enter", board="oak", player="Grog")
    answer = await client.answer("line", board="oak", player="Grog", line="bots")
    assert not answer["understood"]


async def test_slow_program_delays_only_the_inviter(client: Client) -> None:
    await client.answer("open", board="oak", name="oak board", style="brief")
    for player in ("Anna", "Bert"):
        await client.answer("enter", board="oak", player=player)
    await client.answer("line", board="oak", player="Anna", line="join game as dwarf")
    await client.answer("line", board="oak", player="Anna", line="invite moss")
    client.say(type="line", id=100, board="oak", player="Anna", line="clock")
    answer = await client.answer_as(101, "line", board="oak", player="Bert", line="say hello")
    assert answer["done"]
    assert not any(heard["type"] == "answer" and heard["id"] == 100 for heard in client.heard)


async def test_hints_come_from_the_workers(client: Client) -> None:
    await client.answer("open", board="oak", name="oak board", style="brief")
    await client.answer("enter", board="oak", player="Anna")
    for line in ("practice", "hint"):
        await client.answer("line", board="oak", player="Anna", line=line)
    assert await hear_until(client, 'Try "')


async def test_players_may_be_as_many_as_without_bots() -> None:
    workers = Workers(1)
    bots = GatewayBots([BotSettings(name="Grog")], workers, Path(), 300.0)
    policy = GatewayPolicy(secret=SECRET, players=1)
    gateway = await opened(stored(), policy, bots=bots)
    client = Client(gateway)
    await client.greet()
    await client.answer("open", board="oak")
    assert (await client.answer("enter", board="oak", player="Anna"))["ok"]
    assert (await client.answer("enter", board="oak", player="Bert"))["code"] == "too_many"
    client.running.cancel()
    await gateway.close()
    await workers.close()
