"""Gateway events are stored before they are sent, and survive a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.client import NOW, SECRET, Client, opened, stored
from thudmud.game.events import Parting
from thudmud.game.hall import Hall
from thudmud.gateway.session import GatewayPolicy
from thudmud.service import Visit
from thudmud.service.presence import Presence
from thudmud.store import Entry, NotWrittenError, Store, Stored, StoreError


class Moody(Store):
    """A store whose reads and writes can be made to fail."""

    writes = reads = True

    async def append(self, *changes: Any, **more: Any) -> Mapping[str, Stored]:
        if not self.writes:
            raise NotWrittenError("The disk is full.")
        return await super().append(*changes, **more)

    async def read_stream(
        self, stream: str, first: int = 1, most: int | None = None
    ) -> Sequence[Entry]:
        if not self.reads:
            raise StoreError("The disk is gone.")
        return await super().read_stream(stream, first, most)


def moody() -> Moody:
    store = Moody.in_memory(clock=lambda: NOW)
    assert isinstance(store, Moody)
    return store


async def test_boards_and_seats_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    store = await Store.open(path, clock=lambda: NOW)
    gateway = await opened(store)
    client = Client(gateway)
    await client.greet()
    await client.seat("/d/am/tavern/board#12")
    line = {"board": "/d/am/tavern/board#12", "player": "Anna", "line": "move from f1 to f6"}
    assert (await client.answer("line", **line))["version"] == 4
    board = (await client.answer("show", board="/d/am/tavern/board#12"))["position"]["rows"]
    await gateway.close()
    await store.close()

    store = await Store.open(path, clock=lambda: NOW)
    gateway = await opened(store, word="new")
    again = Client(gateway)
    welcome = await again.greet(session="token-1", seen=3)
    assert (welcome["resumed"], welcome["received"]) == (False, 0)
    # A client that missed the answer cannot have the request executed a second time.
    assert (await again.answer("line", at_version=3, **line))["code"] == "unknown_board"
    opening = {"board": "/d/am/tavern/board#12", "name": "oak board"}
    assert (await again.answer("open", **opening))["version"] == 6  # both players left
    await again.answer("enter", board="/d/am/tavern/board#12", player="Anna")
    assert (await again.answer("line", at_version=3, **line))["code"] == "changed"
    shown = await again.answer("show", board="/d/am/tavern/board#12")
    assert shown["position"]["rows"] == board
    assert [seat["away_since"] is None for seat in shown["table"]["seats"]] == [True, False]
    # The board still belongs to the client.
    other = Client(gateway)
    await other.greet("another-mud")
    assert (await other.answer("open", **opening))["code"] == "not_yours"
    assert (await again.answer("open", **opening | {"name": "elm board"}))["code"] == "differs"
    await gateway.close()
    await store.close()


async def test_crash_leaves_all_players_away(tmp_path: Path) -> None:
    """The gateway is not closed, as if its process had been killed."""
    store = stored()
    client = Client(await opened(store))
    await client.greet()
    await client.seat()
    again = Client(await opened(store))
    await again.greet()
    assert (await again.answer("open", board="oak", name="oak board"))["version"] == 5
    table = (await again.answer("show", board="oak"))["table"]
    assert all(seat["away_since"] for seat in table["seats"])
    for each in (client, again):
        each.reader.feed_eof()
        await each.end()


async def test_keyed_request_is_not_repeated_after_a_crash() -> None:
    store = stored()
    client = Client(await opened(store))
    await client.greet()
    await client.seat()
    undo = {"board": "oak", "player": "Anna", "line": "undo", "key": "mud-8"}
    move = {"board": "oak", "player": "Anna", "line": "move from f1 to f6", "key": "mud-7"}
    talk = {"board": "oak", "player": "Anna", "line": "say hello", "key": "mud-9"}
    answer = await client.answer("line", **move)
    assert (answer["version"], answer["understood"], "done_before" in answer) == (4, True, False)
    assert (await client.answer("line", **move))["done_before"] == 4

    again = Client(await opened(store))
    await again.greet()
    opening = await again.answer("open", board="oak", name="oak board")
    assert (await again.answer("line", **move))["code"] == "unknown_player"
    for player in ("Anna", "Bert"):
        entered = await again.answer("enter", board="oak", player=player)
    before = len(again.heard)
    repeat = {**await again.answer("line", **move), "seq": 0, "id": 0}
    assert repeat == {
        "type": "answer", "seq": 0, "id": 0, "ok": True, "board": "oak",
        "version": entered["version"], "understood": True, "here": True, "done": True,
        "done_before": 4,
    }  # fmt: skip
    assert entered["version"] > opening["version"] > 4
    assert len(again.heard) == before + 1  # players received nothing
    # A refused request may be repeated, and now succeeds. Lines that store nothing are repeated.
    wrong = {**move, "player": "Bert", "key": "mud-10", "line": "move from g7 to g8"}
    assert "done_before" not in await again.answer("line", **wrong)
    right = {**wrong, "line": "move from g7 to g6"}
    assert "done_before" not in await again.answer("line", **right)
    assert "done_before" in await again.answer("line", **right)
    for _ in range(2):
        assert "done_before" not in await again.answer("line", **talk)
    assert "done_before" not in await again.answer("line", **undo)  # an offer, stored
    assert "done_before" in await again.answer("line", **undo)
    for each in (client, again):
        each.reader.feed_eof()
        await each.end()


async def test_old_battle_can_be_replayed() -> None:
    store = stored()
    gateway = await opened(store)
    client = Client(gateway)
    await client.greet()
    await client.seat()
    for player, line in (
        ("Anna", "move from f1 to f6"),
        ("Bert", "resign"),
        ("Anna", "leave game"),
        ("Bert", "leave game"),
    ):
        assert (await client.answer("line", board="oak", player=player, line=line))["understood"]
    await gateway.close()
    gateway = await opened(store)
    client = Client(gateway)
    await client.greet()
    await client.answer("open", board="oak", name="oak board")
    await client.answer("enter", board="oak", player="Carla")
    await client.answer("line", board="oak", player="Carla", line="record 1")
    assert "dF1-F6" in client.heard[-2]["text"]
    await client.answer("line", board="oak", player="Carla", line="history all")
    assert "Anna (dwarfs)" in client.heard[-2]["text"]
    await gateway.close()


async def test_event_that_cannot_be_stored_has_no_effect() -> None:
    store = moody()
    gateway = await opened(store)
    client = Client(gateway)
    await client.greet()
    await client.seat()
    before = len(client.heard)
    line = {"board": "oak", "player": "Anna", "line": "move from f1 to f6"}
    store.writes = False
    assert (await client.answer("line", **line))["code"] == "not_stored"
    assert (await client.answer("leave", board="oak", player="Bert"))["code"] == "not_stored"
    assert len(client.heard) == before + 2  # players received nothing
    assert (await client.answer("show", board="oak"))["version"] == 3
    store.writes = True
    assert (await client.answer("line", **line))["version"] == 4
    await gateway.close()


@pytest.mark.parametrize(
    ("kind", "more"),
    [("leave", {}), ("leave", {"parting": "quit"}), ("line", {"line": "quit"})],
)
async def test_player_stays_while_the_departure_cannot_be_stored(
    kind: str, more: dict[str, str]
) -> None:
    store = moody()
    gateway = await opened(store)
    client = Client(gateway)
    await client.greet()
    await client.seat(data=True)
    before = len(client.heard)
    store.writes = False
    answer = await client.answer(kind, board="oak", player="Bert", **more)
    assert answer["code"] == "not_stored"
    assert len(client.heard) == before + 1
    await client.answer("line", board="oak", player="Anna", line="say Are you there?")
    heard = [each["type"] for each in client.heard[before + 1 :] if "Bert" in each.get("to", [])]
    assert heard == ["tell", "data"]
    store.writes = True
    gone = await client.answer(kind, board="oak", player="Bert", **more)
    assert (gone["ok"], gone["version"]) == (True, 4)
    await gateway.close()


async def test_board_is_closed_when_a_stored_event_cannot_be_applied(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = await opened()
    client = Client(gateway)
    await client.greet()
    await client.seat()
    line = {"board": "oak", "player": "Anna", "line": "move from f1 to f6"}
    with monkeypatch.context() as patched:
        patched.setattr(Hall, "commit", lambda *_: 1 / 0)
        assert (await client.answer("line", **line))["code"] == "internal"
    assert "ZeroDivisionError" in caplog.text
    assert (await client.answer("line", **line))["code"] == "unknown_board"
    # The move is stored, and both players are away.
    assert (await client.answer("open", board="oak", name="oak board"))["version"] == 6
    await gateway.close()


async def test_player_cannot_return_while_the_store_is_down() -> None:
    store = moody()
    gateway = await opened(store)
    client = Client(gateway)
    await client.greet()
    await client.seat()
    await client.answer("leave", board="oak", player="Bert")
    store.writes = False
    assert (await client.answer("enter", board="oak", player="Bert"))["code"] == "not_stored"
    store.writes = True
    assert (await client.answer("enter", board="oak", player="Bert"))["version"] == 5
    await gateway.close()


async def test_board_that_cannot_be_read_is_not_opened() -> None:
    store = moody()
    gateway = await opened(store)
    client = Client(gateway)
    await client.greet()
    store.reads = False
    assert (await client.answer("open", board="oak"))["code"] == "not_stored"
    store.reads = True
    assert (await client.answer("open", board="oak"))["ok"]
    await gateway.close()


async def test_session_ends_even_if_departures_cannot_be_stored() -> None:
    store = moody()
    gateway = await opened(store, GatewayPolicy(secret=SECRET))
    client = Client(gateway)
    await client.greet()
    await client.seat()
    store.writes = False
    client.say(type="bye")
    await client.end()
    again = Client(gateway)
    await again.greet()
    assert (await again.answer("open", board="oak", name="oak board"))["code"] == "not_stored"
    store.writes = True
    assert (await again.answer("open", board="oak", name="oak board"))["version"] == 5
    await gateway.close()


async def test_board_that_fails_to_close_is_dropped_without_blocking_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = await opened()
    client = Client(gateway)
    await client.greet()
    for board in ("oak", "elm", "ash"):
        await client.seat(board)
    see_out = Presence.see_out

    async def fail(self: Presence, visit: Visit, parting: Parting, cause: object) -> None:
        if visit.name in failing:
            failing.remove(visit.name)
            raise RuntimeError("a mistake")
        await see_out(self, visit, parting, cause)

    failing = ["Anna"]
    monkeypatch.setattr(Presence, "see_out", fail)
    client.say(type="bye")
    await client.end()
    again = Client(gateway)
    await again.greet()
    for board in ("oak", "elm", "ash"):
        answer = await again.answer("open", board=board, name="oak board")
        assert (answer["players"], answer["version"]) == ([], 5)  # all players are away
    assert [each.getMessage() for each in caplog.records] == ["could not close a board"]
    # A board closed by request is dropped, too.
    await again.answer("enter", board="oak", player="Anna")
    failing = ["Anna"]
    assert (await again.answer("close", board="oak"))["code"] == "internal"
    assert (await again.answer("show", board="oak"))["code"] == "unknown_board"
    assert (await again.answer("open", board="oak", name="oak board"))["version"] == 7
    await gateway.close()


async def test_concurrent_creation_of_a_board_has_one_winner(tmp_path: Path) -> None:
    """Only the store arbitrates: the second process finds the board owned already."""
    stores = [await Store.open(tmp_path / "gateway.db") for _ in range(2)]
    gateways = [await opened(store) for store in stores]
    clients = [Client(gateway) for gateway in gateways]
    for number, client in enumerate(clients):
        await client.greet(f"mud-{number}")
    names = [f"oak-{number}" for number in range(20)]
    taken = []
    for name in names:
        answers = await asyncio.gather(*(each.answer("open", board=name) for each in clients))
        taken += [answer.get("code", "ok") for answer in answers]
    assert sorted(taken) == ["not_yours"] * len(names) + ["ok"] * len(names)
    for gateway, store in zip(gateways, stores, strict=True):
        await gateway.close()
        await store.close()


async def test_board_created_by_another_process_keeps_its_owner() -> None:
    store = stored()
    early, late = await opened(store), await opened(store)
    client, other = Client(early), Client(late)
    await client.greet()
    await client.seat()
    await other.greet("another-mud")
    opening = {"board": "oak", "name": "oak board"}
    assert (await other.answer("open", **opening))["code"] == "not_yours"
    same = Client(late)
    await same.greet()
    assert (await same.answer("open", **opening | {"name": "elm board"}))["code"] == "differs"
    assert (await same.answer("open", **opening))["ok"]
    # An existing board keeps its owner, whatever the other process has stored.
    assert (await other.answer("open", **opening | {"board": "ash"}))["ok"]
    await client.seat("ash")
    assert (await other.answer("open", **opening | {"board": "elm"}))["ok"]
    assert (await other.answer("open", **opening | {"board": "ash"}))["ok"]
    for gateway in (early, late):
        await gateway.close()


async def test_events_from_another_process_are_delivered_first() -> None:
    """Events stored by the other process are sent at once, without a request id."""
    store = stored()
    one, two = Client(await opened(store)), Client(await opened(store))
    for client in (one, two):
        await client.greet()
        await client.answer("open", board="oak", name="oak board", style="brief")
        await client.answer("enter", board="oak", player="Anna")
    line = {"board": "oak", "player": "Anna"}
    assert (await one.answer("line", **line, line="join game as dwarf"))["version"] == 1
    answer = await two.answer("line", **line, line="join game as dwarf")
    assert answer["version"] == 1
    told = [(each["text"], each["id"]) for each in two.heard if each["type"] == "tell"]
    assert told[0][0].startswith("You sit down")
    assert told[1][0].startswith("You already play the dwarfs at the oak board.")
    assert [number for _, number in told] == [None, answer["id"]]
    # A line meant for an outdated version is refused.
    assert (await two.answer("line", **line, line="leave game"))["version"] == 2
    late = await one.answer("line", **line, line="leave game", at_version=1)
    assert late["code"] == "changed"
    await one.answer("line", **line, line="score")
    assert [each["text"] for each in one.heard if each["type"] == "tell"][1].startswith("You leave")
    for client in (one, two):
        client.reader.feed_eof()
        await client.end()
