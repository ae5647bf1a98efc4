"""Announcements, and accounts made while their owners are connected."""

from __future__ import annotations

import pytest

from tests.service.place import Place
from thudmud.game.events import BattleStarted
from thudmud.store import Store


@pytest.fixture
async def place() -> Place:
    place = Place(Store.in_memory())
    await place.open()
    return place


async def test_announcement_reaches_everyone_present(place: Place) -> None:
    place.service.announce("Goodbye.")
    assert place.told == {}
    await place.enter("Anna", "Bert")
    place.told.clear()
    place.service.announce("Goodbye.")
    assert place.told == {"Anna": ["Goodbye."], "Bert": ["Goodbye."]}


async def test_player_who_registers_while_connected_plays_rated(place: Place) -> None:
    await place.enter("Anna", member=True)
    await place.enter("Bert")
    place.service.enrol("Bert")
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bert", "join game as troll on oak board", "start")
    started = (await place.service.store.read_stream("oak board"))[-1].event
    assert isinstance(started, BattleStarted)
    assert started.rated
