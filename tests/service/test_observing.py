"""Observing a board from the hall, from another board and from another node."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.service.place import Place, Screen
from tests.service.test_nodes import MOVE, World
from thudmud.store import Store

WELL = "kibitz Well played on oak"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.store.close()


async def test_observer_on_another_node_gets_the_moves(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.sit()
    await two.enter("Carla", "Dora")
    await two.type("Dora", "go to oak board")
    assert "It is Anna's turn (dwarfs)." in await two.type("Carla", "observe anna")
    for name in ("Carla", "Dora"):
        two.told[name].clear()
    await one.type("Anna", MOVE)
    assert two.told["Carla"][0].startswith("[oak board] Anna moves the dwarf from A6 to B6.")
    assert two.told["Dora"][0].startswith("Anna moves the dwarf from A6 to B6.")
    assert not one.told.keys() & {"Carla", "Dora"}
    assert "observes the oak board" in await one.type("Anna", "finger carla")
    await two.type("Carla", "unobserve")
    assert "observes" not in await one.type("Anna", "finger carla")


async def test_observer_talk_reaches_other_nodes(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna", "Bert")
    await one.type("Anna", "join game as dwarf on oak board")
    await one.type("Bert", "join game as troll on oak board", "set clock 5+3", "start")
    await two.enter("Carla", "Dora")
    await one.enter("Emil")
    await one.type("Emil", "observe oak board")
    await two.type("Carla", "observe oak board")
    await two.type("Dora", "go to oak board")
    everybody = {**one.told, **two.told}

    def told() -> dict[str, list[str]]:
        heard = {name: list(texts) for name, texts in everybody.items() if texts}
        for texts in everybody.values():
            texts.clear()
        return heard

    told()
    await two.service.submit(two.visits["Carla"], WELL)
    assert told() == {
        "Anna": ["Carla kibitzes: Well played"],
        "Bert": ["Carla kibitzes: Well played"],
        "Carla": ["[oak board] You kibitz: Well played"],
        "Dora": ["Carla kibitzes: Well played"],
        "Emil": ["[oak board] Carla kibitzes: Well played"],
    }
    await one.service.submit(one.visits["Emil"], "whisper Poor Bert!")
    assert told() == {
        "Carla": ["[oak board] Emil whispers: Poor Bert!"],
        "Dora": ["Emil whispers: Poor Bert!"],
        "Emil": ["[oak board] You whisper: Poor Bert!"],
    }
    await one.service.submit(one.visits["Anna"], "say Your turn")
    assert told() == {
        "Anna": ["You say: Your turn"],
        "Bert": ["Anna says: Your turn"],
        "Carla": ["[oak board] Anna says: Your turn"],
        "Dora": ["Anna says: Your turn"],
        "Emil": ["[oak board] Anna says: Your turn"],
    }
    await two.service.submit(two.visits["Dora"], "say Hello?")
    assert told() == {
        "Dora": [
            "You say: Hello?",
            'The players can\'t hear you while they play. "kibitz" reaches them, too.',
        ]
    }
    await one.service.submit(one.visits["Bert"], "options watchers on")
    await one.service.submit(one.visits["Anna"], "options kibitz off")
    told()
    await two.service.submit(two.visits["Dora"], "emote dances.")
    assert told() == {"Bert": ["* Dora dances."], "Dora": ["* Dora dances."]}
    await two.service.submit(two.visits["Carla"], WELL)
    assert told().keys() == {"Bert", "Carla", "Dora", "Emil"}


async def test_observed_boards_are_forgotten_on_another_node(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Carla")
    await one.type("Carla", "observe oak board")
    await two.enter("Carla")
    assert "You aren't observing any board." in await two.type("Carla", "observe")
    await one.enter("Carla")
    assert "You aren't observing any board." in await one.type("Carla", "observe")


async def test_observed_boards_survive_a_takeover_on_the_same_node() -> None:
    place = Place(Store.in_memory())
    await place.open()
    await place.sit()
    await place.enter("Carla")
    await place.type("Carla", "observe oak board")
    screen = Screen()
    await place.enter("Carla", screen=screen)
    await place.type("Anna", MOVE)
    assert screen.told[-1].startswith("[oak board] Anna moves")


async def test_observer_is_told_when_the_board_closes() -> None:
    place = Place(Store.in_memory())
    await place.open()
    await place.enter("Anna", "Bert", "Carla")
    await place.type("Anna", "match bert classic")
    await place.type("Bert", "accept")
    board = place.hall.people["Anna"].room
    place.told["Carla"] = []
    await place.type("Carla", "observe bert")
    assert place.hall.people["Carla"].observed == (board,)
    await place.type("Anna", "resign", "yes", "start")
    await place.type("Bert", "start")
    place.told["Carla"] = []
    await place.type("Bert", "resign", "yes")
    [told] = place.told["Carla"]
    assert told.startswith(f"[{board}] Bert resigns.")
    still = f'You\'re still observing it: "unobserve {board}" stops that.'
    assert still in " ".join(told.split())
    await place.type("Anna", "go hall")
    place.told["Carla"] = []
    await place.type("Bert", "go hall")  # the last player leaves, so the board closes
    assert board not in place.hall.tables
    assert place.told["Carla"][-1] == f"You no longer observe the {board}."
    assert not place.hall.people["Carla"].observed


async def test_kibitz_right_after_observing_goes_to_that_board(place: Place) -> None:
    await place.sit()
    await place.enter("Carla")
    await place.type("Carla", "join game as dwarf on elm board", "observe oak board")
    assert await place.type("Carla", "kibitz Hello") == "[oak board] You kibitz: Hello"
    await place.type("Carla", "unobserve oak board")
    assert await place.type("Carla", "kibitz Hello") == "You kibitz: Hello"
