"""What is known of those who are here, and what all of them are told."""

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


async def test_all_are_told_the_same(place: Place) -> None:
    place.service.announce("Goodbye.")
    assert place.told == {}
    await place.enter("Anna", "Bert")
    place.told.clear()
    place.service.announce("Goodbye.")
    assert place.told == {"Anna": ["Goodbye."], "Bert": ["Goodbye."]}


async def test_who_gets_an_account_while_they_are_here_plays_for_a_rating(place: Place) -> None:
    await place.enter("Anna", member=True)
    await place.enter("Bert")
    place.service.enrol("Bert")
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bert", "join game as troll on oak board", "start")
    started = (await place.service.store.read_stream("oak board"))[-1].event
    assert isinstance(started, BattleStarted)
    assert started.rated
