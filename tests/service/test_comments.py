"""Comments on plies: decided at a version of the hall, stored, and sent to the two players."""

from __future__ import annotations

import asyncio

import pytest

from tests.service.place import Place
from tests.service.stores import SlowStore
from thudmud.game.projections import HALL
from thudmud.rules import Comment
from thudmud.service.boards import open_board
from thudmud.store import battles


@pytest.fixture
async def place(store: SlowStore) -> Place:
    """Return a place where Anna and Bert have played a battle of one ply, with Carla present."""
    place = Place(store)
    await place.open()
    await place.sit()
    await place.type("Anna", "move from f15 to f8")
    await place.type("Bert", "resign", "yes")
    await place.enter("Carla")
    return place


async def test_comment_is_stored_and_announced_to_the_two_players(
    place: Place, store: SlowStore
) -> None:
    place.told.clear()
    await place.type("Anna", "comment 1 1 Too early.")
    assert await store.read(battles.comments, 1) == (Comment(1, "Anna", "Too early."),)
    assert "Anna comments on move 1 of battle 1: Too early." in "".join(place.told["Bert"])
    assert "Carla" not in place.told
    assert "; Anna: Too early." in await place.type("Carla", "record 1")


async def test_comment_appears_in_an_open_replay(place: Place) -> None:
    for name in ("Anna", "Bert"):
        await place.type(name, "replay 1", "next")
    await place.type("Anna", "comment Too early.")
    for name in ("Anna", "Bert"):
        await place.type(name, "back")
        assert "Anna comments: Too early." in await place.type(name, "next")


async def test_concurrent_comments_are_both_stored(place: Place, store: SlowStore) -> None:
    """The second is decided again because the hall has changed."""
    store.hold()
    one = place.submit("Anna", "comment 1 1 one")
    await store.held_up()
    two = place.submit("Bert", "comment 1 1 two")
    store.gate.set()
    results = await asyncio.gather(one, two)
    assert all(each.is_done for each in results)
    assert [each.text for each in await store.read(battles.comments, 1)] == ["one", "two"]


async def test_comment_after_the_opening_of_a_board_is_stored(
    place: Place, store: SlowStore
) -> None:
    await open_board(store, "ash board", "classic", 5.0)
    await place.type("Anna", "comment 1 1 one")
    assert [each.text for each in await store.read(battles.comments, 1)] == ["one"]
    assert place.hall.version == await store.version(HALL)
