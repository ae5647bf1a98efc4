"""Whoever is banned, or whose connection has ended, while they come in."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.service.place import Place, begin, finished, until
from tests.service.stores import SlowStore
from thudmud.play.hall import Hall
from thudmud.play.table import BoardSpec
from thudmud.server.bots import Bots
from thudmud.server.config import BotSettings
from thudmud.server.lobby import BARRED, Lobby, service_on
from thudmud.service import Dismissal, Node, Visit
from thudmud.views import Message, Terminal


class Guest:
    """A session as the lobby sees it: it leaves when it is turned away, or as soon as it is in."""

    def __init__(self, lobby: Lobby, name: str) -> None:
        self.lobby, self.name = lobby, name
        self.shown: list[str] = []
        self.ended = False
        self.visit: Visit | None = None
        lobby.welcome(self)

    async def come_in(self) -> None:
        self.visit = await self.lobby.admit(self, self.name, Terminal())
        if self.ended:
            await self.leave()

    async def leave(self) -> None:
        if self.visit:
            await self.lobby.service.leave(self.visit)

    def put(self, message: Message) -> None:
        self.shown.append(message.text)

    def dismissed(self, why: Dismissal) -> None:
        self.ended = True

    def turn_away(self, sentence: str) -> None:
        self.shown.append(sentence)
        self.ended = True
        begin(self.leave())

    def show_out(self, sentence: str) -> None:
        self.turn_away(sentence)


@pytest.fixture
def store() -> SlowStore:
    return SlowStore.make()


@pytest.fixture
async def lobby(store: SlowStore) -> Lobby:
    lobby = Lobby(service_on(store, Hall([BoardSpec("oak board")]), clock=lambda: 1000.0))
    await lobby.open()
    return lobby


async def test_banned_while_playing(lobby: Lobby) -> None:
    anna, bert = Guest(lobby, "Anna"), Guest(lobby, "Bert")
    await anna.come_in()
    await bert.come_in()
    lobby.keep_out({"anna"})
    assert anna.shown[-1] == BARRED
    assert set(lobby.service.hall.people) == {"Bert"}
    assert not bert.ended


async def test_banned_while_coming_back(lobby: Lobby, store: SlowStore) -> None:
    anna = Guest(lobby, "Anna")
    await anna.come_in()
    assert anna.visit
    await lobby.service.submit(anna.visit, "join game as dwarf on oak board")
    await anna.leave()
    lobby.farewell(anna)
    again = Guest(lobby, "Anna")
    store.hold()
    coming = begin(again.come_in())
    await store.held_up()
    lobby.keep_out({"anna"})
    store.gate.set()
    await finished(coming)
    assert BARRED in again.shown
    assert again.ended
    assert not lobby.service.hall.people
    assert lobby.service.hall.tables["oak board"].away


async def test_banned_or_gone_before_coming_in(
    lobby: Lobby, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, read = asyncio.Event(), store.look_up

    async def look_up(lookup: Any, *, realm: str = "") -> Any:
        await gate.wait()
        return await read(lookup, realm=realm)

    monkeypatch.setattr(store, "look_up", look_up)
    anna, lost = Guest(lobby, "Anna"), Guest(lobby, "Bert")
    coming = [begin(guest.come_in()) for guest in (anna, lost)]
    lobby.keep_out({"anna"})
    lost.ended = True
    gate.set()
    await finished(*coming)
    assert anna.ended
    assert anna.shown == [BARRED]
    assert not lost.shown
    assert not lobby.service.hall.people


async def test_a_bot_that_is_banned_while_coming_back_leaves_nothing(
    store: SlowStore, tmp_path: Path
) -> None:
    node = Node(store, "one", clock=lambda: store.time)
    await node.open()
    place = Place(store, node)
    await place.open()
    await place.enter("Anna", "Bob")
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bob", "join game as troll on oak board", "start")
    await place.leave("Bob")
    version = place.hall.tables["oak board"].version
    lobby = Lobby(place.service)
    bots = Bots([BotSettings(name="Bob", command=("bob",))], lobby, tmp_path, patience=1, pause=1)
    store.hold()
    bots.start()
    await store.held_up()
    lobby.keep_out({"bob"})
    store.gate.set()
    await bots.close()
    await until(lambda: place.hall.tables["oak board"].version == version + 2)
    assert place.away() == {"Bob"}
    assert set(place.hall.people) == {"Anna"}
    assert [claim.name for claim in await store.people()] == ["Anna"]
