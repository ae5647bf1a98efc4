"""Races between two boards that resume the same adjourned match."""

from __future__ import annotations

import asyncio

import pytest

from tests.service.place import Place
from tests.service.stores import SlowStore
from thudmud.game.archive import HistoryLookup

AWAY = ["move from f15 to f8", "adjourn game"]


@pytest.fixture
async def place(store: SlowStore) -> Place:
    """Return a place where Anna and Bert have adjourned a match after one ply."""
    place = Place(store)
    await place.open()
    await place.sit()
    await place.type("Anna", *AWAY)
    await place.type("Bert", "adjourn game")
    return place


async def go(place: Place, board: str) -> None:
    for name in ("Anna", "Bert"):
        await place.type(name, f"go to {board}")


async def test_match_cannot_be_resumed_at_two_boards(place: Place, store: SlowStore) -> None:
    await go(place, "oak board")
    await place.type("Bert", "resume game on oak board")
    store.hold()
    at_oak = place.submit("Anna", "resume game on oak board")
    await store.held_up()
    await place.type("Bert", "go to elm board")
    store.gate.set()
    first = await at_oak
    assert first.is_done
    second = await place.type("Bert", "resume game on elm board")
    assert "under way at the oak board" in " ".join(second.split())
    assert place.hall.tables["oak board"].is_running
    assert not place.hall.tables["elm board"].is_running
    assert (await store.look_up(HistoryLookup(None))).in_all == 1


async def test_match_cannot_be_resumed_by_two_servers_on_one_store(
    place: Place, store: SlowStore
) -> None:
    """The decision on the outdated match is made again, and refused."""
    other = Place(store)
    await other.open()
    await other.enter("Anna", "Bert")
    await go(place, "oak board")
    await go(other, "elm board")
    await place.type("Bert", "resume game on oak board")
    await other.type("Anna", "resume game on elm board")
    store.hold()
    at_oak = place.submit("Anna", "resume game on oak board")
    await store.held_up()
    at_elm = other.submit("Bert", "resume game on elm board")
    await store.held_up()
    store.gate.set()
    results = await asyncio.gather(at_oak, at_elm)
    assert [each.is_done for each in results] == [True, False]
    for hall in (place.hall, other.hall):
        assert hall.tables["oak board"].is_running
        assert not hall.tables["elm board"].is_running
    assert (await store.look_up(HistoryLookup(None))).in_all == 1


async def test_resume_decided_on_an_outdated_match_uses_the_latest_state(
    place: Place, store: SlowStore
) -> None:
    other = Place(store)
    await other.open()
    await other.enter("Anna", "Bert")
    await go(place, "oak board")
    await go(other, "elm board")
    for each in (place, other):
        await each.type("Bert", "resume game")
    store.hold()
    early = place.submit("Anna", "resume game on oak board")
    await store.held_up()
    gate, store.gate = store.gate, asyncio.Event()
    store.gate.set()
    await other.type("Anna", "resume game")
    await other.type("Bert", "move from g7 to g6")
    await other.type("Anna", "adjourn game")
    await other.type("Bert", "adjourn game")
    gate.set()
    assert (await early).is_done
    assert place.plies() == 2
    assert (await store.look_up(HistoryLookup(None))).in_all == 1
