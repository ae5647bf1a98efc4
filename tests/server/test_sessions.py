"""Who may come in, whose session ends, and how much a player may say."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.accounts.dialogues import CHEAP
from tests.server.plain import Client
from tests.service.place import Place, begin, finished, until
from tests.service.stores import SlowStore
from thudmud.accounts.limiters import RateLimiter
from thudmud.play.hall import Hall
from thudmud.play.table import BoardSpec
from thudmud.server.acceptor import Acceptor
from thudmud.server.bots import Bots
from thudmud.server.config import BotSettings, Settings
from thudmud.server.serve import open_sessions
from thudmud.server.sessions import BANNED, Sessions, make_service
from thudmud.service import Dismissal, Node, Visit
from thudmud.views import Message, Terminal


class FakeSession:
    """A session that leaves when it ends, or as soon as it is in if it has ended before."""

    def __init__(self, sessions: Sessions, name: str) -> None:
        self.sessions, self.name = sessions, name
        self.shown: list[str] = []
        self.ended = False
        self.visit: Visit | None = None
        sessions.add(self)

    async def come_in(self) -> None:
        self.visit = await self.sessions.admit(self, self.name, Terminal())
        if self.ended:
            await self.leave()

    async def leave(self) -> None:
        if self.visit:
            await self.sessions.service.leave(self.visit)

    def put(self, message: Message) -> None:
        self.shown.append(message.text)

    def dismissed(self, why: Dismissal) -> None:
        self.ended = True

    def end(self, sentence: str) -> None:
        self.shown.append(sentence)
        self.ended = True
        begin(self.leave())


@pytest.fixture
def store() -> SlowStore:
    return SlowStore.make()


@pytest.fixture
async def sessions(store: SlowStore) -> Sessions:
    service = make_service(store, Hall([BoardSpec("oak board")]), clock=lambda: 1000.0)
    await service.open()
    return Sessions(service)


async def test_banned_while_playing(sessions: Sessions) -> None:
    anna, bert = FakeSession(sessions, "Anna"), FakeSession(sessions, "Bert")
    await anna.come_in()
    await bert.come_in()
    sessions.ban({"anna"})
    assert anna.shown[-1] == BANNED
    assert set(sessions.service.hall.people) == {"Bert"}
    assert not bert.ended


async def test_banned_while_coming_back(sessions: Sessions, store: SlowStore) -> None:
    anna = FakeSession(sessions, "Anna")
    await anna.come_in()
    assert anna.visit
    await sessions.service.submit(anna.visit, "join game as dwarf on oak board")
    await anna.leave()
    sessions.remove(anna)
    again = FakeSession(sessions, "Anna")
    store.hold()
    coming = begin(again.come_in())
    await store.held_up()
    sessions.ban({"anna"})
    store.gate.set()
    await finished(coming)
    assert BANNED in again.shown
    assert again.ended
    assert not sessions.service.hall.people
    assert sessions.service.hall.tables["oak board"].away


async def test_banned_or_gone_before_coming_in(
    sessions: Sessions, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, read = asyncio.Event(), store.look_up

    async def look_up(lookup: Any, *, realm: str = "") -> Any:
        await gate.wait()
        return await read(lookup, realm=realm)

    monkeypatch.setattr(store, "look_up", look_up)
    anna, lost = FakeSession(sessions, "Anna"), FakeSession(sessions, "Bert")
    coming = [begin(session.come_in()) for session in (anna, lost)]
    sessions.ban({"anna"})
    lost.ended = True
    gate.set()
    await finished(*coming)
    assert anna.ended
    assert anna.shown == [BANNED]
    assert not lost.shown
    assert not sessions.service.hall.people


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
    sessions = Sessions(place.service)
    bots = Bots(
        [BotSettings(name="Bob", command=("bob",))], sessions, tmp_path, patience=1, pause=1
    )
    store.hold()
    bots.start()
    await store.held_up()
    sessions.ban({"bob"})
    store.gate.set()
    await bots.close()
    await until(lambda: place.hall.tables["oak board"].version == version + 2)
    assert place.away() == {"Bob"}
    assert set(place.hall.people) == {"Anna"}
    assert [claim.name for claim in await store.people()] == ["Anna"]


# Talk


@pytest.mark.parametrize("line", ["say hi", "emote waves", "tell bob hi", "'hi", "invite bob"])
async def test_talk_is_limited_for_each_player(store: SlowStore, line: str) -> None:
    now, limited = 1000.0, "you can say something again in 2 seconds."
    hall = Hall([BoardSpec("oak board")])
    service = make_service(store, hall, clock=lambda: now, talk=RateLimiter(0.5, 3))
    await service.open()
    sessions = Sessions(service)
    anna, bob = FakeSession(sessions, "Anna"), FakeSession(sessions, "Bob")

    async def is_limited(session: FakeSession, line: str = line) -> bool:
        session.shown.clear()
        assert session.visit
        await sessions.submit(session.visit, line)
        return any(limited in each for each in session.shown)

    await anna.come_in()
    await bob.come_in()
    assert [await is_limited(anna) for _ in range(4)] == [False] * 3 + [True]
    assert not await is_limited(bob)
    assert not await is_limited(anna, "look")
    now += 2.0
    assert [await is_limited(anna) for _ in range(2)] == [False, True]


async def test_who_talks_too_much_is_told_and_nobody_hears_it(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "server": {"port": 0, "shutdown_grace": 0.2},
            "players": {"chat_at_once": 3, "chat_per_minute": 1},
            "storage": {"backend": "memory"},
        }
    )
    server = Acceptor(settings, hasher=CHEAP)
    [(host, port)] = await server.bind()
    async with open_sessions(settings, tmp_path) as sessions:
        await server.start(sessions)
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
