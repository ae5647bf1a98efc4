"""Two halls sharing a store play each other, in every kind of store."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service.place import Place, until
from thudmud.features.playing.moves import Play, Resign
from thudmud.rules import Side
from thudmud.service import Node
from thudmud.store import Store

PLIES = 30


@pytest.fixture(params=["memory", "one sqlite", "two sqlites", "two links to postgresql"])
async def halls(request: pytest.FixtureRequest, path: Path) -> AsyncIterator[tuple[Place, Place]]:
    if request.param == "memory":
        store = other = Store.in_memory()
    elif "postgresql" in request.param:
        dsn = request.getfixturevalue("dsn")
        store, other = await Store.connect(dsn), await Store.connect(dsn)
    else:
        store = other = await Store.open(path, poll=0.01)
        if request.param == "two sqlites":
            other = await Store.open(path, poll=0.01)
    nodes = [Node(store, "here"), Node(other, "there")]
    for node in nodes:
        await node.open()
    here, there = Place(store, nodes[0]), Place(other, nodes[1])
    await here.open()
    await there.open()
    yield here, there
    await here.service.close()
    await there.service.close()
    await store.close()
    await other.close()


def version(place: Place) -> int:
    return place.hall.tables["oak board"].version


async def agree(here: Place, there: Place) -> None:
    """Wait until both halls have applied the same entries."""
    await until(lambda: version(here) == version(there))
    assert here.hall.tables == there.hall.tables


async def test_players_in_two_halls_play_a_battle(halls: tuple[Place, Place]) -> None:
    here, there = halls
    dice = random.Random(3)  # noqa: S311  (has to be reproducible)
    await here.enter("Anna")
    await there.enter("Bert")
    await here.type("Anna", "join as dwarf on oak board")
    await agree(here, there)
    await there.type("Bert", "join as troll on oak board", "start")
    for number in range(PLIES):
        await agree(here, there)
        game = here.hall.tables["oak board"].game
        assert game
        place, name = (here, "Anna") if game.position.turn is Side.DWARF else (there, "Bert")
        move = dice.choice(game.legal_moves())
        told = await place.type(name, str(Play(move.attempt())))
        assert "You" in told
        await until(lambda: here.plies() == there.plies())
        assert here.plies() == number + 1
    await here.type("Anna", Resign())
    await agree(here, there)
    assert "Anna resigns." in there.told["Bert"][-1]


HEARING = pytest.mark.parametrize(
    "halls", ["memory", "one sqlite", "two links to postgresql"], indirect=True
)
"""Through a file, other processes receive stored events but no notes."""


@HEARING
async def test_players_in_two_halls_talk_to_each_other(halls: tuple[Place, Place]) -> None:
    here, there = halls
    await here.enter("Anna")
    await there.enter("Bert")
    await until(lambda: "Bert" in here.hall.people)
    await until(lambda: "Anna" in there.hall.people)
    await here.type("Anna", "tell bert hello, " + "you " * 100)
    await until(lambda: "Anna tells you: hello, you you" in "".join(there.told["Bert"]))
    await there.type("Bert", "say good evening")
    await until(lambda: "Bert says: good evening" in "".join(here.told["Anna"]))
    await there.type("Bert", "quit")
    await until(lambda: "Bert" not in here.hall.people)


@HEARING
async def test_player_entering_the_other_hall_continues_there(halls: tuple[Place, Place]) -> None:
    here, there = halls
    await here.enter("Anna")
    await here.type("Anna", "join as dwarf on oak board")
    await agree(here, there)
    await there.enter("Anna")
    await until(lambda: "Anna" not in here.service.hall.people or not here.service.visit("Anna"))
    assert "You play the dwarfs." in await there.type("Anna", "look")


async def test_conflicting_commands_in_two_halls_are_retried(halls: tuple[Place, Place]) -> None:
    here, there = halls
    await here.enter("Anna")
    await there.enter("Bert")
    await asyncio.gather(
        here.type("Anna", "join as dwarf on oak board"),
        there.type("Bert", "join as dwarf on oak board"),
    )
    await agree(here, there)
    assert len(here.hall.tables["oak board"].seats) == 1
    refused = here.told["Anna"] + there.told["Bert"]
    assert sum("already plays the dwarfs at the oak board" in each for each in refused) == 1
