"""Whoever is lost, comes in or is shown out while something of theirs is being stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.place import BOARDS, Place
from tests.server.stores import SlowStore
from thudmud.play.commands import Style
from thudmud.play.events import Parting
from thudmud.rules import Side
from thudmud.server import presence
from thudmud.server.guests import Done
from thudmud.server.lobby import BARRED, ELSEWHERE, Lobby
from thudmud.text.display import Terminal
from thudmud.text.premises import Premises


@pytest.fixture
def store() -> SlowStore:
    return SlowStore.make()


@pytest.fixture
async def place(store: SlowStore) -> Place:
    place = Place(store)
    await place.open()
    return place


@pytest.fixture
async def lobby(store: SlowStore) -> Lobby:
    lobby = lobby_on(store)
    await lobby.scribe.open()
    await lobby.ready()
    return lobby


def lobby_on(store: SlowStore) -> Lobby:
    return Lobby(Premises(BOARDS, seat_grace=0), store, clock=lambda: 1000.0)


class Guest:
    """A session as the lobby sees it."""

    def __init__(self) -> None:
        self.shown = b""
        self.ended = False

    def show(self, lines: bytes) -> None:
        self.shown += lines

    def data(self, package: str, text: str) -> None:
        raise AssertionError("no GMCP has been asked for")

    def end(self, *, linger: bool) -> None:
        self.ended = True

    def dismiss(self) -> None:
        self.ended = True


async def sit(lobby: Lobby) -> tuple[Guest, Guest]:
    """Let Anna and Bert begin a battle at the oak board."""
    anna, bert = Guest(), Guest()
    await lobby.admit(anna, "Anna", Terminal())
    await lobby.admit(bert, "Bert", Terminal())
    await do(lobby, "Anna", "join game as dwarf on oak board")
    await do(lobby, "Bert", "join game as troll on oak board")
    await do(lobby, "Bert", "start")
    return anna, bert


async def do(lobby: Lobby, name: str, line: str) -> Done:
    done = lobby.obey(name, line)
    return done if isinstance(done, Done) else await done


async def held_up(store: SlowStore) -> None:
    """Wait until something more is about to be stored."""
    async with asyncio.timeout(20):
        await store.waiting.acquire()


async def finished(*work: Any) -> list[Any]:
    async with asyncio.timeout(20):
        return await asyncio.gather(*work)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0)


def away(house: Premises) -> set[str]:
    """Return who is noted to be away from the oak board."""
    table = house.hall.tables["oak board"]
    return {table.seats[side] for side in table.away}


@pytest.mark.parametrize("room", ["", "go oak board"])
async def test_lost_while_sitting_down(place: Place, store: SlowStore, room: str) -> None:
    await place.enter("Carla", "Dora")
    await place.type("Carla", room)
    store.hold()
    joining = place.scribe.obey("Carla", "join game as dwarf on oak board")
    await held_up(store)
    parting = place.scribe.part("Carla", Parting.LOST)
    store.gate.set()
    await finished(joining, parting)
    assert "Carla" not in place.house
    assert place.house.hall.tables["oak board"].seats == {Side.DWARF: "Carla"}
    assert away(place.house) == {"Carla"}
    assert "You are welcome" not in await place.type("Dora", "look at oak board")


async def test_lost_while_the_other_has_a_match_resumed(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8", "adjourn game")
    await place.type("Bert", "adjourn game", "go oak board")
    await place.type("Anna", "go oak board")
    store.hold()
    resuming = place.scribe.obey("Anna", "resume game on oak board")
    await held_up(store)
    parting = place.scribe.part("Bert", Parting.LOST)
    store.gate.set()
    await finished(resuming, parting)
    assert place.plies() == 1
    assert away(place.house) == {"Bert"}


async def test_lost_while_a_style_is_being_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def keep(name: str, styles: object, options: object) -> None:
        await gate.wait()

    await place.enter("Anna", member=True)
    monkeypatch.setattr(place.scribe, "_keep", keep)
    choosing = place.scribe.obey("Anna", "set board full on oak board")
    parting = place.scribe.part("Anna", Parting.LOST)
    gate.set()
    await finished(choosing, parting)
    assert "Anna" not in place.house


async def test_who_is_back_has_not_lost_though_that_could_not_be_stored(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.sit()
    await place.type("Anna", "move from f15 to f8")
    await place.scribe.part("Anna", Parting.LOST)
    store.broken = True
    await place.enter("Anna")
    assert away(place.house) == {"Anna"}
    store.broken = False
    await until(lambda: not away(place.house))
    assert "Anna is here" in await place.type("Bert", "claim game")
    assert place.house.hall.tables["oak board"].running


async def test_how_somebody_left_is_stored_even_if_it_is_late(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board")
    store.broken = True
    await place.type("Anna", "quit")
    store.broken = False
    await until(lambda: not place.house.hall.tables["oak board"].seats)
    assert not place.house.is_claimed("Anna", [])


async def test_back_while_it_is_being_stored_that_one_is_away(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.sit()
    store.broken = True
    await place.scribe.part("Anna", Parting.LOST)
    store.broken = False
    store.hold()
    await held_up(store)  # the second try
    arriving = asyncio.create_task(place.enter("Anna"))
    await asyncio.sleep(0)
    store.gate.set()
    await finished(arriving)
    assert away(place.house) == set()


async def test_taken_over_while_quitting(lobby: Lobby, store: SlowStore) -> None:
    one, two = Guest(), Guest()
    await lobby.admit(one, "Anna", Terminal())
    await do(lobby, "Anna", "join game as dwarf on oak board")
    store.hold()
    quitting = lobby.obey("Anna", "quit")
    await held_up(store)
    admitting = asyncio.create_task(lobby.admit(two, "Anna", Terminal()))
    await asyncio.sleep(0)
    store.gate.set()
    assert (await finished(quitting, admitting))[0] is Done.LEAVES
    assert b"Goodbye" in one.shown
    assert ELSEWHERE.encode() not in one.shown
    assert b"Goodbye" not in two.shown
    lobby.part(one, "Anna", Parting.QUIT)
    assert await do(lobby, "Anna", "who") is Done.STAYS
    assert b"Anna" in two.shown


async def test_lost_while_quitting(lobby: Lobby, store: SlowStore) -> None:
    one = Guest()
    await lobby.admit(one, "Anna", Terminal())
    await do(lobby, "Anna", "join game as dwarf on oak board")
    store.hold()
    quitting = lobby.obey("Anna", "quit")
    await held_up(store)
    parting = lobby.part(one, "Anna", Parting.LOST)
    store.gate.set()
    await finished(quitting, parting)
    assert not lobby._house.hall.people
    assert not lobby._house.hall.tables["oak board"].seats


async def test_lost_while_coming_back(lobby: Lobby, store: SlowStore) -> None:
    anna, _ = await sit(lobby)
    await finished(lobby.part(anna, "Anna"))
    again = Guest()
    store.hold()
    admitting = asyncio.create_task(lobby.admit(again, "Anna", Terminal()))
    await held_up(store)
    parting = lobby.part(again, "Anna")
    store.gate.set()
    await finished(admitting, parting)
    assert set(lobby._house.hall.people) == {"Bert"}
    assert away(lobby._house) == {"Anna"}


async def test_banned_while_coming_back(lobby: Lobby, store: SlowStore) -> None:
    anna, bert = await sit(lobby)
    await finished(lobby.part(anna, "Anna"))
    again = Guest()
    store.hold()
    admitting = asyncio.create_task(lobby.admit(again, "Anna", Terminal()))
    await held_up(store)
    lobby.keep_out({"anna"})
    store.gate.set()
    await finished(admitting)
    await until(lambda: "Anna" not in lobby._house)
    assert again.shown.endswith(BARRED.encode() + b"\r\n")
    assert again.ended
    assert not bert.ended


async def test_banned_before_coming_in(store: SlowStore, monkeypatch: Any) -> None:
    gate, read = asyncio.Event(), store.look_up

    async def look_up(lookup: Any) -> Any:
        await gate.wait()
        return await read(lookup)

    monkeypatch.setattr(store, "look_up", look_up)
    lobby = lobby_on(store)
    await lobby.scribe.open()
    anna, lost = Guest(), Guest()
    admitting = [
        asyncio.create_task(lobby.admit(guest, name, Terminal()))
        for guest, name in ((anna, "Anna"), (lost, "Bert"))
    ]
    await asyncio.sleep(0)
    lobby.keep_out({"anna"})
    lost.ended = True
    gate.set()
    await finished(*admitting)
    assert anna.shown == BARRED.encode() + b"\r\n"
    assert anna.ended
    assert not lobby._house.hall.people


async def test_a_line_at_a_time_from_one_player(place: Place, store: SlowStore) -> None:
    """What would need no storing waits, too, for what came before it."""
    await place.sit()
    store.hold()
    moving = place.scribe.obey("Anna", "move from f15 to f8")
    await held_up(store)
    place.told.clear()
    looking = place.scribe.obey("Anna", "set board full on oak board")
    assert isinstance(looking, asyncio.Task)
    store.gate.set()
    await finished(moving, looking)
    assert place.house.hall.style("Anna", "oak board") is Style.FULL
    assert "You move the dwarf" in place.told["Anna"][0]
