"""Players belong to a client and are shared by all its boards."""

from __future__ import annotations

import re

import pytest

from tests.gateway.client import Client, opened, stored
from tests.gateway.conftest import Connect

OAK, ELM = "/d/am/tavern#oak", "/d/quirm/inn#elm"


async def typed(client: Client, player: str, line: str, board: str = OAK) -> str:
    """Type a line as ``player`` and return the text received."""
    before = len(client.heard)
    assert (await client.answer("line", board=board, player=player, line=line))["ok"]
    told = [each for each in client.heard[before:] if each["type"] == "tell"]
    return " ".join(" ".join(each["text"].split()) for each in told if player in each["to"])


async def play(client: Client, board: str) -> None:
    """Play a battle to its end and leave."""
    await client.seat(board)
    for player, line in (
        ("Anna", "move from f1 to f6"),
        ("Bert", "resign"),
        ("Anna", "leave game"),
        ("Bert", "leave game"),
    ):
        await typed(client, player, line, board)


def battles(told: str) -> list[int]:
    """Return the numbers of the listed battles."""
    return [int(number) for number in re.findall(r"(\d+)\. \d{4}-\d\d-\d\d", told)]


async def test_boards_of_a_client_share_players_and_battles(connect: Connect) -> None:
    client = connect()
    await client.greet()
    for board in (OAK, ELM):
        await play(client, board)
    for board in (OAK, ELM):
        told = await typed(client, "Anna", "history", board)
        assert battles(told) == [2, 1]
        assert "dF1-F6" in await typed(client, "Bert", "record 1", board)
        assert "dF1-F6" in await typed(client, "Bert", "record 2", board)


async def test_battle_of_another_client_is_invisible(connect: Connect) -> None:
    one, two = connect(), connect()
    await one.greet("one")
    await two.greet("two")
    await play(one, OAK)
    await play(two, ELM)
    await play(one, OAK)
    # Numbers are unique in a store file, so those of one client have gaps.
    assert "There is no battle 2." in await typed(one, "Anna", "record 2")
    assert "There is no battle 1." in await typed(two, "Anna", "replay 1", ELM)
    assert "dF1-F6" in await typed(one, "Anna", "record 3")
    assert "dF1-F6" in await typed(two, "Anna", "record 2", ELM)
    assert battles(await typed(one, "Anna", "history")) == [3, 1]
    assert battles(await typed(two, "Anna", "history", ELM)) == [2]


async def test_adjourned_match_resumes_only_at_a_board_of_the_client(connect: Connect) -> None:
    one, two = connect(), connect()
    await one.greet("one")
    await two.greet("two")
    await one.seat(OAK)
    await typed(one, "Anna", "move from f1 to f6")
    for player in ("Anna", "Bert"):
        await typed(one, player, "adjourn")
    boards = {ELM: one, "ash": two}
    for board, client in boards.items():
        await client.answer("open", board=board, name="elm board", style="brief")
        for player in ("Anna", "Bert"):
            await client.answer("enter", board=board, player=player)
    assert "no adjourned match" in await typed(two, "Anna", "resume", "ash")
    assert "You ask Bert to resume battle 1" in await typed(one, "Anna", "resume", ELM)
    assert "It is your turn" in await typed(one, "Bert", "yes", ELM)
    assert "no adjourned match" in await typed(one, "Anna", "resume")
    assert "You move" in await typed(one, "Bert", "move from g7 to f7", ELM)


async def test_name_with_an_adjourned_match_is_case_sensitive(connect: Connect) -> None:
    client = connect()
    await client.greet()
    await client.seat(OAK)
    for player in ("Anna", "Bert"):
        await typed(client, player, "adjourn")
    await client.answer("open", board=ELM, name="elm board")
    assert (await client.answer("enter", board=ELM, player="ANNA"))["code"] == "bad_name"


@pytest.mark.parametrize("client", ["one/two", "/", "one two", "", "one/"])
async def test_client_name_with_a_separator_is_refused(connect: Connect, client: str) -> None:
    assert (await connect().greet(client))["type"] == "error"


async def test_board_names_of_any_form_never_change_their_owner() -> None:
    store = stored()
    names = ["two/oak", "one/oak", "/oak", "oak/", "//", "hall", "(match)", "(match)/oak", "%2F"]
    gateway = await opened(store)
    for _ in range(2):  # the second time from the store
        one, two = Client(gateway), Client(gateway)
        await one.greet("one")
        await two.greet("two")
        for name in names:
            assert (await one.answer("open", board=name))["ok"], name
            assert (await two.answer("open", board=name))["code"] == "not_yours", name
        await gateway.close()
        gateway = await opened(store)
    await gateway.close()
