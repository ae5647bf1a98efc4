"""Told only once it is stored, decided again when something else came first, never half done."""

from __future__ import annotations

import asyncio

import pytest

from tests.server.place import Place
from tests.server.stores import SlowStore
from thudmud.play.commands import Style
from thudmud.play.events import Parting
from thudmud.rules import Side
from thudmud.server.scribe import NOT_STORED


@pytest.fixture
def store() -> SlowStore:
    return SlowStore.make()


@pytest.fixture
async def place(store: SlowStore) -> Place:
    place = Place(store)
    await place.open()
    return place


async def test_nobody_is_told_before_it_is_stored(place: Place, store: SlowStore) -> None:
    await place.sit()
    store.hold()
    place.told.clear()
    move = place.scribe.obey("Anna", "move from f15 to f8")
    await store.waiting.acquire()
    assert not place.told
    assert place.plies() == 0
    store.gate.set()
    assert isinstance(move, asyncio.Task)
    await move
    assert place.plies() == 1
    assert place.told["Anna"][0].startswith("You move the dwarf from F15 to F8.")
    assert place.told["Bert"][0].startswith("Anna moves the dwarf from F15 to F8.")


async def test_boards_do_not_wait_for_each_other(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.enter("Carla")
    store.hold()
    tasks = [
        place.scribe.obey("Anna", "move from f15 to f8"),
        place.scribe.obey("Carla", "join game as dwarf on elm board"),
    ]
    await store.waiting.acquire()
    await store.waiting.acquire()
    store.gate.set()
    await asyncio.gather(*[task for task in tasks if isinstance(task, asyncio.Task)])
    assert place.plies() == 1
    assert place.house.hall.tables["elm board"].seats == {Side.DWARF: "Carla"}


async def test_at_one_board_the_second_is_decided_when_the_first_is_done(
    place: Place, store: SlowStore
) -> None:
    await place.enter("Anna", "Bert")
    store.gate.clear()
    tasks = [
        place.scribe.obey(name, "join game as dwarf on oak board") for name in ("Anna", "Bert")
    ]
    store.gate.set()
    await asyncio.gather(*[task for task in tasks if isinstance(task, asyncio.Task)])
    assert place.house.hall.tables["oak board"].seats == {Side.DWARF: "Anna"}
    assert "Anna plays the dwarfs at the oak board already." in place.told["Bert"][-1]
    assert place.house.hall.people["Bert"].room is None


async def test_what_cannot_be_stored_has_not_happened(place: Place, store: SlowStore) -> None:
    await place.sit()
    store.broken = True
    before = place.house.hall.tables["oak board"]
    place.told.clear()
    told = await place.type("Anna", "move from f15 to f8")
    assert told == NOT_STORED
    assert set(place.told) == {"Anna"}
    assert place.house.hall.tables["oak board"] == before
    store.broken = False
    assert "You move" in await place.type("Anna", "move from f15 to f8")


async def test_walking_to_a_seat_that_cannot_be_stored_goes_nowhere(
    place: Place, store: SlowStore
) -> None:
    await place.enter("Anna", "Bert")
    store.broken = True
    place.told.clear()
    await place.type("Anna", "join game as dwarf on oak board")
    assert place.house.hall.people["Anna"].room is None
    assert set(place.told) == {"Anna"}


async def test_whoever_comes_first_at_another_house_is_first(store: SlowStore) -> None:
    here, there = Place(store), Place(store)
    await here.open()
    await there.open()
    await here.enter("Anna")
    await there.enter("Bert")
    store.gate.clear()
    tasks = [
        here.scribe.obey("Anna", "join game as dwarf on oak board"),
        there.scribe.obey("Bert", "join game as dwarf on oak board"),
    ]
    store.gate.set()
    await asyncio.gather(*[task for task in tasks if isinstance(task, asyncio.Task)])
    assert here.house.hall.tables["oak board"] == there.house.hall.tables["oak board"]
    assert here.house.hall.tables["oak board"].seats == {Side.DWARF: "Anna"}
    assert "Anna plays the dwarfs" in there.told["Bert"][-1]


async def test_two_houses_that_share_a_store_play_each_other(store: SlowStore) -> None:
    here, there = Place(store), Place(store)
    await here.open()
    await there.open()
    await here.enter("Anna")
    await there.enter("Bert")
    await here.type("Anna", "join game as dwarf on oak board")
    await there.type("Bert", "join game as troll on oak board", "start")
    await here.type("Anna", "move from f15 to f8")
    there_told = await there.type("Bert", "move from g7 to f7")
    assert there_told.startswith("You move the troll from G7 to F7. It is Anna's turn")
    await asyncio.sleep(0)
    assert here.told["Anna"][-1].startswith("Bert moves the troll from G7 to F7. It is your turn.")
    await here.type("Anna", "resign")
    await asyncio.sleep(0)
    assert here.house.hall.tables == there.house.hall.tables
    (battle,) = await store.history(None)
    assert battle.outcome


async def test_a_new_house_finds_everything_where_it_was(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8")
    await place.type("Bert", "move from g7 to f7", "undo")
    await place.type("Anna", "undo")
    anew = Place(store)
    anew.now = store.time = 2000.0
    await anew.open()
    table = anew.house.hall.tables["oak board"]
    assert table.away == {Side.DWARF: 2000.0, Side.TROLL: 2000.0}
    assert table.match == place.house.hall.tables["oak board"].match
    await anew.enter("Anna", "Bert")
    assert "You are back at the oak board" in anew.told["Anna"][0]
    assert anew.house.hall.tables["oak board"].away == {}
    assert anew.plies() == 1
    assert "You move the troll" in await anew.type("Bert", "move from g7 to f7")
    assert "1 ply" not in await anew.type("Anna", "games")


async def test_old_battles_are_read_when_somebody_wants_them(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8", "resign")
    anew = Place(store)
    await anew.open()
    await anew.enter("Carla")
    assert "dF15-F8" in await anew.type("Carla", "record 1")
    assert "ply 1 of 1" in await anew.type("Carla", "replay 1", "next")


async def test_who_is_lost_while_nothing_can_be_stored_is_noted_later(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thudmud.server.presence.RETRY", 0.001)
    await place.sit()
    store.broken = True
    await place.scribe.part("Bert", Parting.LOST)
    assert "Bert" not in place.house
    assert not place.house.hall.tables["oak board"].away
    store.broken = False
    async with asyncio.timeout(20):
        while not place.house.hall.tables["oak board"].away:  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0.001)
    assert "Bert has lost the connection." in place.told["Anna"][-1]
    await place.scribe.close()


async def test_closing_does_not_wait_for_a_disk_that_stays_full(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    store.broken = True
    await place.scribe.part("Bert", Parting.LOST)
    async with asyncio.timeout(20):
        await place.scribe.close()


async def test_who_is_here_though_it_could_not_be_stored_can_play(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    await place.scribe.part("Anna", Parting.LOST)
    assert place.house.hall.tables["oak board"].away
    store.broken = True
    await place.enter("Anna")
    assert "Anna" in place.house
    store.broken = False
    assert "You move the dwarf" in await place.type("Anna", "move from f15 to f8")
    assert not place.house.hall.tables["oak board"].away


async def test_a_members_styles_are_kept_before_they_are_told(place: Place) -> None:
    await place.enter("Anna", member=True)
    assert "full style" in await place.type("Anna", "set board full on oak board")
    assert place.kept == {"Anna": {"oak board": Style.FULL}}
    place.forgetful = True
    assert await place.type("Anna", "set board brief on oak board") == NOT_STORED
    assert place.house.hall.style("Anna", "oak board") is Style.FULL


async def test_a_line_in_flight_of_somebody_who_is_gone_harms_nothing(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    store.gate.clear()
    move = place.scribe.obey("Anna", "move from f15 to f8")
    parting = place.scribe.part("Anna", Parting.LOST)
    store.gate.set()
    assert isinstance(move, asyncio.Task)
    await asyncio.gather(move, parting)
    assert place.plies() == 1
    assert place.house.hall.tables["oak board"].away
    assert "Anna" not in place.house


async def test_quitting_gives_seats_up_where_no_match_is_under_way(place: Place) -> None:
    await place.sit()
    await place.type("Anna", "join game as troll on elm board")
    await place.type("Anna", "quit")
    assert "Anna" not in place.house
    assert place.house.hall.tables["elm board"].seats == {}
    assert place.house.hall.tables["oak board"].seats[Side.DWARF] == "Anna"
    assert Side.DWARF in place.house.hall.tables["oak board"].away
