"""Players who disconnect, return or quit while one of their events is being stored."""

from __future__ import annotations

import asyncio

import pytest

from tests.service.place import Place, Screen, begin, finished, until
from tests.service.stores import SlowStore
from thudmud.game.events import Parting
from thudmud.rules import Side
from thudmud.service import presence


@pytest.mark.parametrize("room", ["", "go oak board"])
async def test_connection_lost_while_sitting_down_marks_the_player_away(
    place: Place, store: SlowStore, room: str
) -> None:
    await place.enter("Carla", "Dora")
    await place.type("Carla", room)
    store.hold()
    joining = place.submit("Carla", "join game as dwarf on oak board")
    await store.held_up()
    parting = begin(place.leave("Carla"))
    store.gate.set()
    await finished(joining, parting)
    assert "Carla" not in place.service
    assert place.hall.tables["oak board"].seats == {Side.DWARF: "Carla"}
    assert place.away() == {"Carla"}
    assert "You're welcome" not in await place.type("Dora", "look at oak board")


async def test_connection_lost_while_a_style_is_stored_removes_the_player(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def keep(_: object) -> None:
        await gate.wait()

    monkeypatch.setattr(place, "keep", keep)
    await place.enter("Anna", member=True)
    choosing = place.submit("Anna", "set board full on oak board")
    parting = begin(place.leave("Anna"))
    gate.set()
    await finished(choosing, parting)
    assert "Anna" not in place.service


async def test_departure_that_cannot_be_stored_is_stored_later(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board")
    store.broken = True
    await place.type("Anna", "quit")
    store.broken = False
    await until(lambda: not place.hall.tables["oak board"].seats)
    assert not await place.service.is_name_needed("Anna")


async def test_return_while_the_absence_is_stored_clears_it(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.sit()
    store.broken = True
    await place.leave("Anna")
    store.broken = False
    store.hold()
    await store.held_up()  # the retry
    arriving = begin(place.enter("Anna"))
    store.gate.set()
    await finished(arriving)
    assert place.away() == set()


async def test_takeover_during_quit_leaves_the_new_session_open(
    place: Place, store: SlowStore
) -> None:
    one, two = Screen(), Screen()
    await place.enter("Anna", screen=one)
    await place.type("Anna", "join game as dwarf on oak board")
    store.hold()
    first = place.visits["Anna"]
    quitting = place.submit("Anna", "quit")
    await store.held_up()
    entering = begin(place.enter("Anna", screen=two))
    store.gate.set()
    result, _ = await finished(quitting, entering)
    assert result.is_done
    assert first.is_over
    assert "Goodbye" in one.told[-1]
    assert one.why is None
    assert "Goodbye" not in "".join(two.told)
    await place.service.leave(first, Parting.QUIT)
    await place.submit("Anna", "who")
    assert "Anna" in two.told[-1]


async def test_connection_lost_during_quit_still_frees_the_seat(
    place: Place, store: SlowStore
) -> None:
    await place.enter("Anna")
    await place.type("Anna", "join game as dwarf on oak board")
    store.hold()
    quitting = place.submit("Anna", "quit")
    await store.held_up()
    parting = begin(place.leave("Anna"))
    store.gate.set()
    await finished(quitting, parting)
    assert not place.hall.people
    assert not place.hall.tables["oak board"].seats


async def test_connection_lost_while_coming_back_marks_the_player_away(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    await place.leave("Anna")
    store.hold()

    async def come_and_go() -> None:
        await place.enter("Anna")
        await place.leave("Anna")

    coming = begin(come_and_go())
    await store.held_up()
    assert "Anna" in place.service
    store.gate.set()
    await finished(coming)
    assert set(place.hall.people) == {"Bert"}
    assert place.away() == {"Anna"}
